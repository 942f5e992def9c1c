/* Sending messages (send.c). Any thread. */
#ifndef UCCS_AM_SEND_H
#define UCCS_AM_SEND_H

#include "uccs/am/am.h"

/* A message on its way into a ring. Its owner fills in index, which, id, length, and payload or parts. */
struct uccs_sending {
    struct uccs_stream *stream; /* null: the library's own message */
    uint32_t index, context, which;
    bool nowait;
    struct uccs_message head;
    const void *payload; /* null: it is gathered from `parts`, which have head.length bytes together */
    const struct uccs_payload *parts;
    struct uccs_bounce *block;
    struct uccs_request *request; /* the block finishes it; may be null */
    /* As in struct uccs_bounce; `landed` may be null. */
    void (*landed)(struct uccs_bounce *block);
    void *cookie;
};

/* Sends a message. Copies its payload. Returns UCCS_OK; UCCS_AGAIN or an error, and then has no effect. */
int uccs_am_post(struct uccs_sending *sending, const struct uccs_context *context, const struct uccs_op *op);
/* Checks the arguments that all messages have. */
int uccs_am_check(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload,
                  size_t length, const struct uccs_op *op);
/* Sends a plain message, at most uccs_am_most() bytes, with arguments that have been checked. */
int uccs_am_send(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload,
                 size_t length, const struct uccs_op *op);
size_t uccs_am_most(void);

#endif
