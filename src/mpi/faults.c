#include "faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRIES 20 /* of 100 us */

/* Returns true when the thread takes SIGSEGV or has ended. */
static bool takes(const char *thread)
{
    char name[320], text[4096];
    snprintf(name, sizeof name, "/proc/self/task/%s/status", thread);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return access("/proc/self/task", F_OK) == 0;
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    if (bytes <= 0)
        return true; /* it has ended meanwhile */
    text[bytes] = 0;
    const char *line = strstr(text, "\nSigBlk:");
    return line && !(strtoull(line + sizeof "\nSigBlk:" - 1, 0, 16) >> (SIGSEGV - 1) & 1);
}

static bool all_take(void)
{
    const long me = syscall(SYS_gettid);
    DIR *threads = opendir("/proc/self/task");
    bool good = threads;
    for (const struct dirent *each; good && (each = readdir(threads));)
        if (each->d_name[0] != '.' && atol(each->d_name) != me)
            good = takes(each->d_name);
    if (threads)
        closedir(threads);
    return good;
}

/* A thread that has been made and has not run yet still blocks all signals, as those of the C library do at their start. */
bool lmpi_faults_taken(void)
{
    const struct timespec moment = {.tv_nsec = 100000};
    bool good = all_take();
    for (int i = 0; i < TRIES && !good; i++) {
        nanosleep(&moment, 0);
        good = all_take();
    }
    return good;
}
