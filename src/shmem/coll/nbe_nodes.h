/* Inside of the split-phase collectives. go_on: under the progress list's lock. */
#ifndef SHMEM_COLL_NBE_NODES_H
#define SHMEM_COLL_NBE_NODES_H

#include "base/kind.h"
#include "shmem/team.h"
#include "uccs/core/task.h"
#include "uccs/comp/request.h"
#include "uccs/team/team.h"

enum nbe_what { NBE_BARRIER, NBE_BROADCAST, NBE_FCOLLECT, NBE_ALLTOALL, NBE_REDUCE };

struct operation {
    struct uccs_task task;
    struct shmem_team_impl *team;
    struct uccs_request *request;
    enum nbe_what what;
    void (*share)(struct operation *op, int rank); /* a member's part of the copying; null for a barrier */
    uint64_t number;                               /* 1, 2, ... in the group */
    uint64_t turn;                                 /* 1, 2, ... among the brief ones of the group that copy; else 0 */
    bool brief;                                    /* the last member to start it does it for all */
    int root;                                      /* the only member whose memory is read; -1: all are */
    int looked;                                    /* members known to be ready, then known to be done */
    bool shared;                                   /* my share has been done */
    bool copied;                                   /* and before that: its copying has */
    const char *call;
    void *dest;
    const void *source;
    size_t bytes; /* of one member; of all in a reduction */
    size_t n;     /* elements of a reduction */
    enum kind kind;
    enum fold_op op;
    /* Over several nodes: */
    bool quiet; /* a barrier: what I have issued completes first */
    int phase;
    struct uccs_node_allgather meeting;
    struct uccs_request under_way; /* gets and puts of my share */
    char *room;                    /* the others' parts of a reduction, then its result */
};

/* Moves an operation on a group over several nodes on. Returns true when it is over. */
bool lat_nbe_go_on_nodes(struct operation *op);

#endif
