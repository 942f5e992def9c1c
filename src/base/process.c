#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
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

#define DEPTH 64 /* generations that this looks at */

/* Returns 0 when /proc does not show the process. */
static pid_t parent_of(pid_t pid)
{
    char path[32], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = 0;
    const char *name_end = strrchr(text, ')'); /* the name before it may contain any character */
    return name_end && sscanf(name_end, ") %*c %d", &parent) == 1 ? parent : 0;
}

pid_t ancestor_common(pid_t one, pid_t other)
{
    pid_t line[DEPTH];
    int count = 0;
    for (; one > 0 && count < DEPTH; one = parent_of(one))
        line[count++] = one;
    for (int i = 0; other > 0 && i < DEPTH; i++, other = parent_of(other))
        for (int k = 0; k < count; k++)
            if (line[k] == other)
                return other;
    return 0;
}

int thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(thread, 0, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    return error;
}
