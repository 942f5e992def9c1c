/* The progress thread moves the service lane on, so that it serves peers while the program is outside of the library.
 *
 * It sleeps on the transport's descriptor. While threads of the program poll, it does not poll the descriptor: a
 * message that they are about to take would wake it, and that would only cost them the core. It checks now and then
 * whether they still poll. LATERAL_PROGRESS=poll starts no thread. */
#include "uccs/link/inner.h"

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
static uint32_t ending; /* release: link_thread_stop; acquire: rung */

/* Sends the messages that a computing program has left on other lanes. A lane keeps its bit while another thread holds
 * the lane, or while the transport still holds its messages (a connection takes several looks). */
static void send_left(void)
{
    uint64_t again = 0;
    for (uint64_t lanes = atomic_exchange_seqcst(&link_left, 0); lanes; lanes &= lanes - 1)
        if (!link_poll_clear(&link_lanes[__builtin_ctzll(lanes)]))
            again |= lanes & -lanes;
    if (again)
        (void)atomic_fetch_or_seqcst(&link_left, again);
}

/* Handles all waiting messages. Returns true when the descriptor or the bell will report further ones; false: look
 * again. The lock holder may be stuck on a dead launcher, so the wait for the lock times out. */
static bool serve(struct link_lane *lane)
{
    struct timespec end;
    send_left();
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec++;
    if (pthread_mutex_timedlock(&lane->lock, &end) != 0) {
        watch_line_look();
        return false;
    }
    if (lane->hung)
        link_nudge(lane);
    do
        link_batch_push_all(lane);
    while (link_transport->progress(lane->at));
    bool armed = !lane->boxes && link_transport->arm(lane->at);
    atomic_store_seqcst(&link_asleep, armed); /* either I see the lane's bit, or it sees me asleep */
    pthread_mutex_unlock(&lane->lock);
    return armed && !atomic_load_seqcst(&link_left);
}

/* Clears the bell. Returns true when the thread shall end. */
static bool rung(struct pollfd *file)
{
    eventfd_t rings;
    if (file->revents)
        eventfd_read(link_bell, &rings);
    return atomic_load_acquire(&ending); /* release: link_thread_stop */
}

static void *run(void *unused)
{
    (void)unused;
    struct link_lane *lane = link_service();
    struct pollfd files[] = {{.fd = link_bell, .events = POLLIN},
                             {.fd = watch_line_descriptor(), .events = POLLIN},
                             {.fd = link_transport->descriptor(lane->at), .events = POLLIN}};
    const struct timespec while_polled = {0, LOOK_AGAIN_NANOSECONDS};
    uint32_t seen = 0;
    bool reminded = false;
    while (!rung(&files[0])) {
        uint32_t polls = atomic_load_relaxed(&lane->polls);
        if (polls != seen || reminded) {
            seen = polls;
            reminded = false;
            ppoll(files, 2, &while_polled, 0);
            send_left(); /* a thread that polls the service lane may not poll the others */
        } else if (serve(lane)) {
            poll(files, 3, -1);
            reminded = files[0].revents;
        } else {
            reminded = atomic_load_seqcst(&link_left) != 0; /* look later: the lane's holder may send them */
        }
        if (files[1].revents)
            watch_line_look();
    }
    return 0;
}

/* Returns 0, or -1 after a line. */
static int start(void)
{
    sigset_t all, before;
    link_bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    link_asleep = ending = 0;
    link_left = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the program's threads handle signals */
    int error = link_bell < 0 ? errno : pthread_create(&thread, 0, run, 0);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    if (error)
        log_line("cannot start the thread that answers messages: %s", strerror(error));
    return error ? -1 : 0;
}

int link_thread_start(void)
{
    const char *how = env_text(ENV_PROGRESS);
    if (strcmp(how, "poll") == 0)
        return 0;
    if (strcmp(how, "auto") == 0 || strcmp(how, "thread") == 0)
        return start();
    log_line("LATERAL_PROGRESS=%s: it can be auto, poll or thread", how);
    return -1;
}

void link_thread_start_anyway(void)
{
    if (link_bell < 0 && start() != 0)
        watch_fail("cannot serve the other PEs");
}

void link_thread_stop(void)
{
    if (link_bell < 0)
        return;
    atomic_store_release(&ending, 1); /* acquire: rung */
    eventfd_write(link_bell, 1);
    pthread_join(thread, 0);
    close(link_bell);
    link_bell = -1;
    link_asleep = 0;
}
