#include "base/parent_death.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The owner of a descriptor's signals belongs to its open file, which all heirs share. So each opens the pipe again,
 * under the same number. Returns false when it cannot. */
static bool open_own(int fd)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool replaced = own >= 0 && dup3(own, fd, O_CLOEXEC) == fd;
    if (own >= 0)
        close(own);
    return replaced;
}

/* True when the other end has closed before the signal was asked for. */
static bool is_cut(int fd)
{
    char byte;
    return read(fd, &byte, 1) == 0;
}

void parent_death_follow(int fd)
{
    struct stat file;
    if (fstat(fd, &file) != 0 || !S_ISFIFO(file.st_mode))
        return;
    if (!open_own(fd) || fcntl(fd, F_SETOWN, getpid()) != 0 || fcntl(fd, F_SETSIG, SIGKILL) != 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) != 0)
        close(fd);
    else if (is_cut(fd))
        raise(SIGKILL);
}
