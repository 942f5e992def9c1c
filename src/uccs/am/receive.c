/* The receiving half of active messages; am.h describes the flow. Any thread.
 *
 * Invariants:
 * - A ring with an unexpected message is not polled before that message has been handled, so that those behind it do not
 *   overtake. Each thread takes at most one batch of messages whose handler is not registered. Replies of user class
 *   are kept as unexpected ones when they come while this process serves the network class alone: at most as many as it asked for. */
#include "uccs/am/far.h"
#include "uccs/am/receive.h"
#include "uccs/am/unexpected.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"
#include "uccs/proto/initiator.h"
#include "uccs/core/fail.h"
#include "uccs/core/memory.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 16 /* messages of one ring in one visit; then the other rings are polled */

_Thread_local int uccs_handlers_running;

void uccs_am_tell(uint32_t context, struct uccs_am_tally *tally)
{
    if (!tally->count)
        return;
    struct uccs_pe_shared *own = uccs_pe_shared_of(uccs_index((int)tally->source));
    (void)atomic_fetch_add_release(&own->handled[context][tally->lane].count,
                                   tally->count); /* acquire: uccs_am_settled */
    tally->count = 0;
}

void uccs_am_count_handled(uint32_t context, struct uccs_am_tally *tally, const struct uccs_message *message)
{
    if (tally->count && (tally->source != message->source || tally->lane != message->lane))
        uccs_am_tell(context, tally);
    tally->source = message->source;
    tally->lane = message->lane;
    tally->count++;
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
    log_line("uccs: PE %u sent a message to handler %u of context %u under a class other than that under which the "
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

/* Handles unexpected messages first, in their order. Returns true when none are left. */
static lat_cold bool poll_unexpected(struct uccs_context *context, uint32_t which, struct uccs_am_tally *tally,
                                     int *count)
{
    struct uccs_message message;
    struct uccs_bounce *copy;
    while (uccs_unexpected_take(context, which, &message, &copy)) { /* its handler is registered */
        if (!copy)
            (void)handle_message(context, &message, which);
        else if (run_handler(context, &message, copy, which) == UCCS_AM_HANDLED)
            free(copy);
        uccs_am_count_handled(context->attr.id, tally, &message);
        ++*count;
    }
    return uccs_unexpected_empty(context->attr.id, which);
}

static int poll_ring(struct uccs_context *context, uint32_t which)
{
    struct ring *ring = uccs_pe_shared_ring(uccs_core.index, context->attr.id, which);
    struct uccs_am_tally tally = {0};
    int count = 0;
    if (lat_unlikely(!uccs_unexpected_empty(context->attr.id, which)) &&
        !poll_unexpected(context, which, &tally, &count)) {
        uccs_am_tell(context->attr.id, &tally);
        return count;
    }
    for (int taken = 0; taken < BATCH && !ring_is_empty(ring); taken++) {
        struct uccs_message message;
        uint64_t ticket;
        if (!uccs_cell_take(ring, &message, &ticket))
            break;
        if (lat_unlikely(!handle_message(context, &message, which))) {
            uccs_unexpected_add(context->attr.id, which, ticket, &message, 0);
            break;
        }
        uccs_am_count_handled(context->attr.id, &tally, &message);
        count++;
    }
    uccs_am_tell(context->attr.id, &tally);
    return count;
}

/* Returns a private copy of a staged payload, or null when the message is not staged. Gives the block back to the
 * sender. */
static struct uccs_bounce *copy_out(struct uccs_message *message)
{
    struct uccs_bounce *block = uccs_am_block_of(message), *copy = 0;
    if (message->staged) {
        size_t bytes = sizeof *copy + message->length;
        copy = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));
        if (!copy) {
            log_line("uccs: no memory to keep a reply of PE %u", message->source);
            rte_abort(LAT_EXIT);
        }
        *copy = (struct uccs_bounce){.home = UCCS_HOME_COPY};
        memcpy(copy->payload, block->payload, message->length);
    }
    if (block)
        uccs_am_mark_done(block);
    message->block = UCCS_NO_BLOCK;
    return copy;
}

/* Moves replies of user class to private memory when half of their ring is full. They wait for a thread in uccs.h, but
 * their senders are handlers, which must not wait for that. No more can come than this process asked for. */
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
        struct uccs_bounce *copy = copy_out(&message);
        uccs_unexpected_add(context->attr.id, which, ticket, &message, copy);
    }
}

/* Replies come first, as they free waiting senders. */
static int poll_context(struct uccs_context *context, int what)
{
    int count = poll_ring(context, UCCS_RING_REPLY);
    if (what & UCCS_AM_USERS)
        count += poll_ring(context, UCCS_RING_REPLY | UCCS_RING_USER);
    else
        keep_replies(context);
    if (what & UCCS_AM_REQUESTS)
        count += poll_ring(context, 0);
    if (what == (UCCS_AM_REQUESTS | UCCS_AM_USERS))
        count += poll_ring(context, UCCS_RING_USER);
    return count;
}

/* Handles packets that came from other nodes for one ring's kind of messages; returns how many. */
static int poll_packets(struct uccs_context *context, uint32_t which)
{
    struct uccs_far_tally tally = {.context = context->attr.id, .which = which};
    struct uccs_far_packet *packet;
    int count = 0;
    for (; count < BATCH && (packet = uccs_far_am_take(context, which)); count++) {
        struct uccs_message message; /* a packet that is held may be gone when the handler returns */
        memcpy(&message, &packet->message,
               offsetof(struct uccs_message, payload) + (packet->message.staged ? 0 : packet->message.length));
        enum uccs_am_outcome outcome = run_handler(context, &message, uccs_far_am_block(packet), which);
        if (outcome != UCCS_AM_PENDING)
            uccs_far_am_handled(&tally, &message, outcome == UCCS_AM_HELD ? 0 : packet);
    }
    uccs_far_am_tell(&tally);
    return count;
}

static lat_cold int poll_far(struct uccs_context *context, int what)
{
    int count = poll_packets(context, UCCS_RING_REPLY);
    if (what & UCCS_AM_USERS)
        count += poll_packets(context, UCCS_RING_REPLY | UCCS_RING_USER);
    if (what & UCCS_AM_REQUESTS)
        count += poll_packets(context, 0);
    if (what == (UCCS_AM_REQUESTS | UCCS_AM_USERS))
        count += poll_packets(context, UCCS_RING_USER);
    return count;
}

struct uccs_am_found uccs_am_look(int what, uint64_t contexts)
{
    struct uccs_am_found found = {0};
    bool waiting = atomic_load_relaxed(&uccs_far_am_waiting); /* a hint: the caller looks again */
    for (uint64_t left = uccs_am_live() & contexts; left; left &= left - 1) {
        uint32_t id = (uint32_t)__builtin_ctzll(left);
        struct uccs_context *context = uccs_am_published(id);
        if (context && id != PE_SHARED_LIBRARY_CONTEXT)
            found.users += poll_context(context, what);
        else if (context && what & UCCS_AM_REQUESTS)
            found.own += poll_ring(context, 0);
        if (lat_unlikely(waiting && context))
            *(id != PE_SHARED_LIBRARY_CONTEXT ? &found.users : &found.own) += poll_far(context, what);
    }
    return found;
}

int uccs_am_look_inner(void)
{
    struct uccs_context *inner = uccs_am_published(PE_SHARED_LIBRARY_CONTEXT);
    int found = inner ? poll_ring(inner, 0) : 0;
    if (inner && atomic_load_relaxed(&uccs_far_am_waiting)) /* a hint: the caller looks again */
        found += poll_packets(inner, 0);
    return found;
}

static bool has_waiting(const struct uccs_context *context, uint32_t which)
{
    const uint32_t id = context->attr.id;
    const bool blocked = !uccs_unexpected_empty(id, which); /* those in the ring wait behind it */
    if (blocked ? uccs_unexpected_is_ready(context, which)
                : !ring_is_empty(uccs_pe_shared_ring(uccs_core.index, id, which)))
        return true;
    return atomic_load_relaxed(&uccs_far_am_waiting) &&
           uccs_far_am_is_ready(context, which); /* a hint: whoever adds rings */
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

/* Drops a message and fails its request. */
static void drop_message(uint32_t context, const struct uccs_message *message, struct uccs_am_tally *tally,
                         struct uccs_am_lost *lost)
{
    struct uccs_bounce *block = uccs_am_block_of(message);
    if (lost->count++ == 0)
        *lost = (struct uccs_am_lost){1, message->source, message->id % UCCS_AM_HANDLERS, context};
    if (block) {
        block->failed = 1;
        uccs_am_done(block);
    }
    uccs_am_count_handled(context, tally, message);
}

static void drop_ring(uint32_t context, uint32_t which, struct uccs_am_lost *lost)
{
    struct ring *ring = uccs_pe_shared_ring(uccs_core.index, context, which);
    struct uccs_am_tally tally = {0};
    struct uccs_message message;
    struct uccs_bounce *copy;
    uint64_t ticket;
    while (uccs_unexpected_take_any(context, which, &message, &copy)) {
        drop_message(context, &message, &tally, lost);
        free(copy);
    }
    bool open = atomic_load_acquire(&uccs_pe_shared_mine()->open[context]) ==
                PE_RINGS_OPEN; /* release: uccs_pe_shared_open_rings_slow */
    while (open && uccs_cell_take(ring, &message, &ticket))
        drop_message(context, &message, &tally, lost);
    uccs_am_tell(context, &tally);
}

static void drop_packets(uint32_t context, uint32_t which, struct uccs_am_lost *lost)
{
    struct uccs_far_tally tally = {.context = context, .which = which};
    struct uccs_far_packet *packet;
    while ((packet = uccs_far_am_take_any(context, which))) {
        const struct uccs_message message = packet->message;
        if (lost->count++ == 0)
            *lost = (struct uccs_am_lost){1, message.source, message.id % UCCS_AM_HANDLERS, context};
        packet->block.failed = 1;
        uccs_far_am_handled(&tally, &message, packet);
    }
    uccs_far_am_tell(&tally);
}

struct uccs_am_lost uccs_am_drop(void)
{
    struct uccs_am_lost lost = {0};
    for (uint32_t context = 0; context < PE_SHARED_LIBRARY_CONTEXT; context++)
        for (uint32_t which = 0; which < PE_SHARED_RINGS; which++) {
            drop_ring(context, which, &lost);
            drop_packets(context, which, &lost);
        }
    return lost;
}

/* --- Checks of messages that have been taken out of the rings of this PE */

/* The block lies whole in the sender's region. */
static bool has_block(const struct uccs_message *message)
{
    const size_t least = sizeof(struct uccs_bounce) + (message->staged ? message->length : 0);
    size_t bytes;
    (void)uccs_memory_region(uccs_index((int)message->source), &bytes);
    return message->block % _Alignof(struct uccs_bounce) == 0 && message->block <= bytes &&
           least <= bytes - message->block;
}

static const char *fault_of(const struct uccs_message *message)
{
    if (message->source >= (uint32_t)uccs_core.npes || uccs_index((int)message->source) >= uccs_core.pes)
        return "it is of no PE of this node";
    if (message->id >= UCCS_MESSAGE_SLOTS || message->lane >= PE_SHARED_SENDERS)
        return "there is no such handler or lane";
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
