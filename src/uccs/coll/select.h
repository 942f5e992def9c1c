/* Which plan a collective takes: one table of (operation, where its members are, bytes, members, cores), or what
 * LATERAL_COLL=<collective>:<plan>,... says. Any thread after init. All members ask with equal arguments and so take the
 * same plan. */
#ifndef UCCS_COLL_SELECT_H
#define UCCS_COLL_SELECT_H

#include "uccs/team/nodes.h"

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
    UCCS_BY_PUSH,   /* each reads its own source and writes the others' dest */
    UCCS_BY_SHARE,  /* each does its share of the elements from all sources to all dests */
    /* members on several nodes */
    UCCS_BY_GATHER, /* nodes gather small data, with the flag */
    UCCS_BY_RAIL,   /* long data straight to one member of each node */
    UCCS_NAMED_PLANS,
    /* messages between any processes (messages.c) */
    UCCS_BY_FLAT = UCCS_NAMED_PLANS, /* every block straight to its receiver */
    UCCS_BY_TREE,
    UCCS_BY_RING,
    UCCS_BY_CHAIN, /* from rank to rank, pieces one behind the other */
    UCCS_PLANS
};

/* `bytes` of the vector, of one member's block (allgather), of one member's blocks for all (alltoall); over nodes of one
 * member's vector or block. */
enum uccs_plan uccs_coll_choose(enum uccs_coll_kind kind, const struct uccs_team *team, size_t bytes);

/* The same for a group of uccs.h. */
enum uccs_plan uccs_coll_choose_messages(enum uccs_coll_kind kind, int size, size_t bytes);

#endif
