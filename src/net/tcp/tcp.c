/* Lanes over TCP, and the slots of transport.h. */
#include "net/tcp/inner.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

/* All PEs of the job may call at once, and where there are more of them than cores each takes seconds to answer. */
enum { GUESTS = 32, GUEST_SECONDS = 20 };

static struct lane *lanes;
static struct routes here; /* without a port */
static uint64_t key[2];    /* of this process: who calls must know it */

/* Jobs on one machine need no network. */
static void add_loopback(void)
{
    const uint32_t loopback = htonl(INADDR_LOOPBACK);
    here.count = 1;
    here.route[0] = (struct route){.six = 0};
    memcpy(here.route[0].address, &loopback, sizeof loopback);
}

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
        add_loopback();
    if (!tcp_congestion_known())
        return "LATERAL_TCP_CONGESTION names no congestion control that this process may choose";
    return getrandom(key, sizeof key, GRND_NONBLOCK) == sizeof key ? 0 : "the kernel has no random numbers";
}

static void free_lane(struct lane *lane)
{
    while (lane->peers) {
        struct peer *peer = lane->peers;
        lane->peers = peer->next;
        tcp_peer_free(peer);
    }
    while (lane->idle) {
        struct out *out = lane->idle;
        lane->idle = out->next;
        free(out);
    }
    tcp_late_close(lane);
    listener_close(&lane->door);
    if (lane->events >= 0)
        close(lane->events);
    free(lane->buffer);
    free(lane->spare);
    free(lane);
}

static void callers_wait(void *lane)
{
    tcp_events->broken(((struct lane *)lane)->owner, tcp_me,
                       "other PEs call it, and it has no descriptor left (ulimit -n) to let them in");
}

static bool prepare_lane(struct lane *lane)
{
    lane->events = epoll_create1(EPOLL_CLOEXEC);
    lane->buffer = malloc(TCP_BUFFER);
    lane->here = here;
    lane->door = (struct listener){.fd = -1,
                                   .timer = -1,
                                   .events = lane->events,
                                   .key = {key[0], key[1]},
                                   .me = (uint32_t)tcp_me,
                                   .npes = (uint32_t)tcp_npes,
                                   .places = GUESTS + (uint32_t)tcp_npes,
                                   .seconds = GUEST_SECONDS,
                                   .wants = tcp_peer_wants,
                                   .let_in = tcp_peer_let_in,
                                   .full = callers_wait,
                                   .owner = lane};
    return lane->buffer && lane->events >= 0 &&
           getrandom(&lane->id, sizeof lane->id, GRND_NONBLOCK) == sizeof lane->id &&
           listener_open(&lane->door, &lane->here) == 0;
}

static const char *tcp_open_worker(void *owner, void **made)
{
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return "no memory";
    lane->owner = owner;
    if (!prepare_lane(lane)) {
        free_lane(lane);
        return "no socket to listen on, or no memory";
    }
    lane->next = lanes;
    lanes = lane;
    *made = lane;
    return 0;
}

static int tcp_address(void *of, void *room, size_t *bytes)
{
    const struct lane *lane = of;
    const struct tcp_address address = {lane->here, lane->id, {key[0], key[1]}};
    const bool fits = sizeof address <= *bytes;
    if (fits)
        memcpy(room, &address, sizeof address);
    *bytes = sizeof address;
    return fits ? 0 : -1;
}

static void *tcp_connect(void *lane, int pe, const void *address, size_t bytes)
{
    struct tcp_address there;
    if (bytes != sizeof there)
        return 0;
    memcpy(&there, address, sizeof there);
    return there.place.count <= ROUTES_MAX ? tcp_peer_connect(lane, pe, &there) : 0;
}

/* --- Progress */

#define NEWS 16

/* Polls of the busy connection from one look at all of them to the next. */
enum { WITHOUT_OTHERS = 16, WITH_OTHERS = 8, WITH_OTHERS_AND_IDLE = 2 };

static int look_at_all(struct lane *lane)
{
    struct epoll_event news[NEWS];
    int found = 0;
    const int count = epoll_wait(lane->events, news, NEWS, 0);
    for (int i = 0; i < count; i++) {
        if (listener_event(&lane->door, news[i].data.ptr))
            found++;
        else
            found += tcp_peer_news(news[i].data.ptr, news[i].events);
    }
    return found;
}

static uint32_t polls_between(const struct lane *lane, bool found)
{
    if (!lane->peers->next && !lane->queued)
        return WITHOUT_OTHERS;
    return found ? WITH_OTHERS : WITH_OTHERS_AND_IDLE;
}

static int tcp_progress(void *of)
{
    struct lane *lane = of;
    const int found = lat_likely(lane->hot != 0) ? tcp_read(lane->hot) : 0;
    if (lat_likely(lane->hot != 0) && ++lane->polls < polls_between(lane, found))
        return found;
    lane->polls = 0;
    return found + look_at_all(lane);
}

static int tcp_descriptor(void *lane)
{
    return ((struct lane *)lane)->events;
}

/* The descriptor is readable as long as there is something to do. */
static int tcp_arm(void *lane)
{
    (void)lane;
    return 1;
}

static int tcp_drained(void *of)
{
    struct lane *lane = of;
    (void)look_at_all(lane);
    return lane->queued == 0;
}

static void tcp_close(void)
{
    while (lanes) {
        struct lane *lane = lanes;
        lanes = lane->next;
        free_lane(lane);
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
