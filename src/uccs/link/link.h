/* Messages between processes of different nodes, as the folders above see them.
 *
 * A lane is an end of communication with connections, numbers and a lock of its own; threads hold the lock while they
 * call the transport. Lane 0 is the service lane: messages of peers arrive there, and the default context issues there.
 * Other lanes only issue, and the answers come back to them. A thread holds one lane's lock at a time.
 *
 * Completion. The origin issues an operation and the target applies it; both count, per pair of lane and target. A
 * flush message asks whether the target has applied as many operations as were issued; the target answers once it has.
 *
 * Order. A message that must not overtake others carries the number of operations (those before the last fence) that
 * the target must apply before it; the target keeps the message until then.
 *
 * Any thread may call these functions, without a lock, unless a comment says otherwise. */
#ifndef UCCS_LINK_LINK_H
#define UCCS_LINK_LINK_H

#include "uccs/core/fence.h"
#include "uccs/core/wait.h"
#include "uccs/link/wire.h"
#include "uccs/comp/request.h"

#include <stdbool.h>
#include <stddef.h>

struct link_lane;
struct link_origin;
struct link_track;
struct link_mark;

/* --- Lanes of a context */

/* Starts zeroed: the context has one lane, which it shares with other contexts when there are not enough, and one order
 * holds for the operations of all its threads. With `spread`, set before the first use, each thread takes a lane, which
 * it may share with other threads, and a fence of several lanes is a quiet. A context finds its lanes when it issues. A
 * null pointer stands for the service lane. */
struct uccs_far_lanes {
    uint32_t spread;
    uint32_t fenced;          /* 1: the context has made a fence; sequentially consistent */
    uint64_t used;            /* a bit per lane on which the context has issued; sequentially consistent */
    struct link_lane *own;    /* the lane without spread */
    struct link_track *track; /* notes what is issued; null: nobody does */
};

/* True when one-sided operations of the transport may be used. Constant while links are open. */
extern bool link_has_direct;

/* 1 while some peer is off the node. */
extern uint32_t uccs_far_on;
/* Non-zero when the service lane may have unanswered operations since its last quiet; a hint, exact for the thread that
 * issued them. */
extern uint32_t uccs_far_touched;

/* Returns the lane on which the calling thread issues. */
struct link_lane *link_lane_of(struct uccs_far_lanes *on);
struct link_lane *link_service(void);

/* --- Tracks. A track notes what one party has issued on its lane, by peer: a stream, or one thread in a stream of thread
 * scope. So flushes concern the party's own operations, and some peers alone, although parties share lanes. A track
 * takes the least used lane, and keeps it.
 *
 * The party's operations are complete at a peer when the peer has applied as many operations of the lane as had been
 * issued at the party's last one. A flush may cover the operations of other parties to that peer too, those before it
 * on the lane, but never those to other peers. */
struct link_track *link_track_open(void); /* returns null without memory */
/* Completes what the track has issued, and ends the track. No other call on the track may be under way. */
void link_track_close(struct link_track *track);
/* Operations that are issued on these lanes are noted. */
struct uccs_far_lanes *link_track_lanes(struct link_track *track);
static inline struct link_track *link_track_of(const struct uccs_far_lanes *on)
{
    return on ? on->track : 0;
}
/* Orders later operations to any peer behind earlier ones. */
void link_track_fence(struct link_track *track);
/* The same for operations that change memory of the PE. Returns true when link_track_wait_reads would wait. */
bool link_track_fence_changes(struct link_track *track, int pe);
/* These concern some PEs; `pes` null: all. flush adds to the request's count what is not complete there, and returns false when
 * it has no memory for all of that; the request
 * has an owner, and fails when a target has refused operations of the track without requests and no flush has told yet. quiet waits for
 * it, and returns false when it fails. wait_local waits until the local buffers are free, or hold the data. */
bool link_track_flush(struct link_track *track, const int *pes, size_t npes, struct uccs_request *request);
bool link_track_quiet(struct link_track *track, const int *pes, size_t npes);
void link_track_wait_local(struct link_track *track, const int *pes, size_t npes);
/* Waits for long gets from the PE: its transport may still read memory that a later operation changes. link_track_reads
 * returns true when it would wait. */
void link_track_wait_reads(struct link_track *track, int pe);
bool link_track_reads(struct link_track *track, int pe);
/* Returns true when nothing is under way. */
bool link_track_idle(struct link_track *track);
/* Returns true, after some progress, when issuing would wait for room. */
bool link_track_busy(struct link_track *track);

/* --- Sending */

/* How an operation goes: by a message that the target applies; by a put or get of the transport, when it can now and the
 * memory has a key; or the data so and a message behind it, which tells the target. */
enum link_way { LINK_BY_MESSAGE, LINK_DIRECT, LINK_DIRECT_TELL };
#define LINK_PIECE ((uint64_t)16 << 20) /* memory gets keys in pieces of so many bytes */

/* A message on its way out. The caller keeps the data until `flag` or `left` tells that it has left, unless `buffer`
 * holds the data. */
struct link_message {
    struct link_header header; /* the link fills in `from`, `lane` and `after` */
    const void *data;
    size_t bytes;
    uint32_t *flag;             /* set to 1 (release) when the message has left; may be null */
    void *buffer;               /* freed when the message has left; may be null */
    void (*left)(void *cookie); /* called when the message has left, under the lane's lock; may be null */
    void *cookie;
    struct uccs_request *request; /* completes when the target has applied the message; may be null */
    struct uccs_request *local;   /* completes when the message has left; may be null */
    struct link_track *track;     /* notes the message; may be null */
    void *into;                   /* of a get that may go LINK_DIRECT: where the data goes */
    uint8_t way;                  /* enum link_way: the best for it */
    bool ordered; /* of an ask that does not count, or an atomic: stays behind the operations issued before */
    bool counts;  /* the message is an operation: fences order it, flushes cover it */
    bool later;   /* nobody waits for the message yet, so it may leave together with others */
};

/* Returns true when link_issue copies the data, so that the caller may change it at once. */
bool link_copies(const struct link_message *message);
/* While true, nothing that this thread issues waits for room. It has asked link_track_busy before. */
extern _Thread_local bool link_never_waits;
/* Waits while the transport holds too many messages. Callers call it before they issue. */
void link_make_room(struct link_lane *lane);
/* Returns true when link_make_room would wait. */
bool link_busy(const struct link_lane *lane);
/* Issues the message. try returns false without memory, and has done nothing; issue ends the job then. */
bool link_try_issue(struct link_lane *lane, int pe, const struct link_message *message);
void link_issue(struct link_lane *lane, int pe, const struct link_message *message);
/* Waits for a flag, and moves the lane on meanwhile. */
void link_await(struct link_lane *lane, const uint32_t *flag);
/* Moves the lane on once. Returns non-zero when something came in or has left, else 0. */
int link_look(struct link_lane *lane);
/* The body of a loop that waits for messages of the lane: moves the lane on once and, when that found nothing, spins, yields
 * or sleeps for a short time. */
void link_pause(struct link_lane *lane, struct uccs_wait *wait);

/* --- Atomics of the transport (atomic.c), which no message can replace: they are atomic to each other alone. So they go to PEs
 * of this node, too, and wait for their key and their turn before they start.
 *
 * link_adapter returns true when connections of this process have them all, and they need no help of the target unless
 * LATERAL_WIRE=rdma. link_share makes the key of a piece of the heap or of the globals before a peer asks, and returns false
 * when there can be none. link_atomic starts an atomic at the message's place. With an ask, which the message's `into` serves,
 * its answer is the old value; without one it counts as a put, and must not go to a PE of this node. `word` is copied. */
struct transport_word;
struct link_ask;
bool link_adapter(void);
bool link_share(char *start, size_t bytes);
void link_atomic(struct link_lane *lane, int pe, const struct link_message *message, const struct transport_word *word,
                 struct link_ask *ask);

/* Fill in a PE that owes an answer, of the request's operations or of any: for uccs_request_reason_add (comp/tell.h) and
 * uccs_reason_function (core/wait.h). Returns false when there is none. */
struct uccs_reason;
bool link_request_reason(const struct uccs_request *request, struct uccs_reason *reason);
void link_reason(const void *unused, struct uccs_reason *reason);

/* --- Tokens stand in messages for things of this process (token.c). A table starts zeroed; its owner locks it. */
struct link_tokens {
    struct link_entry *entries;
    uint32_t room, free;
};

/* Returns a token of `what`, never 0, that the PE may bring back once, by a message of kind `answer`. */
uint64_t link_token_give(struct link_tokens *tokens, void *what, int pe, enum link_kind answer);
/* Makes room for one more. Returns false without memory. */
bool link_token_reserve(struct link_tokens *tokens);
/* Takes a token back and returns what it stands for. Ends the job with a line unless that PE has it, for that kind. */
void *link_token_take(struct link_tokens *tokens, uint64_t token, int pe, enum link_kind answer);
/* The two halves of it: try returns null in place of ending the job, refuse ends it. For tables under a lock of their own. */
void *link_token_try(struct link_tokens *tokens, uint64_t token, int pe, enum link_kind answer);
_Noreturn void link_token_refuse(uint64_t token, int pe, enum link_kind answer);
void link_token_close(struct link_tokens *tokens);
/* Returns a PE that has not brought back what the request counts, or any but locks; -1: there is none. `request` may be
 * null. */
int link_token_awaited(const struct link_tokens *tokens, const struct uccs_request *request);

/* The same for the tokens of a lane, under its lock: what the PE answers to a kind of message, and what an arrived
 * answer answers. */
uint64_t link_token_of(struct link_lane *lane, void *what, int pe, enum link_kind asked);

/* --- Asking */

/* A message that the target answers. The kind's owner embeds this as the first member. */
struct link_ask {
    struct link_lane *lane;
    uint32_t *flag;               /* link_settle sets it to 1 (release); the asking thread owns the ask. May be null */
    struct uccs_request *request; /* without a flag, link_settle completes it and frees the ask; may be null */
    struct uccs_request *local;   /* the same, for a second one */
    struct link_mark *mark;       /* of a track; may be null */
    bool reads;                   /* the answer is long: the target sends it from its memory */
    bool failed;                  /* the region has been released */
    size_t bytes;                 /* bytes of data that come with the answer */
    uint64_t number;              /* number among the lane's asks without a flag */
    int pe;
    struct link_ask *next, *before;
};

/* Sends an ask. The link gives the ask a token in the header, which the answer brings back. A message that may leave `later` does
 * so only while other asks are under way; the first one leaves at once so that it overlaps computation. try returns false without
 * memory, and has done nothing; send ends the job then. */
bool link_try_ask(struct link_lane *lane, int pe, const struct link_message *message, struct link_ask *ask);
void link_ask_send(struct link_lane *lane, int pe, const struct link_message *message, struct link_ask *ask);
/* Returns true when link_ask_send would wait for answers. */
bool link_ask_busy(const struct link_lane *lane);
/* Returns the thing that an arrived answer was asked for, and ends its token. Ends the job with a line when it was not
 * asked. Under the lane's lock. */
struct link_arrival;
void *link_answered(const struct link_arrival *arrival);
/* Completes an ask whose answer has arrived. Under the lane's lock. */
void link_settle(struct link_ask *ask);
/* What an answer to an operation tells besides: how many operations of the asking lane the target has applied, this one with
 * them. When these are all that were issued, a flush need not ask again. `told` returns 0 once the target has refused one,
 * because a flush brings that. Under the lane's lock. */
uint64_t link_told(const struct link_arrival *arrival);
void link_hear(const struct link_ask *ask, uint64_t applied);

/* --- Receiving */

/* A message that has arrived. */
struct link_arrival {
    struct link_lane *lane;
    struct link_origin *origin; /* null for kinds that are `loose` */
    struct link_header header;
    size_t bytes;
    void *cookie; /* the handler's */
};

/* Handles messages of a kind. Any thread that polls calls these functions, under the lock of the lane on which the
 * message arrives. They must not wait. */
struct link_handler {
    bool loose;  /* messages are neither ordered nor counted: they are handled as soon as they arrive */
    bool counts; /* the origin's count of applied operations includes the messages */
    /* Returns the place for long data. If it returns null, or is null, the data goes to a buffer, which `land` gets. */
    void *(*room)(struct link_arrival *arrival);
    /* Takes data that is not in its room. Returns false when it refuses the data. Null: there is no data to take. */
    bool (*land)(struct link_arrival *arrival, const void *data);
    /* Called once the data is in place, unless it was refused. May be null. */
    void (*landed)(struct link_arrival *arrival);
};

/* Ends the job with a line unless a notice behind the data of a message is one. Whoever reads the notice calls it first. */
void link_notice_check(const struct link_header *header, const struct link_notice *notice, size_t bytes);

/* Tells the origin that an operation has failed, as a refusal of its data does. */
void link_refuse(const struct link_arrival *arrival);

/* Answers LINK_KEY: lets the asker's transport access this memory. Under the service lane's lock. link_withdraw ends that
 * for a region, whose importers do not access it any more; any thread. */
void link_give_key(struct link_arrival *arrival, void *start, size_t bytes);
void link_withdraw(uint64_t region);
/* The owner of a region has released it: no access of this process's transport begins any more. Returns true while some are
 * under way, which end without the program. Under the service lane's lock. */
bool link_region_gone(int pe, uint64_t region);

/* Registers the handler of a kind, before link_open. */
void link_handle(enum link_kind kind, const struct link_handler *handler);
/* Answers the lane that sent an arrival; a small answer leaves when this poll is over. Under the service lane's
 * lock. */
void link_answer(struct link_origin *origin, const struct link_message *answer);
/* Take and release the service lane's lock. In between, no message arrives at this PE and no answer leaves. */
void link_hold(void);
void link_go_on(void);

/* --- Order and completion */

void uccs_far_fence(struct uccs_far_lanes *on);
void uccs_far_quiet(struct uccs_far_lanes *on);
/* The same as uccs_far_quiet, but only for operations to these PEs. */
void uccs_far_quiet_pes(struct uccs_far_lanes *on, const int *pes, size_t npes);
/* Fence and quiet of the default context, for peers on this node too. On the node an operation is complete when its
 * stores are visible. */
static inline void uccs_fence_all(void)
{
    if (lat_unlikely(atomic_load_relaxed(&uccs_far_touched)))
        uccs_far_fence(0);
    uccs_fence_stores();
}

static inline void uccs_quiet_all(void)
{
    if (lat_unlikely(atomic_load_relaxed(&uccs_far_touched)))
        uccs_far_quiet(0);
    uccs_quiet();
}

/* Starts a quiet. On each lane it adds one to the request's count for every peer with unanswered operations, and one
 * for the gets and fetching atomics under way. */
void uccs_far_flush(struct uccs_far_lanes *on, struct uccs_request *request);
/* Fence and quiet of all lanes of this process. */
void uccs_far_fence_all(void);
void uccs_far_quiet_all(void);
/* Makes a quiet and gives the lanes back. No thread may issue on them meanwhile. */
void uccs_far_release(struct uccs_far_lanes *on);

/* Returns true when the PE's globals are at the same offsets as mine. Reads the PE's record the first time. */
bool uccs_far_same_image(int pe);

/* --- Life: collective over the job, one thread */

/* Opens the transport. Returns 0, or -1 after a line. */
int link_open(void);
/* Returns the transport's name. Any thread after link_open. */
const char *link_network(void);
/* Completes all operations of this PE, before the barrier that ends a life. The process still serves its peers while it
 * sleeps in the barrier. */
void link_settle_all(void);
/* Closes the links, after that barrier, when no peer asks any more. */
void link_close(void);

#endif
