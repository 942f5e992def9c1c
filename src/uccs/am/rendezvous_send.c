/* The sending half of announced payloads (rendezvous.h). Any thread. */
#include "uccs/am/rendezvous.h"
#include "uccs/am/send.h"

#include "uccs/proto/initiator.h"
#include "uccs/mem/cma.h"

#include <stdlib.h>
#include <string.h>

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
#define EAGER_MOST (UCCS_MEDIUM_MAX - sizeof(struct uccs_announce)) /* header and payload */

/* Writes the message. Returns its length. */
static size_t write_announce(char *to, const struct content *content, uint64_t at, bool eager)
{
    const struct uccs_announce announce = {content->length, at, (uint32_t)content->header_bytes, eager};
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
