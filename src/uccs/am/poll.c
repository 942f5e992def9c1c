/* The receiving half of active messages; am.h describes the flow. Any thread.
 *
 * Invariants:
 * - A thread counts itself in `pollers` before it looks at published[] (seqcst on both sides), so a retired context can
 *   be freed once all threads that might have seen it have left. There are two phases: with one, new pollers could keep
 *   the count above zero forever. New pollers count in the current phase; a retiring thread turns the phase and waits
 *   until the other one is empty.
 * - A ring with a parked message is not polled before that message has been handled, so that those behind it do not
 *   overtake. Each thread parks at most one batch of messages whose handler is not registered. Replies of user class
 *   are parked when they come while this process serves the network class alone: at most as many as it asked for. */
#include "uccs/am/inner.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/bell.h"
#include "uccs/far/far.h"
#include "uccs/core/memory.h"
#include "uccs/core/thread.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 16   /* messages of one ring in one visit; then the other rings are polled */
#define POLLERS 64 /* further threads share entries */
#define MISSES \
    64 /* rounds that find nothing before a thread in progress gives its core away, as threads may outnumber cores */
#define LOOK 31 /* a round of progress costs as much as this many looks at memory */

enum { REQUESTS = 1, USERS = 2 }; /* messages that a thread may handle besides replies of the network class */

_Thread_local int uccs_handlers_running;
static _Thread_local int allowed; /* the same, for the outer poll */

static struct uccs_context *published[OWN_CONTEXTS];
static uint32_t live; /* a bit for each published context; a hint: published[] decides */

/* Two threads of this process may serve a block, or memory that a peer's block names, one after the other. They are
 * ordered through the peer: the first thread releases `done`, the peer acquires it, uses the block or the memory again,
 * and releases a ring's cell, which the second thread acquires. The thread sanitizer does not see the peer. */
static uint64_t elsewhere;

static struct poller {
    cache_aligned uint32_t inside[2];
    uint64_t polls; /* of the threads that use the entry; relaxed, a hint */
} pollers[POLLERS];
static uint32_t phase;

static uint32_t *enter(void)
{
    struct poller *mine = &pollers[uccs_thread() % POLLERS];
    uint32_t *inside = &mine->inside[atomic_load_relaxed(&phase) & 1];
    atomic_store_relaxed(&mine->polls, atomic_load_relaxed(&mine->polls) + 1);
    __atomic_fetch_add(inside, 1, __ATOMIC_SEQ_CST); /* partner: uccs_am_retire */
    return inside;
}

uint64_t uccs_am_polls(void)
{
    uint64_t all = 0;
    for (int i = 0; i < POLLERS; i++)
        all += atomic_load_relaxed(&pollers[i].polls);
    return all;
}

static void leave(uint32_t *inside)
{
    (void)atomic_fetch_sub_acqrel(inside, 1); /* partner: wait_for_phase */
}

static void wait_for_phase(uint32_t old)
{
    for (int i = 0; i < POLLERS; i++) {
        struct uccs_wait wait = {0};
        while (atomic_load_seqcst(&pollers[i].inside[old]))
            uccs_yield(&wait);
    }
}

/* Wakes the progress thread of this process if it sleeps. */
static void wake_own_thread(void)
{
    uccs_bell((uint32_t)uccs_core.me - uccs_core.first);
}

void uccs_am_publish(struct uccs_context *context)
{
    uccs_own_open((uint32_t)uccs_core.me - uccs_core.first, context->attr.id);
    atomic_store_release(&published[context->attr.id], context); /* acquire: uccs_am_published */
    (void)atomic_fetch_or_acqrel(&live, 1u << context->attr.id);
    wake_own_thread(); /* messages may wait already */
}

/* Waits for both phases, since a thread may have read the phase long before it counted itself in. */
void uccs_am_retire(struct uccs_context *context)
{
    (void)atomic_fetch_and_acqrel(&live, ~(1u << context->attr.id));
    atomic_store_seqcst(&published[context->attr.id], 0); /* then look at pollers; partner: enter */
    uccs_pollers_barred++;                                /* the caller holds locks */
    for (int turn = 0; turn < 2; turn++)
        wait_for_phase(atomic_fetch_add_acqrel(&phase, 1) & 1);
    uccs_pollers_barred--;
}

struct uccs_context *uccs_am_published(uint32_t id)
{
    return atomic_load_seqcst(&published[id]); /* release: uccs_am_publish; after enter */
}

static char *region_of(uint32_t pe)
{
    size_t bytes;
    return uccs_memory_region(pe - uccs_core.first, &bytes);
}

void uccs_am_tell(uint32_t context, struct uccs_am_tally *tally)
{
    if (!tally->count)
        return;
    struct uccs_own *own = uccs_own_of(tally->source - uccs_core.first);
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

static lat_cold _Noreturn void fail_class(const struct uccs_context *context, const struct uccs_message *message)
{
    log_line("uccs: PE %u sent a message to handler %u of context %u under a class other than that under which the "
             "handler is registered here; name the same class on both sides",
             message->source, message->id % UCCS_AM_HANDLERS, context->attr.id);
    rte_abort(LAT_EXIT);
}

static void mark_done(struct uccs_block *block)
{
    atomic_order_leaves(&elsewhere);
    atomic_store_release(&block->done, 1); /* acquire: uccs_stage_collect, at the sender */
}

static enum uccs_am_outcome run(struct uccs_context *context, const struct uccs_message *message,
                                struct uccs_block *block, uint32_t which)
{
    const struct uccs_handler entry = uccs_handler_read(&context->handlers[message->id]);
    if (lat_unlikely(!entry.handler))
        return UCCS_AM_UNREADY;
    if (lat_unlikely((entry.cls == UCCS_AM_USER) != ((which & UCCS_RING_USER) != 0)))
        fail_class(context, message);
    struct uccs_am_token token = {context, message, block, .reply = which & UCCS_RING_REPLY};
    uccs_handlers_running++;
    uccs_pollers_barred++;
    entry.handler(&token, message->staged ? block->payload : message->payload, message->length, entry.argument);
    uccs_pollers_barred--;
    uccs_handlers_running--;
    if (message->counter && token.outcome != UCCS_AM_PENDING)
        uccs_counter_arrive_here(message->counter, message->weight);
    return token.outcome;
}

struct uccs_block *uccs_am_block_of(const struct uccs_message *message)
{
    if (message->block == UCCS_NO_BLOCK)
        return 0;
    if (message->source != (uint32_t)uccs_core.me)
        atomic_order_returns(&elsewhere);
    return (struct uccs_block *)(region_of(message->source) + message->block);
}

/* Handles a message of this node. Returns false when the handler is not registered yet; then nothing has happened. */
static bool handle(struct uccs_context *context, const struct uccs_message *message, uint32_t which)
{
    struct uccs_block *block = uccs_am_block_of(message);
    enum uccs_am_outcome outcome = run(context, message, block, which);
    if (block && outcome == UCCS_AM_HANDLED) {
        mark_done(block);
        uccs_bell_worker(message->source - uccs_core.first);
    }
    return outcome != UCCS_AM_UNREADY;
}

struct uccs_block *uccs_am_hold(struct uccs_am_token *token)
{
    if (token->block)
        token->outcome = UCCS_AM_HELD;
    return token->block;
}

void uccs_am_done(struct uccs_block *block)
{
    if (lat_likely(block->kept == UCCS_KEPT_NOT))
        mark_done(block);
    else if (block->kept == UCCS_KEPT_PACKET)
        uccs_far_am_done(block);
    else
        free(block);
}

int uccs_am_source(uccs_am_token_t token)
{
    return token ? (int)token->message->source : -1;
}

uccs_context_t uccs_am_context(uccs_am_token_t token)
{
    return token ? token->context : 0;
}

/* Handles parked messages first, in their order. Returns true when none are left. */
static lat_cold bool poll_parked(struct uccs_context *context, uint32_t which, struct uccs_am_tally *tally, int *count)
{
    struct uccs_message message;
    struct uccs_block *copy;
    while (uccs_park_take(context, which, &message, &copy)) { /* its handler is registered */
        if (!copy)
            (void)handle(context, &message, which);
        else if (run(context, &message, copy, which) == UCCS_AM_HANDLED)
            free(copy);
        uccs_am_count_handled(context->attr.id, tally, &message);
        ++*count;
    }
    return uccs_park_empty(context->attr.id, which);
}

static int poll_ring(struct uccs_context *context, uint32_t which)
{
    struct ring *ring = uccs_own_ring((uint32_t)uccs_core.me - uccs_core.first, context->attr.id, which);
    struct uccs_am_tally tally = {0};
    int count = 0;
    if (lat_unlikely(!uccs_park_empty(context->attr.id, which)) && !poll_parked(context, which, &tally, &count)) {
        uccs_am_tell(context->attr.id, &tally);
        return count;
    }
    for (int taken = 0; taken < BATCH && !ring_is_empty(ring); taken++) {
        struct uccs_message message;
        uint64_t ticket;
        const struct uccs_message *cell = ring_take(ring, &ticket);
        if (!cell)
            break;
        memcpy(&message, cell, offsetof(struct uccs_message, payload) + (cell->staged ? 0 : cell->length));
        ring_release(ring, ticket);
        if (lat_unlikely(!handle(context, &message, which))) {
            uccs_park(context->attr.id, which, ticket, &message, 0);
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
static struct uccs_block *copy_out(struct uccs_message *message)
{
    struct uccs_block *block = uccs_am_block_of(message), *copy = 0;
    if (message->staged) {
        size_t bytes = sizeof *copy + message->length;
        copy = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));
        if (!copy) {
            log_line("uccs: no memory to keep a reply of PE %u", message->source);
            rte_abort(LAT_EXIT);
        }
        *copy = (struct uccs_block){.kept = UCCS_KEPT_COPY};
        memcpy(copy->payload, block->payload, message->length);
    }
    if (block)
        mark_done(block);
    message->block = UCCS_NO_BLOCK;
    return copy;
}

/* Moves replies of user class to private memory when half of their ring is full. They wait for a thread in uccs.h, but
 * their senders are handlers, which must not wait for that. No more can come than this process asked for. */
static void keep_replies(struct uccs_context *context)
{
    const uint32_t which = UCCS_RING_REPLY | UCCS_RING_USER;
    struct ring *ring = uccs_own_ring((uint32_t)uccs_core.me - uccs_core.first, context->attr.id, which);
    if (lat_likely(atomic_load_relaxed(&ring->tail) - atomic_load_relaxed(&ring->head) < OWN_RING_CELLS / 2))
        return;
    for (int taken = 0; taken < BATCH; taken++) {
        struct uccs_message message;
        uint64_t ticket;
        const struct uccs_message *cell = ring_take(ring, &ticket);
        if (!cell)
            return;
        memcpy(&message, cell, offsetof(struct uccs_message, payload) + (cell->staged ? 0 : cell->length));
        ring_release(ring, ticket);
        struct uccs_block *copy = copy_out(&message);
        uccs_park(context->attr.id, which, ticket, &message, copy);
    }
}

/* Replies come first, as they free waiting senders. */
static int poll_context(struct uccs_context *context, int what)
{
    int count = poll_ring(context, UCCS_RING_REPLY);
    if (what & USERS)
        count += poll_ring(context, UCCS_RING_REPLY | UCCS_RING_USER);
    else
        keep_replies(context);
    if (what & REQUESTS)
        count += poll_ring(context, 0);
    if (what == (REQUESTS | USERS))
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
        enum uccs_am_outcome outcome = run(context, &message, uccs_far_am_block(packet), which);
        if (outcome != UCCS_AM_PENDING)
            uccs_far_am_handled(&tally, &message, outcome == UCCS_AM_HELD ? 0 : packet);
    }
    uccs_far_am_tell(&tally);
    return count;
}

static lat_cold int poll_far(struct uccs_context *context, int what)
{
    int count = poll_packets(context, UCCS_RING_REPLY);
    if (what & USERS)
        count += poll_packets(context, UCCS_RING_REPLY | UCCS_RING_USER);
    if (what & REQUESTS)
        count += poll_packets(context, 0);
    if (what == (REQUESTS | USERS))
        count += poll_packets(context, UCCS_RING_USER);
    return count;
}

struct found {
    int users, own; /* handlers of the program run; messages of the library handled */
};

/* Polls all published contexts. The inner context has network requests alone. */
static struct found look(int what)
{
    struct found found = {0};
    bool waiting = atomic_load_relaxed(&uccs_far_am_waiting); /* a hint: the caller looks again */
    for (uint32_t left = atomic_load_relaxed(&live); left; left &= left - 1) {
        uint32_t id = (uint32_t)__builtin_ctz(left);
        struct uccs_context *context = uccs_am_published(id);
        if (context && id != OWN_INNER)
            found.users += poll_context(context, what);
        else if (context && what & REQUESTS)
            found.own += poll_ring(context, 0);
        if (lat_unlikely(waiting && context))
            *(id != OWN_INNER ? &found.users : &found.own) += poll_far(context, what);
    }
    return found;
}

static struct found poll_all(int what)
{
    int before = allowed;
    uint32_t *inside = enter();
    allowed = what;
    struct found found = look(what);
    allowed = before;
    leave(inside);
    return found;
}

/* Makes one round of progress. Returns false when there was nothing to do. */
static bool round_of(int what, int *handlers)
{
    if (what & USERS)
        uccs_work_on();
    int collected = uccs_stage_collect();
    struct found found = poll_all(what);
    *handlers = found.users;
    return collected + found.users + found.own > 0;
}

int uccs_progress(void)
{
    static _Thread_local uint8_t misses;
    int handlers = 0;
    if (lat_unlikely(!uccs_core.size || uccs_handlers_running))
        return 0;
    if (round_of(REQUESTS | USERS, &handlers)) {
        misses = 0;
        (void)uccs_turns_take(handlers);
    } else if (uccs_pollers()) {
        misses = 0;
    } else if (++misses >= (uccs_core.oversubscribed ? 1 : MISSES)) {
        misses = 0;
        uccs_turns_show();
        sched_yield();
    }
    return handlers;
}

static void rest(bool found, struct uccs_wait *wait)
{
    if (found)
        return;
    if (wait->looks < uccs_core.spin)
        wait->looks += LOOK < uccs_core.spin - wait->looks ? LOOK : uccs_core.spin - wait->looks;
    else
        uccs_turns_show();
    uccs_yield(wait);
}

/* Handles the library's messages alone: requests of peers to execute operations, and letters. Their handlers do not
 * wait. Returns how many it handled. */
static int look_inner(void)
{
    struct uccs_context *inner = uccs_am_published(OWN_INNER);
    int found = inner ? poll_ring(inner, 0) : 0;
    if (inner && atomic_load_relaxed(&uccs_far_am_waiting)) /* a hint: the caller looks again */
        found += poll_packets(inner, 0);
    return found;
}

/* Serves messages in a handler that waits for a one-sided operation. */
static lat_cold void serve_inner(struct uccs_wait *wait)
{
    int found = uccs_poll(UCCS_POLL_ALWAYS);
    found += uccs_stage_collect() + look_inner();
    rest(found, wait);
}

void uccs_am_serve(struct uccs_wait *wait)
{
    int handlers;
    if (lat_unlikely(uccs_handlers_running)) {
        serve_inner(wait);
        return;
    }
    rest(round_of(REQUESTS | USERS, &handlers), wait);
    (void)uccs_turns_take(handlers);
}

/* The outer poll has counted this thread in, so no thread turns two phases meanwhile. */
void uccs_am_serve_replies(struct uccs_wait *wait)
{
    (void)uccs_poll(UCCS_POLL_ALWAYS); /* credits of other nodes */
    struct found found = look(allowed & USERS);
    /* The receiver of the reply may be in a handler that waits for a one-sided operation to be executed here. */
    rest(uccs_stage_collect() + look_inner() + found.users > 0, wait);
}

void uccs_am_drain(void)
{
    int handlers;
    while (round_of(REQUESTS | USERS, &handlers))
        ;
}

/* Called in waits that are not the substrate's own, and by the progress thread. */
int uccs_am_poll_network(void)
{
    int handlers;
    return !uccs_handlers_running && round_of(REQUESTS, &handlers);
}
