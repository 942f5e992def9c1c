/* Active messages of uccs.h, which includes this file. */
#ifndef UCCS_H
#include <uccs.h>
#endif
#ifndef UCCS_AM_H
#define UCCS_AM_H

/* A handler runs at the target on a thread that is in progress there. The library holds no lock meanwhile, so the
 * handler guards shared data itself. The payload is valid until the handler returns, unless it keeps it. A handler may
 * reply once or not at all, may call one-sided operations, and may send to any process with op->nowait; it must not
 * wait for requests. Messages of one thread to one endpoint of the same class and form arrive in order; handlers of
 * different threads overlap. A sender whose receiver is full makes progress itself while it waits, so two full
 * processes cannot block each other; the rings bound the memory. */
enum uccs_am_class {
    UCCS_AM_NETWORK_PROTOCOL = 0, /* short handlers; any thread runs them, the progress thread too */
    UCCS_AM_USER = 1,             /* only threads in calls of uccs.h run them */
};
#define UCCS_AM_HANDLERS 256
#define UCCS_SHORT_MAX 128
#define UCCS_MEDIUM_MAX 8192

typedef struct uccs_am_token *uccs_am_token_t; /* valid while the handler runs */
typedef void (*uccs_am_handler)(uccs_am_token_t token, const void *payload, size_t length, void *argument);

/* Local. An id has one class while the context lives: registering it again under this class replaces the handler.
 * UCCS_ERR_INVALID: the context or handler is null, there is no such id or class, or the id is registered under the other class. */
int uccs_am_register(uccs_context_t context, int id, enum uccs_am_class cls, uccs_am_handler handler, void *argument);
/* Takes the handler of the id back: when the call returns, no thread runs it, and later messages for the id wait until a handler
 * of the same class is registered again. Waits for handlers of the context that run, so the caller holds no lock that they
 * take. UCCS_ERR_INVALID: the context is null, or nothing is registered there; UCCS_ERR_STATE inside a handler. One thread at a
 * time registers or takes back an id. A message that has been announced to a place handler may still call its `done`. (After
 * LCI's and UCX's removal of handlers.) */
int uccs_am_unregister(uccs_context_t context, int id);
int uccs_am_unregister_place(uccs_context_t context, int id);
/* Sends a payload of any length. `cls` is the class under which the target registers `id`. Up to UCCS_SHORT_MAX bytes travel
 * in the message itself, more in the sender's memory for messages. It honours every field of op but signal, which must be
 * null: when the handler has returned, op->request completes and op->counter rises. The program may change the payload when the call returns; with op->nonblocking, a payload of more than half of
 * LATERAL_MEMORY only when op->local or op->request completes. With op->nowait it returns UCCS_AGAIN when the receiver's
 * ring is full or the sender's memory for messages is; it makes no progress then. A handler must set nowait, and
 * nonblocking for such long payloads (else UCCS_ERR_STATE). The ideas are those of UCX's ucp_am_send_nbx and LCI's
 * post_am. Returns UCCS_OK, UCCS_AGAIN, or an error. */
int uccs_send(uccs_endpoint_t endpoint, int id, enum uccs_am_class cls, const void *payload, size_t length,
              const struct uccs_op *op);

/* Called by a handler, once: keeps the payload until uccs_payload_done, which any thread may call, before uccs_finalize;
 * null is fine. The payload may move: it is at `data`. The sender's request completes when the payload is done, unless
 * the payload is short. Place handlers keep nothing (UCCS_ERR_STATE). */
typedef const struct uccs_payload {
    const void *data;
    size_t length;
} * uccs_payload_t;
int uccs_am_keep(uccs_am_token_t token, uccs_payload_t *payload);
void uccs_payload_done(uccs_payload_t payload);

/* uccs_send with a gather list: the payload is the n parts in their order, copied before the call returns, so the program may
 * change them and the list then. A part of length 0 may have no data. UCCS_ERR_TOO_LARGE: all parts have more than half of
 * LATERAL_MEMORY bytes; UCCS_ERR_INVALID: a part has length and no data, or parts is null and n is not 0. Else as uccs_send. (After
 * libfabric's fi_sendv.) */
int uccs_send_vector(uccs_endpoint_t endpoint, int id, enum uccs_am_class cls, const struct uccs_payload *parts,
                     size_t n, const struct uccs_op *op);

/* A place handler gets the header and the length of a payload first and answers with the place of the payload (*place;
 * the program must not use it until `done` is called). Null: the payload is dropped. It may set *done and *argument: the
 * library calls *done once, on a thread in progress, with UCCS_OK when the payload is in its place or dropped, or with
 * UCCS_ERR_FAILED; `done` may do what a handler may. It returns UCCS_OK; any other value refuses the message, whose
 * request then fails. Ids of place handlers are apart from those of other handlers. The idea is that of MPI's and UCX's
 * rendezvous. */
typedef int (*uccs_am_place)(uccs_am_token_t token, const void *header, size_t header_length, size_t length,
                             void **place, uccs_completion *done, void **argument, void *registered);
int uccs_am_register_place(uccs_context_t context, int id, enum uccs_am_class cls, uccs_am_place place, void *argument);
/* register_place has the errors of uccs_am_register. Sends to a place handler. The header has at most UCCS_MEDIUM_MAX / 2 bytes; the payload any length. Near, the receiver
 * copies a long payload once, straight from the sender's memory; far, the network brings it into the place. op->request
 * and op->counter tell that the payload is in its place. Without op->nonblocking the call returns when the program may
 * change the payload, so a long one waits for the receiver; a handler must set nowait, and nonblocking (else
 * UCCS_ERR_STATE). Returns UCCS_OK, UCCS_AGAIN (nowait: no effect), or an error. */
int uccs_send_place(uccs_endpoint_t endpoint, int id, enum uccs_am_class cls, const void *header, size_t header_length,
                    const void *payload, size_t length, const struct uccs_op *op);

/* Called by a handler: sends a message of at most UCCS_MEDIUM_MAX bytes to the sender, whose handler `id` of class
 * `cls` runs. A handler of a reply cannot reply. */
int uccs_am_reply(uccs_am_token_t token, int id, enum uccs_am_class cls, const void *payload, size_t length);
int uccs_am_source(uccs_am_token_t token);             /* returns the world rank of the sender; -1 for a null token */
uccs_context_t uccs_am_context(uccs_am_token_t token); /* returns the context of the message; null for a null token */

#endif
