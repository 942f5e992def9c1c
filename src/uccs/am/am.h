/* Active messages on a node (seed 001; design §5). Any thread.
 *
 * Data flow: the sender reserves a cell in the receiver's ring (one of four for each context: request or
 * reply, network or user class), writes header and short payload, commits (send.c). Longer payloads lie in a
 * block of the sender's region, which the receiver reads in place. A thread in progress takes a cell, copies it
 * out, releases it, and only then runs the handler, holding nothing. Then it counts the arrival (counter),
 * marks the sender's block done, which completes the sender's request when the sender next looks, and adds to the
 * sender's count of handled messages, for which a flush waits (poll.c).
 *
 * No deadlock: a sender that finds a ring full serves its own rings while it waits; a handler that replies into
 * a full ring serves its own reply rings alone, and handlers of replies cannot send, so the depth is two.
 * A handler that waits for a one-sided operation serves the library's messages alone.
 * Memory is bounded by rings and region, and by the replies that a process asks for.
 *
 * uccs_progress and the waits of uccs.h run handlers of both classes; waits of OpenSHMEM and the progress thread run the
 * network class alone. */
#ifndef UCCS_AM_AM_H
#define UCCS_AM_AM_H

#include "uccs/core/own.h"
#include "uccs/object/counter.h"
#include "uccs/core/wait.h"
#include "uccs/object/stage.h"

#include <stdbool.h>
#include <uccs.h>

_Static_assert(UCCS_CONTEXTS <= OWN_INNER, "every context has rings, and so has the inner one");

/* A registered handler: function, argument and class, which belong together. inner.h reads and writes it. */
struct uccs_handler {
    uint32_t version;
    enum uccs_am_class cls;
    uccs_am_handler handler; /* null: none has been registered yet */
    void *argument;
};

/* A context: an isolated world of communication, with handlers and rings of its own. */
struct uccs_context {
    struct uccs_context_attr attr;
    struct uccs_handler handlers[UCCS_AM_HANDLERS];
    struct uccs_endpoint *endpoints; /* made from it, for destroy */
};

struct uccs_endpoint {
    struct uccs_context *context;
    struct uccs_endpoint *next;
    int pe;         /* in the world */
    uint32_t index; /* on this node; uccs_core.size or more: elsewhere */
};

#define UCCS_NO_BLOCK UINT64_MAX

enum { UCCS_RING_REPLY = 1, UCCS_RING_USER = 2 }; /* bits of a ring's number */

/* The content of a ring's cell. A payload over UCCS_SHORT_MAX lies in the sender's block. */
struct uccs_message {
    uint32_t source; /* PE */
    uint32_t length;
    uint16_t id;
    uint8_t staged; /* the payload is in the block */
    uint8_t lane;   /* of the sending thread */
    uint64_t block; /* offset in the sender's region, or UCCS_NO_BLOCK: nothing to acknowledge */
    uccs_counter counter;
    int64_t weight;
    char payload[UCCS_SHORT_MAX];
};
_Static_assert(sizeof(struct uccs_message) == OWN_CELL_BYTES, "a message fills a cell");

/* Handlers of the library's own context (OWN_INNER): letters, operations executed by the target, out-of-band messages. The
 * context exists as long as uccs.h is in use, and with it polls in OpenSHMEM's waits and the progress thread. */
enum { UCCS_INNER_LETTER, UCCS_INNER_REMOTE, UCCS_INNER_OOB };

struct uccs_am_token {
    struct uccs_context *context;
    const struct uccs_message *message;
    struct uccs_block *block;
    bool reply, replied;
    bool held; /* the handler keeps the block; uccs_am_done ends that */
};

/* Handlers that this thread is running; in one, it must neither send nor wait. */
extern _Thread_local int uccs_handlers_running;

/* --- Receiving (poll.c) */

/* Contexts come and go. Published ones are polled; after retiring one, no thread is in its handlers any more. One
 * caller at a time each. */
void uccs_am_publish(struct uccs_context *context);
void uccs_am_retire(struct uccs_context *context);
struct uccs_context *uccs_am_published(uint32_t id);

/* Polls in waits of OpenSHMEM, and the progress thread: while the substrate is in use (face/init.c). */
void uccs_am_start(void);
void uccs_am_stop(void);

/* The staged payload stays where it is until the caller is done with it. */
struct uccs_block *uccs_am_hold(struct uccs_am_token *token);
/* Not from inside an event of the transport. */
void uccs_am_done(struct uccs_block *block);

/* One round of progress and, when it found nothing, a pause: for the substrate's own waits. */
void uccs_am_serve(struct uccs_wait *wait);
/* From inside a handler, whose reply finds no room. */
void uccs_am_serve_replies(struct uccs_wait *wait);
/* Runs everything that has arrived. */
void uccs_am_drain(void);
/* Forgets what has arrived for handlers that are not registered; how much, and which message was the first. At the end of
 * a life, when nobody sends any more. */
struct uccs_am_lost {
    size_t count;
    uint32_t source, id, context;
};
struct uccs_am_lost uccs_am_drop(void);
/* One round of the network class alone: how many it found. */
int uccs_am_poll_network(void);

/* --- Sending (send.c) */

/* A message of the library's own, with a payload that fits a cell or lies in the block (which may be null). False:
 * no room just now; nothing has happened. */
bool uccs_am_try(uint32_t index, uint32_t id, const void *payload, size_t length, struct uccs_block *block);

/* True when all messages of the context have been handled; in a context of thread scope, those of this thread's lane. */
bool uccs_am_settled(const struct uccs_context *context);
/* The line for a thread that has waited long for that. */
void uccs_am_tell_unsettled(const struct uccs_context *context);

/* --- Deferred operations (deferred.c): one-sided operations that a peer of this node executes on request (rma/remote.c)
 * and has not executed yet, counted by context and by lane of the issuing thread. Fences, flushes, and ordered operations
 * and messages, which must come after them, wait for them here. */

/* Counts one operation of the calling thread. It is done when *count is one less (acqrel). */
uint32_t *uccs_deferred_begin(const struct uccs_context *context);

/* True when all are done: those of the calling thread's lane, in a context of process scope those of all threads. */
bool uccs_deferred_done(const struct uccs_context *context);

/* Waits until all are done, or those of the calling thread's lane. Serves messages; in a handler the library's own. */
void uccs_deferred_wait(const struct uccs_context *context);
void uccs_deferred_wait_mine(const struct uccs_context *context);

/* Before the links open: registers what is done with messages of other nodes. After they are closed: forgets those that
 * nobody handled. One thread. */
void uccs_far_am_open(void);
void uccs_far_am_close(void);
#endif
