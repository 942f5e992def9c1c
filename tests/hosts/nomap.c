/* Loaded before the C library: the NO_MAP-th shared mapping of the process fails with ENOMEM. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int shared_maps;

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    const char *which = getenv("NO_MAP");
    if (which && flags & MAP_SHARED && ++shared_maps == atoi(which)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset); /* NOLINT: an address by its number */
}
