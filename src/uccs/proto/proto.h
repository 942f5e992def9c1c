/* Messages between processes of different nodes, as the folders above see them.
 *
 * A worker is an end of communication with connections, numbers and a lock of its own; threads hold the lock while they
 * call the transport. Worker 0 is the service worker: messages of peers arrive there, and the default context issues there.
 * Other workers only issue, and the answers come back to them. A thread holds one worker's lock at a time.
 *
 * Completion. The origin issues an operation and the target applies it; both count, per pair of worker and target. A
 * flush message asks whether the target has applied as many operations as were issued; the target answers once it has.
 *
 * Order. A message that must not overtake others carries the number of operations (those before the last fence) that
 * the target must apply before it; the target keeps the message until then.
 *
 * Any thread may call these functions, without a lock, unless a comment says otherwise. */
#ifndef UCCS_PROTO_PROTO_H
#define UCCS_PROTO_PROTO_H

#include "uccs/core/core.h"
#include "uccs/core/wait.h"
#include "uccs/proto/wire.h"
#include "uccs/comp/request.h"

#include <stdbool.h>
#include <stddef.h>

struct proto_worker;
struct proto_origin;
struct proto_log_peer;
struct proto_peer;
struct proto_pending;

/* --- Sets of workers, on which one party issues: a context, a stream, one thread in a stream of thread scope */

/* What a party has issued, by peer (issue_log.c). */
struct proto_issue_log {
    struct proto_log_peer **peers; /* by PE; null: nothing went anywhere yet */
    struct proto_log_peer *first, *active;
    uint16_t number; /* below PROTO_REQUEST; the worker's begin again: then logs of one number share nacks */
    struct proto_issue_log *next; /* of the worker */
};

/* Starts zeroed, and finds its workers when it issues. It has one worker, the least used, which it shares with others when there are
 * not enough, and one order holds for the operations of all threads. With `spread`, each thread takes a worker, which
 * it may share with other threads, and a fence of several workers is a quiet. With `notes`, the log notes what is issued, so flushes concern
 * the party's own operations, and some peers alone, although parties share the worker. Both are set before the first use, one of them at
 * most. A null pointer stands for the service worker.
 *
 * The operations of a party that notes are complete at a peer when the peer has applied as many operations of the worker as had been
 * issued at the party's last one. A flush may cover the operations of other parties to that peer too, those before it
 * on the worker, but never those to other peers. Without notes a flush concerns all operations on the set's workers. */
struct proto_worker_set {
    uint32_t spread, notes;
    uint32_t fenced;            /* 1: the party has made a fence; sequentially consistent */
    uint64_t used;              /* a bit per worker on which the party has issued; sequentially consistent */
    struct proto_worker *own;   /* the worker without spread */
    struct proto_issue_log log; /* of a set that notes */
};

/* True when one-sided operations of the transport may be used. Constant while workers are open. */
extern bool proto_has_direct;

/* 1 while some peer is off the node. */
extern uint32_t proto_active;
/* Non-zero when the service worker may have unanswered operations since its last quiet; a hint, exact for the thread that
 * issued them. */
extern uint32_t proto_touched;

/* Returns the worker on which the calling thread issues. */
struct proto_worker *proto_worker_of(struct proto_worker_set *on);
/* Returns true, after some progress, when issuing would wait for room. */
bool proto_set_busy(struct proto_worker_set *on);
struct proto_worker *proto_service_worker(void);

/* --- Sending */

/* How an operation goes: by a message that the target applies; by a put or get of the transport, when it can now and the
 * memory has a key; or the data so and a message behind it, which tells the target; or a put that the network counts. */
enum proto_path { PROTO_BY_MESSAGE, PROTO_DIRECT, PROTO_DIRECT_NOTIFY, PROTO_DIRECT_COUNT };
#define PROTO_PIECE ((uint64_t)16 << 20) /* bytes of a piece of memory with one key */

/* Every token that the transport gets begins with this. */
struct proto_sent_token {
    void (*done)(struct proto_sent_token *token, bool failed);
};

/* A message on its way out, from its worker's pool. The caller keeps the data until `flag` or `left` tells that it has left,
 * unless `buffer` holds the data. */
struct proto_send {
    struct proto_sent_token token;
    struct proto_worker *worker;
    struct proto_peer *peer; /* null: an answer, or a batch */
    struct wire_header header;
    const void *data;
    size_t bytes;
    uint32_t *flag;             /* set to 1 (release) when the message has left; may be null */
    void *buffer;               /* freed when the message has left; may be null */
    void (*left)(void *cookie); /* called when the message has left, under the worker's lock; may be null */
    void *cookie;
    struct uccs_request *request;    /* completes when the target has applied the message; may be null */
    struct uccs_request *local;      /* completes when the message has left; may be null */
    struct proto_issue_log *log;     /* notes the message; may be null */
    struct proto_log_peer *log_peer; /* counts the message while its data is not copied; may be null */
    void *into;                      /* of a get that may go PROTO_DIRECT: where the data goes */
    uint64_t puts;                   /* the puts to the peer that must be in place before it leaves (hold_back.c) */
    struct proto_send *next;
    uint8_t way; /* enum proto_path: the best for it */
    bool
        ordered; /* of a pending request that does not count, or an atomic: stays behind the operations issued before */
    bool counts; /* the message is an operation: fences order it, flushes cover it */
    bool later;  /* nobody waits for the message yet, so it may leave together with others, and small data is copied */
    bool
        joins; /* it leaves together with others while earlier operations on the peer are under way (Nagle's rule), else at once */
    bool tells; /* the target may wait for it, so it leaves together with others in a stream of such messages only */
    bool batch; /* the worker keeps the buffer for the next batch */
};

/* Begins a message: waits until the transport, and the targets of requests that `ask` joins, have room; takes all memory that the
 * message may need; and locks the worker. The caller fills in the message, which starts zeroed but for kind, log and request, and
 * issues it, which releases the lock; in between it calls nothing that locks or waits. Returns null without memory. `request` and
 * `ask` may be null. */
struct proto_send *proto_send_begin(struct proto_worker_set *on, int pe, enum proto_wire_kind kind,
                                    struct uccs_request *request, const struct proto_pending *ask);
/* Like proto_send_begin, for callers that may not wait; without memory it ends the job. */
struct proto_send *proto_send_begin_now(struct proto_worker_set *on, int pe, enum proto_wire_kind kind);
void proto_issue(struct proto_send *send);
/* Like proto_issue, for a pending request, whose handle goes with the message. One that may leave `later` does so only while others are under
 * way; the first one leaves at once so that it overlaps computation. */
void proto_issue_ask(struct proto_send *send, struct proto_pending *ask);
/* While true, nothing that this thread issues waits for room. It has asked proto_set_busy before. */
extern _Thread_local bool proto_never_waits;
/* Returns true when too many messages wait in the transport. */
bool proto_busy(const struct proto_worker *worker);
/* Waits until a word is 1, and moves the worker on meanwhile: a flag, or the count of a request of the caller's that counts its owner
 * alone then. Such a request has no parent, so nobody frees it. */
void proto_await(struct proto_worker *worker, const uint32_t *word);
/* Moves the worker on once. Returns non-zero when something came in or has left, else 0. */
int proto_progress(struct proto_worker *worker);
/* The body of a loop that waits for messages of the worker: moves the worker on once and, when that found nothing, spins, yields
 * or sleeps for a short time. */
void proto_pause(struct proto_worker *worker, struct uccs_wait *wait);

/* --- Atomics of the transport (direct.c), which no message can replace: they are atomic to each other alone. So they go to PEs
 * of this node, too, and wait for their key and their turn before they start.
 *
 * proto_key_share makes the key of a piece of the heap or of the globals before a peer asks, and returns false
 * when there can be none. proto_atomic issues an atomic at the message's place. With a pending request, which the message's `into` serves,
 * its answer is the old value; without one it counts as a put, and must not go to a PE of this node. */
struct uccs_atomic_op;
bool proto_key_share(char *start, size_t bytes);
void proto_atomic(struct proto_send *send, const struct uccs_atomic_op *op, struct proto_pending *ask);

/* Fill in a PE that owes an answer, of the request's operations or of any: for uccs_request_reason_add (comp/request.h) and
 * uccs_reason_function (core/wait.h). Returns false when there is none. */
struct uccs_reason;
bool proto_request_reason(const struct uccs_request *request, struct uccs_reason *reason);
void proto_reason(const void *unused, struct uccs_reason *reason);

/* --- Handles stand in messages for things of this process (handle.c). A table starts zeroed; its owner locks it. */
struct proto_handles {
    struct proto_handle_entry *entries;
    uint32_t room, free;
};

/* Returns a handle of `what`, never 0, that the PE may bring back once, by a message of kind `answer`. */
uint64_t proto_handle_give(struct proto_handles *handles, void *what, int pe, enum proto_wire_kind answer);
/* Makes room for one more. Returns false without memory. */
bool proto_handle_grow(struct proto_handles *handles);
static inline bool proto_handle_reserve(struct proto_handles *handles)
{
    return lat_likely(handles->free) || proto_handle_grow(handles);
}
/* Takes a handle back and returns what it stands for. Ends the job with a line unless that PE has it, for that kind. */
void *proto_handle_take(struct proto_handles *handles, uint64_t handle, int pe, enum proto_wire_kind answer);
/* The two halves of it: try returns null in place of ending the job, refuse ends it. For tables under a lock of their own. */
void *proto_handle_try(struct proto_handles *handles, uint64_t handle, int pe, enum proto_wire_kind answer);
_Noreturn void proto_handle_refuse(uint64_t handle, int pe, enum proto_wire_kind answer);
void proto_handle_close(struct proto_handles *handles);
/* Returns a PE that has not brought back what the request counts, or any but locks; -1: there is none. `request` may be
 * null. */
int proto_handle_awaited(const struct proto_handles *handles, const struct uccs_request *request);

/* Gives and finds handles of a worker, under its lock: what the PE answers to a kind of message, and what an arrived
 * answer answers. */
uint64_t proto_handle_of(struct proto_worker *worker, void *what, int pe, enum proto_wire_kind asked);

/* --- Asking */

/* Blocks that lie a stride apart, both at the target and here. */
struct proto_blocks {
    size_t block, count;
    ptrdiff_t there, here; /* bytes from the start of a block to the start of the next */
};

/* A message that the target answers. */
struct proto_pending {
    struct proto_worker *worker;
    uint32_t *
        flag; /* proto_pending_settle sets it to 1 (release); the asking thread owns the pending request. May be null */
    struct uccs_request
        *request; /* without a flag, proto_pending_settle completes it and frees the pending request; may be null */
    struct uccs_request *local;      /* a second request to complete; null: none */
    struct proto_log_peer *log_peer; /* of a log; may be null */
    bool reads;                      /* the answer is long: the target sends it from its memory */
    bool failed;                     /* the region has been released */
    void *dest;                      /* where the answer's bytes go */
    size_t bytes;                    /* that come with the answer */
    struct proto_blocks blocks;      /* count 0: the bytes are one piece */
    uint64_t number;                 /* number among the worker's pending requests without a flag */
    int pe;
};

/* Returns the thing that an arrived answer was asked for, and ends its handle. Ends the job with a line when it was not
 * asked. Under the worker's lock. */
struct proto_arrival;
void *proto_pending_take(const struct proto_arrival *arrival);
/* Completes a pending request whose answer has arrived. Under the worker's lock. */
void proto_pending_settle(struct proto_pending *ask);
/* What an answer to an operation tells besides: how many operations of the asking worker the target has applied, this one with
 * them. When these are all that were issued, a flush need not ask again. `told` returns 0 once the target has refused one,
 * because a flush brings that. Under the worker's lock. */
uint64_t proto_applied_count(const struct proto_arrival *arrival);
void proto_applied_note(const struct proto_pending *ask, uint64_t applied);

/* --- Receiving */

/* A message that has arrived. */
struct proto_arrival {
    struct proto_worker *worker;
    struct proto_origin *origin; /* null for kinds that are `loose` */
    struct wire_header header;
    size_t bytes;
    void *cookie; /* the handler's */
};

/* Handles messages of a kind. Any thread that polls calls these functions, under the lock of the worker on which the
 * message arrives. They must not wait. */
struct proto_handler {
    bool loose;  /* messages are neither ordered nor counted: they are handled as soon as they arrive */
    bool counts; /* the origin's count of applied operations includes the messages */
    /* Returns the place for long data. If it returns null, or is null, the data goes to a buffer, which `land` gets. */
    void *(*room)(struct proto_arrival *arrival);
    /* Takes data that is not in its room. Returns false when it refuses the data. Null: there is no data to take. */
    bool (*land)(struct proto_arrival *arrival, const void *data);
    /* Called once the data is in place, unless it was refused. May be null. */
    void (*landed)(struct proto_arrival *arrival);
};

/* Ends the job with a line unless a notification behind the data of a message is one. Whoever reads the notification calls it first. */
void proto_wire_notify_check(const struct wire_header *header, const struct wire_notify *notice, size_t bytes);

/* Tells the origin that an operation has failed, as a refusal of its data does. */
void proto_nack(const struct proto_arrival *arrival);

/* Registers the handler of a kind, before the transport opens. */
void proto_handle(enum proto_wire_kind kind, const struct proto_handler *handler);
/* Take and release the service worker's lock. In between, no message arrives at this PE and no answer leaves. */
void proto_service_lock(void);
void proto_service_unlock(void);

/* --- Order and completion (quiet.c) */

/* Orders later operations to any peer behind earlier ones, but for those that proto_wait_reads waits for. */
void proto_fence(struct proto_worker_set *on);
/* Complete the operations; `pes` null: at all PEs. flush adds to the request's count what is not complete, and returns false when it has no
 * memory for all of that; the request has an owner. quiet waits, and returns false when what flush counts has failed: when a target
 * has refused operations of a set that notes, which had no requests, and no flush has told yet. wait_local waits until the local buffers
 * of a set that notes are free, or hold the data. */
bool proto_flush(struct proto_worker_set *on, const int *pes, size_t npes, struct uccs_request *request);
bool proto_quiet(struct proto_worker_set *on, const int *pes, size_t npes);
void proto_wait_local(struct proto_worker_set *on, const int *pes, size_t npes);
/* Waits for long gets of a set that notes: their transport may still read memory that a later operation changes. proto_reads
 * returns true when it would wait. */
void proto_wait_reads(struct proto_worker_set *on, int pe);
bool proto_reads(struct proto_worker_set *on, int pe);
/* Returns true when nothing is under way. */
bool proto_is_idle(struct proto_worker_set *on);
/* Fence and quiet of the default context, for peers on this node too. On the node an operation is complete when its
 * stores are visible. */
static inline void uccs_fence_all(void)
{
    if (lat_unlikely(atomic_load_relaxed(&proto_touched)))
        proto_fence(0);
    uccs_fence_stores();
}

static inline void uccs_quiet_all(void)
{
    if (lat_unlikely(atomic_load_relaxed(&proto_touched)))
        (void)proto_quiet(0, 0, 0);
    uccs_quiet();
}

/* Fence and quiet of all workers of this process. */
void proto_fence_all(void);
void proto_quiet_all(void);
/* Makes a quiet, waits for the local buffers, and gives the workers back. No thread may issue on them meanwhile. */
void proto_release(struct proto_worker_set *on);

/* Returns true when the PE's globals are at the same offsets as mine. Reads the PE's record the first time. */
bool proto_same_image(int pe);

#endif
