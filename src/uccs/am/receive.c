/* The receiving half of active messages; am.h describes the flow. Any thread.
 *
 * Invariants:
 * - A ring with an unexpected message (packet.c) is not polled before that message has been handled, so that those behind it do not
 *   overtake. Each thread takes at most one batch of messages whose handler is not registered. Replies of user class
 *   are kept as unexpected ones when they come while this process serves the network class alone: at most as many as it asked for. */
#include "uccs/am/inner.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"
#include "uccs/proto/initiator.h"
#include "uccs/core/core.h"
#include "uccs/core/memory.h"

#include <stdlib.h>

#define BATCH 16 /* messages of one ring in one visit; then the other rings are polled */

_Thread_local int uccs_handlers_running;

/* Tells the sender of the messages that are counted: on this node by one addition. */
static void tell_sender(struct uccs_tally *tally)
{
    const uint32_t index = tally->count ? uccs_index((int)tally->source) : 0;
    if (!tally->count)
        return;
    if (lat_unlikely(index >= uccs_core.pes))
        uccs_far_am_tell(tally, 0, false);
    else
        (void)atomic_fetch_add_release(&uccs_pe_shared_of(index)->handled[tally->context][tally->thread].count,
                                       tally->count); /* acquire: uccs_am_settled */
    tally->count = 0;
    tally->bytes = 0;
}

static void count_handled(struct uccs_tally *tally, const struct uccs_message *message)
{
    if (tally->count && (tally->source != message->source || tally->thread != message->thread))
        tell_sender(tally);
    tally->source = message->source;
    tally->thread = message->thread;
    tally->count++;
    tally->bytes += message->length;
}

/* Counts a packet's message, and frees the packet; a sender of another node learns at once that its block is done. */
static void end_packet(struct uccs_packet *packet, struct uccs_tally *tally)
{
    count_handled(tally, &packet->message);
    if (packet->token) {
        uccs_far_am_tell(tally, packet->token, packet->block.failed);
        tally->count = 0;
        tally->bytes = 0;
    }
    free(packet);
}

void uccs_am_insist(const struct uccs_am_token *token, size_t length, size_t least, const uint32_t *source)
{
    const struct uccs_message *message = token->message;
    if (lat_unlikely(length < least))
        uccs_fail("PE %u sent a message of the library's own that is cut off: %zu of %zu bytes", message->source,
                  length, least);
    if (lat_unlikely(*source != message->source))
        uccs_fail("PE %u sent a message of the library's own in the name of PE %u", message->source, *source);
}

static lat_cold _Noreturn void fail_class(const struct uccs_context *context, const struct uccs_message *message)
{
    log_mistake("uccs: PE %u sent a message to handler %u of context %u under a class other than that under which the "
                "handler is registered here; name the same class on both sides",
                message->source, message->id % UCCS_AM_HANDLERS, context->attr.id);
    rte_abort(LAT_EXIT);
}

static enum uccs_am_outcome run_handler(struct uccs_context *context, const struct uccs_message *message,
                                        struct uccs_bounce *block, uint32_t which)
{
    const struct uccs_handler entry = uccs_handler_read(&context->handlers[message->id]);
    if (lat_unlikely(!entry.handler))
        return UCCS_AM_UNREADY;
    if (lat_unlikely((entry.cls == UCCS_AM_USER) != ((which & UCCS_RING_USER) != 0)))
        fail_class(context, message);
    struct uccs_am_token token = {context, message, block, .reply = which & UCCS_RING_REPLY};
    uccs_handlers_running++;
    uccs_progress_barred++;
    entry.handler(&token, message->staged ? block->payload : message->payload, message->length, entry.argument);
    uccs_progress_barred--;
    uccs_handlers_running--;
    if (message->counter && token.outcome != UCCS_AM_PENDING)
        uccs_counter_arrive_here(message->counter, message->weight);
    return token.outcome;
}

/* Handles a message of this node. Returns false when the handler is not registered yet; then nothing has happened. */
static bool handle_message(struct uccs_context *context, const struct uccs_message *message, uint32_t which)
{
    struct uccs_bounce *block = uccs_am_block_of(message);
    enum uccs_am_outcome outcome = run_handler(context, message, block, which);
    if (block && outcome == UCCS_AM_HANDLED) {
        uccs_am_mark_done(block);
        uccs_doorbell_wake_if_tasks(uccs_index((int)message->source));
    }
    return outcome != UCCS_AM_UNREADY;
}

/* Handles a packet whose handler is registered. One that is held, or pending, may be gone when the handler returns. */
static void handle_packet(struct uccs_context *context, struct uccs_packet *packet, struct uccs_tally *tally)
{
    struct uccs_message message;
    memcpy(&message, &packet->message,
           offsetof(struct uccs_message, payload) + (packet->message.staged ? 0 : packet->message.length));
    if (message.block != UCCS_NO_BLOCK) {
        (void)handle_message(context, &message, packet->which);
        end_packet(packet, tally);
        return;
    }
    struct uccs_bounce *block = message.staged || packet->token ? &packet->block : 0;
    enum uccs_am_outcome outcome = run_handler(context, &message, block, packet->which);
    if (outcome == UCCS_AM_HELD)
        count_handled(tally, &message);
    else if (outcome != UCCS_AM_PENDING)
        end_packet(packet, tally);
}

/* Handles packets in their order; returns how many. */
static int poll_packets(enum uccs_packet_side side, struct uccs_context *context, uint32_t which)
{
    struct uccs_tally tally = {.context = context->attr.id, .which = which};
    struct uccs_packet *packet;
    int count = 0;
    for (; count < BATCH && (packet = uccs_packet_take(side, context, which)); count++)
        handle_packet(context, packet, &tally);
    tell_sender(&tally);
    return count;
}

/* Makes a packet of a message of a ring. */
static struct uccs_packet *keep_message(uint32_t context, uint32_t which, uint64_t ticket,
                                        const struct uccs_message *message, size_t payload)
{
    struct uccs_packet *packet = uccs_packet_new(message->source, context, which, payload);
    packet->number = ticket;
    packet->message = *message;
    return packet;
}

static int poll_ring(struct uccs_context *context, uint32_t which)
{
    const uint32_t id = context->attr.id;
    struct ring *ring = uccs_pe_shared_ring(uccs_core.index, id, which);
    struct uccs_tally tally = {.context = id, .which = which};
    int count = 0;
    if (lat_unlikely(!uccs_packets_empty(UCCS_PACKETS_NEAR, id, which))) {
        count = poll_packets(UCCS_PACKETS_NEAR, context, which);
        if (!uccs_packets_empty(UCCS_PACKETS_NEAR, id, which))
            return count;
    }
    for (int taken = 0; taken < BATCH && !ring_is_empty(ring); taken++) {
        struct uccs_message message;
        uint64_t ticket;
        if (!uccs_cell_take(ring, &message, &ticket))
            break;
        if (lat_unlikely(!handle_message(context, &message, which))) {
            uccs_packet_add(UCCS_PACKETS_NEAR, keep_message(id, which, ticket, &message, 0));
            break;
        }
        count_handled(&tally, &message);
        count++;
    }
    tell_sender(&tally);
    return count;
}

/* Moves replies of user class to private memory when half of their ring is full, and gives their blocks back. They wait for a thread
 * in uccs.h, but their senders are handlers, which must not wait for that. No more can come than this process asked for. */
static void keep_replies(struct uccs_context *context)
{
    const uint32_t which = UCCS_RING_REPLY | UCCS_RING_USER;
    struct ring *ring = uccs_pe_shared_ring(uccs_core.index, context->attr.id, which);
    if (lat_likely(atomic_load_relaxed(&ring->tail) - atomic_load_relaxed(&ring->head) < PE_SHARED_RING_CELLS / 2))
        return;
    for (int taken = 0; taken < BATCH; taken++) {
        struct uccs_message message;
        uint64_t ticket;
        if (!uccs_cell_take(ring, &message, &ticket))
            return;
        struct uccs_bounce *block = uccs_am_block_of(&message);
        struct uccs_packet *packet =
            keep_message(context->attr.id, which, ticket, &message, message.staged ? message.length : 0);
        packet->message.block = UCCS_NO_BLOCK;
        if (message.staged)
            memcpy(packet->block.payload, block->payload, message.length);
        if (block)
            uccs_am_mark_done(block);
        uccs_packet_add(UCCS_PACKETS_NEAR, packet);
    }
}

/* Messages of this node, then those of other nodes. */
static int poll_messages(struct uccs_context *context, uint32_t which, bool far)
{
    int count = poll_ring(context, which);
    if (lat_unlikely(far))
        count += poll_packets(UCCS_PACKETS_FAR, context, which);
    return count;
}

/* Replies come first, as they free waiting senders. */
static int poll_context(struct uccs_context *context, int what, bool far)
{
    int count = poll_messages(context, UCCS_RING_REPLY, far);
    if (what & UCCS_AM_USERS)
        count += poll_messages(context, UCCS_RING_REPLY | UCCS_RING_USER, far);
    else
        keep_replies(context);
    if (what & UCCS_AM_REQUESTS)
        count += poll_messages(context, 0, far);
    if (what == (UCCS_AM_REQUESTS | UCCS_AM_USERS))
        count += poll_messages(context, UCCS_RING_USER, far);
    return count;
}

struct uccs_am_found uccs_am_look(int what, uint64_t contexts)
{
    struct uccs_am_found found = {0};
    const bool far = atomic_load_relaxed(&uccs_packets_far); /* a hint: the caller looks again */
    for (uint64_t left = uccs_am_live() & contexts; left; left &= left - 1) {
        uint32_t id = (uint32_t)__builtin_ctzll(left);
        struct uccs_context *context = uccs_am_published(id);
        if (context && id != PE_SHARED_LIBRARY_CONTEXT)
            found.users += poll_context(context, what, far);
        else if (context && what & UCCS_AM_REQUESTS)
            found.own += poll_messages(context, 0, far);
    }
    return found;
}

int uccs_am_look_inner(void)
{
    struct uccs_context *inner = uccs_am_published(PE_SHARED_LIBRARY_CONTEXT);
    return inner ? poll_messages(inner, 0, atomic_load_relaxed(&uccs_packets_far)) : 0; /* as above */
}

static bool has_waiting(const struct uccs_context *context, uint32_t which)
{
    const uint32_t id = context->attr.id;
    const bool blocked = !uccs_packets_empty(UCCS_PACKETS_NEAR, id, which); /* those in the ring wait behind it */
    if (blocked ? uccs_packet_is_ready(UCCS_PACKETS_NEAR, context, which)
                : !ring_is_empty(uccs_pe_shared_ring(uccs_core.index, id, which)))
        return true;
    return atomic_load_relaxed(&uccs_packets_far) &&
           uccs_packet_is_ready(UCCS_PACKETS_FAR, context, which); /* a hint: whoever adds rings */
}

bool uccs_am_user_waits(void)
{
    bool found = false;
    uint32_t *inside = uccs_am_enter();
    for (uint64_t left = uccs_am_live() & ~(UINT64_C(1) << PE_SHARED_LIBRARY_CONTEXT); left && !found;
         left &= left - 1) {
        const struct uccs_context *context = uccs_am_published((uint32_t)__builtin_ctzll(left));
        found =
            context && (has_waiting(context, UCCS_RING_USER) || has_waiting(context, UCCS_RING_USER | UCCS_RING_REPLY));
    }
    uccs_am_leave(inside);
    return found;
}

/* --- The end of a life: no PE sends any more, and one thread is here. */

/* Fails the request of a message, and notes the first one. */
static void fail_message(uint32_t context, const struct uccs_message *message, struct uccs_am_lost *lost)
{
    struct uccs_bounce *block = uccs_am_block_of(message);
    if (lost->count++ == 0)
        *lost = (struct uccs_am_lost){1, message->source, message->id % UCCS_AM_HANDLERS, context};
    if (block) {
        block->failed = 1;
        uccs_am_done(block);
    }
}

static void drop_packets(enum uccs_packet_side side, uint32_t context, uint32_t which, struct uccs_am_lost *lost)
{
    struct uccs_tally tally = {.context = context, .which = which};
    struct uccs_packet *packet;
    while ((packet = uccs_packet_take_any(side, context, which))) {
        fail_message(context, &packet->message, lost);
        packet->block.failed = 1;
        end_packet(packet, &tally);
    }
    tell_sender(&tally);
}

static void drop_ring(uint32_t context, uint32_t which, struct uccs_am_lost *lost)
{
    struct ring *ring = uccs_pe_shared_ring(uccs_core.index, context, which);
    struct uccs_tally tally = {.context = context, .which = which};
    struct uccs_message message;
    uint64_t ticket;
    bool open = atomic_load_acquire(&uccs_pe_shared_mine()->open[context]) ==
                PE_RINGS_OPEN; /* release: uccs_pe_shared_open_rings_slow */
    while (open && uccs_cell_take(ring, &message, &ticket)) {
        fail_message(context, &message, lost);
        count_handled(&tally, &message);
    }
    tell_sender(&tally);
}

struct uccs_am_lost uccs_am_drop(void)
{
    struct uccs_am_lost lost = {0};
    for (uint32_t context = 0; context < PE_SHARED_LIBRARY_CONTEXT; context++)
        for (uint32_t which = 0; which < PE_SHARED_RINGS; which++) {
            drop_packets(UCCS_PACKETS_NEAR, context, which, &lost);
            drop_ring(context, which, &lost);
            drop_packets(UCCS_PACKETS_FAR, context, which, &lost);
        }
    return lost;
}

/* --- Checks of messages that have been taken out of the rings of this PE */

/* The block lies whole in the sender's region. */
static bool has_block(const struct uccs_message *message)
{
    const size_t least = sizeof(struct uccs_bounce) + (message->staged ? message->length : 0);
    const size_t bytes = uccs_core.region_bytes;
    return message->block % _Alignof(struct uccs_bounce) == 0 && message->block <= bytes &&
           least <= bytes - message->block;
}

static const char *fault_of(const struct uccs_message *message)
{
    if (message->source >= (uint32_t)uccs_core.npes || uccs_index((int)message->source) >= uccs_core.pes)
        return "it is of no PE of this node";
    if (message->id >= UCCS_MESSAGE_SLOTS || message->thread >= PE_SHARED_SENDERS)
        return "there is no such handler or thread";
    if (message->staged ? message->block == UCCS_NO_BLOCK : message->length > UCCS_SHORT_MAX)
        return "it is too long";
    return message->block == UCCS_NO_BLOCK || has_block(message) ? 0 : "its block is in no memory of its sender";
}

void uccs_cell_check(const struct uccs_message *message)
{
    const char *fault = fault_of(message);
    if (fault)
        uccs_fail("PE %u sent a wrong message on this node: %s (handler %u, %u bytes)", message->source, fault,
                  message->id, message->length);
}
