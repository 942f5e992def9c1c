/* A thread that notices the end of a launcher that leaves its PEs behind when it dies, as Hydra's proxy does: a program that
 * computes, or waits for short times only, would not look (rte_look_for_launcher). Where several nodes have a progress
 * thread, that one watches (uccs/watch/line.c). The thread sleeps until then and serves no messages, so jobs have it with
 * LATERAL_PROGRESS=poll, too. */
#include "base/thread.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <poll.h>
#include <time.h>

/* An MPI that shares the connection and takes leave shuts it down a moment before it closes it. So only a connection that stays
 * open so many times this long after it has hung up tells of a launcher that is gone. */
enum { LOOKS = 10, PAUSE = 100000000 /* nanoseconds */ };

static void *await_hangup(void *unused)
{
    const struct timespec pause = {.tv_nsec = PAUSE};
    for (int seen = 0; seen < LOOKS;) {
        struct pollfd launcher = {.fd = rte_launcher_descriptor(), .events = POLLRDHUP};
        if (launcher.fd < 0)
            return unused;
        if (poll(&launcher, 1, -1) > 0) {
            seen++;
            nanosleep(&pause, 0);
        }
    }
    rte_end_orphans();
}

void rte_watch_launcher(void)
{
    static bool watched;
    pthread_t thread;
    if (watched || rte_launcher_descriptor() < 0)
        return;
    watched = thread_start(&thread, await_hangup, 0) == 0; /* otherwise long waits still look */
    if (watched)
        pthread_detach(thread);
}
