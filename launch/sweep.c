#include "sweep.h"

#include "loop.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int parent_of(const char *pid)
{
    char path[300], text[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    int parent = -1;
    if (!file)
        return parent;
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    while (bytes > 0 && text[bytes] != ')') /* the name before it may contain any character */
        bytes--;
    text[sizeof text - 1] = 0;
    return sscanf(text + bytes, ") %*c %d", &parent) == 1 ? parent : -1;
}

/* Kills every child of this process. Not every kernel has a list of children, so this looks at all processes. */
static void kill_children(void)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    for (struct dirent *entry; (entry = readdir(proc));) {
        int pid = atoi(entry->d_name);
        if (pid > 0 && parent_of(entry->d_name) == getpid())
            kill(pid, SIGKILL);
    }
    closedir(proc);
}

/* Reaps all dead children. Returns false when no child is left at all. */
static bool reap(void)
{
    pid_t pid;
    do {
        pid = waitpid(-1, NULL, WNOHANG);
    } while (pid > 0);
    return pid == 0;
}

static void await_death(int ms)
{
    sigset_t deaths;
    sigemptyset(&deaths);
    sigaddset(&deaths, SIGCHLD);
    struct timespec limit = {ms / 1000, ms % 1000 * 1000000L};
    sigtimedwait(&deaths, NULL, &limit);
}

void sweep_descendants(int patience_ms)
{
    int64_t end = loop_now() + patience_ms;
    while (reap() && loop_now() < end) {
        kill_children();
        await_death(100);
    }
}
