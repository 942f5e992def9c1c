/* Keeps messages behind puts of the transport. No network orders the two, so such a message stays in a list of its peer
 * until a flush of the transport says that the puts are in place. See docs/internals/onesided.md.
 *
 * Invariants, under the lane's lock: the list is in the order of issuing, and the first message waits for no more puts than
 * the next one; while the list is not empty, a flush of the transport is under way that covers its last message. A held
 * message counts in the lane's `sending`, so that issuers wait for room and the progress thread looks after the lane. */
#include "uccs/link/inner.h"

#include <stdlib.h>
#include <string.h>

/* A flush of the transport under way. */
struct landing {
    struct link_token token;
    struct link_peer *peer;
    uint64_t covers;                                     /* puts */
    void (*done)(struct link_flush *flush, bool failed); /* may be null */
    struct link_flush *flush;
};

void link_take_fence(struct link_peer *peer)
{
    if (lat_likely(peer->epoch == peer->lane->epoch))
        return;
    peer->epoch = peer->lane->epoch;
    peer->behind = peer->issued;
    peer->fenced = peer->issued.messages;
}

static void send(struct link_peer *peer, struct link_send *send, const void *data, size_t bytes, bool later)
{
    (later ? link_send_later : link_send_now)(peer, send, data, bytes);
}

static void release(struct link_peer *peer)
{
    struct link_direct *direct = peer->direct;
    while (direct->held && direct->held->puts <= peer->answered.puts) {
        struct link_held *held = direct->held;
        direct->held = held->next;
        link_count_sending(peer->lane, -1);
        send(peer, held->send, held->data, held->bytes, held->later);
        free(held);
    }
}

static void end_claims(struct link_peer *peer)
{
    struct link_claim **at = &peer->direct->claims;
    while (*at) {
        struct link_claim *claim = *at;
        if (claim->number > peer->answered.puts) {
            at = &claim->next;
            continue;
        }
        *at = claim->next;
        link_use_end(claim->use);
        free(claim);
    }
}

void link_claim_until(struct link_peer *peer, struct link_use *use, uint64_t number)
{
    struct link_claim *claim = malloc(sizeof *claim);
    if (!claim)
        uccs_fail("no memory for an operation on PE %d", peer->pe);
    *claim = (struct link_claim){use, number, peer->direct->claims};
    peer->direct->claims = claim;
    end_claims(peer);
}

/* The transport raises this event. A put that has failed is not under way any more, either. */
static void landed(struct link_token *token, bool failed)
{
    struct landing *landing = (struct landing *)token;
    struct link_peer *peer = landing->peer;
    link_count_sending(peer->lane, -1);
    if (landing->covers > peer->answered.puts)
        peer->answered.puts = landing->covers;
    peer->direct->failed |= failed && !landing->done;
    release(peer);
    end_claims(peer);
    if (landing->done)
        landing->done(landing->flush, failed);
    free(landing);
}

void link_land(struct link_peer *peer, void (*done)(struct link_flush *flush, bool failed), struct link_flush *flush)
{
    struct landing *landing = malloc(sizeof *landing);
    if (!landing)
        uccs_fail("no memory for a flush of PE %d", peer->pe);
    *landing = (struct landing){{landed}, peer, peer->issued.puts, done, flush};
    peer->direct->landing = landing->covers;
    link_count_sending(peer->lane, 1);
    switch (link_transport->flush(peer->to, landing)) {
    case TRANSPORT_DONE: landed(&landing->token, false); break;
    case TRANSPORT_PENDING:
        if (peer->lane != link_service())
            link_thread_remind(peer->lane);
        break;
    default: landed(&landing->token, true);
    }
}

/* A small message that may leave later is copied, as if it were in a batch (link_copies). */
static void copy_data(struct link_held *held)
{
    if (!held->later || !held->bytes || held->send->buffer || !link_batch_fits(held->bytes))
        return;
    held->send->buffer = malloc(held->bytes);
    if (!held->send->buffer)
        uccs_fail("no memory for a message");
    held->data = memcpy(held->send->buffer, held->data, held->bytes);
}

static void hold(struct link_peer *peer, const struct link_held *what)
{
    struct link_direct *direct = peer->direct;
    struct link_held *held = malloc(sizeof *held);
    if (!held)
        uccs_fail("no memory for a message");
    *held = *what;
    copy_data(held);
    *(direct->held ? &direct->last_held->next : &direct->held) = held;
    direct->last_held = held;
    link_count_sending(peer->lane, 1);
    if (direct->landing < held->puts)
        link_land(peer, 0, 0);
}

/* A message that waits for fewer puts than the last held one is held with it. */
void link_send_behind(struct link_peer *peer, struct link_send *message, const void *data, size_t bytes, bool later,
                      uint64_t puts)
{
    if (lat_likely(puts <= peer->answered.puts)) {
        send(peer, message, data, bytes, later);
        return;
    }
    const struct link_held *last = peer->direct->held ? peer->direct->last_held : 0;
    const struct link_held held = {message, data, bytes, later, last && last->puts > puts ? last->puts : puts, 0};
    hold(peer, &held);
}

void link_land_wanted(struct link_lane *lane)
{
    if (lat_likely(!atomic_load_relaxed(&lane->lands)))
        return;
    atomic_store_relaxed(&lane->lands, 0);
    for (struct link_peer *peer = lane->touched; peer; peer = peer->next_touched)
        if (peer->direct && peer->direct->landing < peer->issued.puts)
            link_land(peer, 0, 0);
}
