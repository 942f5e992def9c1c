/* Issues messages on a lane; counts and orders a message that is an operation. */
#include "uccs/link/inner.h"

#define SENDING_MOST 512                /* messages that the transport may hold before issuing waits */
#define ASKING_MOST ((uint32_t)4 << 20) /* bytes that the targets of a lane may hold in answers before asking waits */

_Thread_local bool link_never_waits;

bool link_busy(const struct link_lane *lane)
{
    return lat_unlikely(atomic_load_relaxed(&lane->sending) > SENDING_MOST);
}

void link_make_room(struct link_lane *lane)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (link_busy(lane) && !link_never_waits)
        link_pause(lane, &wait);
}

bool link_ask_busy(const struct link_lane *lane)
{
    return lat_unlikely(atomic_load_relaxed(&lane->asking) > ASKING_MOST);
}

/* Waits while the targets hold too many bytes of answers; a target holds an answer until it has left. */
static void make_room_to_ask(struct link_lane *lane)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (link_ask_busy(lane) && !link_never_waits)
        link_pause(lane, &wait);
}

void link_await(struct link_lane *lane, const uint32_t *flag)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (!atomic_load_acquire(flag)) /* release: link_send_free, link_settle */
        link_pause(lane, &wait);
}

/* Counts an operation on the peer and sets in its header which operations it must not overtake. */
static void count_operation(struct link_peer *peer, struct link_header *header)
{
    struct link_lane *lane = peer->lane;
    if (peer->epoch != lane->epoch) {
        peer->epoch = lane->epoch;
        peer->fenced = peer->issued;
    }
    header->after = peer->fenced;
    peer->issued++;
    if (!peer->touched) {
        peer->touched = true;
        peer->next_touched = lane->touched;
        lane->touched = peer;
    }
    link_touch(lane);
}

/* Under the lane's lock. */
static struct link_send *prepare(struct link_peer *peer, const struct link_message *message)
{
    struct link_send *send = link_send_new(peer->lane);
    const uint32_t from = send->header.from, number = send->header.lane;
    send->header = message->header;
    send->header.from = from;
    send->header.lane = number;
    send->flag = message->flag;
    send->buffer = message->buffer;
    send->left = message->left;
    send->cookie = message->cookie;
    send->local = message->local;
    if (message->counts)
        count_operation(peer, &send->header);
    else if (message->ordered)
        send->header.after = peer->issued;
    if (message->track && message->counts)
        link_track_issued(message->track, peer, send);
    if (message->request)
        link_hang(peer, message->request);
    else if (message->track)
        send->header.track = message->track->number;
    return send;
}

void link_issue(struct link_lane *lane, int pe, const struct link_message *message)
{
    pthread_mutex_lock(&lane->lock);
    struct link_peer *peer = link_peer_of(lane, pe);
    struct link_send *send = prepare(peer, message);
    (message->later ? link_send_later : link_send_now)(peer, send, message->data, message->bytes);
    pthread_mutex_unlock(&lane->lock);
}

void link_ask_send(struct link_lane *lane, int pe, const struct link_message *message, struct link_ask *ask)
{
    bool later = message->later && !ask->flag && link_batch_fits(ask->bytes);
    link_make_room(lane);
    if (!ask->flag)
        make_room_to_ask(lane);
    pthread_mutex_lock(&lane->lock);
    struct link_peer *peer = link_peer_of(lane, pe);
    struct link_send *send = prepare(peer, message);
    later = later && lane->first;
    send->header.asker = link_token_of(lane, ask, pe, (enum link_kind)send->header.kind);
    ask->lane = lane;
    ask->pe = pe;
    ask->reads = !link_batch_fits(ask->bytes);
    if (!ask->flag) {
        link_ask_list(ask);
        if (message->track)
            link_track_asks(message->track, peer, ask);
        link_touch(lane);
    }
    (later ? link_send_later : link_send_now)(peer, send, message->data, message->bytes);
    pthread_mutex_unlock(&lane->lock);
}
