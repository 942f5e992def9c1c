#include "net/lent.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct lent {
    int32_t pid, fd;
    uint64_t at, bytes;
    uint64_t device, inode; /* of the file, so that no other one is taken for it */
};
_Static_assert(sizeof(struct lent) <= TRANSPORT_LENT, "it fits the room");

size_t transport_lend(int fd, uint64_t at, size_t bytes, void *room)
{
    struct stat file;
    if (!bytes || fstat(fd, &file) != 0)
        return 0;
    const struct lent lent = {getpid(), fd, at, bytes, file.st_dev, file.st_ino};
    memcpy(room, &lent, sizeof lent);
    return sizeof lent;
}

static bool is_that_file(int fd, const struct lent *lent)
{
    struct stat file;
    return fstat(fd, &file) == 0 && file.st_dev == lent->device && file.st_ino == lent->inode && lent->bytes &&
           lent->at <= (uint64_t)file.st_size && lent->bytes <= (uint64_t)file.st_size - lent->at;
}

static void *map(int fd, const struct lent *lent)
{
    const int flags = MAP_SHARED | MAP_NORESERVE;
    void *start = mmap(0, lent->bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)lent->at);
    return start == MAP_FAILED ? 0 : start;
}

void *transport_reach(const void *from, size_t bytes, size_t *length)
{
    struct lent lent;
    char path[64];
    if (bytes != sizeof lent)
        return 0;
    memcpy(&lent, from, sizeof lent);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", lent.pid, lent.fd);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 0;
    void *start = is_that_file(fd, &lent) ? map(fd, &lent) : 0;
    close(fd);
    *length = lent.bytes;
    return start;
}

void transport_leave(void *start, size_t bytes)
{
    munmap(start, bytes);
}
