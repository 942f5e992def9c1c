/* Messages between processes of different nodes, as the folders above see them.
 *
 * A lane is an end of communication with connections, numbers and a lock of its own, held around the transport. Lane 0
 * is the service lane: messages of peers arrive there, and the default context issues there. Other lanes issue only,
 * and their answers come back to them. A thread holds one lane's lock at a time.
 *
 * Completion. An operation is issued at the origin and applied at the target; both count, per pair of lane and target.
 * A flush message asks whether the target has applied as many as were issued; the target answers once it has.
 *
 * Order. A message that must not overtake says how many of its predecessors must have been applied before it (those
 * before the last fence); the target keeps it until they are.
 *
 * Any thread, without a lock, but for what says otherwise. */
#ifndef UCCS_LINK_LINK_H
#define UCCS_LINK_LINK_H

#include "uccs/core/fence.h"
#include "uccs/core/wait.h"
#include "uccs/link/wire.h"
#include "uccs/object/request.h"

#include <stdbool.h>
#include <stddef.h>

struct link_lane;
struct link_origin;

/* --- Lanes of a context */

/* Zeroed: a lane for the context, which may be other contexts' too when there are no more; what all its threads issue
 * is in one order. With `spread`, set before the first use, each thread takes a lane, more or less its own, and a fence
 * of several lanes is a quiet. Lanes are found when something is issued. A null pointer stands for the service lane. */
struct uccs_far_lanes {
    uint32_t spread;
    uint32_t fenced;       /* has been, while it had one lane at most; sequentially consistent */
    uint64_t used;         /* a bit per lane that it has issued on; sequentially consistent */
    struct link_lane *own; /* without spread */
};

/* True while some peer is off the node. */
extern uint32_t uccs_far_on;
/* Something has been issued on the service lane since its last quiet; a hint, exact for the thread that issued it. */
extern uint32_t uccs_far_touched;

/* Returns the lane on which the calling thread issues. */
struct link_lane *link_lane_of(struct uccs_far_lanes *on);
struct link_lane *link_service(void);

/* --- Sending */

/* A message on its way out. The data stays until `flag` or `left` tells that it has left, unless `buffer` holds it. */
struct link_message {
    struct link_header header; /* `from`, `lane` and `after` are filled in */
    const void *data;
    size_t bytes;
    uint32_t *flag;             /* set to 1 (release) when it has left; may be null */
    void *buffer;               /* freed when it has left; may be null */
    void (*left)(void *cookie); /* called when it has left, under the lane's lock; may be null */
    void *cookie;
    struct uccs_request *request; /* completes when the target has applied it; may be null */
    bool counts;                  /* it is an operation: fences order it, flushes cover it */
    bool later;                   /* nobody waits for it yet: it may leave together with others */
};

/* Waits while the transport holds more than it should. Before issuing. */
void link_make_room(struct link_lane *lane);
/* True when issuing would wait. */
bool link_busy(const struct link_lane *lane);
void link_issue(struct link_lane *lane, int pe, const struct link_message *message);
/* Waits for a flag, and moves the lane on meanwhile. */
void link_await(struct link_lane *lane, const uint32_t *flag);
/* Moves the lane on once: non-zero when something came in or has left. */
int link_look(struct link_lane *lane);

/* --- Asking */

/* A message that is answered. The kind's owner embeds this as the first member. */
struct link_ask {
    struct link_lane *lane;
    uint32_t *flag;               /* set to 1 (release) by link_settle; the asking thread owns the ask. Null: */
    struct uccs_request *request; /* completed by link_settle, which frees the ask; may be null */
    bool failed;                  /* the region has been released */
    size_t bytes;                 /* of data that come with the answer */
    uint64_t number;              /* among those of the lane that nobody waits for by a flag */
    int pe;
    struct link_ask *next, *before;
};

/* Sends what is answered; the header holds the ask's address, which the answer brings back. A message that may leave
 * `later` does so only while others are under way: the first one is sent at once so that it overlaps computation. */
void link_ask_send(struct link_lane *lane, int pe, const struct link_message *message, struct link_ask *ask);
/* The answer is there. Under the lane's lock. */
void link_settle(struct link_ask *ask);

/* --- Receiving */

/* A message that has arrived. */
struct link_arrival {
    struct link_lane *lane;
    struct link_origin *origin; /* null for kinds that are `loose` */
    struct link_header header;
    size_t bytes;
    void *cookie; /* the handler's */
};

/* What is done with messages of a kind, by whatever thread polls, under the lock of the lane on which they arrive. No
 * function here waits. */
struct link_handler {
    bool loose;  /* neither ordered nor counted: handled as soon as it arrives */
    bool counts; /* it counts as applied */
    /* Returns where long data goes; null, or no function: to memory that is passed to `land`. */
    void *(*room)(struct link_arrival *arrival);
    /* Takes data that is not in its room. Returns false when it is refused. Null: there is nothing to take. */
    bool (*land)(struct link_arrival *arrival, const void *data);
    /* The data is in place, and was not refused. May be null. */
    void (*landed)(struct link_arrival *arrival);
};

/* Before link_open. */
void link_handle(enum link_kind kind, const struct link_handler *handler);
/* Answers the lane that sent an arrival, when this poll is over. Under the service lane's lock. */
void link_answer(struct link_origin *origin, const struct link_message *answer);
/* Between these two no message arrives here, and no answer leaves. */
void link_hold(void);
void link_go_on(void);

/* --- Order and completion */

void uccs_far_fence(struct uccs_far_lanes *on);
void uccs_far_quiet(struct uccs_far_lanes *on);
/* The same for what went to these PEs. */
void uccs_far_quiet_pes(struct uccs_far_lanes *on, const int *pes, size_t npes);
/* On the node an operation is complete when its stores are visible. The same as fence and quiet, for peers on this
 * node too, of the default context. */
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

/* Starts it: the request gets a count for every peer that has not yet answered for all, and one for the gets and
 * fetching atomics that are under way. */
void uccs_far_flush(struct uccs_far_lanes *on, struct uccs_request *request);
/* Of all lanes of this process. */
void uccs_far_fence_all(void);
void uccs_far_quiet_all(void);
/* Quiets, and gives the lanes back. Nobody issues on them meanwhile. */
void uccs_far_release(struct uccs_far_lanes *on);

/* The PE's globals are at my offsets. Asks the PE's record once. */
bool uccs_far_same_image(int pe);

/* --- Life: collective over the job, one thread */

/* Opens the transport. Returns 0, or -1 after a line. */
int link_open(void);
/* Before the barrier that ends a life: completes what this PE has issued; the process goes on serving while it sleeps. */
void link_settle_all(void);
/* After that barrier: nobody asks any more. */
void link_close(void);

#endif
