/* The progress thread: drives the service lane, so serves peers while the program is outside of the library (seed 004, figure 5).
 *
 * It sleeps on the transport's descriptor. While threads of the program poll, it keeps away: it looks now and then
 * whether they still do, since being woken by what they are about to take would only cost them the core.
 * LATERAL_PROGRESS=poll starts none. */
#include "uccs/far_lane.h"

#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LOOK_AGAIN_NANOSECONDS 1000000

static pthread_t thread;
static int bell = -1;           /* an eventfd; -1: there is no thread */
static uint32_t asleep, ending; /* asleep: sequentially consistent, as is: */
static uint64_t left;           /* a bit per lane but the service lane: messages wait there */

/* Lanes that a computing program has left something on. One that is held just now, or whose messages the transport
 * still holds (a connection takes several looks), keeps its bit. */
static void send_left(void)
{
    uint64_t again = 0;
    for (uint64_t lanes = atomic_exchange_seqcst(&left, 0); lanes; lanes &= lanes - 1)
        if (!far_lane_clear(&far_lanes[__builtin_ctzll(lanes)]))
            again |= lanes & -lanes;
    if (again)
        (void)atomic_fetch_or_seqcst(&left, again);
}

/* Drains what there is; true when the descriptor or the bell will tell of more. Who holds the lane may wait for a launcher
 * that is cut off, so this waits so long alone. */
static bool serve(struct far_lane *lane)
{
    struct timespec end;
    send_left();
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec++;
    if (pthread_mutex_timedlock(&lane->lock, &end) != 0) {
        far_line_look();
        return false;
    }
    if (lane->hung)
        far_nudge(lane);
    do
        far_batch_push_all(lane);
    while (far_transport->progress(lane->at));
    bool armed = !lane->boxes && far_transport->arm(lane->at);
    atomic_store_seqcst(&asleep, armed); /* either I see the lane's bit, or it sees me asleep */
    pthread_mutex_unlock(&lane->lock);
    return armed && !atomic_load_seqcst(&left);
}

/* True when the thread shall end. */
static bool rung(struct pollfd *file)
{
    eventfd_t rings;
    if (file->revents)
        eventfd_read(bell, &rings);
    return atomic_load_acquire(&ending); /* release: far_thread_stop */
}

void far_thread_remind(const struct far_lane *lane)
{
    const uint64_t bit = UINT64_C(1) << lane->number;
    if (bell < 0)
        return;
    if (lane != far_service() && !(atomic_load_seqcst(&left) & bit))
        (void)atomic_fetch_or_seqcst(&left, bit);
    if (atomic_load_seqcst(&asleep) && atomic_exchange_seqcst(&asleep, 0))
        eventfd_write(bell, 1);
}

static void *run(void *unused)
{
    (void)unused;
    struct far_lane *lane = far_service();
    struct pollfd files[] = {{.fd = bell, .events = POLLIN},
                             {.fd = far_line_descriptor(), .events = POLLIN},
                             {.fd = far_transport->descriptor(lane->at), .events = POLLIN}};
    const struct timespec while_polled = {0, LOOK_AGAIN_NANOSECONDS};
    uint32_t seen = 0;
    bool reminded = false;
    while (!rung(&files[0])) {
        uint32_t polls = atomic_load_relaxed(&lane->polls);
        if (polls != seen || reminded) {
            seen = polls;
            reminded = false;
            ppoll(files, 2, &while_polled, 0);
        } else if (serve(lane)) {
            poll(files, 3, -1);
            reminded = files[0].revents;
        } else {
            reminded = atomic_load_seqcst(&left) != 0; /* in a while: who holds the lane may send it */
        }
        if (files[1].revents)
            far_line_look();
    }
    return 0;
}

static int start(void)
{
    sigset_t all, before;
    bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    asleep = ending = 0;
    left = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the program's */
    int error = bell < 0 ? errno : pthread_create(&thread, 0, run, 0);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    if (error)
        log_line("cannot start the thread that answers messages: %s", strerror(error));
    return error ? -1 : 0;
}

int far_thread_start(void)
{
    const char *how = env_text(ENV_PROGRESS);
    if (strcmp(how, "poll") == 0)
        return 0;
    if (strcmp(how, "auto") == 0 || strcmp(how, "thread") == 0)
        return start();
    log_line("LATERAL_PROGRESS=%s: it can be auto, poll or thread", how);
    return -1;
}

void far_thread_start_anyway(void)
{
    if (bell < 0 && start() != 0)
        far_fail("cannot serve the other PEs");
}

bool far_thread_serves(void)
{
    return bell >= 0; /* changes at the start and the end of a life alone */
}

void far_thread_stop(void)
{
    if (bell < 0)
        return;
    atomic_store_release(&ending, 1); /* acquire: rung */
    eventfd_write(bell, 1);
    pthread_join(thread, 0);
    close(bell);
    bell = -1;
    asleep = 0;
}
