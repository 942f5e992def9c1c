/* The engine of group communication: letters that members send each other, and schedules of such letters.
 *
 * Letters are the library's own messages between processes, found by key and not by handler. The sender's try puts a short
 * letter into the receiver's ring of the inner context, a longer one into a block of its region. A thread in progress at
 * the receiver files it. The thread that waits for it takes it by key, reads it in place, and drops it, which gives the
 * block back. So letters that wait at a receiver lie in the senders' memory, but for short ones, whose senders bound their
 * number. Keys are used once. Any thread, between start and stop of face/init.c.
 *
 * A schedule is a row of rounds. In a round a member sends bytes to one member and receives bytes from another, which it
 * stores or folds. Each collective is a plan that names its rounds (collective.c); the engine (schedule.c) moves one
 * schedule on as far as it goes without waiting. One thread at a time advances a schedule: its caller when it blocks, the
 * work list when it does not.
 *
 * Memory: at most SCHEDULE_WINDOW pieces of a schedule are under way, and it ends when they have been taken. Short pieces
 * are sent without that, except in every SCHEDULE_LEAD-th schedule of a group, so that no member gets further ahead of
 * another one. */
#ifndef UCCS_COLL_INNER_H
#define UCCS_COLL_INNER_H

#include "base/fold.h"
#include "uccs/coll/coll.h"
#include "uccs/core/wait.h"
#include "uccs/object/request.h"
#include "uccs/object/stage.h"

/* All PEs, for the library's own use; its numbers are not those of the world group. */
struct uccs_group_impl *uccs_ranks_library(void);

struct uccs_letter_key {
    uint64_t group, sequence;
    uint32_t source; /* PE; filled in by the sender */
    uint32_t round, piece, unused;
};

#define LETTER_INLINE (UCCS_SHORT_MAX - sizeof(struct uccs_letter_key))
#define LETTER_PIECE (64u << 10) /* longest staged letter that reuses its block */

struct uccs_letter {
    struct uccs_letter_key key;
    struct uccs_letter *next;
    const char *data;
    size_t length;
    struct uccs_block *block; /* held, or null */
    char copy[];
};

/* Returns false when there is no room just now: make progress and try again. With `out`, the letter lies in a block
 * however short it is: *out is one more until the receiver has dropped it (release; acquire by the caller). */
bool uccs_letter_try(int pe, const struct uccs_letter_key *key, const void *data, size_t length, uint32_t *out);

/* Returns the letter with the key, or null when it has not come yet. */
struct uccs_letter *uccs_letter_take(const struct uccs_letter_key *key);
void uccs_letter_drop(struct uccs_letter *letter);

#define SCHEDULE_WINDOW 8
#define SCHEDULE_LEAD 64

struct uccs_step {
    int to, from; /* ranks; -1: none */
    const char *send;
    size_t send_bytes;
    char *receive;
    size_t receive_bytes;
    bool fold; /* fold the bytes that come into those that are there */
};

struct uccs_schedule {
    struct uccs_work work;
    /* Writes round `round` into the step, which is empty before; returns false after the last round. */
    bool (*plan)(const struct uccs_schedule *schedule, uint32_t round, struct uccs_step *step);
    struct uccs_group_impl *group;
    struct uccs_request *request; /* of one on the work list */
    const char *source;
    char *dest;
    size_t bytes, n; /* of one member's part; elements */
    int root;
    fold_kernel *kernel;
    size_t element;

    uint64_t sequence;
    uint32_t round, sent, received; /* pieces of this round */
    bool planned;
    struct uccs_step step;
    uint32_t out; /* pieces not yet taken by their receivers; acquire */
};

/* Draws the schedule's number: call them in the group's order. */
void uccs_schedule_start(struct uccs_schedule *schedule);
/* Moves it on without waiting; returns true when it is finished. */
bool uccs_schedule_advance(struct uccs_schedule *schedule);
/* Waits until it is finished and makes progress: of both classes with `user`, else of the network class alone. */
void uccs_schedule_run(struct uccs_schedule *schedule, bool user);

bool uccs_schedule_plan_barrier(const struct uccs_schedule *schedule, uint32_t round, struct uccs_step *step);

#endif
