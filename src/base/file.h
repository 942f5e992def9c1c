/* Files of shared memory. Any thread. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

/* Makes the file this large. Beyond a limit (ulimit -f) the kernel would end the process by SIGXFSZ; here that is EFBIG. Returns 0, or -1
 * with errno. */
static inline int file_resize(int fd, uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
        errno = EFBIG;
        return -1;
    }
    return ftruncate(fd, (off_t)bytes);
}

#endif
