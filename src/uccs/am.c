/* Active messages on a node.
 *
 * Data flow: the sender reserves a cell in the receiver's ring (one of four for each context: request or
 * reply, network or user class), writes header and short payload, commits. Longer payloads lie in a block of
 * the sender's region, which the receiver reads in place. A thread in progress takes a cell, copies it out,
 * releases it, and only then runs the handler, holding nothing. Then it counts the arrival (counter),
 * and marks the sender's block done, which completes the sender's request when the sender next looks.
 *
 * No deadlock: a sender that finds a ring full serves its own rings while it waits; a handler that replies into
 * a full ring serves its own reply rings alone, and handlers of replies cannot send, so the depth is two.
 * Memory is bounded by rings and region.
 *
 * Who may run what: uccs_progress and the waits of uccs.h run both classes; waits of OpenSHMEM and
 * the progress thread run the network class alone. */
#include "uccs/am.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/memory.h"
#include "uccs/progress.h"
#include "uccs/stage.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define NO_BLOCK UINT64_MAX
#define BATCH 16     /* messages of one ring in one visit: the others' turn then */
#define POLLERS 64

enum { REPLY = 1, USER = 2 }; /* bits of a ring's number */

struct uccs_am_token {
    struct uccs_context *context;
    const struct uccs_message *message;
    bool reply, replied;
};

static _Thread_local int handlers_running;

/* Threads in rings, so that a context can wait until they have left. Lines of their own; threads beyond share. */
static struct {
    cache_aligned uint32_t inside; /* seqcst add before the look at contexts[]; release sub */
} pollers[POLLERS];

static uint32_t *my_poller(void)
{
    static uint32_t threads;
    static _Thread_local uint32_t mine;
    if (!mine)
        mine = atomic_fetch_add_relaxed(&threads, 1) + 1;
    return &pollers[mine % POLLERS].inside;
}

void uccs_am_wait_for_pollers(void)
{
    for (int i = 0; i < POLLERS; i++) {
        struct uccs_wait wait = {0};
        while (atomic_load_seqcst(&pollers[i].inside))
            uccs_yield(&wait);
    }
}

static char *region_of(uint32_t pe)
{
    size_t bytes;
    return uccs_memory_region(pe - uccs_core.first, &bytes);
}

static _Noreturn void fail_handler(const struct uccs_context *context, const struct uccs_message *message)
{
    log_line("uccs: PE %u sent a message for handler %u of context %u, which is not registered here; register "
             "handlers before anybody makes progress", message->source, message->id, context->attr.id);
    rte_abort(LAT_EXIT);
}

static void run_handler(struct uccs_context *context, const struct uccs_message *message, const void *payload,
                        bool reply)
{
    const struct uccs_handler *entry = &context->handlers[message->id % UCCS_AM_HANDLERS];
    uccs_am_handler handler = atomic_load_acquire(&entry->handler); /* release: uccs_am_register */
    struct uccs_am_token token = {context, message, reply, false};
    if (!handler)
        fail_handler(context, message);
    handlers_running++;
    handler(&token, payload, message->length, entry->argument);
    handlers_running--;
}

static void handle(struct uccs_context *context, const struct uccs_message *message, bool reply)
{
    struct uccs_block *block = message->block == NO_BLOCK ? 0
                                                          : (void *)(region_of(message->source) + message->block);
    run_handler(context, message, message->staged ? block->payload : message->payload, reply);
    if (message->counter && !uccs_counter_arrive(message->counter, message->weight, uccs_core.me))
        uccs_counter_late(message->counter, uccs_core.me);
    if (block)
        atomic_store_release(&block->done, 1); /* acquire: uccs_stage_collect, at the sender */
}

static int poll_ring(struct uccs_context *context, uint32_t which)
{
    struct ring *ring = uccs_own_ring((uint32_t)uccs_core.me - uccs_core.first, context->attr.id, which);
    int count = 0;
    for (; count < BATCH && !ring_is_empty(ring); count++) {
        struct uccs_message message;
        uint64_t ticket;
        const struct uccs_message *cell = ring_take(ring, &ticket);
        if (!cell)
            break;
        size_t used = offsetof(struct uccs_message, payload) + (cell->staged ? 0 : cell->length);
        memcpy(&message, cell, used);
        ring_release(ring, ticket);
        handle(context, &message, which & REPLY);
    }
    return count;
}

/* The rings whose number has bits in `classes` alone (besides REPLY); replies first: they free others. */
static int poll_context(struct uccs_context *context, bool requests, bool user)
{
    int count = poll_ring(context, REPLY);
    if (user)
        count += poll_ring(context, REPLY | USER);
    if (requests)
        count += poll_ring(context, 0);
    if (requests && user)
        count += poll_ring(context, USER);
    return count;
}

static int poll_all(bool requests, bool user)
{
    uint32_t *inside = my_poller();
    int count = 0;
    __atomic_fetch_add(inside, 1, __ATOMIC_SEQ_CST); /* then look: destroy unpublishes, then looks here */
    for (uint32_t id = 0; id < UCCS_CONTEXTS; id++) {
        struct uccs_context *context = uccs_context_at(id);
        if (context)
            count += poll_context(context, requests, user);
    }
    atomic_fetch_sub_acqrel(inside, 1);
    return count;
}

int uccs_progress(void)
{
    if (lat_unlikely(!uccs_core.size || handlers_running))
        return 0;
    uccs_work_on();
    uccs_stage_collect();
    return poll_all(true, true);
}

/* From waits that are not the substrate's own. */
static int poll_network(void)
{
    if (handlers_running)
        return 0;
    uccs_stage_collect();
    return poll_all(true, false);
}

static bool target_open(const struct uccs_endpoint *endpoint, uint32_t context)
{
    return atomic_load_acquire(&uccs_own_of(endpoint->index)->open[context]); /* release: open_rings */
}

/* One look around while a sender cannot go on. */
static void serve(bool reply, struct uccs_wait *wait)
{
    if (!reply)
        uccs_progress();
    else
        poll_all(false, true);
    uccs_stage_collect();
    uccs_yield(wait);
}

struct sending {
    const struct uccs_endpoint *endpoint;
    uint32_t context, which;
    struct uccs_message head;
    const void *payload;
    struct uccs_block *block;
};

/* A payload that does not fit a cell, or a request, needs a block. */
static void stage(struct sending *s, struct uccs_context *context, const struct uccs_op *op)
{
    struct uccs_wait wait = {0};
    bool staged = s->head.length > UCCS_SHORT_MAX;
    s->head.block = NO_BLOCK;
    s->head.staged = staged;
    if (!staged && !(op && op->request))
        return;
    while (!(s->block = uccs_stage_get(staged ? s->head.length : 0)))
        serve(s->which & REPLY, &wait);
    s->head.block = (uint64_t)((char *)s->block - region_of((uint32_t)uccs_core.me));
    if (staged)
        memcpy(s->block->payload, s->payload, s->head.length);
    if (op && op->request) {
        s->block->request = *op->request;
        s->block->unsettled = &context->unsettled;
        uccs_request_begin(s->block->request);
        atomic_fetch_add_acqrel(&context->unsettled, 1);
    }
}

static void push(struct sending *s)
{
    struct ring *ring = uccs_own_ring(s->endpoint->index, s->context, s->which);
    struct uccs_wait wait = {0};
    struct uccs_message *cell;
    uint64_t ticket;
    if (s->block)
        uccs_stage_sent(s->block); /* before the receiver can be done with it */
    while (!(cell = ring_reserve(ring, &ticket)))
        serve(s->which & REPLY, &wait);
    memcpy(cell, &s->head, offsetof(struct uccs_message, payload));
    if (!s->head.staged && s->head.length)
        memcpy(cell->payload, s->payload, s->head.length);
    ring_commit(ring, ticket);
}

static int send(struct uccs_context *context, const struct uccs_endpoint *endpoint, int id, uint32_t which,
                const void *payload, size_t length, const struct uccs_op *op)
{
    struct uccs_wait wait = {0};
    if (op && op->counter && !uccs_counter_live(op->counter))
        return UCCS_ERR_STALE;
    if (op && op->request && !uccs_request_materialise(op->request))
        return UCCS_ERR_NO_MEMORY;
    while (!target_open(endpoint, context->attr.id))
        serve(which & REPLY, &wait);
    struct sending s = {.endpoint = endpoint, .context = context->attr.id, .which = which, .payload = payload};
    s.head = (struct uccs_message){.source = (uint32_t)uccs_core.me, .length = (uint32_t)length, .id = (uint16_t)id};
    if (op && op->counter) {
        s.head.counter = op->counter;
        s.head.weight = op->weight ? op->weight : 1;
    }
    stage(&s, context, op);
    push(&s);
    return UCCS_OK;
}

static int check(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls,
                 const void *payload, size_t length, size_t limit)
{
    if (!context || !endpoint || endpoint->context != context || id < 0 || id >= UCCS_AM_HANDLERS ||
        (length && !payload) || cls > UCCS_AM_USER)
        return UCCS_ERR_INVALID;
    if (handlers_running)
        return UCCS_ERR_STATE;
    return length <= limit ? UCCS_OK : UCCS_ERR_TOO_LARGE;
}

int uccs_am_register(uccs_context_t context, int id, enum uccs_am_class cls, uccs_am_handler handler, void *argument)
{
    if (!context || id < 0 || id >= UCCS_AM_HANDLERS || !handler || cls > UCCS_AM_USER)
        return UCCS_ERR_INVALID;
    struct uccs_handler *entry = &context->handlers[id];
    entry->argument = argument;
    entry->cls = cls;
    atomic_store_release(&entry->handler, handler); /* acquire: run_handler */
    return UCCS_OK;
}

static int send_class(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls,
                      const void *payload, size_t length, const struct uccs_op *op, size_t limit)
{
    int status = check(context, endpoint, id, cls, payload, length, limit);
    return status == UCCS_OK ? send(context, endpoint, id, cls == UCCS_AM_USER ? USER : 0, payload, length, op)
                             : status;
}

int uccs_am_short(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls,
                  const void *payload, size_t length, const struct uccs_op *op)
{
    return send_class(context, endpoint, id, cls, payload, length, op, UCCS_SHORT_MAX);
}

int uccs_am_medium(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls,
                   const void *payload, size_t length, const struct uccs_op *op)
{
    return send_class(context, endpoint, id, cls, payload, length, op, UCCS_MEDIUM_MAX);
}

/* The region is shared with all that is on its way: half of it is the most that one message can count on. */
int uccs_am_large(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls,
                  const void *payload, size_t length, const struct uccs_op *op)
{
    size_t region;
    uccs_memory_region((uint32_t)rte.node_index, &region);
    size_t limit = region / 2 < UINT32_MAX ? region / 2 : UINT32_MAX;
    return send_class(context, endpoint, id, cls, payload, length, op, limit);
}

int uccs_am_reply(uccs_am_token_t token, int id, enum uccs_am_class cls, const void *payload, size_t length)
{
    if (!token || id < 0 || id >= UCCS_AM_HANDLERS || (length && !payload) || cls > UCCS_AM_USER)
        return UCCS_ERR_INVALID;
    if (!handlers_running || token->reply || token->replied)
        return UCCS_ERR_STATE;
    if (length > UCCS_MEDIUM_MAX)
        return UCCS_ERR_TOO_LARGE;
    struct uccs_endpoint back = {.context = token->context, .pe = (int)token->message->source,
                                 .index = token->message->source - uccs_core.first};
    token->replied = true;
    return send(token->context, &back, id, REPLY | (cls == UCCS_AM_USER ? USER : 0), payload, length, 0);
}

int uccs_am_source(uccs_am_token_t token)
{
    return token ? (int)token->message->source : -1;
}

uccs_context_t uccs_am_context(uccs_am_token_t token)
{
    return token ? token->context : 0;
}

bool uccs_am_settled(const struct uccs_context *context)
{
    return atomic_load_acquire(&context->unsettled) == 0; /* acqrel: uccs_stage_collect */
}

/* --- The progress thread: answers the network class while the program computes. It sleeps longer the longer
 * nothing comes, at most a millisecond, and ends when the last context does. */
static pthread_t helper;
static uint32_t helper_goes;
static int live;

static void *help(void *unused)
{
    long nap = 1000;
    (void)unused;
    while (atomic_load_acquire(&helper_goes)) { /* release: uccs_am_stop */
        if (poll_all(true, false) + uccs_stage_collect() > 0) {
            nap = 1000;
            continue;
        }
        struct timespec time = {0, nap};
        nanosleep(&time, 0);
        nap = nap < 1000000 ? nap * 2 : nap;
    }
    return 0;
}

void uccs_am_start(void)
{
    if (live++)
        return;
    atomic_store_relaxed(&uccs_poll_messages, poll_network);
    if (strcmp(env_text(ENV_PROGRESS), "thread") != 0)
        return;
    atomic_store_release(&helper_goes, 1);
    if (pthread_create(&helper, 0, help, 0) != 0)
        atomic_store_relaxed(&helper_goes, 0);
}

void uccs_am_stop(void)
{
    if (--live)
        return;
    atomic_store_relaxed(&uccs_poll_messages, 0);
    if (atomic_load_relaxed(&helper_goes)) {
        atomic_store_release(&helper_goes, 0);
        pthread_join(helper, 0);
    }
}
