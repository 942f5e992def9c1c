/* Atomics of the transport; see link.h. Any thread.
 *
 * No message can replace such an atomic, so the thread waits here, without the lock, until it may start: the connection is
 * made and the piece's key has come, both once, and what a fence has put before it is done or the transport keeps the
 * order. Requests of other operations never wait for these threads. */
#include "uccs/link/inner.h"

/* --- What the transport has */

static bool has_all(void *to)
{
    const unsigned able = link_transport->able(to);
    return able & link_wire && (link_wire & TRANSPORT_ONESIDED || able & TRANSPORT_ATOMICS_ALONE) &&
           link_transport->atomics(to, 4) == TRANSPORT_ATOMICS_ALL &&
           link_transport->atomics(to, 8) == TRANSPORT_ATOMICS_ALL;
}

/* The connection of this PE to itself stands for all. One that proves different ends the job (link_direct_of). */
bool link_adapter(void)
{
    struct link_lane *lane = link_service();
    if (!link_has_direct)
        return false;
    struct uccs_wait wait uccs_scoped = {0};
    pthread_mutex_lock(&lane->lock);
    struct link_peer *self = link_peer_of(lane, uccs_core.me);
    link_connect(self);
    while (!(link_transport->able(self->to) & TRANSPORT_KNOWN)) {
        uccs_eventcount_unlock(&lane->events, &lane->lock);
        link_pause(lane, &wait);
        pthread_mutex_lock(&lane->lock);
    }
    const bool all = has_all(self->to);
    pthread_mutex_unlock(&lane->lock);
    return all;
}

/* --- Waiting for its turn */

enum turn { NOW, WHEN_KNOWN, WHEN_FLUSHED };

static enum turn turn_of(struct link_peer *peer, const struct link_message *message)
{
    link_connect(peer);
    if (!link_direct_of(peer))
        return WHEN_KNOWN;
    const struct link_key *key = link_key_find(peer, &message->header, message->header.at.offset);
    if (key && key->state == LINK_KEY_NONE)
        uccs_fail("the network cannot reach memory of PE %d for an atomic", peer->pe);
    if (!key || key->state != LINK_KEY_READY)
        return WHEN_KNOWN;
    return link_direct_may(peer) ? NOW : WHEN_FLUSHED;
}

/* Takes and releases the lane's lock meanwhile. `all` has an owner and no parent, so nobody frees it; a flush counts on it until
 * it is answered. */
static void await_turn(struct link_peer *peer, const struct link_message *message)
{
    struct link_lane *lane = peer->lane;
    struct uccs_request all = {.pending = 1};
    struct uccs_wait wait uccs_scoped = {0};
    for (enum turn turn; (turn = turn_of(peer, message)) != NOW || atomic_load_acquire(&all.pending) != 1;) {
        if (turn == WHEN_FLUSHED && atomic_load_acquire(&all.pending) == 1) /* acqrel: uccs_request_finish */
            link_flush_peer(peer, peer->issued, &all, 0, true);
        uccs_eventcount_unlock(&lane->events, &lane->lock);
        link_pause(lane, &wait);
        pthread_mutex_lock(&lane->lock);
    }
}

/* --- Starting it */

static void post(struct link_peer *peer, const struct link_message *message, const struct transport_word *word)
{
    struct link_send *source = link_issue_source(peer, message);
    if (message->track)
        link_track_issued(message->track, peer, source);
    if (message->request)
        (void)link_hang(peer, message->request);
    link_direct_atomic(peer, message, word, source, 0);
}

static void fetch(struct link_peer *peer, const struct link_message *message, const struct transport_word *word,
                  struct link_ask *ask)
{
    ask->lane = peer->lane;
    ask->pe = peer->pe;
    if (!ask->flag)
        link_issue_list(peer, message->track, ask);
    link_direct_atomic(peer, message, word, 0, ask);
}

/* The fence keeps this process's stores before it, to its own memory and to peers of the node, ahead of the adapter. */
void link_atomic(struct link_lane *lane, int pe, const struct link_message *message, const struct transport_word *word,
                 struct link_ask *ask)
{
    atomic_fence_seqcst();
    link_make_room(lane);
    pthread_mutex_lock(&lane->lock);
    struct link_peer *peer = link_peer_of(lane, pe);
    if (message->ordered)
        lane->epoch++;
    await_turn(peer, message);
    peer->issued.puts++;
    link_issue_touch(peer);
    if (ask)
        fetch(peer, message, word, ask);
    else
        post(peer, message, word);
    pthread_mutex_unlock(&lane->lock);
}
