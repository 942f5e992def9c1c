/* Messages that the target answers: gets, changes whose old values are wanted, questions about regions. They are listed and settled
 * under the worker's lock. A flag (release; acquire in proto_await) or a request tells the asking thread of the answer. */
#include "uccs/proto/inner.h"

#include "base/copy.h"

#include <stdlib.h>
#include <string.h>

/* Returns the bytes that a pending request may take up at its target until the answer has left. Long data takes up none, since the
 * target sends it from its place. */
static uint32_t held_for(const struct proto_pending *ask)
{
    return (uint32_t)(sizeof(struct wire_header) + (ask->bytes <= TRANSPORT_SHORT ? ask->bytes : 0));
}

/* Adds to the worker's held bytes. Threads that want to issue read them without the lock. */
static void add_asking(struct proto_worker *worker, uint32_t change)
{
    atomic_store_relaxed(&worker->asking, worker->asking + change);
}

static void count_pending(struct proto_peer *peer, struct proto_pending *ask)
{
    struct proto_worker *worker = peer->worker;
    add_asking(worker, held_for(ask));
    ask->number = worker->asked++;
    worker->under_way++;
    peer->all.asks.count++;
}

void proto_pending_list(const struct proto_send *send, struct proto_pending *ask)
{
    count_pending(send->peer, ask);
    if (send->log)
        proto_log_asks(send->log, send->peer, ask);
    proto_touch(send->peer);
}

static void settle_of_log(const struct proto_pending *ask)
{
    ask->log_peer->reading -= ask->reads;
    ask->log_peer->refused |= ask->failed && !ask->request && !ask->local;
    proto_log_peer_settled(ask->log_peer, ask);
}

/* The waiting thread owns a pending request with a flag. It may drop the pending request as soon as it sees the flag, so the flag is last. */
void proto_pending_settle(struct proto_pending *ask)
{
    if (ask->flag) {
        atomic_store_release(ask->flag, 1);
        return;
    }
    struct proto_worker *worker = ask->worker;
    add_asking(worker, -held_for(ask));
    worker->under_way--;
    proto_log_peer_settled(worker->log.peers[ask->pe], ask);
    if (ask->request)
        uccs_request_finish_use(ask->request, ask->failed);
    if (lat_unlikely(ask->local != 0))
        uccs_request_finish(ask->local, ask->failed);
    if (lat_unlikely(ask->log_peer != 0))
        settle_of_log(ask);
    free(ask);
}

/* --- Answers to gets, and old values of atomics. Events, under the worker's lock */

/* Returns the pending request that the data answers. The first call ends its handle. */
static struct proto_pending *ask_of(struct proto_arrival *arrival)
{
    if (!arrival->cookie)
        arrival->cookie = proto_pending_take(arrival);
    return arrival->cookie;
}

static void unpack_blocks(const struct proto_pending *ask, const char *data)
{
    const struct proto_blocks *blocks = &ask->blocks;
    copy_blocks(ask->dest, blocks->here, data, (ptrdiff_t)blocks->block, blocks->block, blocks->count);
}

/* The header of an answer may hold a word. */
static bool is_word(const struct proto_pending *ask)
{
    return ask->bytes <= sizeof((struct wire_header *)0)->answer.word && !ask->blocks.count;
}

static void check_length(struct proto_arrival *arrival)
{
    const struct proto_pending *ask = ask_of(arrival);
    if (!arrival->header.answer.failed && arrival->bytes != ask->bytes && (arrival->bytes || !is_word(ask)))
        uccs_fail("PE %u answered a get of %zu bytes by %zu", arrival->header.from, ask->bytes, arrival->bytes);
}

/* Returns the place for the data of a get; null for blocks, which land_data unpacks from a buffer. */
static void *room_for_data(struct proto_arrival *arrival)
{
    check_length(arrival);
    const struct proto_pending *ask = ask_of(arrival);
    return ask->blocks.count ? 0 : ask->dest;
}

static bool land_data(struct proto_arrival *arrival, const void *data)
{
    struct proto_pending *ask = ask_of(arrival);
    check_length(arrival);
    if (arrival->header.answer.failed)
        return true;
    if (ask->blocks.count)
        unpack_blocks(ask, data);
    else if (ask->bytes)
        memcpy(ask->dest, arrival->bytes ? data : arrival->header.answer.word, ask->bytes);
    return true;
}

static void settle_data(struct proto_arrival *arrival)
{
    struct proto_pending *ask = ask_of(arrival);
    ask->failed = arrival->header.answer.failed;
    proto_applied_note(ask, arrival->header.answer.applied);
    proto_pending_settle(ask);
}

const struct proto_handler proto_on_data = {.loose = true,
                                            .room = room_for_data,
                                            .land = land_data,
                                            .landed = settle_data};
