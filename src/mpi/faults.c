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

#define PATIENCE 20            /* looks, 100 us apart */
#define PATIENCE_PASSING 20000 /* the same, when what stands in the way passes by itself */
#define SIGNAL_OF_LIBRARY 32   /* no program can block it: glibc and musl leave it out of what programs block */

/* What a thread lets happen. Of several threads the greatest says what all of them let happen. */
enum taken {
    TAKES,   /* it takes SIGSEGV, or has ended */
    PASSING, /* the C library blocks every signal while it starts or ends the thread */
    BLOCKS,
};

static bool blocks(uint64_t mask, int number)
{
    return mask >> (number - 1) & 1;
}

static enum taken takes(const char *thread)
{
    char name[320], text[4096];
    snprintf(name, sizeof name, "/proc/self/task/%s/status", thread);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return access("/proc/self/task", F_OK) == 0 ? TAKES : BLOCKS;
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    if (bytes <= 0)
        return TAKES; /* it has ended meanwhile */
    text[bytes] = 0;
    const char *line = strstr(text, "\nSigBlk:");
    const uint64_t mask = line ? strtoull(line + sizeof "\nSigBlk:" - 1, 0, 16) : 0;
    if (line && !blocks(mask, SIGSEGV))
        return TAKES;
    /* A worker of io_uring blocks every signal too, for all its life; it sleeps when it has no work. */
    return blocks(mask, SIGNAL_OF_LIBRARY) && strstr(text, "\nState:\tR") ? PASSING : BLOCKS;
}

static enum taken all_take(void)
{
    const long me = syscall(SYS_gettid);
    DIR *threads = opendir("/proc/self/task");
    enum taken all = threads ? TAKES : BLOCKS;
    for (const struct dirent *each; all != BLOCKS && (each = readdir(threads));)
        if (each->d_name[0] != '.' && atol(each->d_name) != me) {
            enum taken one = takes(each->d_name);
            all = one > all ? one : all;
        }
    if (threads)
        closedir(threads);
    return all;
}

/* A thread that has been made and has not run yet still blocks all signals. On a busy machine it may wait long for a
 * processor. */
bool lmpi_faults_taken(void)
{
    const struct timespec moment = {.tv_nsec = 100000};
    enum taken all = all_take();
    for (int looks = 1; all != TAKES && looks < (all == PASSING ? PATIENCE_PASSING : PATIENCE); looks++) {
        nanosleep(&moment, 0);
        all = all_take();
    }
    return all == TAKES;
}
