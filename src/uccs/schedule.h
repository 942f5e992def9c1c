/* Group communication as a schedule: rounds in which a member sends bytes to one member and receives bytes from
 * another, which it stores or folds. Each collective is a plan that names its rounds (collective.c); this engine
 * moves one schedule on as far as it goes without waiting.
 *
 * A schedule is advanced by one thread at a time: its caller when it blocks, the work list when it does not.
 *
 * Memory: at most SCHEDULE_WINDOW pieces of a schedule are under way, and it ends when they have been taken;
 * short ones are sent without that, but for every SCHEDULE_LEAD-th schedule of a group, so that no member gets
 * further ahead of another one. */
#ifndef UCCS_SCHEDULE_H
#define UCCS_SCHEDULE_H

#include "uccs/core/wait.h"
#include "uccs/ranks.h"
#include "uccs/reduce.h"
#include "uccs/object/request.h"

#define SCHEDULE_WINDOW 8
#define SCHEDULE_LEAD 64

struct uccs_step {
    int to, from; /* ranks; -1: none */
    const char *send;
    size_t send_bytes;
    char *receive;
    size_t receive_bytes;
    bool fold; /* what comes is folded into what is there */
};

struct uccs_schedule {
    struct uccs_work work;
    /* Writes round `round`; false when there is none any more. The step is empty before. */
    bool (*plan)(const struct uccs_schedule *schedule, uint32_t round, struct uccs_step *step);
    struct uccs_group_impl *group;
    struct uccs_request *request; /* of one on the work list */
    const char *source;
    char *dest;
    size_t bytes, n; /* of one member's part; elements */
    int root;
    uccs_reduce_kernel *kernel;
    size_t element;

    uint64_t sequence;
    uint32_t round, sent, received; /* pieces of this round */
    bool planned;
    struct uccs_step step;
    uint32_t out; /* pieces not yet taken by their receivers; acquire */
};

/* Draws the schedule's number: call them in the group's order. */
void uccs_schedule_start(struct uccs_schedule *schedule);
/* True when it is finished. */
bool uccs_schedule_advance(struct uccs_schedule *schedule);
/* Until it is finished; the caller makes progress, of the network class alone or of both. */
void uccs_schedule_run(struct uccs_schedule *schedule, bool user);

/* The library's own barrier of all PEs. */
void uccs_schedule_meet(bool user);
bool uccs_schedule_plan_barrier(const struct uccs_schedule *schedule, uint32_t round, struct uccs_step *step);

#endif
