/* The receiving half of announced payloads (rendezvous.h). Any thread.
 *
 * On a node the thread that runs the handler copies the payload from the sender's memory at once: the kernel copies, or,
 * where it refuses, the sender executes the copy (remote.h). It serves the library's own messages while it
 * waits for those. From another node a get fetches the payload into its place; the message is pending meanwhile, and
 * counts as handled when the data is there. */
#include "uccs/am/rendezvous.h"

#include "uccs/am/contexts.h"
#include "uccs/am/far.h"
#include "uccs/am/remote.h"

#include "base/log.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/memory.h"
#include "uccs/proto/initiator.h"
#include "uccs/mem/cma.h"
#include "uccs/core/fail.h"

#include <stdlib.h>
#include <string.h>

/* --- Fetching */

static int fetch_near(uint32_t source, const struct uccs_announce *announce, char *to)
{
    const struct uccs_region there = {.owner = (int)source,
                                      .pid = uccs_pe_shared_of(uccs_index((int)source))->pid,
                                      .address = announce->at};
    const struct uccs_access get = {.memory = &there,
                                    .what = {UCCS_UINT8, UCCS_NO_OP, announce->length},
                                    .copies = true,
                                    .result = to};
    struct uccs_remote_wait wait = {0};
    if (source == (uint32_t)uccs_core.me) {
        memcpy(to, (const void *)(uintptr_t)announce->at, announce->length);
        return UCCS_OK;
    }
    if (uccs_cma_reaches(&there))
        return uccs_cma_get(&there, 0, to, announce->length);
    return uccs_remote_finish(&wait, uccs_remote_start(0, &get, &(struct uccs_remote_later){.wait = &wait}));
}

static bool is_far(uint32_t source)
{
    return uccs_index((int)source) >= uccs_core.pes;
}

static struct proto_address lent_place(const struct uccs_announce *announce)
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

static int fetch_far(struct uccs_am_token *token, const struct uccs_announce *announce, void *place,
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
static struct uccs_announce read_announce(const struct uccs_am_token *token, const void *payload, size_t length)
{
    struct uccs_announce announce = {0};
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
static int bring_payload(struct uccs_am_token *token, const struct uccs_announce *announce, const char *header,
                         char *place, const struct fetch *fetch)
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

void uccs_rendezvous_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const struct uccs_handler entry = uccs_handler_read(argument);
    const struct uccs_announce announce = read_announce(token, payload, length);
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

static int fetch_long(uint32_t source, const struct uccs_announce *announce, char *to)
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

void uccs_rendezvous_long_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const struct uccs_handler entry = uccs_handler_read(argument);
    const struct uccs_announce announce = read_announce(token, payload, length);
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
    uccs_handler_write(&context->handlers[UCCS_AM_LONG + id], cls, uccs_rendezvous_long_arrived, plain);
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
    uccs_handler_write(&context->handlers[UCCS_AM_PLACE + id], cls, uccs_rendezvous_arrived, entry);
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
