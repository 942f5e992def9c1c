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
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(link_reason, 0)};
    struct uccs_follower me;
    uccs_follower_begin(&me, &lane->events, &lane->lock);
    while (!atomic_load_acquire(flag)) /* release: link_send_free, link_settle */
        link_follow(&me, lane, &wait);
    uccs_follower_end(&me);
}

void link_issue_touch(struct link_peer *peer)
{
    struct link_lane *lane = peer->lane;
    if (!peer->touched) {
        peer->touched = true;
        peer->next_touched = lane->touched;
        lane->touched = peer;
    }
    link_touch(lane);
}

/* Counts a message to the peer and sets in its header which messages it must not overtake. */
static void count_message(struct link_peer *peer, struct link_header *header)
{
    link_take_fence(peer);
    header->after = peer->fenced;
    peer->issued.messages++;
    link_issue_touch(peer);
}

/* Returns the number of puts of the transport that a message must not overtake. */
static uint64_t puts_before(const struct link_peer *peer, const struct link_message *message)
{
    if (message->counts)
        return peer->behind.puts;
    return message->ordered ? peer->issued.puts : 0;
}

static void fill_header(struct link_send *send, const struct link_header *header)
{
    const uint32_t from = send->header.from, number = send->header.lane;
    send->header = *header;
    send->header.from = from;
    send->header.lane = number;
}

/* Under the lane's lock. */
static struct link_send *prepare(struct link_peer *peer, const struct link_message *message)
{
    struct link_send *send = link_send_new(peer->lane);
    fill_header(send, &message->header);
    send->flag = message->flag;
    send->buffer = message->buffer;
    send->left = message->left;
    send->cookie = message->cookie;
    send->local = message->local;
    if (message->counts)
        count_message(peer, &send->header);
    else if (message->ordered)
        send->header.after = peer->issued.messages;
    if (message->track && message->counts)
        link_track_issued(message->track, peer, send);
    if (message->request)
        send->header.number = link_hang(peer, message->request);
    else if (message->track)
        send->header.number = message->track->number;
    return send;
}

static void send_message(struct link_peer *peer, const struct link_message *message)
{
    struct link_send *send = prepare(peer, message);
    link_send_behind(peer, send, message->data, message->bytes, message->later, puts_before(peer, message));
}

struct link_send *link_issue_source(struct link_peer *peer, const struct link_message *message)
{
    struct link_send *send = link_send_new(peer->lane);
    send->flag = message->flag;
    send->buffer = message->buffer;
    send->left = message->left;
    send->cookie = message->cookie;
    send->local = message->local;
    return send;
}

/* The part of a put that tells the target, as an operation of its own. */
static struct link_send *word_of(struct link_peer *peer, const struct link_message *message)
{
    struct link_send *word = link_send_new(peer->lane);
    fill_header(word, &message->header);
    if (message->track)
        word->header.number = message->track->number;
    count_message(peer, &word->header);
    return word;
}

/* The flush that a request or a track waits for covers the word, too, so it is counted first. */
lat_cold static void put_direct(struct link_peer *peer, const struct link_message *message)
{
    struct link_send *source = link_issue_source(peer, message);
    struct link_send *word = message->way == LINK_DIRECT_TELL ? word_of(peer, message) : 0;
    const uint64_t puts = ++peer->issued.puts;
    link_issue_touch(peer);
    if (message->track)
        link_track_issued(message->track, peer, source);
    const uint16_t number = message->request ? link_hang(peer, message->request) : 0;
    if (word && number)
        word->header.number = number;
    link_direct_put(peer, message, source);
    if (word)
        link_send_behind(peer, word, 0, 0, false, puts);
}

/* Takes the memory that the message may need, so that nothing behind this lacks any. Returns false when there is none. A connection
 * that is not made yet, and an operation that the network does by itself, need more. */
static bool reserve(struct link_peer *peer, const struct link_message *message)
{
    struct link_lane *lane = peer->lane;
    return link_send_reserve(lane) && (!message->later || link_batch_reserve(lane)) &&
           (!message->track || link_mark_reserve(message->track, peer)) &&
           (!message->request || link_hang_reserve(peer));
}

static void start(struct link_peer *peer, const struct link_message *message)
{
    if (lat_unlikely(message->way && link_direct_can(peer, message)))
        put_direct(peer, message);
    else
        send_message(peer, message);
}

bool link_try_issue(struct link_lane *lane, int pe, const struct link_message *message)
{
    pthread_mutex_lock(&lane->lock);
    struct link_peer *peer = link_peer_try(lane, pe);
    const bool good = peer && reserve(peer, message);
    if (lat_likely(good))
        start(peer, message);
    pthread_mutex_unlock(&lane->lock);
    return good;
}

void link_issue(struct link_lane *lane, int pe, const struct link_message *message)
{
    if (lat_unlikely(!link_try_issue(lane, pe, message)))
        uccs_fail("no memory for a message to PE %d", pe);
}

void link_issue_list(struct link_peer *peer, struct link_track *track, struct link_ask *ask)
{
    link_ask_list(ask);
    if (track)
        link_track_asks(track, peer, ask);
    link_touch(peer->lane);
}

static void send_ask(struct link_peer *peer, const struct link_message *message, struct link_ask *ask, bool later)
{
    struct link_send *send = prepare(peer, message);
    send->header.asker = link_token_of(peer->lane, ask, peer->pe, (enum link_kind)send->header.kind);
    link_send_behind(peer, send, message->data, message->bytes, later, puts_before(peer, message));
}

static void start_ask(struct link_peer *peer, const struct link_message *message, struct link_ask *ask)
{
    struct link_lane *lane = peer->lane;
    const bool direct = lat_unlikely(message->way && link_direct_can(peer, message));
    const bool later = message->later && !ask->flag && link_batch_fits(ask->bytes) && lane->first;
    ask->lane = lane;
    ask->pe = peer->pe;
    ask->reads = direct || !link_batch_fits(ask->bytes);
    if (!ask->flag)
        link_issue_list(peer, message->track, ask);
    if (direct)
        link_direct_get(peer, message, ask);
    else
        send_ask(peer, message, ask, later);
}

bool link_try_ask(struct link_lane *lane, int pe, const struct link_message *message, struct link_ask *ask)
{
    link_make_room(lane);
    if (!ask->flag)
        make_room_to_ask(lane);
    pthread_mutex_lock(&lane->lock);
    struct link_peer *peer = link_peer_try(lane, pe);
    const bool good = peer && reserve(peer, message) && link_token_reserve(&lane->tokens);
    if (lat_likely(good))
        start_ask(peer, message, ask);
    pthread_mutex_unlock(&lane->lock);
    return good;
}

void link_ask_send(struct link_lane *lane, int pe, const struct link_message *message, struct link_ask *ask)
{
    if (lat_unlikely(!link_try_ask(lane, pe, message, ask)))
        uccs_fail("no memory for a message to PE %d", pe);
}
