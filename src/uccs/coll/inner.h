/* The engine of group communication.
 *
 * A collective (struct uccs_coll) is data: what it does, for whom, from where to where, and how far it has come. Its plan is a
 * list of steps, which the engine (engine.c) takes one after the other. There are two families of plans:
 *
 *   messages (messages.c)  members are any processes, buffers any memory (uccs.h). A list of rounds (plan.c) says: send these
 *                          bytes to that member, store or fold those of another one
 *   memory                 members are a team, buffers are symmetric memory. All come, each does its share of the copying
 *                          and folding from and to the others' memory, all leave (memory.c, share.c); over nodes small data
 *                          travels with the flag (bcast.c), long data goes straight to one member of each node (rail.c), and
 *                          vectors are folded on the way (reduce.c)
 *
 * A blocking collective is started and waited for by its caller (uccs_coll_run). A split-phase one is a task, which every
 * test, every waiting thread and the progress thread advance (uccs_coll_start). One thread at a time advances it.
 *
 * Small data of blocking collectives on one node needs no plan: team.c. */
#ifndef UCCS_COLL_INNER_H
#define UCCS_COLL_INNER_H

#include "base/kind.h"
#include "uccs/coll/coll.h"
#include "uccs/core/memory.h"
#include "uccs/core/progress.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"
#include "uccs/team/slots.h"

#include <string.h>

/* --- Which plan a collective takes: one table of (operation, where its members are, bytes, members, cores), or what
 * LATERAL_COLL=<collective>:<plan>,... says (select.c). Any thread after init. All members ask with equal arguments and so take the
 * same plan. */

enum uccs_coll_kind {
    UCCS_COLL_BARRIER,
    UCCS_COLL_BROADCAST,
    UCCS_COLL_COLLECT,
    UCCS_COLL_ALLGATHER,
    UCCS_COLL_ALLTOALL,
    UCCS_COLL_ALLTOALLS,
    UCCS_COLL_ALLREDUCE,
    UCCS_COLL_SCAN,
    UCCS_COLL_NAMED, /* those that LATERAL_COLL knows end here */
    UCCS_COLL_GATHER = UCCS_COLL_NAMED,
    UCCS_COLL_SCATTER,
    UCCS_COLL_REDUCE,
    UCCS_COLLS
};

enum uccs_plan {
    /* members on one node, in each other's memory */
    UCCS_BY_SLOTS,  /* data travels with a flag, nobody waits for readers */
    UCCS_BY_LEADER, /* through the slots of member 0: fewer looks where members are many */
    UCCS_BY_PULL,   /* each reads the others' source and writes its own dest; also over nodes */
    UCCS_BY_SHARE,  /* each does its share of the elements from all sources to all dests */
    /* members on several nodes */
    UCCS_BY_GATHER, /* nodes gather small data, with the flag */
    UCCS_BY_RAIL,   /* long data straight to one member of each node */
    UCCS_NAMED_PLANS,
    /* messages between any processes (plan.c) */
    UCCS_BY_ROUNDS = UCCS_NAMED_PLANS, /* few rounds */
    UCCS_BY_STREAM                     /* few bytes for each member */
};

/* `bytes` of the vector, of one member's block (allgather), of one member's blocks for all (alltoall); over nodes of one
 * member's vector or block. */
enum uccs_plan uccs_coll_choose(enum uccs_coll_kind kind, const struct uccs_team *team, size_t bytes);

/* Chooses the plan for a group of uccs.h. */
enum uccs_plan uccs_coll_choose_messages(enum uccs_coll_kind kind, int size, size_t bytes);

/* --- A collective and its plan */

struct uccs_coll;

/* A step of a plan. Returns true when it is done; the engine then takes the next one, or the one that it has set in coll->step.
 * False: the engine calls it again later. It must not wait, except at meetings and slots of the team in a blocking
 * collective. */
typedef bool uccs_coll_step(struct uccs_coll *coll);

/* A round of a plan by messages. Ranks; -1: none. `own` (null: none) is folded into what is at `receive`, or copied there, before
 * the member sends and receives. */
struct uccs_round {
    int to, from;
    const char *send;
    size_t send_bytes;
    char *receive;
    size_t receive_bytes;
    enum {
        STEP_STORES,
        STEP_FOLDS_BEHIND,
        STEP_FOLDS_BEFORE
    } how; /* received bytes are the right or the left operand */
    const char *own;
    bool own_folds;
};

/* Writes round `round` into `to_do`, which the caller has emptied. Returns false after the last round. */
typedef bool uccs_plan_function(const struct uccs_coll *coll, uint32_t round, struct uccs_round *to_do);

/* The state of a collective by messages. Every member gives the collectives of a group the same numbers. */
struct uccs_by_messages {
    struct uccs_group_impl *group;
    uccs_plan_function *plan;
    uint64_t sequence;
    uint32_t round, sent, received; /* number of the round; pieces of it */
    bool planned;
    bool user; /* the caller makes progress on both classes */
    struct uccs_round to_do;
    uint32_t out; /* pieces that their receivers have not taken yet; acquire */
};

/* The state of a collective by memory. */
struct uccs_by_memory {
    struct uccs_team *team;
    struct proto_blocks blocks;       /* of one member for another one, in source (there) and dest (here) */
    ptrdiff_t dest_step, source_step; /* bytes from one member's block to the next one's */
    bool at_root;                     /* a broadcast stores to the root's dest, too */
    bool inclusive;                   /* a scan */
    bool quiet;                       /* a barrier: what I have issued completes first */
    bool nothing;                     /* no data moves */
    bool later;                       /* split-phase */
    bool brief;                       /* the last member to start it does it for all */
    bool copied;                      /* my share is done */
    uint64_t number;                  /* 1, 2, ... among the split-phase ones of the team */
    uint64_t turn;                    /* 1, 2, ... among its brief ones that move data */
    int looked;
    const size_t *starts; /* of a collect: where the blocks begin in dest, and the last one ends; in `owned` */
    struct uccs_node_allgather meeting; /* of a split-phase one */
    struct uccs_request under_way;      /* gets and puts of my share */
    uint32_t held;                      /* internal puts that still read my memory; acquire */
};

struct uccs_coll {
    struct uccs_task task;
    struct uccs_request *request; /* of a split-phase one */
    const struct uccs_coll_family *family;
    uccs_coll_step *const *step; /* the next one of the plan; the list ends with null */
    enum uccs_coll_kind kind;
    const char *call;
    int rank, size, root;
    char *dest;
    const char *source;
    size_t bytes, n; /* of a block or vector; elements */
    size_t element;
    fold_kernel *fold;
    void *owned; /* freed at the end */
    union {
        struct uccs_by_messages messages;
        struct uccs_by_memory memory;
    };
};

/* What plans of a family share. begin: chooses the steps, unless the caller has; every member calls it in the same order for the
 * collectives of a group. pause: between two looks of a blocking one. hold and release keep the group while a split-phase one is
 * under way; release is the last use of it. reason fills in whom it waits for: the next one, or (reason_all, a blocking one; null
 * where its steps wait for themselves) all that have not come. */
struct uccs_coll_family {
    void (*begin)(struct uccs_coll *coll);
    void (*pause)(const struct uccs_coll *coll, struct uccs_wait *wait);
    void (*hold)(struct uccs_coll *coll);
    void (*release)(struct uccs_coll *coll);
    void (*reason)(const struct uccs_coll *coll, struct uccs_reason *reason);
    void (*reason_all)(const struct uccs_coll *coll, struct uccs_reason *reason);
};
extern const struct uccs_coll_family uccs_coll_by_messages, uccs_coll_by_memory;

/* Starts a collective, waits until it is finished. */
void uccs_coll_run(struct uccs_coll *coll);
/* Starts a copy of it as an operation of the request. Returns UCCS_OK, or UCCS_ERR_NO_MEMORY when nothing has begun. */
int uccs_coll_start(const struct uccs_coll *coll, uccs_request_handle *request);

/* Which blocks members give each other, in a collective that moves them. */
struct uccs_coll_shape {
    bool from_root, to_root; /* the root alone gives or gets */
    bool source_by_receiver; /* the source holds a block for each receiver; else one for all */
    bool dest_by_sender;     /* the dest holds a block of each sender */
};
extern const struct uccs_coll_shape uccs_coll_shapes[UCCS_COLLS];

/* True when member `from` gives a block to member `to`. */
static inline bool uccs_coll_gives(const struct uccs_coll *coll, int from, int to)
{
    const struct uccs_coll_shape *shape = &uccs_coll_shapes[coll->kind];
    return (!shape->from_root || from == coll->root) && (!shape->to_root || to == coll->root);
}

/* Returns the function of a plan by messages. */
uccs_plan_function *uccs_coll_plan(enum uccs_coll_kind kind, enum uccs_plan plan);

/* --- Tagged messages
 *
 * The library's own messages between processes. A receiver finds them by tag, not by handler. uccs_tagged_try puts a short
 * message into the receiver's ring of the inner context, a longer one into a block of the sender's region. A thread in
 * progress at the receiver files it. The thread that waits for it takes it by tag, reads it in place, and drops it, which gives
 * the block back. So long messages wait in the senders' memory; short ones wait at the receiver, and their senders bound
 * their number. Tags are used once. Any thread, while uccs.h is in use. */

/* Returns the group of all PEs for the library's own use. Its numbers differ from those of the world group. */
struct uccs_group_impl *uccs_ranks_library(void);

struct uccs_tag {
    uint64_t group, sequence;
    uint32_t source; /* PE; filled in by the sender */
    uint32_t round, piece, unused;
};

#define TAGGED_INLINE (UCCS_SHORT_MAX - sizeof(struct uccs_tag))
#define TAGGED_PIECE (64u << 10) /* longest staged message that reuses its block */
#define COLL_PIECE (TAGGED_PIECE - sizeof(struct uccs_tag))

struct uccs_tagged {
    struct uccs_tag key;
    struct uccs_tagged *next;
    const char *data;
    size_t length;
    struct uccs_bounce *block; /* the held block, or null */
    char copy[];
};

/* --- Members' memory */

/* The member `distance` behind `rank`, around the circle: so that members begin at different ones. */
static inline int uccs_coll_around(const struct uccs_team *team, int rank, int distance)
{
    int other = rank + distance;
    return other >= team->size ? other - team->size : other;
}

extern uccs_coll_mistake *uccs_coll_found_mistake;

/* Returns member `rank`'s address of my symmetric address; the member is on this node. `argument` is dest or source. */
void *uccs_coll_resolve(const char *call, const char *argument, const void *address, int pe);
static inline void *uccs_coll_peer(const char *call, const char *argument, const struct uccs_team *team,
                                   const void *address, int rank)
{
    int pe = uccs_team_pe(team, rank);
    void *near = uccs_near(address, pe);
    return lat_likely(near != 0) ? near : uccs_coll_resolve(call, argument, address, pe);
}

/* Returns the place of my symmetric address at a PE of another node. */
struct proto_address uccs_coll_place(const char *call, const char *argument, const void *address, int pe);

/* Returns memory, or ends the job. */
void *uccs_coll_room(const char *call, size_t bytes);

/* One element is one load and one store. */
static inline void uccs_coll_copy(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

/* Members come: with slots only to say so, and uccs_coll_await waits for one; else all wait for all. leave: all are done
 * with each other's memory. */
static inline bool uccs_coll_has_slots(const struct uccs_team *team)
{
    return team->area >= 0 && !team->far;
}

static inline void uccs_coll_enter(struct uccs_team *team)
{
    if (!uccs_coll_has_slots(team)) {
        uccs_team_sync(team);
        return;
    }
    uccs_slot_begin(team, 0);
    uccs_slot_publish(team, 0);
}

static inline void uccs_coll_await(const struct uccs_team *team, int rank)
{
    if (uccs_coll_has_slots(team))
        uccs_slot_await(team, rank, 0);
}

/* Copies blocks from source (there) to dest (here), both on this node. */
void uccs_coll_copy_blocks(char *to, const char *from, const struct proto_blocks *blocks);
/* Takes bytes of member `rank`'s memory, at my own address `from`, into `to`. They are there after the step
 * uccs_coll_settled. */
void uccs_coll_take(struct uccs_coll *coll, void *to, const void *from, int rank, size_t bytes);
/* Waits for that, in a blocking one. */
void uccs_coll_settle(struct uccs_coll *coll);

/* Steps of several plans: all members come, so that their memory may be used; my operations are complete and my memory is mine
 * again; all leave; those of this node meet, or all in a split-phase one. */
uccs_coll_step uccs_coll_come, uccs_coll_settled, uccs_coll_leave, uccs_coll_meet_near;
/* Steps that put split-phase ones of a team in their order: the ones before have passed their turn; pass mine. */
uccs_coll_step uccs_coll_await_turn, uccs_coll_pass_turn;
/* Runs a part that takes long, and that goes to the next step: of a split-phase one without the list's lock. Returns what the step
 * returns. */
bool uccs_coll_run_part(struct uccs_coll *coll, void (*part)(struct uccs_task *task));

/* Does the share of member `rank` (share.c); on a node a member may do another's. */
void uccs_share_do(struct uccs_coll *coll, int rank);
/* The step of a blocking fold over nodes, in which each member folds all vectors that it needs; the last one. */
uccs_coll_step uccs_share_fold_far;

/* --- Plans over nodes */

/* Returns the longest element, in bytes, that nodes can fold by uccs_gather_fold; longer vectors go in pieces. */
size_t uccs_reduce_most(const struct uccs_nodes *nodes);

extern uccs_coll_step *const uccs_gather_broadcast[], *const uccs_gather_allgather[], *const uccs_gather_alltoall[],
                                                                                          *const uccs_gather_fold[];
extern uccs_coll_step *const uccs_rail_broadcast[], *const uccs_rail_allgather[], *const uccs_rail_alltoall[],
                                                                                      *const uccs_rail_reduce[];

#endif
