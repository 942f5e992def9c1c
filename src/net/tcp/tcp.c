/* Workers over TCP, and the slots of transport.h. */
#include "net/tcp/inner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

/* All PEs of the job may call at once, and where there are more of them than cores each takes seconds to answer. */
enum { PENDING = 32, PENDING_SECONDS = 20 };

static struct worker *workers;
static struct routes here; /* without a port */
static uint64_t key[2];    /* of this process: who calls must know it */

static const char *tcp_open(const struct transport_events *events, int pe, int npes, unsigned onesided)
{
    (void)onesided;
    tcp_events = events;
    tcp_me = pe;
    tcp_npes = npes;
    here = (struct routes){0};
    if (!routes_find(&here))
        return "LATERAL_INTERFACE names no network interface of this host that is up and has an address";
    if (!here.count)
        routes_use_loopback(&here);
    return getrandom(key, sizeof key, GRND_NONBLOCK) == sizeof key ? 0 : "the kernel has no random numbers";
}

static void free_worker(struct worker *worker)
{
    while (worker->peers) {
        struct peer *peer = worker->peers;
        worker->peers = peer->next;
        tcp_peer_free(peer);
    }
    while (worker->idle) {
        struct out *out = worker->idle;
        worker->idle = out->next;
        free(out);
    }
    tcp_late_close(worker);
    listener_close(&worker->listener);
    if (worker->events >= 0)
        close(worker->events);
    free(worker->buffer);
    free(worker->spare);
    free(worker);
}

static void tell_no_descriptors(void *worker)
{
    tcp_events->broken(((struct worker *)worker)->owner, tcp_me,
                       "other PEs call it, and it has no descriptor left (ulimit -n) to let them in");
}

static bool open_worker_files(struct worker *worker)
{
    worker->events = epoll_create1(EPOLL_CLOEXEC);
    worker->buffer = malloc(TCP_BUFFER);
    worker->here = here;
    worker->listener = (struct listener){.fd = -1,
                                         .timer = -1,
                                         .events = worker->events,
                                         .key = {key[0], key[1]},
                                         .me = (uint32_t)tcp_me,
                                         .npes = (uint32_t)tcp_npes,
                                         .max_pending = PENDING + (uint32_t)tcp_npes,
                                         .seconds = PENDING_SECONDS,
                                         .wants = tcp_peer_wants,
                                         .accepted = tcp_peer_let_in,
                                         .out_of_descriptors = tell_no_descriptors,
                                         .owner = worker};
    return worker->buffer && worker->events >= 0 &&
           getrandom(&worker->id, sizeof worker->id, GRND_NONBLOCK) == sizeof worker->id &&
           listener_open(&worker->listener, &worker->here) == 0;
}

static const char *tcp_open_worker(void *owner, void **made)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return "no memory";
    worker->owner = owner;
    if (!open_worker_files(worker)) {
        free_worker(worker);
        return "no socket to listen on, or no memory";
    }
    worker->next = workers;
    workers = worker;
    *made = worker;
    return 0;
}

static int tcp_address(void *of, void *room, size_t *bytes)
{
    const struct worker *worker = of;
    const struct tcp_address address = {worker->here, worker->id, {key[0], key[1]}};
    const bool fits = sizeof address <= *bytes;
    if (fits)
        memcpy(room, &address, sizeof address);
    *bytes = sizeof address;
    return fits ? 0 : -1;
}

static void *tcp_connect(void *worker, int pe, const void *address, size_t bytes)
{
    struct tcp_address there;
    if (bytes != sizeof there)
        return 0;
    memcpy(&there, address, sizeof there);
    return there.routes.count <= ROUTES_MAX ? tcp_peer_connect(worker, pe, &there) : 0;
}

/* --- Progress */

#define NEWS 16

/* Polls of the busy connection from one look at all of them to the next. */
enum { WITHOUT_OTHERS = 16, WITH_OTHERS = 8, WITH_OTHERS_AND_IDLE = 2 };

static int look_at_all(struct worker *worker)
{
    struct epoll_event news[NEWS];
    int found = 0;
    const int count = epoll_wait(worker->events, news, NEWS, 0);
    for (int i = 0; i < count; i++) {
        if (listener_event(&worker->listener, news[i].data.ptr))
            found++;
        else
            found += tcp_peer_news(news[i].data.ptr, news[i].events);
    }
    return found;
}

static uint32_t polls_between(const struct worker *worker, bool found)
{
    if (!worker->peers->next && !worker->queued)
        return WITHOUT_OTHERS;
    return found ? WITH_OTHERS : WITH_OTHERS_AND_IDLE;
}

static int tcp_progress(void *of)
{
    struct worker *worker = of;
    const int found = lat_likely(worker->hot != 0) ? tcp_read(worker->hot) : 0;
    if (lat_likely(worker->hot != 0) && ++worker->polls < polls_between(worker, found))
        return found;
    worker->polls = 0;
    return found + look_at_all(worker);
}

static int tcp_descriptor(void *worker)
{
    return ((struct worker *)worker)->events;
}

/* The descriptor is readable as long as there is something to do. */
static int tcp_arm(void *worker)
{
    (void)worker;
    return 1;
}

static int tcp_drained(void *of)
{
    struct worker *worker = of;
    (void)look_at_all(worker);
    return worker->queued == 0;
}

static void tcp_close(void)
{
    while (workers) {
        struct worker *worker = workers;
        workers = worker->next;
        free_worker(worker);
    }
}

extern const struct transport lateral_transport;

__attribute__((visibility("default"))) const struct transport lateral_transport = {
    .name = "tcp",
    .open = tcp_open,
    .open_worker = tcp_open_worker,
    .address = tcp_address,
    .connect = tcp_connect,
    .send = tcp_send,
    .receive = tcp_receive,
    .progress = tcp_progress,
    .descriptor = tcp_descriptor,
    .arm = tcp_arm,
    .drained = tcp_drained,
    .close = tcp_close,
};
