/* Active messages on a node (UCCS). Any thread.
 *
 * Data flow: the sender reserves a cell in the receiver's ring (one of four for each context: request or
 * reply, network or user class), writes header and short payload, and commits (send.c). A longer payload lies in a
 * bounce buffer of the sender (mem/bounce.h), which the receiver reads in place. A thread in progress takes a cell, copies
 * it out, releases it, and only then runs the handler, holding no lock. Then it counts the arrival (counter),
 * marks the bounce buffer done (the sender completes its request when it next looks), and adds to the
 * sender's count of handled messages, for which a flush waits (receive.c). A message without a handler is unexpected and
 * waits (packet.c). A payload for a place of the receiver comes by rendezvous (rendezvous.c).
 *
 * No deadlock: a sender that finds a ring full serves its own rings while it waits; a handler that replies into
 * a full ring serves its own reply rings alone, and handlers of replies do not wait for room, so the depth is two. Other
 * messages that handlers send never wait (UCCS_AGAIN).
 * A handler that waits for a one-sided operation serves the library's messages alone.
 * Memory is bounded by rings and region, and by the replies that a process asks for.
 *
 * uccs_progress and the waits of uccs.h run handlers of both classes. Waits of OpenSHMEM and the progress thread run
 * handlers of the network class alone. */
#ifndef UCCS_AM_AM_H
#define UCCS_AM_AM_H

#include "uccs/comp/counter.h"
#include "uccs/core/pe_shared.h"
#include "uccs/core/wait.h"
#include "uccs/mem/accumulate.h"
#include "uccs/mem/bounce.h"
#include "uccs/proto/proto.h"

#include <stdbool.h>
#include <uccs.h>

/* A stream: the order, the scope and the workers of the operations that are issued on its endpoints. Any thread.
 *
 * Each thread that issues on a stream has a part of it, which counts the thread's operations that a peer of this node
 * executes (deferred operations, remote.c) and has the set of workers (proto/proto.h) that notes its operations to other nodes. In a
 * stream of process scope the parts share one set. So a flush of thread scope looks at the calling thread's part
 * alone, whatever the number of threads, and costs what this thread has under way.
 *
 * Invariants:
 * - A part belongs to one thread, or to nobody. It changes hands only when nothing of it is under way, so at most as
 *   many parts exist as threads had operations under way at once.
 * - A part stays on the list until its stream ends, so counts and sets may be used without a lock.
 * - A stream that has issued nothing to wait for has no part: creation allocates the stream alone. */

struct uccs_stream_thread {
    struct uccs_stream_thread *next;
    uint32_t owner;    /* number of the thread + 1; 0: nobody; the owner frees it (release), others take it (acquire) */
    uint32_t deferred; /* acqrel */
    uint32_t failed;   /* 1: deferred operations have failed, and no flush has told; `deferred` publishes it */
    struct proto_worker_set far; /* of thread scope; notes */
};

struct uccs_stream {
    struct uccs_context *world; /* whose messages the endpoints send; null: they send none */
    struct uccs_stream_attr attr;
    struct uccs_stream_thread *parts; /* release by the thread that adds one */
    struct proto_worker_set shared;   /* of process scope; notes */
    struct uccs_endpoint *endpoints;  /* those made from it; the end needs them */
};

/* Returns the workers on which the calling thread issues to other nodes. */
struct proto_worker_set *uccs_stream_workers(struct uccs_stream *stream);
/* Like uccs_stream_workers; null when the thread has issued nothing. */
struct proto_worker_set *uccs_stream_used(struct uccs_stream *stream);

/* Counts a deferred operation of the calling thread. Returns the part, which uccs_deferred_end needs at the operation's
 * end; `failed`: the target has refused it, and no request tells. */
struct uccs_stream_thread *uccs_deferred_begin(struct uccs_stream *stream);
void uccs_deferred_end(struct uccs_stream_thread *part, bool failed);
/* Returns true when deferred operations within the stream's scope have failed since the last call. */
bool uccs_deferred_failed(const struct uccs_stream *stream);
/* Returns true when all deferred operations within the stream's scope are done. */
bool uccs_deferred_done(const struct uccs_stream *stream);
/* Wait until uccs_deferred_done returns true, or until those of the calling thread are done. They serve messages
 * meanwhile; in a handler, the library's own messages alone. */
void uccs_deferred_wait(const struct uccs_stream *stream);
void uccs_deferred_wait_mine(const struct uccs_stream *stream);

/* Orders later operations of the calling thread (in process scope: of all threads) behind earlier ones. */
void uccs_stream_order(struct uccs_stream *stream);
/* Gives back parts of the calling thread that have nothing under way. Called when a flush has ended. */
void uccs_stream_rest(struct uccs_stream *stream);
/* Completes the operations of all threads and frees all parts. No other call on the stream may be under way. */
void uccs_stream_end(struct uccs_stream *stream);

_Static_assert(UCCS_CONTEXTS <= PE_SHARED_LIBRARY_CONTEXT, "every context has rings, and so has the inner one");

/* A registered handler. Function, argument and class belong to one registration. inner.h reads and writes it. */
struct uccs_handler {
    uint32_t version;        /* 0: none has been registered yet */
    uint16_t cls;            /* enum uccs_am_class */
    uint16_t closed;         /* 1: it is being taken back, and no waiting message is taken for it; release, acquire */
    uccs_am_handler handler; /* null: no handler is registered */
    void *argument;
};

/* Messages of three kinds have their handlers in one table: the kind counts from here, the program's id is added. */
enum {
    UCCS_AM_PLAIN = 0,
    UCCS_AM_PLACE = UCCS_AM_HANDLERS,    /* announces a payload for a place of the receiver's (rendezvous.c) */
    UCCS_AM_LONG = 2 * UCCS_AM_HANDLERS, /* announces a payload for a handler, too long for the sender's region */
    UCCS_AM_SLOTS = UCCS_MESSAGE_SLOTS
};

/* A context: an isolated world of communication, with handlers and rings of its own. */
struct uccs_context {
    struct uccs_context_attr attr;
    struct uccs_group_impl *group; /* whose members agreed on it, or null; its endpoints lead to them alone */
    struct uccs_handler handlers[UCCS_AM_SLOTS];
    struct uccs_handler places[UCCS_AM_HANDLERS]; /* place handlers, which the handlers of UCCS_AM_PLACE call */
    struct uccs_stream stream;                    /* its own */
};

struct uccs_endpoint {
    struct uccs_context *context; /* the stream's world */
    struct uccs_stream *stream;
    struct uccs_endpoint *next;
    bool ordered;   /* the stream is */
    int pe;         /* in the world */
    uint32_t index; /* on this node; uccs_core.pes or more: the PE is on another node */
};
_Static_assert(offsetof(struct uccs_endpoint, context) == 0, "uccs_classic.h, in programs, reads it");

#define UCCS_NO_BLOCK UINT64_MAX

enum { UCCS_RING_REPLY = 1, UCCS_RING_USER = 2 }; /* bits of a ring's number */

/* The content of a ring's cell. A payload over UCCS_SHORT_MAX lies in the sender's block. */
struct uccs_message {
    uint32_t source; /* PE */
    uint32_t length;
    uint16_t id;
    uint16_t staged : 1;  /* the payload is in the block */
    uint16_t thread : 15; /* number of the one that has sent it */
    uint64_t block;       /* offset in the sender's region; UCCS_NO_BLOCK: nothing to acknowledge */
    uccs_counter counter;
    int64_t weight;
    char payload[UCCS_SHORT_MAX];
};
_Static_assert(sizeof(struct uccs_message) == PE_SHARED_CELL_BYTES, "a message fills a cell");

enum uccs_am_outcome {
    UCCS_AM_HANDLED,
    UCCS_AM_HELD,    /* handled, but the handler keeps the block until uccs_am_done */
    UCCS_AM_PENDING, /* the handler has started the rest, which ends with uccs_far_am_end (rendezvous.c) */
    UCCS_AM_UNREADY  /* the handler is not registered yet; nothing has happened */
};

/* The payload of a long message, on the heap. */
struct uccs_whole {
    size_t bytes;
    char payload[];
};

struct uccs_am_token {
    struct uccs_context *context;
    const struct uccs_message *message;
    struct uccs_bounce *block;
    struct uccs_whole *whole; /* of a long message, else null; keep takes it */
    uint8_t outcome;          /* enum uccs_am_outcome */
    bool reply, replied, kept;
};

/* Number of handlers that this thread is running. Inside a handler the thread must not wait, and sends with nowait
 * alone. */
extern _Thread_local int uccs_handlers_running;

/* --- Receiving (contexts.c, receive.c, progress.c) */

/* Published contexts are polled. When uccs_am_retire returns, no thread is in the context's handlers any more. One
 * caller at a time each. uccs_am_published returns null when the context is not published. */
void uccs_am_publish(struct uccs_context *context);
void uccs_am_retire(struct uccs_context *context);
struct uccs_context *uccs_am_published(uint32_t id);

/* Gives the progress thread its work on messages, before it starts; names the receivers of messages to those who ask what a
 * wait is for. */
void uccs_am_prepare(void);
/* Start and stop polling in OpenSHMEM's waits. They poll while uccs.h is in use (api/context.c). */
void uccs_am_start(void);
void uccs_am_stop(void);

/* Wakes, on the progress thread, who sleeps on the descriptor of uccs_event_descriptor (progress.c). */
extern struct uccs_progress_source uccs_event_source;
/* Closes the descriptor, at the end of a life, when the progress thread has ended. */
void uccs_event_close(void);

/* Ends the job with a line unless the message is at least that long and its content names the PE that sent it. For the
 * library's own messages, which count and file by PE. */
void uccs_am_insist(const struct uccs_am_token *token, size_t length, size_t least, const uint32_t *source);

/* Keeps the staged payload in place until the caller calls uccs_am_done. Returns its block, or null when there is
 * none. */
struct uccs_bounce *uccs_am_hold(struct uccs_am_token *token);
/* Releases a held block. Not from inside an event of the transport. */
void uccs_am_done(struct uccs_bounce *block);

/* Makes one round of progress and, when it found nothing, pauses. For the substrate's own waits. */
void uccs_am_serve(struct uccs_wait *wait);
/* Serves the reply rings for a handler whose reply finds no room. */
void uccs_am_serve_replies(struct uccs_wait *wait);
/* Handles all messages that have arrived. */
void uccs_am_drain(void);
/* Drops the messages that have arrived for handlers that are not registered. Returns their number and the origin of the
 * first one. Called at the end of a life, when no PE sends any more. */
struct uccs_am_lost {
    size_t count;
    uint32_t source, id, context;
};
struct uccs_am_lost uccs_am_drop(void);
/* Makes one round of the network class alone. Returns 1 when it found something to do, else 0. */
int uccs_am_poll_network(void);

/* --- Sending (send.c) */

/* Sends a message of the library's own. Its payload fits a cell or lies in the block, which may be null. Returns false
 * when there is no room at the moment; then it has done nothing. */
bool uccs_am_try(uint32_t index, uint32_t id, const void *payload, size_t length, struct uccs_bounce *block);

/* Returns true when all messages of the context have been handled; in thread scope, those of this thread. */
bool uccs_am_settled(const struct uccs_context *context, enum uccs_scope scope);
/* Logs a line for a thread that has waited long for the context's messages to be handled. */
void uccs_am_tell_unsettled(const struct uccs_context *context);
/* Tells who has not handled messages of the context. For uccs_reason_function (core/wait.h). */
void uccs_am_reason_debtor(const void *context, struct uccs_reason *reason);

/* uccs_far_am_open registers the handlers of messages of other nodes; call it before the links open. uccs_far_am_close
 * drops the messages that nobody handled; call it after the links are closed. One thread. */
void uccs_far_am_open(void);
void uccs_far_am_close(void);
/* --- Operations that a peer of this node executes (remote.c). They reach memory that is neither mapped nor open to the kernel's
 * copy (a container refuses it, or the PE is in another pid namespace). A block of the origin's region carries the
 * call, and the data in both directions. Handlers may use them: a thread that waits here executes the peers' calls
 * meanwhile. The target has to make progress. Any thread. */

/* Elements of a memory object that an operation reads, writes or changes. */
struct uccs_access {
    const struct uccs_region *memory; /* generation 0: no registration; addresses that the owner has named */
    size_t offset;
    struct uccs_accumulate_op what; /* a put replaces bytes, a get leaves them as they are */
    bool copies;                    /* a put or get, which need not be atomic */
    const char *operand;            /* of a put, the data; may be null */
    char *result;                   /* receives the old values; may be null */
};

/* What completes with an operation that outlasts the function that starts it. All may be null. */
struct uccs_remote_later {
    struct uccs_request *request; /* when the target has executed it */
    struct uccs_request *local;   /* when the old values are here */
    int *status;                  /* takes the error of a part that fails, before the request completes */
    bool nowait;                  /* the first piece returns UCCS_AGAIN instead of waiting for room */
};

/* Returns when the operand has been copied. The stream counts the operation; null: none does. */
int uccs_remote_start(struct uccs_stream *stream, const struct uccs_access *access,
                      const struct uccs_remote_later *later);
/* Waits for a request of the caller's, which has no parent. Returns `status`, or the failure of a part when it is UCCS_OK. */
int uccs_remote_finish(const struct uccs_request *all, const int *failure, int status);

/* Does an operation on memory that the kernel reaches: by its copy, or by the owner if that polls at the moment (call.c).
 * Returns UCCS_OK or an error. */
int uccs_call_or_copy(const struct uccs_access *access);

/* The handler at the target, in the library's own context. */
void uccs_remote_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);

/* Returns the access to n of the elements, from the one with this number on. */
static inline struct uccs_access uccs_access_part(const struct uccs_access *all, size_t first, size_t n)
{
    struct uccs_access part = *all;
    const size_t at = first * uccs_accumulate_size(all->what.type);
    part.offset += at;
    part.what.n = n;
    part.operand += part.operand ? at : 0;
    part.result += part.result ? at : 0;
    return part;
}

#endif
