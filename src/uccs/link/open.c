/* The life of the links. */
#include "uccs/link/inner.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/progress.h"
#include "uccs/core/progress_thread.h"
#include "uccs/comp/tell.h"

#include <string.h>
#include <sys/resource.h>

#define LOOKS_MOST 32 /* a waiter yields after this many polls: a PE of another pretended node may want this core */

static void finished(void *token, int failed)
{
    struct link_token *done = token;
    done->done(done, failed);
}

/* Checks the keepalive lines first; they may explain the loss, or tell that the job ends. */
static void broken(void *lane, int pe, const char *why)
{
    (void)lane;
    uccs_keepalive_poll();
    uccs_fail_process_lost("PE %d is lost: %s", pe, why);
}

/* Every look of every wait calls this. A thread that waits for memory may depend on an operation that another thread has
 * issued, or that it has issued itself on another lane, so it moves one busy lane on besides the service lane.
 * Returns non-zero when something came in or has left, else 0. */
static int poll_lanes(void *unused)
{
    (void)unused;
    int count = link_poll(link_service());
    if (lat_unlikely(atomic_load_relaxed(&link_others))) {
        struct link_lane *other = link_next_busy();
        count += other ? link_poll(other) : 0;
    }
    return count;
}

static struct uccs_progress_source polled = {.poll = poll_lanes, .when = UCCS_PROGRESS_LOOK};

/* Returns what a connection must be able to do for one-sided operations of the transport; 0: none uses them. */
static unsigned choose_wire(void)
{
    const char *how = env_text(ENV_WIRE);
    if (strcmp(how, "messages") == 0)
        return 0;
    return strcmp(how, "rdma") == 0 ? TRANSPORT_ONESIDED : TRANSPORT_ALONE;
}

/* Returns 0, or -1 after a line. */
static int open_transport(void)
{
    static const struct transport_events events = {link_arrived, finished, broken};
    link_transport = link_network_load();
    if (!link_transport)
        return -1;
    const char *why = link_transport->open(&events, uccs_core.me, uccs_core.npes, link_wire);
    link_has_direct = link_wire && link_transport->able;
    if (!why)
        why = link_lane_open(0);
    if (why)
        log_alike(uccs_core.me, "the transport %s does not work here: %s", link_transport->name, why);
    return why ? -1 : 0;
}

/* A PE has a descriptor for each connection. A job that may have more of them than the soft limit of files leaves gets a higher
 * one, up to the hard limit; smaller jobs keep the limit that the program knows. */
static void allow_connections(void)
{
    enum { OWN = 128, EACH = 3 }; /* mine and the peer's way, and the line to its node */
    struct rlimit files;
    const rlim_t wanted = OWN + (rlim_t)uccs_core.npes * EACH;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY || files.rlim_cur >= wanted)
        return;
    files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files); /* where it fails, the connection that finds no room says so */
}

static void handle_own_kinds(void)
{
    link_handle(LINK_BATCH, &link_on_batch);
    link_handle(LINK_HELLO, &link_on_hello);
    link_handle(LINK_FLUSH, &link_on_flush);
    link_handle(LINK_FLUSHED, &link_on_flushed);
    link_handle(LINK_KEYED, &link_on_keyed);
}

const char *link_network(void)
{
    return link_transport->name;
}

int link_open(void)
{
    if ((int)uccs_core.pes == uccs_core.npes)
        return 0;
    if (uccs_core.npes > LINK_PES) {
        log_line("a job on several nodes has at most %d PEs", LINK_PES);
        return -1;
    }
    handle_own_kinds();
    allow_connections();
    link_wire = choose_wire();
    if (open_transport() != 0 || link_names_publish() != 0)
        return -1;
    if (uccs_core.spin > LOOKS_MOST)
        uccs_core.spin = LOOKS_MOST;
    link_pool_open();
    uccs_far_on = 1;
    (void)uccs_progress_add(&polled);
    uccs_request_reason_add(link_request_reason);
    link_thread_prepare();
    return 0;
}

static bool drained(struct link_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    link_batch_push_all(lane);
    bool done = link_transport->drained(lane->at) && !lane->boxes && lane->sending == 0;
    pthread_mutex_unlock(&lane->lock);
    return done;
}

/* Waits until this process has nothing left to send, since it may still hold answers that other PEs wait for. */
void link_settle_all(void)
{
    if (!uccs_far_on)
        return;
    uccs_far_quiet_all();
    uccs_keepalive_expect_end();
    if (uccs_progress_thread_start() != 0)
        uccs_fail("cannot serve the other PEs");
    struct uccs_wait wait uccs_scoped = {0};
    for (uint64_t left = link_lanes_open(); left; left &= left - 1)
        while (!drained(&link_lanes[__builtin_ctzll(left)]))
            uccs_rest(&wait);
}

/* Makes link_poll leave the lane alone. The lock stays, since a thread of the program that is still in a wait may be
 * about to take it. */
static void shut(struct link_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->at = 0;
    pthread_mutex_unlock(&lane->lock);
}

/* Before the transport closes its connections. */
static void free_keys(void)
{
    for (int i = 0; i < LINK_LANES; i++)
        for (int pe = 0; link_lanes[i].peers && pe < uccs_core.npes; pe++)
            if (link_lanes[i].peers[pe])
                link_direct_free(link_lanes[i].peers[pe]);
    link_key_close();
}

void link_close(void)
{
    if (!uccs_far_on)
        return;
    uccs_progress_remove(&polled);
    for (int i = 0; i < LINK_LANES; i++)
        shut(&link_lanes[i]);
    rte_job_barrier(); /* no PE polls its connections any more, so no PE takes their closing for a fault */
    uccs_keepalive_close();
    free_keys();
    link_transport->close();
    link_pool_close();
    for (int i = 0; i < LINK_LANES; i++)
        link_lane_free(&link_lanes[i]);
    uccs_far_on = uccs_far_touched = 0;
    link_has_direct = false;
}
