/* Lanes: their life, their peers, and what leaves through them. See far.h. */
#include "uccs/far_lane.h"

#include "base/env.h"
#include "base/log.h"
#include "base/module.h"
#include "rte/rte.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define POLLS_A_LOOK 4096 /* at the lines; polls may be 50 us apart */
#define LOOKS_MOST 32     /* polls before a waiter yields: a PE of another "node" may want this core */

struct far_lane far_lanes[FAR_LANES] = {[0 ... FAR_LANES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
const struct transport *far_transport;
uint32_t uccs_far_on, uccs_far_touched;

/* The address of a lane that issues, so that it can be answered. The first operation to the peer: nothing else is looked at
 * before it. */
static void say_hello(struct far_peer *peer)
{
    size_t bytes;
    void *address = malloc(FAR_ADDRESS);
    if (!address || far_names_address(peer->lane, address, &bytes) != 0)
        far_fail("no connection to PE %d", peer->pe);
    struct far_send *send = far_send_new(peer->lane);
    send->header.kind = FAR_HELLO;
    send->buffer = address;
    peer->issued++;
    far_send(peer, send, address, bytes);
}

void far_connect(struct far_peer *peer)
{
    struct far_record *record = far_names_find(peer->pe);
    peer->same_image = record->image_shared && rte.me->image_shared &&
                       memcmp(record->image_id, rte.me->image_id, sizeof record->image_id) == 0;
    peer->asked_image = true;
    peer->to = far_transport->connect(peer->lane->at, peer->pe, record->address, record->size);
    far_line_to(peer->pe, &record->line);
    free(record);
    if (!peer->to)
        far_fail("PE %d cannot be reached over %s", peer->pe, far_transport->name);
    peer->box.to = peer->to;
    peer->box.pe = peer->pe;
    if (peer->lane != far_service())
        say_hello(peer);
}

struct far_peer *far_peer(struct far_lane *lane, int pe)
{
    struct far_peer *peer = lane->peers[pe];
    if (lat_likely(peer != 0))
        return peer;
    peer = calloc(1, sizeof *peer);
    if (!peer)
        far_fail("no memory for a connection to PE %d", pe);
    peer->lane = lane;
    peer->pe = pe;
    peer->origin.peer = peer;
    lane->peers[pe] = peer;
    return peer;
}

/* Read without the lock by who wants to issue. */
static void count_sending(struct far_lane *lane, int change)
{
    atomic_store_relaxed(&lane->sending, lane->sending + (uint32_t)change);
}

static void sent(struct far_token *token, bool failed)
{
    struct far_send *send = (struct far_send *)token;
    count_sending(send->lane, -1);
    if (lat_unlikely(failed))
        return; /* `broken` says why and ends the job */
    far_send_free(send);
}

struct far_send *far_send_new(struct far_lane *lane)
{
    struct far_send *send = lane->idle;
    if (lat_likely(send != 0))
        lane->idle = send->next;
    else if (!(send = malloc(sizeof *send)))
        far_fail("no memory for a message");
    *send = (struct far_send){.token.done = sent,
                              .lane = lane,
                              .header.from = (uint32_t)uccs_core.me,
                              .header.lane = lane->number};
    return send;
}

/* The message has left: what it carried may be used again. */
void far_send_free(struct far_send *send)
{
    struct far_lane *lane = send->lane;
    if (send->counter)
        uccs_counter_arrive_here(send->counter, 1);
    if (send->batch && !lane->spare)
        lane->spare = send->buffer;
    else if (send->buffer)
        free(send->buffer);
    if (send->flag)
        atomic_store_release(send->flag, 1); /* acquire: await in far.c */
    if (send->held)
        (void)atomic_fetch_sub_acqrel(send->held, 1); /* acquire: who waits for it to be 0 */
    if (send->block)
        far_am_left(send->block);
    send->next = lane->idle;
    lane->idle = send;
}

void far_hand_over(void *to, int pe, struct far_send *send, const void *data, size_t bytes)
{
    count_sending(send->lane, 1);
    switch (far_transport->send(to, &send->header, sizeof send->header, data, bytes, send)) {
    case TRANSPORT_DONE: count_sending(send->lane, -1), far_send_free(send); break;
    case TRANSPORT_PENDING: break;
    default: far_fail("a message to PE %d failed: the connection is lost", pe);
    }
}

static struct far_outbox *box_of(struct far_peer *peer)
{
    if (lat_unlikely(!peer->to))
        far_connect(peer);
    return &peer->box;
}

void far_send(struct far_peer *peer, struct far_send *send, const void *data, size_t bytes)
{
    struct far_outbox *box = box_of(peer);
    struct far_lane *lane = send->lane;
    if (lat_likely(!box->send)) {
        far_hand_over(peer->to, peer->pe, send, data, bytes);
    } else if (far_batch_fits(bytes)) {
        far_batch_add(box, send, data, bytes);
        far_batch_push(box, lane);
    } else {
        far_batch_push(box, lane);
        far_hand_over(peer->to, peer->pe, send, data, bytes);
    }
}

void far_send_later(struct far_peer *peer, struct far_send *send, const void *data, size_t bytes)
{
    struct far_lane *lane = send->lane;
    if (!far_batch_fits(bytes)) {
        far_send(peer, send, data, bytes);
        return;
    }
    bool first = !lane->boxes;
    far_batch_add(box_of(peer), send, data, bytes);
    if (first)
        far_thread_remind(lane);
}

void far_answer(struct far_origin *origin, struct far_send *send, const void *data, size_t bytes)
{
    struct far_outbox *box = lat_likely(origin == &origin->peer->origin) ? box_of(origin->peer) : &origin->box;
    if (far_batch_fits(bytes))
        far_batch_add(box, send, data, bytes);
    else
        far_hand_over(box->to, box->pe, send, data, bytes);
}

static void finished(void *token, int failed)
{
    struct far_token *done = token;
    done->done(done, failed);
}

/* A line knows better why, or that it is no fault. */
static void broken(void *lane, int pe, const char *why)
{
    (void)lane;
    far_line_look();
    far_fail("PE %d is lost: %s", pe, why);
}

static int look(struct far_lane *lane)
{
    if (lane->hung)
        far_nudge(lane);
    if (lane->boxes)
        far_batch_push_all(lane);
    int count = far_transport->progress(lane->at);
    if (lane->boxes)
        far_batch_push_all(lane);
    return count;
}

bool far_lane_clear(struct far_lane *lane)
{
    if (pthread_mutex_trylock(&lane->lock) != 0)
        return false;
    look(lane);
    bool clear = lane->sending == 0;
    pthread_mutex_unlock(&lane->lock);
    return clear;
}

int far_poll(struct far_lane *lane)
{
    if (pthread_mutex_trylock(&lane->lock) != 0)
        return 0;
    uint32_t polls = lane->polls + 1;
    atomic_store_relaxed(&lane->polls, polls); /* a hint for far_thread.c */
    int count = look(lane);
    pthread_mutex_unlock(&lane->lock);
    if (lat_unlikely(polls % POLLS_A_LOOK == 0))
        far_line_look(); /* for those without the thread */
    return count;
}

/* The service lane is the progress thread's, if there is one. */
int far_look_all(uint64_t lanes)
{
    int count = 0;
    if (!far_thread_serves())
        lanes |= 1;
    for (; lanes; lanes &= lanes - 1)
        count += far_poll(&far_lanes[__builtin_ctzll(lanes)]);
    return count;
}

int far_look(struct far_lane *lane)
{
    return far_look_all(UINT64_C(1) << lane->number);
}

/* Arrivals, completions. Who waits for memory may wait for what another thread has issued, or itself on another lane. */
static int poll_lanes(void)
{
    int count = far_poll(far_service());
    if (lat_unlikely(atomic_load_relaxed(&far_others))) {
        struct far_lane *other = far_next();
        count += other ? far_poll(other) : 0;
    }
    return count;
}

bool uccs_far_same_image(int pe)
{
    struct far_lane *lane = far_service();
    pthread_mutex_lock(&lane->lock);
    struct far_peer *peer = far_peer(lane, pe);
    if (!peer->asked_image)
        far_connect(peer);
    bool same = peer->same_image;
    pthread_mutex_unlock(&lane->lock);
    return same;
}

const char *far_lane_open(uint32_t number)
{
    struct far_lane *lane = &far_lanes[number];
    lane->number = number;
    lane->oldest = UINT64_MAX;
    free(lane->peers); /* of an attempt that failed */
    lane->peers = calloc((size_t)uccs_core.npes, sizeof *lane->peers);
    return lane->peers ? far_transport->open_lane(lane, &lane->at) : "no memory";
}

static int load_transport(void)
{
    static void *module;
    static const struct transport_events events = {far_arrived, finished, broken};
    const char *why = 0;
    if (!module)
        module = module_open(strncmp(env_text(ENV_TRANSPORTS), "fault:", 6) == 0 ? "fault" : "ucx", &why);
    far_transport = module ? dlsym(module, TRANSPORT_SYMBOL) : 0;
    if (!far_transport) {
        log_alike(uccs_core.me,
                  "PEs are on several nodes, and what carries messages between them cannot be loaded: %s; build "
                  "Lateral where UCX is (Debian: libucx-dev)",
                  why ? why : "it is not one of this library's");
        return -1;
    }
    why = far_transport->open(&events, uccs_core.me, uccs_core.npes);
    if (!why)
        why = far_lane_open(0);
    if (why)
        log_alike(uccs_core.me, "the transport %s does not work here: %s", far_transport->name, why);
    return why ? -1 : 0;
}

int uccs_far_open(void)
{
    if ((int)uccs_core.size == uccs_core.npes)
        return 0;
    if (uccs_core.npes > FAR_PES) {
        log_line("a job on several nodes has at most %d PEs", FAR_PES);
        return -1;
    }
    if (load_transport() != 0 || far_names_publish() != 0)
        return -1;
    if (uccs_core.spin > LOOKS_MOST)
        uccs_core.spin = LOOKS_MOST;
    far_pool_open();
    uccs_far_on = 1;
    uccs_poller_add(poll_lanes, UCCS_POLL_ALWAYS);
    return far_thread_start();
}

static bool drained(struct far_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    far_batch_push_all(lane);
    bool done = far_transport->drained(lane->at) && !lane->boxes && lane->sending == 0;
    pthread_mutex_unlock(&lane->lock);
    return done;
}

/* Answers that let others go may still be here. */
void uccs_far_settle(void)
{
    if (!uccs_far_on)
        return;
    uccs_far_quiet_all();
    far_line_rest();
    far_thread_start_anyway();
    struct uccs_wait wait = {0};
    for (uint64_t left = far_lanes_open(); left; left &= left - 1)
        while (!drained(&far_lanes[__builtin_ctzll(left)]))
            uccs_yield(&wait);
}

static void free_peer(struct far_peer *peer)
{
    if (peer->next)
        free(peer->next->requests);
    free(peer->next);
    far_origins_free(peer);
    free(peer);
}

static void free_lane(struct far_lane *lane)
{
    for (int pe = 0; lane->peers && pe < uccs_core.npes; pe++)
        if (lane->peers[pe])
            free_peer(lane->peers[pe]);
    free(lane->peers);
    free(lane->spare);
    while (lane->idle) {
        struct far_send *send = lane->idle;
        lane->idle = send->next;
        free(send);
    }
    *lane = (struct far_lane){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void uccs_far_close(void)
{
    if (!uccs_far_on)
        return;
    far_thread_stop();
    rte_job_barrier(); /* nobody looks at a connection any more: that one is taken down now is no fault */
    far_line_close();
    far_transport->close();
    far_am_close();
    far_pool_close();
    for (int i = 0; i < FAR_LANES; i++)
        free_lane(&far_lanes[i]);
    uccs_poller_remove(poll_lanes);
    uccs_far_on = uccs_far_touched = 0;
}
