/* Opens and closes the workers. */
#include "uccs/proto/inner.h"

#include "base/env.h"
#include "base/log.h"
#include "base/module.h"
#include "net/adapters.h"
#include "rte/rte.h"
#include "uccs/core/progress.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* --- The transport */

/* The network itself: what stands last in LATERAL_TRANSPORTS. */
static const char *name_of_network(void)
{
    const char *chosen = env_text(ENV_TRANSPORTS), *colon = strrchr(chosen, ':');
    struct adapter adapter;
    if (strcmp(chosen, "auto") == 0)
        return adapters_choose("/sys/class", &adapter);
    return colon ? colon + 1 : chosen;
}

/* What tests put around it: the first of them, which loads what stands behind it; null: nothing. */
static const char *name_of_wrapper(void)
{
    static const char *const wrappers[] = {"fault", "sim"};
    const char *chosen = env_text(ENV_TRANSPORTS);
    const size_t bytes = strcspn(chosen, ",:"); /* a comma: its plan */
    for (size_t i = 0; strchr(chosen, ':') && i < sizeof wrappers / sizeof *wrappers; i++)
        if (strlen(wrappers[i]) == bytes && strncmp(chosen, wrappers[i], bytes) == 0)
            return wrappers[i];
    return 0;
}

static const struct transport *load_transport(void)
{
    static void *module;
    const char *why = 0, *name = name_of_wrapper();
    if (!name && strchr(env_text(ENV_TRANSPORTS), ':')) {
        log_alike(uccs_core.me, "LATERAL_TRANSPORTS=%s: around a transport can be fault or sim, for tests",
                  env_text(ENV_TRANSPORTS));
        return 0;
    }
    if (!module)
        module = module_open(name ? name : name_of_network(), &why);
    const struct transport *transport = module ? dlsym(module, TRANSPORT_SYMBOL) : 0;
    if (!transport)
        log_alike(uccs_core.me,
                  "PEs are on several nodes, and what carries messages between them cannot be loaded: %s; build "
                  "Lateral where %s is, or set LATERAL_TRANSPORTS=tcp",
                  why ? why : "it is not one of this library's",
                  strcmp(name_of_network(), "ofi") == 0 ? "libfabric (Debian: libfabric-dev)"
                                                        : "UCX (Debian: libucx-dev)");
    return transport;
}

/* --- Opening and closing */

#define LOOKS_MOST 32 /* a waiter yields after this many polls: a PE of another pretended node may want this core */

static void end_token(void *token, int failed)
{
    struct proto_sent_token *done = token;
    done->done(done, failed);
}

/* Checks the keepalive lines first; they may explain the loss, or tell that the job ends. */
static void end_job(void *worker, int pe, const char *why)
{
    (void)worker;
    uccs_keepalive_poll();
    uccs_fail_process_lost(pe, "PE %d%s is lost: %s", pe, uccs_keepalive_host(pe), why);
}

/* Every look of every wait calls this. A thread that waits for memory may depend on an operation that another thread has
 * issued, or that it has issued itself on another worker, so it moves one busy worker on besides the service worker.
 * Returns non-zero when something came in or has left, else 0. */
static int poll_workers(void *unused)
{
    (void)unused;
    int count = proto_poll(proto_service_worker());
    if (lat_unlikely(atomic_load_relaxed(&proto_others))) {
        struct proto_worker *other = proto_next_busy();
        count += other ? proto_poll(other) : 0;
    }
    return count;
}

static struct uccs_progress_source polled = {.poll = poll_workers, .when = UCCS_PROGRESS_LOOK};

/* Returns what a connection must be able to do for one-sided operations of the transport; 0: none uses them. */
static unsigned choose_wire(void)
{
    const char *how = env_text(ENV_WIRE);
    if (strcmp(how, "messages") == 0)
        return 0;
    return strcmp(how, "rdma") == 0 ? TRANSPORT_ONESIDED : TRANSPORT_ALONE | TRANSPORT_CHEAPER;
}

/* Returns 0, or -1 after a line. */
static int open_transport(void)
{
    static const struct transport_events events = {proto_arrived, end_token, end_job};
    proto_transport = load_transport();
    if (!proto_transport)
        return -1;
    const char *why = proto_transport->open(&events, uccs_core.me, uccs_core.npes, proto_wire);
    proto_has_direct = proto_wire && proto_transport->able;
    if (!why)
        why = proto_worker_open(0);
    if (why)
        log_alike(uccs_core.me, "the transport %s does not work here: %s", proto_transport->name, why);
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

/* Of this folder. Upper folders register theirs. */
static const struct proto_handler *const own_handlers[WIRE_KINDS] = {
    [WIRE_PUT] = &proto_on_put,
    [WIRE_PUT_BLOCKS] = &proto_on_put_blocks,
    [WIRE_PIECES] = &proto_on_pieces,
    [WIRE_INTERNAL_PUT] = &proto_on_internal_put,
    [WIRE_GET] = &proto_on_get,
    [WIRE_CHANGE] = &proto_on_change,
    [WIRE_GET_BLOCKS] = &proto_on_get_blocks,
    [WIRE_DATA] = &proto_on_data,
    [WIRE_FLUSH] = &proto_on_flush,
    [WIRE_KEY] = &proto_on_key,
    [WIRE_FLUSHED] = &proto_on_flushed,
    [WIRE_KEYED] = &proto_on_keyed,
    [WIRE_IMPORT] = &proto_on_import,
    [WIRE_GONE] = &proto_on_gone,
    [WIRE_LOCK] = &proto_on_lock,
    [WIRE_UNLOCK] = &proto_on_unlock,
    [WIRE_LOCKED] = &proto_on_locked,
    [WIRE_HELLO] = &proto_on_hello,
    [WIRE_BATCH] = &proto_on_batch,
};

int proto_open(void)
{
    for (int kind = 0; kind < WIRE_KINDS; kind++)
        if (own_handlers[kind])
            proto_handle((enum proto_wire_kind)kind, own_handlers[kind]);
    if ((int)uccs_core.pes == uccs_core.npes)
        return 0;
    if (uccs_core.npes > PROTO_PES) {
        log_line("a job on several nodes has at most %d PEs", PROTO_PES);
        return -1;
    }
    allow_connections();
    proto_wire = choose_wire();
    if (open_transport() != 0 || proto_names_publish() != 0)
        return -1;
    if (uccs_core.spin > LOOKS_MOST)
        uccs_core.spin = LOOKS_MOST;
    proto_pool_open();
    proto_active = 1;
    (void)uccs_progress_add(&polled);
    proto_lock_open();
    uccs_request_reason_add(proto_request_reason);
    proto_thread_prepare();
    return 0;
}

static bool worker_drained(struct proto_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    proto_coalesce_push_all(worker);
    bool done = proto_transport->drained(worker->at) && !worker->coalescing && worker->sending == 0;
    pthread_mutex_unlock(&worker->lock);
    return done;
}

/* Asks every worker each time: a network may need one to go on, so that a peer's message to it counts as sent. */
static bool all_drained(void)
{
    bool all = true;
    for (uint64_t left = proto_workers_open(); left; left &= left - 1)
        all &= worker_drained(&proto_workers[__builtin_ctzll(left)]);
    return all;
}

/* Waits until this process has nothing left to send, since it may still hold answers that other PEs wait for. */
void proto_settle(void)
{
    if (!proto_active)
        return;
    proto_quiet_all();
    uccs_keepalive_expect_end();
    if (uccs_progress_thread_start() != 0)
        uccs_fail("cannot serve the other PEs");
    struct uccs_wait wait uccs_scoped = {0};
    while (!all_drained())
        uccs_rest(&wait);
    atomic_store_seqcst(&proto_settled, 1);
    for (uint64_t left = proto_workers_open(); left; left &= left - 1)
        proto_thread_remind(&proto_workers[__builtin_ctzll(left)]);
}

void proto_settle_end(void)
{
    atomic_store_seqcst(&proto_settled, 0);
}

/* Makes proto_poll leave the worker alone. The lock stays, since a thread of the program that is still in a wait may be
 * about to take it. */
static void shut_worker(struct proto_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->at = 0;
    pthread_mutex_unlock(&worker->lock);
}

/* Before the transport closes its connections. */
static void free_keys(void)
{
    for (int i = 0; i < PROTO_WORKERS; i++)
        for (int pe = 0; proto_workers[i].log.peers && pe < uccs_core.npes; pe++)
            if (proto_workers[i].log.peers[pe])
                proto_direct_free(proto_workers[i].log.peers[pe]->peer);
    proto_key_close();
}

void proto_close(void)
{
    if (!proto_active)
        return;
    uccs_progress_remove(&polled);
    for (int i = 0; i < PROTO_WORKERS; i++)
        shut_worker(&proto_workers[i]);
    proto_lock_close(); /* no message about locks arrives any more, and the transport is still open */
    rte_job_barrier();  /* no PE polls its connections any more, so no PE takes their closing for a fault */
    uccs_keepalive_close();
    free_keys();
    proto_transport->close();
    proto_pool_close();
    for (int i = 0; i < PROTO_WORKERS; i++)
        proto_worker_free(&proto_workers[i]);
    proto_active = proto_touched = 0;
    proto_has_direct = false;
}

const char *proto_network(void)
{
    return proto_transport->name;
}
