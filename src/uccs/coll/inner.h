/* The engine of group communication: messages that members send each other, and schedules of such messages.
 *
 * Messages are the library's own messages between processes. A receiver finds them by key, not by handler.
 * uccs_tagged_try puts a short message into the receiver's ring of the inner context, a longer one into a block of the
 * sender's region. A thread in progress at the receiver files it. The thread that waits for it takes it by key, reads
 * it in place, and drops it, which gives the block back. So long messages wait in the senders' memory; short ones wait
 * at the receiver, and their senders bound their number. Keys are used once. Any thread, between start and stop of
 * api/init.c.
 *
 * A schedule is a sequence of rounds. In a round a member sends bytes to one member, and stores or folds bytes that it
 * receives from another. Each collective is a plan that defines its rounds (collective.c). The engine (schedule.c)
 * advances a schedule as far as it can without waiting. One thread at a time advances a schedule: its caller if the
 * call blocks, else a thread that runs the work list.
 *
 * Memory: at most SCHEDULE_WINDOW pieces of a schedule are under way, and it ends when they have been taken. Short
 * pieces are sent without this rule, except in every SCHEDULE_LEAD-th schedule of a group, which keeps members from
 * getting further ahead of each other. */
#ifndef UCCS_COLL_INNER_H
#define UCCS_COLL_INNER_H

#include "base/fold.h"
#include "uccs/coll/coll.h"
#include "uccs/core/wait_record.h"
#include "uccs/core/task.h"
#include "uccs/comp/request.h"
#include "uccs/mem/bounce.h"

/* Returns the group of all PEs for the library's own use. Its numbers differ from those of the world group. */
struct uccs_group_impl *uccs_ranks_library(void);

struct uccs_tag {
    uint64_t group, sequence;
    uint32_t source; /* PE; filled in by the sender */
    uint32_t round, piece, unused;
};

#define TAGGED_INLINE (UCCS_SHORT_MAX - sizeof(struct uccs_tag))
#define TAGGED_PIECE (64u << 10) /* longest staged message that reuses its block */

struct uccs_tagged {
    struct uccs_tag key;
    struct uccs_tagged *next;
    const char *data;
    size_t length;
    struct uccs_bounce *block; /* the held block, or null */
    char copy[];
};

/* Tries to send a message. Returns false when there is no room at the moment; then make progress and try again. With
 * `out`, even a short message lies in a block, and *out is one more until the receiver has dropped the message (release;
 * acquire by the caller). */
bool uccs_tagged_try(int pe, const struct uccs_tag *key, const void *data, size_t length, uint32_t *out);

/* Returns the message with the key, or null when it has not come yet. */
struct uccs_tagged *uccs_tagged_take(const struct uccs_tag *key);
void uccs_tagged_drop(struct uccs_tagged *message);

#define SCHEDULE_WINDOW 8
#define SCHEDULE_LEAD 64

struct uccs_step {
    int to, from; /* ranks; -1: none */
    const char *send;
    size_t send_bytes;
    char *receive;
    size_t receive_bytes;
    bool fold; /* fold received bytes into those at `receive` */
};

struct uccs_schedule {
    struct uccs_task task;
    /* Writes round `round` into the step, which the caller has emptied. Returns false after the last round. */
    bool (*plan)(const struct uccs_schedule *schedule, uint32_t round, struct uccs_step *step);
    struct uccs_group_impl *group;
    struct uccs_request *request; /* of a schedule on the work list */
    const char *source;
    char *dest;
    size_t bytes, n; /* bytes of one member's part; number of elements */
    int root;
    fold_kernel *kernel;
    size_t element;

    uint64_t sequence;
    uint32_t round, sent, received; /* pieces of this round */
    bool planned;
    bool rooted; /* the data comes from one member; the others need not have come */
    struct uccs_step step;
    uint32_t out; /* pieces that their receivers have not taken yet; acquire */
};

/* Draws the schedule's number. Every member calls it in the same order for the schedules of a group. */
void uccs_schedule_start(struct uccs_schedule *schedule);
/* Advances the schedule without waiting. Returns true when it is finished. */
bool uccs_schedule_advance(struct uccs_schedule *schedule);
/* Waits until the schedule is finished. Makes progress on both classes with `user`, else on the network class alone. */
void uccs_schedule_run(struct uccs_schedule *schedule, bool user);

/* Fills in the member that the schedule's present step waits for. */
void uccs_schedule_reason(const struct uccs_schedule *schedule, struct uccs_reason *reason);

bool uccs_schedule_plan_barrier(const struct uccs_schedule *schedule, uint32_t round, struct uccs_step *step);

#endif
