/* Announced payloads (rendezvous): the message carries an announcement, then the header; the payload stays in the sender's memory until the
 * receiver knows where to put it, and comes straight there. A small payload follows the header instead. Any thread.
 *
 * On a node the thread that runs the handler copies the payload from the sender's memory at once: the kernel copies, or, where it
 * refuses, the sender executes the copy (remote.c). The thread serves the library's own messages while it waits for those. From another node a get
 * fetches the payload into its place; the message is pending meanwhile, and counts as handled when the data is there. */

#include "base/log.h"
#include "uccs/am/inner.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/core.h"
#include "uccs/core/memory.h"
#include "uccs/mem/dynamic.h"
#include "uccs/proto/initiator.h"

#include <stdlib.h>

struct announce {
    uint64_t length;
    uint64_t at; /* address in the sender; for another node a place in PROTO_LANDING, which the sender has opened */
    uint32_t header_bytes;
    uint32_t eager; /* 1: the payload follows the header */
};

/* --- Sending */

/* The program's memory, which the receiver reads. */
struct loan {
    bool far;
    struct proto_address room;  /* for another node */
    struct uccs_request *local; /* finished when the receiver has read it; may be null */
    uint32_t *flag;             /* set to 1 (release) then; may be null */
};

static void end_loan(struct loan *loan, bool failed)
{
    if (loan->far)
        proto_landing_close(loan->room);
    if (loan->local)
        uccs_request_finish(loan->local, failed);
    if (loan->flag)
        atomic_store_release(loan->flag, 1); /* acquire: send_loan */
    free(loan);
}

/* The receiver is done with the message. */
static void return_loan(struct uccs_bounce *block)
{
    end_loan(block->cookie, block->failed);
}

struct content {
    const void *header, *payload;
    size_t header_bytes, length;
};

#define HEADER_MOST (UCCS_MEDIUM_MAX / 2)
#define EAGER_MOST (UCCS_MEDIUM_MAX - sizeof(struct announce)) /* header and payload */

/* Writes the message. Returns its length. */
static size_t write_announce(char *to, const struct content *content, uint64_t at, bool eager)
{
    const struct announce announce = {content->length, at, (uint32_t)content->header_bytes, eager};
    char *end = to + sizeof announce;
    memcpy(to, &announce, sizeof announce);
    if (content->header_bytes)
        memcpy(end, content->header, content->header_bytes);
    end += content->header_bytes;
    if (eager && content->length) {
        memcpy(end, content->payload, content->length);
        end += content->length;
    }
    return (size_t)(end - to);
}

static int post_announce(const struct uccs_endpoint *endpoint, int slot, enum uccs_am_class cls, struct uccs_sending *s,
                         const struct uccs_op *op)
{
    s->stream = endpoint->stream;
    s->index = endpoint->index;
    s->which = cls == UCCS_AM_USER ? UCCS_RING_USER : 0;
    s->head.id = (uint16_t)slot;
    return uccs_am_post(s, endpoint->context, op);
}

static struct loan *lend_memory(const struct uccs_endpoint *endpoint, const struct content *content, uint32_t *flag)
{
    struct loan *loan = malloc(sizeof *loan);
    if (!loan)
        return 0;
    *loan = (struct loan){.far = endpoint->index >= uccs_core.pes, .flag = flag};
    if (loan->far)
        loan->room = proto_landing_open((void *)(uintptr_t)content->payload, content->length);
    else
        uccs_cma_offer();
    return loan;
}

/* Sends an announcement. A blocking call returns when the receiver has read the payload. */
static int send_loan(const struct uccs_endpoint *endpoint, int slot, enum uccs_am_class cls,
                     const struct content *content, const struct uccs_op *op)
{
    char message[UCCS_MEDIUM_MAX];
    struct uccs_wait wait uccs_scoped = {0};
    uint32_t read = 0;
    bool blocking = !op || !op->nonblocking;
    uccs_request_t *local = op ? op->local : 0, before = local ? *local : UCCS_REQUEST_NULL;
    struct loan *loan = lend_memory(endpoint, content, blocking ? &read : 0);
    if (!loan)
        return UCCS_ERR_NO_MEMORY;
    if (local && !blocking && (loan->local = uccs_request_materialise(local)))
        uccs_request_begin(loan->local);
    uint64_t at = loan->far ? loan->room.offset : (uintptr_t)content->payload;
    struct uccs_sending s = {.payload = message, .landed = return_loan, .cookie = loan};
    s.head.length = (uint32_t)write_announce(message, content, at, false);
    int status = post_announce(endpoint, slot, cls, &s, op);
    if (status != UCCS_OK) {
        end_loan(loan, false);
        if (local && !uccs_request_object(before)) {
            uccs_request_free(local);
            *local = before;
        }
        return status;
    }
    while (blocking && !atomic_load_acquire(&read)) /* release: end_loan */
        uccs_am_serve(&wait);
    if (local && blocking)
        uccs_request_loaded(local);
    return UCCS_OK;
}

/* A handler must not wait until the receiver has read the payload. */
static bool may_lend(const struct uccs_op *op)
{
    return !uccs_handlers_running || (op && op->nonblocking);
}

int uccs_send(uccs_endpoint_t endpoint, int id, enum uccs_am_class cls, const void *payload, size_t length,
              const struct uccs_op *op)
{
    int status = uccs_am_check(endpoint, id, cls, payload, length, op);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    if (lat_likely(length <= UCCS_MEDIUM_MAX) || length <= uccs_am_most())
        return uccs_am_send(endpoint, id, cls, payload, length, op);
    if (!may_lend(op))
        return UCCS_ERR_STATE;
    return send_loan(endpoint, UCCS_AM_LONG + id, cls, &(struct content){.payload = payload, .length = length}, op);
}

static int send_eager(const struct uccs_endpoint *endpoint, int slot, enum uccs_am_class cls,
                      const struct content *content, const struct uccs_op *op)
{
    char message[UCCS_MEDIUM_MAX];
    struct uccs_sending s = {.payload = message};
    s.head.length = (uint32_t)write_announce(message, content, 0, true);
    int status = post_announce(endpoint, slot, cls, &s, op);
    if (op && op->local && status == UCCS_OK)
        uccs_request_loaded(op->local); /* the payload has been copied */
    return status;
}

int uccs_send_place(uccs_endpoint_t endpoint, int id, enum uccs_am_class cls, const void *header, size_t header_length,
                    const void *payload, size_t length, const struct uccs_op *op)
{
    const struct content content = {header, payload, header_length, length};
    int status = uccs_am_check(endpoint, id, cls, payload, length, op);
    if (status == UCCS_OK && header_length && !header)
        status = UCCS_ERR_INVALID;
    if (status == UCCS_OK && header_length > HEADER_MOST)
        status = UCCS_ERR_TOO_LARGE;
    if (status != UCCS_OK)
        return status;
    if (length <= EAGER_MOST - header_length)
        return send_eager(endpoint, UCCS_AM_PLACE + id, cls, &content, op);
    return may_lend(op) ? send_loan(endpoint, UCCS_AM_PLACE + id, cls, &content, op) : UCCS_ERR_STATE;
}

/* --- Receiving */

static int fetch_near(uint32_t source, const struct announce *announce, char *to)
{
    const struct uccs_region there = {.owner = (int)source,
                                      .pid = uccs_pe_shared_of(uccs_index((int)source))->pid,
                                      .address = announce->at};
    const struct uccs_access get = {.memory = &there,
                                    .what = {UCCS_UINT8, UCCS_NO_OP, announce->length},
                                    .copies = true,
                                    .result = to};
    struct uccs_request all = {.pending = 1};
    int failure = UCCS_OK;
    if (source == (uint32_t)uccs_core.me) {
        memcpy(to, (const void *)(uintptr_t)announce->at, announce->length);
        return UCCS_OK;
    }
    if (uccs_cma_reaches(&there))
        return uccs_cma_get(&there, 0, to, announce->length);
    return uccs_remote_finish(&all, &failure,
                              uccs_remote_start(0, &get,
                                                &(struct uccs_remote_later){.request = &all, .status = &failure}));
}

static bool is_far(uint32_t source)
{
    return uccs_index((int)source) >= uccs_core.pes;
}

static struct proto_address lent_place(const struct announce *announce)
{
    return (struct proto_address){.segment = PROTO_LANDING, .offset = announce->at};
}

/* A payload on its way into its place from another node. */
struct fetch {
    uccs_completion done;
    void *argument;
    struct uccs_bounce *block; /* of the message */
};

/* On a thread in progress. */
static void end_fetch(void *argument, bool failed)
{
    struct fetch *fetch = argument;
    fetch->block->failed |= failed;
    if (fetch->done)
        fetch->done(fetch->argument, failed ? UCCS_ERR_FAILED : UCCS_OK);
    uccs_far_am_end(fetch->block);
    free(fetch);
}

static int fetch_far(struct uccs_am_token *token, const struct announce *announce, void *place,
                     const struct fetch *what)
{
    uccs_request_handle handle = UCCS_REQUEST_NULL;
    struct fetch *fetch = malloc(sizeof *fetch);
    struct uccs_request *request = fetch ? uccs_request_materialise(&handle) : 0;
    if (!request) {
        free(fetch);
        return UCCS_ERR_NO_MEMORY;
    }
    *fetch = *what;
    token->outcome = UCCS_AM_PENDING;
    uccs_request_then(request, end_fetch, fetch);
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_GET,
                                              .nonblocking = true,
                                              .pe = (int)token->message->source,
                                              .at = lent_place(announce),
                                              .dest = place,
                                              .bytes = announce->length,
                                              .request = &handle});
    uccs_request_free(&handle);
    return UCCS_OK;
}

/* --- Handlers */

/* The sender's half writes it, so a wrong one is a fault of the library or the wire. */
static struct announce read_announce(const struct uccs_am_token *token, const void *payload, size_t length)
{
    struct announce announce = {0};
    size_t rest = length - sizeof announce;
    bool whole = length >= sizeof announce;
    if (whole)
        memcpy(&announce, payload, sizeof announce);
    whole = whole && announce.header_bytes <= rest && announce.length <= PTRDIFF_MAX - sizeof(struct uccs_whole);
    whole = whole && (announce.eager || token->block); /* the sender waits for its block */
    rest -= announce.header_bytes;
    if (lat_unlikely(!whole || rest != (announce.eager ? announce.length : 0)))
        uccs_fail("PE %u announces %llu bytes by a message of %zu that is cut off", token->message->source,
                  (unsigned long long)announce.length, length);
    return announce;
}

/* Brings the payload into its place. Returns UCCS_OK also when it will come later; the message is pending then. */
static int bring_payload(struct uccs_am_token *token, const struct announce *announce, const char *header, char *place,
                         const struct fetch *fetch)
{
    if (!place || !announce->length)
        return UCCS_OK;
    if (is_far(token->message->source) && !announce->eager)
        return fetch_far(token, announce, place, fetch);
    if (!announce->eager)
        return fetch_near(token->message->source, announce, place);
    memcpy(place, header + announce->header_bytes, announce->length);
    return UCCS_OK;
}

static void place_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const struct uccs_handler entry = uccs_handler_read(argument);
    const struct announce announce = read_announce(token, payload, length);
    const char *header = (const char *)payload + sizeof announce;
    struct fetch fetch = {.block = token->block};
    void *place = 0;
    token->outcome = UCCS_AM_PENDING; /* so that the program cannot keep the announcement */
    int status = ((uccs_am_place)(void (*)(void))entry.handler)(token, header, announce.header_bytes, announce.length,
                                                                &place, &fetch.done, &fetch.argument, entry.argument);
    token->outcome = UCCS_AM_HANDLED;
    bool refused = status != UCCS_OK;
    if (!refused)
        status = bring_payload(token, &announce, header, place, &fetch);
    if (status != UCCS_OK && token->block)
        token->block->failed = 1;
    if (!refused && fetch.done && token->outcome != UCCS_AM_PENDING)
        fetch.done(fetch.argument, status == UCCS_OK ? UCCS_OK : UCCS_ERR_FAILED);
}

static int fetch_long(uint32_t source, const struct announce *announce, char *to)
{
    if (!is_far(source))
        return fetch_near(source, announce, to);
    const struct proto_op get = {.kind = PROTO_GET,
                                 .pe = (int)source,
                                 .at = lent_place(announce),
                                 .dest = to,
                                 .bytes = announce->length};
    return proto_rma_or_end(&get) ? UCCS_OK : UCCS_ERR_FAILED;
}

static void long_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const struct uccs_handler entry = uccs_handler_read(argument);
    const struct announce announce = read_announce(token, payload, length);
    uint32_t source = token->message->source;
    token->whole = malloc(sizeof *token->whole + announce.length);
    if (!token->whole || fetch_long(source, &announce, token->whole->payload) != UCCS_OK) {
        log_line("uccs: a message of %llu bytes of PE %u is lost: no memory, or it cannot be reached",
                 (unsigned long long)announce.length, source);
        token->block->failed = 1;
    } else {
        token->whole->bytes = announce.length;
        entry.handler(token, token->whole->payload, announce.length, entry.argument);
    }
    free(token->whole);
}

/* --- Registration. A handler is the handler of plain and of long messages. */

static bool is_valid_id(uccs_context_t context, int id, enum uccs_am_class cls)
{
    return context && id >= 0 && id < UCCS_AM_HANDLERS && (unsigned)cls <= UCCS_AM_USER;
}

/* Returns true when no handler of the other class is registered there, or has been: messages of its class may wait. */
static bool free_for(const struct uccs_handler *entry, enum uccs_am_class cls)
{
    const struct uccs_handler now = uccs_handler_read(entry);
    return !now.version || now.cls == cls;
}

/* Messages for the new handler may wait already: wakes the progress thread of this process if it sleeps. */
static int announce_handler(void)
{
    uccs_doorbell_wake(uccs_core.index);
    return UCCS_OK;
}

int uccs_am_register(uccs_context_t context, int id, enum uccs_am_class cls, uccs_am_handler handler, void *argument)
{
    if (!is_valid_id(context, id, cls) || !handler)
        return UCCS_ERR_INVALID;
    struct uccs_handler *plain = &context->handlers[UCCS_AM_PLAIN + id];
    if (!free_for(plain, cls))
        return UCCS_ERR_INVALID;
    uccs_handler_write(plain, cls, handler, argument);
    uccs_handler_write(&context->handlers[UCCS_AM_LONG + id], cls, long_arrived, plain);
    return announce_handler();
}

int uccs_am_register_place(uccs_context_t context, int id, enum uccs_am_class cls, uccs_am_place place, void *argument)
{
    if (!is_valid_id(context, id, cls) || !place)
        return UCCS_ERR_INVALID;
    struct uccs_handler *entry = &context->places[id];
    if (!free_for(entry, cls))
        return UCCS_ERR_INVALID;
    uccs_handler_write(entry, cls, (uccs_am_handler)(void (*)(void))place, argument);
    uccs_handler_write(&context->handlers[UCCS_AM_PLACE + id], cls, place_arrived, entry);
    return announce_handler();
}

/* A thread that has taken a waiting message for a handler, or has read it, runs it; so `closed` comes first, and each step waits for the
 * threads of the step before. `announced` calls `entry`, so it goes first. */
static int take_back(struct uccs_handler *announced, struct uccs_handler *entry)
{
    const struct uccs_handler now = uccs_handler_read(entry);
    if (!now.handler)
        return UCCS_ERR_INVALID;
    atomic_store_release(&announced->closed, 1); /* these two, acquire: uccs_handler_known */
    atomic_store_release(&entry->closed, 1);
    uccs_am_quiesce();
    uccs_handler_write(announced, now.cls, 0, 0);
    uccs_am_quiesce();
    uccs_handler_write(entry, now.cls, 0, 0);
    uccs_am_quiesce();
    return UCCS_OK;
}

int uccs_am_unregister(uccs_context_t context, int id)
{
    if (!is_valid_id(context, id, UCCS_AM_USER))
        return UCCS_ERR_INVALID;
    if (uccs_handlers_running)
        return UCCS_ERR_STATE;
    return take_back(&context->handlers[UCCS_AM_LONG + id], &context->handlers[UCCS_AM_PLAIN + id]);
}

int uccs_am_unregister_place(uccs_context_t context, int id)
{
    if (!is_valid_id(context, id, UCCS_AM_USER))
        return UCCS_ERR_INVALID;
    if (uccs_handlers_running)
        return UCCS_ERR_STATE;
    return take_back(&context->handlers[UCCS_AM_PLACE + id], &context->places[id]);
}
