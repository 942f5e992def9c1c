/* The progress thread (LATERAL_PROGRESS=thread) handles the network class while the program computes. It sleeps longer
 * the longer nothing comes, at most a millisecond, and ends when the last context does. */
#include "uccs/am/am.h"

#include "base/env.h"
#include "base/log.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define SHORTEST_NAP 1000
#define LONGEST_NAP 1000000

static pthread_t helper;
static uint32_t goes;
static bool running;

static void *help(void *unused)
{
    long nap = SHORTEST_NAP;
    (void)unused;
    while (atomic_load_acquire(&goes)) { /* release: uccs_am_stop */
        if (uccs_am_poll_network()) {
            nap = SHORTEST_NAP;
            continue;
        }
        struct timespec time = {0, nap};
        nanosleep(&time, 0);
        nap = nap < LONGEST_NAP ? nap * 2 : nap;
    }
    return 0;
}

void uccs_am_start(void)
{
    uccs_poller_add(uccs_am_poll_network, UCCS_POLL_IDLE);
    if (strcmp(env_text(ENV_PROGRESS), "thread") != 0)
        return;
    atomic_store_release(&goes, 1);
    sigset_t all, before; /* the program's own threads take its signals */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&helper, 0, help, 0);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    running = error == 0;
    if (error)
        log_line("uccs: cannot start the progress thread (%s); messages are answered in waiting calls only",
                 strerror(error));
}

void uccs_am_stop(void)
{
    uccs_poller_remove(uccs_am_poll_network);
    if (!running)
        return;
    atomic_store_release(&goes, 0);
    pthread_join(helper, 0);
    running = false;
}
