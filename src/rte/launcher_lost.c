/* A thread that notices the end of a launcher that leaves its PEs behind when it dies, as Hydra's proxy does: a program that
 * computes, or waits for short times only, would not look (rte_launcher_check). Where several nodes have a progress
 * thread, that one watches (uccs/core/keepalive.c). The thread sleeps until then and serves no messages, so jobs have it with
 * LATERAL_PROGRESS=poll, too. It ends before rte_finalize: a process whose main thread has called pthread_exit lives as long as any
 * thread. */
#include "base/log.h"
#include "base/process.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* An MPI that shares the connection and takes leave shuts it down a moment before it closes it. So only a connection that stays
 * open so many times this long after it has hung up tells of a launcher that is gone. */
enum { LOOKS = 10, PAUSE = 100000000 /* nanoseconds */ };

static pthread_t watcher;
static int stop = -1; /* becomes readable when the thread shall end; -1: there is no thread */

static void *await_hangup(void *unused)
{
    const struct timespec pause = {.tv_nsec = PAUSE};
    for (int seen = 0; seen < LOOKS;) {
        struct pollfd sources[] = {{.fd = rte_launcher_descriptor(), .events = POLLRDHUP},
                                   {.fd = stop, .events = POLLIN}};
        if (sources[0].fd < 0)
            return unused;
        if (poll(sources, 2, -1) <= 0)
            continue;
        if (sources[1].revents)
            return unused;
        seen++;
        nanosleep(&pause, 0);
    }
    rte_launcher_lost();
}

void rte_launcher_watch(void)
{
    if (stop >= 0 || rte_launcher_descriptor() < 0)
        return;
    stop = eventfd(0, EFD_CLOEXEC);
    if (stop < 0 || thread_start(&watcher, await_hangup, 0) == 0)
        return;
    close(stop); /* without a thread, long waits still look */
    stop = -1;
}

void rte_launcher_unwatch(void)
{
    const uint64_t one = 1;
    if (stop < 0)
        return;
    if (write(stop, &one, sizeof one) != sizeof one)
        log_line("cannot end the thread that watches the launcher: %s", strerror(errno));
    else
        pthread_join(watcher, 0);
    close(stop);
    stop = -1;
}
