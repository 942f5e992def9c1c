/* Opens and frees lanes, makes their peers, and gives messages to the transport. */
#include "uccs/link/inner.h"

#include <stdlib.h>
#include <string.h>

struct link_lane link_lanes[LINK_LANES] = {[0 ... LINK_LANES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
const struct transport *link_transport;
uint32_t uccs_far_on, uccs_far_touched;

struct link_lane *link_service(void)
{
    return &link_lanes[0];
}

void link_hold(void)
{
    pthread_mutex_lock(&link_lanes[0].lock);
}

void link_go_on(void)
{
    pthread_mutex_unlock(&link_lanes[0].lock);
}

struct link_peer *link_peer_try(struct link_lane *lane, int pe)
{
    struct link_peer *peer = lane->peers[pe];
    if (lat_likely(peer || !(peer = calloc(1, sizeof *peer))))
        return peer;
    peer->lane = lane;
    peer->pe = pe;
    peer->origin.peer = peer;
    lane->peers[pe] = peer;
    return peer;
}

struct link_peer *link_peer_of(struct link_lane *lane, int pe)
{
    struct link_peer *peer = link_peer_try(lane, pe);
    if (!peer)
        uccs_fail("no memory for a connection to PE %d", pe);
    return peer;
}

void link_count_sending(struct link_lane *lane, int change)
{
    atomic_store_relaxed(&lane->sending, lane->sending + (uint32_t)change);
}

static void sent(struct link_token *token, bool failed)
{
    struct link_send *send = (struct link_send *)token;
    link_count_sending(send->lane, -1);
    if (lat_unlikely(failed))
        return; /* `broken` says why and ends the job */
    link_send_free(send);
}

struct link_send *link_send_new(struct link_lane *lane)
{
    struct link_send *send = lane->idle;
    if (lat_likely(send != 0))
        lane->idle = send->next;
    else if (!(send = malloc(sizeof *send)))
        uccs_fail("no memory for a message");
    *send = (struct link_send){.token.done = sent,
                               .lane = lane,
                               .header.from = (uint32_t)uccs_core.me,
                               .header.lane = lane->number};
    return send;
}

/* A put with a word behind it and a batch are three. */
bool link_send_reserve(struct link_lane *lane)
{
    struct link_send **at = &lane->idle;
    for (int i = 0; i < 3; i++, at = &(*at)->next)
        if (lat_unlikely(!*at) && !(*at = calloc(1, sizeof **at)))
            return false;
    return true;
}

void link_send_free(struct link_send *send)
{
    struct link_lane *lane = send->lane;
    if (send->batch && !lane->spare)
        lane->spare = send->buffer;
    else if (send->buffer)
        free(send->buffer);
    if (send->flag)
        atomic_store_release(send->flag, 1); /* acquire: link_await */
    if (send->left)
        send->left(send->cookie);
    if (lat_unlikely(send->local != 0))
        uccs_request_finish(send->local, false);
    if (lat_unlikely(send->mark != 0))
        link_mark_left(send->mark);
    send->next = lane->idle;
    lane->idle = send;
}

bool link_hand_over(struct link_outbox *box, struct link_send *send, const void *data, size_t bytes)
{
    link_count_sending(send->lane, 1);
    switch (link_transport->send(box->to, &send->header, sizeof send->header, data, bytes, send)) {
    case TRANSPORT_DONE: link_count_sending(send->lane, -1), link_send_free(send); return true;
    case TRANSPORT_PENDING: return false;
    default: uccs_fail_process_lost("a message to PE %d failed: the connection is lost", box->pe);
    }
}

const char *link_lane_open(uint32_t number)
{
    struct link_lane *lane = &link_lanes[number];
    lane->number = number;
    lane->oldest = UINT64_MAX;
    free(lane->peers); /* an attempt that failed may have left them */
    lane->peers = calloc((size_t)uccs_core.npes, sizeof *lane->peers);
    return lane->peers ? link_transport->open_worker(lane, &lane->at) : "no memory";
}

/* A life that a fault ends may leave messages that have not been sent. */
static void free_outbox(struct link_outbox *box)
{
    if (box->send)
        free(box->send->buffer);
    free(box->send);
    box->send = 0;
}

/* A message is kept until the end when operations that it waits for have never come. */
static void free_origin(struct link_origin *origin)
{
    for (struct link_kept *next; origin->kept; origin->kept = next) {
        next = origin->kept->next;
        free(origin->kept);
    }
    free_outbox(&origin->box);
    free(origin->refusals);
}

static void free_origins(struct link_peer *peer)
{
    for (int lane = 0; peer->others && lane < LINK_LANES; lane++)
        if (peer->others[lane]) {
            free_origin(peer->others[lane]);
            free(peer->others[lane]);
        }
    free_origin(&peer->origin);
    free(peer->others);
}

static void free_peer(struct link_peer *peer)
{
    if (peer->next)
        free(peer->next->requests);
    free(peer->next);
    free_origins(peer);
    free_outbox(&peer->box);
    free(peer);
}

void link_lane_free(struct link_lane *lane)
{
    for (int pe = 0; lane->peers && pe < uccs_core.npes; pe++)
        if (lane->peers[pe])
            free_peer(lane->peers[pe]);
    free(lane->peers);
    free(lane->spare);
    link_token_close(&lane->tokens);
    while (lane->idle_flush) {
        struct link_flush *flush = lane->idle_flush;
        lane->idle_flush = flush->next;
        free(flush->requests);
        free(flush);
    }
    while (lane->idle) {
        struct link_send *send = lane->idle;
        lane->idle = send->next;
        free(send);
    }
    memset((char *)lane + offsetof(struct link_lane, at), 0, sizeof *lane - offsetof(struct link_lane, at));
}
