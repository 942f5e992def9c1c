/* Atomics on memory whose atomics the network's adapter does: the adapter's part of the heap (core/memory.h). See far.h.
 *
 * Invariant: nothing else changes a word there that a program accesses by atomics. So PEs of the target's node, and the
 * target itself, go through the adapter, too, and the operation is done when the call returns, as all operations on the node are.
 * A processor's loads see what the adapter has stored. */
#include "uccs/far/inner.h"

#include "net/transport.h"
#include "uccs/core/memory.h"

#include <stdlib.h>

bool uccs_far_adapter(void)
{
    size_t offset;
    return uccs_memory_adapter(&offset) && link_adapter();
}

bool uccs_far_adapter_share(size_t offset, size_t bytes)
{
    size_t heap;
    char *start = uccs_memory_heap(&heap);
    const size_t whole = uccs_memory_heap_whole();
    bool all = true;
    for (size_t piece = offset - offset % LINK_PIECE; piece < offset + bytes; piece += LINK_PIECE)
        all &= link_share(start + piece, whole - piece < LINK_PIECE ? whole - piece : LINK_PIECE);
    return all;
}

/* A fetch adds nothing, and a set swaps. */
static struct transport_word word_of(const struct uccs_atomic_op *op)
{
    static const uint8_t names[] =
        {[UCCS_ATOMIC_FETCH] = TRANSPORT_ADD,   [UCCS_ATOMIC_SET] = TRANSPORT_SWAP, [UCCS_ATOMIC_SWAP] = TRANSPORT_SWAP,
         [UCCS_ATOMIC_CSWAP] = TRANSPORT_CSWAP, [UCCS_ATOMIC_ADD] = TRANSPORT_ADD,  [UCCS_ATOMIC_AND] = TRANSPORT_AND,
         [UCCS_ATOMIC_OR] = TRANSPORT_OR,       [UCCS_ATOMIC_XOR] = TRANSPORT_XOR};
    struct transport_word word = {.what = (enum transport_atomic)names[op->what], .size = op->size};
    uccs_far_give(&word.operand, op->size, op->what == UCCS_ATOMIC_FETCH ? 0 : op->operand);
    uccs_far_give(&word.compare, op->size, op->compare);
    return word;
}

static struct link_message message_to(const struct uccs_far_lanes *on, struct uccs_far_place at, size_t size)
{
    return (struct link_message){.header = {.segment = (uint8_t)at.segment, .at = {at.offset, at.region}},
                                 .bytes = size,
                                 .track = link_track_of(on)};
}

static struct link_message message_for(const struct uccs_far_lanes *on, struct uccs_far_place at, size_t size,
                                       void *into)
{
    struct link_message message = message_to(on, at, size);
    message.header.get.bytes = size;
    message.into = into;
    return message;
}

uint64_t uccs_far_adapter_fetch(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op,
                                struct uccs_far_place at)
{
    union {
        uint32_t word32;
        uint64_t word64;
    } old = {.word64 = 0};
    uint32_t flag = 0;
    struct link_lane *lane = link_lane_of(on);
    struct far_ask ask = {.ask = {.flag = &flag, .bytes = op->size}};
    const struct link_message message = message_for(on, at, op->size, &old);
    const struct transport_word word = word_of(op);
    link_atomic(lane, pe, &message, &word, &ask.ask);
    link_await(lane, &flag);
    return op->size == sizeof old.word32 ? old.word32 : old.word64;
}

void uccs_far_adapter_fetch_nb(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op,
                               struct uccs_far_place at, void *fetch, uccs_request_handle *request)
{
    const struct far_ask what = {.ask = {.bytes = op->size}, .dest = fetch};
    const struct link_message message = message_for(on, at, op->size, fetch);
    const struct transport_word word = word_of(op);
    link_atomic(link_lane_of(on), pe, &message, &word, &far_ask_later(&what, request)->ask);
}

void uccs_far_adapter_post(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op, struct uccs_far_place at,
                           bool behind, uccs_request_handle *request)
{
    struct link_message message = message_to(on, at, op->size);
    const struct transport_word word = word_of(op);
    message.request = far_request_of(request);
    message.ordered = behind;
    link_atomic(link_lane_of(on), pe, &message, &word, 0);
}
