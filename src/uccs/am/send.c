/* The sending half of active messages; am.h describes the flow. Any thread. */
#include "uccs/am/inner.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/doorbell.h"
#include "uccs/proto/initiator.h"
#include "uccs/core/memory.h"
#include "uccs/core/core.h"
#include "uccs/comp/request.h"

#include <stdio.h>

/* Messages sent, by context and thread; kept over the lives of a context as the receivers' counts are. Relaxed: a
 * flush looks at messages of its own thread, or of threads that it has synchronized with. */
static struct {
    cache_aligned uint64_t count;
} sent[PE_SHARED_CONTEXTS][PE_SHARED_SENDERS];

static void serve_for(uint32_t which, struct uccs_wait *wait)
{
    if (which & UCCS_RING_REPLY)
        uccs_am_serve_replies(wait);
    else
        uccs_am_serve(wait);
}

/* Tries once to put the message into the ring, or to send it to a PE of another node. Returns false when there is no
 * room or no credit. */
static bool try_push(const struct uccs_sending *s)
{
    uint64_t ticket;
    if (lat_unlikely(s->index >= uccs_core.pes))
        return uccs_far_am_try(s->stream ? uccs_stream_workers(s->stream) : 0, uccs_pe_at(s->index), s->context,
                               s->which, &s->head, s->payload, s->block);
    uccs_pe_shared_open_rings(s->index, s->context);
    struct uccs_message *cell = ring_reserve(uccs_pe_shared_ring(s->index, s->context, s->which), &ticket);
    if (!cell)
        return false;
    memcpy(cell, &s->head, offsetof(struct uccs_message, payload));
    if (!s->head.staged && s->head.length)
        memcpy(cell->payload, s->payload, s->head.length);
    ring_commit(uccs_pe_shared_ring(s->index, s->context, s->which), ticket);
    uccs_doorbell_wake(s->index);
    return true;
}

static lat_cold void tell_full(const struct uccs_sending *s)
{
    bool user = s->which & UCCS_RING_USER;
    log_mistake(
        "uccs: a message of class %s to PE %d waits, since that PE has not handled those before it in context %u; it "
        "handles this class %s",
        user ? "user" : "network", uccs_pe_at(s->index), s->context,
        user ? "in uccs_progress and the waits of uccs.h alone" : "in every waiting call");
}

static lat_cold void tell_no_room(const struct uccs_sending *s)
{
    log_mistake(
        "uccs: a message of %u bytes to PE %d waits, since LATERAL_MEMORY is full of messages that their receivers have "
        "not handled",
        s->head.length, uccs_pe_at(s->index));
}

/* Returns UCCS_OK, or UCCS_AGAIN when there is no room and the message must not wait. */
static int push_message(const struct uccs_sending *s)
{
    struct uccs_wait wait uccs_scoped = {0};
    struct uccs_late late = {0};
    uint64_t *count = &sent[s->context][s->head.thread].count;
    atomic_fetch_add_relaxed(count, 1); /* before it can be handled */
    while (!try_push(s)) {
        if (s->nowait) {
            atomic_fetch_add_relaxed(count, -UINT64_C(1));
            return UCCS_AGAIN;
        }
        if (lat_unlikely(uccs_late_now(&late)))
            tell_full(s);
        serve_for(s->which, &wait);
    }
    if (s->block)
        uccs_bounce_sent(s->block);
    return UCCS_OK;
}

/* Copies the parts, or as many as fill the length: the program may change their lengths meanwhile. */
static void gather_parts(char *to, const struct uccs_payload *parts, size_t length)
{
    for (size_t bytes; length; to += bytes, length -= bytes, parts++) {
        bytes = parts->length < length ? parts->length : length;
        if (bytes)
            memcpy(to, parts->data, bytes);
    }
}

static void copy_payload(char *to, const struct uccs_sending *s)
{
    if (lat_unlikely(!s->payload))
        gather_parts(to, s->parts, s->head.length);
    else
        memcpy(to, s->payload, s->head.length);
}

/* Gets a block for a payload that does not fit a cell, or for a message whose handling somebody wants to know of. Waits
 * for room as long as room can come. Returns UCCS_OK, UCCS_AGAIN when the message must not wait, or UCCS_ERR_NO_MEMORY
 * when no room can come. */
static int take_bounce(struct uccs_sending *s)
{
    struct uccs_wait wait uccs_scoped = {0};
    struct uccs_late late = {0};
    bool staged = s->head.length > UCCS_SHORT_MAX;
    /* A reply must find room whatever the program has sent and its receivers have not handled. */
    enum uccs_arena arena = s->which & UCCS_RING_REPLY ? UCCS_ARENA_LIBRARY : UCCS_ARENA_PROGRAM;
    int vain = 0;
    s->head.block = UCCS_NO_BLOCK;
    s->head.staged = staged;
    if (!staged && !s->request && !s->landed)
        return UCCS_OK;
    while (!(s->block = uccs_bounce_get(arena, staged ? s->head.length : 0))) {
        if (!uccs_bounce_expected(arena, &vain))
            return UCCS_ERR_NO_MEMORY;
        if (s->nowait)
            return UCCS_AGAIN;
        if (lat_unlikely(uccs_late_now(&late)))
            tell_no_room(s);
        serve_for(s->which, &wait);
    }
    s->head.block = (uint64_t)((char *)s->block - uccs_memory_region(uccs_core.index));
    if (staged)
        copy_payload(s->block->payload, s);
    s->block->request = s->request;
    s->block->to = uccs_pe_at(s->index);
    s->block->landed = s->landed;
    s->block->cookie = s->cookie;
    return UCCS_OK;
}

/* Keeps an ordered message behind the one-sided operations of this thread. A peer of this node sees this thread's
 * stores before the message in any case. A peer of another node holds the message back until it has executed the
 * earlier operations. Returns UCCS_OK, or UCCS_AGAIN when the message must not wait for them. */
static int order_message(struct uccs_stream *stream, const struct uccs_op *op)
{
    if (!stream || !(stream->attr.ordered || (op && op->ordered)))
        return UCCS_OK;
    if (op && op->nowait && !uccs_deferred_done(stream))
        return UCCS_AGAIN;
    uccs_stream_order(stream);
    return UCCS_OK;
}

/* Notes what the options ask for. */
static int begin_options(struct uccs_sending *s, const struct uccs_op *op)
{
    if (op->counter && !uccs_counter_usable(op->counter, uccs_pe_at(s->index)))
        return UCCS_ERR_STALE;
    if (op->counter) {
        s->head.counter = op->counter;
        s->head.weight = op->weight ? op->weight : 1;
    }
    s->nowait = op->nowait;
    return op->request || op->complete || op->queue ? uccs_callback_begin(op, &s->request) : UCCS_OK;
}

/* The message was not sent. */
static lat_cold int take_back(struct uccs_sending *s, const struct uccs_op *op, uccs_request_handle before, int status)
{
    if (s->block)
        uccs_bounce_put(s->block);
    if (s->request)
        uccs_callback_cancel(op, s->request, before);
    return status;
}

int uccs_am_post(struct uccs_sending *s, const struct uccs_context *context, const struct uccs_op *op)
{
    uccs_request_handle before = op && op->request ? *op->request : UCCS_REQUEST_NULL;
    s->context = context->attr.id;
    s->head.source = (uint32_t)uccs_core.me;
    s->head.thread = uccs_thread() % PE_SHARED_SENDERS;
    int status = order_message(s->stream, op);
    if (op && status == UCCS_OK)
        status = begin_options(s, op);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    status = take_bounce(s);
    if (lat_likely(status == UCCS_OK))
        status = push_message(s);
    return lat_likely(status == UCCS_OK) ? UCCS_OK : take_back(s, op, before, status);
}

static int post_copied(struct uccs_sending *s, const struct uccs_context *context, const struct uccs_op *op)
{
    int status = uccs_am_post(s, context, op);
    if (op && op->local && status == UCCS_OK)
        uccs_request_loaded(op->local); /* the payload has been copied */
    return status;
}

/* Begins a message without a payload; `stream` is null for messages of the library's own context. Leaves the cell's room for a payload as
 * it is: zeroing it would take longer than the rest. */
static inline void start_sending(struct uccs_sending *s, struct uccs_stream *stream, uint32_t index, uint32_t which,
                                 int id, size_t length)
{
    s->stream = stream;
    s->index = index;
    s->which = which;
    s->nowait = false;
    s->head.length = (uint32_t)length;
    s->head.id = (uint16_t)id;
    s->head.counter = 0;
    s->head.weight = 0;
    s->payload = 0;
    s->parts = 0;
    s->block = 0;
    s->request = 0;
    s->landed = 0;
}

bool uccs_am_try(uint32_t index, uint32_t id, const void *payload, size_t length, struct uccs_bounce *block)
{
    struct uccs_sending s = {.index = index, .context = PE_SHARED_LIBRARY_CONTEXT, .payload = payload}; /* no stream */
    s.head.source = (uint32_t)uccs_core.me;
    s.head.length = (uint32_t)length;
    s.head.id = (uint16_t)id;
    s.head.thread = uccs_thread() % PE_SHARED_SENDERS;
    s.head.staged = block && length;
    s.head.block = block ? (uint64_t)((char *)block - uccs_memory_region(uccs_core.index)) : UCCS_NO_BLOCK;
    s.block = block;
    if (!try_push(&s)) /* not counted as sent: no flush waits for the inner context */
        return false;
    if (block)
        uccs_bounce_sent(block);
    return true;
}

static bool thread_settled(uint32_t context, uint32_t thread)
{
    uint64_t handled = atomic_load_acquire(
        &uccs_pe_shared_mine()->handled[context][thread].count); /* release: uccs_am_tell, hear_done */
    return handled >= atomic_load_relaxed(&sent[context][thread].count);
}

bool uccs_am_settled(const struct uccs_context *context, enum uccs_scope scope)
{
    uint32_t id = context->attr.id, mine = uccs_thread() % PE_SHARED_SENDERS;
    if (scope == UCCS_SCOPE_THREAD)
        return thread_settled(id, mine);
    for (uint32_t thread = 0, threads = uccs_threads(); thread < threads; thread++)
        if (!thread_settled(id, thread))
            return false;
    return true;
}

/* Returns a PE that has not handled messages of the context which it has; -1 when none is known. */
static int find_debtor(uint32_t context)
{
    for (uint32_t index = 0; index < uccs_core.pes; index++) {
        const struct uccs_pe_shared *own = uccs_pe_shared_of(index);
        bool open =
            atomic_load_acquire(&own->open[context]) == PE_RINGS_OPEN; /* release: uccs_pe_shared_open_rings_slow */
        bool owes = open && atomic_load_relaxed(&own->unexpected[context]);
        for (uint32_t which = 0; which < PE_SHARED_RINGS && open; which++)
            owes |= !ring_is_empty(uccs_pe_shared_ring(index, context, which));
        if (owes)
            return uccs_pe_at(index);
    }
    return uccs_far_am_debtor(context);
}

void uccs_am_tell_unsettled(const struct uccs_context *context)
{
    int pe = find_debtor(context->attr.id);
    if (pe < 0)
        log_mistake("uccs: this PE waits until its messages in context %u have been handled", context->attr.id);
    else
        log_mistake(
            "uccs: this PE waits until its messages in context %u have been handled; PE %d has not: it needs the "
            "context, the handlers, and calls that make progress",
            context->attr.id, pe);
}

void uccs_am_reason_debtor(const void *context, struct uccs_reason *reason)
{
    int pe = find_debtor(((const struct uccs_context *)context)->attr.id);
    if (pe >= 0)
        reason->on = uccs_reason_pe(pe);
    snprintf(reason->text, sizeof reason->text, "messages");
}

/* In a handler a message must not wait. */
int uccs_am_check(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload,
                  size_t length, const struct uccs_op *op)
{
    if (!endpoint || !endpoint->context || id < 0 || id >= UCCS_AM_HANDLERS || (length && !payload) ||
        (unsigned)cls > UCCS_AM_USER || (op && op->signal))
        return UCCS_ERR_INVALID;
    return lat_unlikely(uccs_handlers_running) && !(op && op->nowait) ? UCCS_ERR_STATE : UCCS_OK;
}

int uccs_am_send(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload,
                 size_t length, const struct uccs_op *op)
{
    struct uccs_sending s;
    start_sending(&s, endpoint->stream, endpoint->index, cls == UCCS_AM_USER ? UCCS_RING_USER : 0, id, length);
    s.payload = payload;
    return post_copied(&s, endpoint->context, op);
}

/* One message can count on at most half of the region, since it shares the region with all messages on their way. */
size_t uccs_am_most(void)
{
    size_t region = uccs_arena_program_bytes();
    return region / 2 < UINT32_MAX / 2 ? region / 2 : UINT32_MAX / 2;
}

static int check_parts(const struct uccs_payload *parts, size_t n, size_t *length)
{
    *length = 0;
    if (n && !parts)
        return UCCS_ERR_INVALID;
    for (size_t i = 0; i < n; i++)
        if ((parts[i].length && !parts[i].data) || __builtin_add_overflow(*length, parts[i].length, length))
            return UCCS_ERR_INVALID;
    return *length <= uccs_am_most() ? UCCS_OK : UCCS_ERR_TOO_LARGE;
}

int uccs_send_vector(uccs_endpoint_t endpoint, int id, enum uccs_am_class cls, const struct uccs_payload *parts,
                     size_t n, const struct uccs_op *op)
{
    char small[UCCS_SHORT_MAX];
    size_t length;
    struct uccs_sending s;
    int status = uccs_am_check(endpoint, id, cls, parts, n, op);
    if (status == UCCS_OK)
        status = check_parts(parts, n, &length);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    if (length <= UCCS_SHORT_MAX) {
        gather_parts(small, parts, length);
        return uccs_am_send(endpoint, id, cls, small, length, op);
    }
    start_sending(&s, endpoint->stream, endpoint->index, cls == UCCS_AM_USER ? UCCS_RING_USER : 0, id, length);
    s.parts = parts;
    return post_copied(&s, endpoint->context, op);
}

int uccs_am_reply(uccs_am_token_t token, int id, enum uccs_am_class cls, const void *payload, size_t length)
{
    if (!token || id < 0 || id >= UCCS_AM_HANDLERS || (length && !payload) || (unsigned)cls > UCCS_AM_USER)
        return UCCS_ERR_INVALID;
    if (!uccs_handlers_running || token->reply || token->replied)
        return UCCS_ERR_STATE;
    if (length > UCCS_MEDIUM_MAX)
        return UCCS_ERR_TOO_LARGE;
    uint32_t which = UCCS_RING_REPLY | (cls == UCCS_AM_USER ? UCCS_RING_USER : 0);
    struct uccs_stream *stream = token->context->attr.id == PE_SHARED_LIBRARY_CONTEXT ? 0 : &token->context->stream;
    struct uccs_sending s;
    start_sending(&s, stream, uccs_index((int)token->message->source), which, id, length);
    s.payload = payload;
    int status = post_copied(&s, token->context, 0);
    token->replied = status == UCCS_OK;
    return status;
}
