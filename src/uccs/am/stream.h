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
#ifndef UCCS_AM_STREAM_H
#define UCCS_AM_STREAM_H

#include "uccs/proto/proto.h"

#include <uccs.h>

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
/* The same, or null when the thread has issued nothing. */
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

#endif
