#include "uccs/core/early.h"

#include "base/env.h"
#include "uccs/core/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_FD 3 /* a program may close and open the standard ones */

static struct {
    struct image image;
    int fd;
    pid_t owner; /* 0: nothing has moved */
} early;

/* Whether this process has an MPI. Nothing calls it. */
extern int MPI_Init(int *argc, char ***argv) __attribute__((weak));

/* Returns a file for the globals, or -1. */
static int make_file(size_t bytes)
{
    int made = memfd_create("lateral-globals", MFD_CLOEXEC);
    int fd = made >= 0 ? fcntl(made, F_DUPFD_CLOEXEC, FIRST_FD) : -1;
    if (made >= 0)
        close(made);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* What a child of fork needs, as after init (memory.c), which replaces this guard by its own. */
static void guard(void)
{
    struct uccs_fork_ranges ranges = {
        .fd = early.fd,
        .own = {{.start = (void *)early.image.start, .bytes = image_bytes(&early.image)}},
    };
    uccs_fork_guard(&ranges);
}

/* Says nothing when the globals cannot move: init tries again and knows why. */
__attribute__((constructor)) static void move_at_load(void)
{
    const char *why;
    struct image image;
    if (!MPI_Init || env_load(&why) != 0 || !env_flag(ENV_GLOBALS) || !image_find(&image, "liblateral.so.1"))
        return;
    int fd = make_file(image_bytes(&image));
    if (fd < 0 || image_move(&image, fd, 0) != 0) {
        if (fd >= 0)
            close(fd);
        return;
    }
    early.image = image;
    early.fd = fd;
    early.owner = getpid();
    guard();
}

int uccs_early_file(struct image *image)
{
    image->why_not = 0;
    if (early.owner == getpid()) {
        *image = early.image;
        return early.fd;
    }
    if (early.owner) /* the guard has given this child pages of its own */
        image->why_not = "is a forked child of the process whose globals have moved";
    return -1;
}

int uccs_early_map(int pid, int fd, void *at, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return errno;
    void *mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0);
    int status = mapped == MAP_FAILED ? errno : 0;
    close(file);
    return status;
}
