/* Keeps messages behind puts of the transport. No network orders the two, so such a message stays in a list of its peer
 * until a flush of the transport says that the puts are in place. See docs/internals/onesided.md.
 *
 * Invariants, under the worker's lock: the list is in the order of issuing, and the first message waits for no more puts than
 * the next one; while the list is not empty, a flush of the transport is under way that covers its last message. A held
 * message counts in the worker's `sending`, so that issuers wait for room and the progress thread looks after the worker. */
#include "uccs/proto/inner.h"

#include <stdlib.h>
#include <string.h>

/* A flush of the transport under way. */
struct landing {
    struct proto_sent_token token;
    struct proto_peer *peer;
    uint64_t covers;                                           /* puts */
    void (*done)(struct proto_peer_flush *flush, bool failed); /* may be null */
    struct proto_peer_flush *flush;
};

void proto_take_fence_slow(struct proto_peer *peer)
{
    peer->epoch = peer->worker->epoch;
    peer->behind = peer->all.issued;
    peer->fenced = peer->all.issued.messages;
}

static void release_held(struct proto_peer *peer)
{
    struct proto_direct *direct = peer->direct;
    while (direct->held && direct->held->puts <= peer->answered.puts) {
        struct proto_send *send = direct->held;
        direct->held = send->next;
        proto_count_sending(peer->worker, -1);
        (send->later ? proto_send_later : proto_send_now)(send);
    }
}

static void end_claims(struct proto_peer *peer)
{
    struct proto_claim **at = &peer->direct->claims;
    while (*at) {
        struct proto_claim *claim = *at;
        if (claim->number > peer->answered.puts) {
            at = &claim->next;
            continue;
        }
        *at = claim->next;
        uccs_import_unclaim(claim->use);
        free(claim);
    }
}

void proto_claim_until(struct proto_peer *peer, struct uccs_import *use, uint64_t number)
{
    struct proto_claim *claim = uccs_must_have(malloc(sizeof *claim), "an operation on", peer->pe);
    *claim = (struct proto_claim){use, number, peer->direct->claims};
    peer->direct->claims = claim;
    end_claims(peer);
}

/* The transport raises this event. A put that has failed is not under way any more, either. */
static void end_landing(struct proto_sent_token *token, bool failed)
{
    struct landing *landing = (struct landing *)token;
    struct proto_peer *peer = landing->peer;
    proto_count_sending(peer->worker, -1);
    if (landing->covers > peer->answered.puts)
        peer->answered.puts = landing->covers;
    peer->direct->failed |= failed && !landing->done;
    release_held(peer);
    end_claims(peer);
    if (landing->done)
        landing->done(landing->flush, failed);
    free(landing);
}

void proto_land(struct proto_peer *peer, void (*done)(struct proto_peer_flush *flush, bool failed),
                struct proto_peer_flush *flush)
{
    struct landing *landing = uccs_must_have(malloc(sizeof *landing), "a flush of", peer->pe);
    *landing = (struct landing){{end_landing}, peer, peer->all.issued.puts, done, flush};
    peer->direct->landing = landing->covers;
    proto_count_sending(peer->worker, 1);
    switch (proto_transport->flush(peer->to, landing)) {
    case TRANSPORT_DONE: end_landing(&landing->token, false); break;
    case TRANSPORT_PENDING:
        if (peer->worker != proto_service_worker())
            proto_thread_remind(peer->worker);
        break;
    default: end_landing(&landing->token, true);
    }
}

/* A small message that may leave later is copied, as if it were in a batch (is_copied of initiator.c). */
static void copy_data(struct proto_send *send)
{
    if (!send->later || !send->bytes || send->buffer || !proto_coalesce_fits(send->bytes))
        return;
    send->buffer = uccs_must_have(malloc(send->bytes), "a message to", send->peer->pe);
    send->data = memcpy(send->buffer, send->data, send->bytes);
}

/* A message that waits for fewer puts than the last held one is held with it. */
void proto_hold_back(struct proto_send *send)
{
    struct proto_direct *direct = send->peer->direct;
    copy_data(send);
    if (direct->held && direct->last_held->puts > send->puts)
        send->puts = direct->last_held->puts;
    *(direct->held ? &direct->last_held->next : &direct->held) = send;
    direct->last_held = send;
    proto_count_sending(send->worker, 1);
    if (direct->landing < send->puts)
        proto_land(send->peer, 0, 0);
}

void proto_land_wanted(struct proto_worker *worker)
{
    if (lat_likely(!atomic_load_relaxed(&worker->lands)))
        return;
    atomic_store_relaxed(&worker->lands, 0);
    for (struct proto_log_peer *all = worker->log.active; all; all = all->next_active)
        if (all->peer->direct && all->peer->direct->landing < all->issued.puts)
            proto_land(all->peer, 0, 0);
}
