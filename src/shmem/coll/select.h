/* Which algorithm a collective takes: one table of (operation, bytes, PEs, cores), or what the environment
 * says (LATERAL_COLL=<collective>:<algorithm>,...).
 *
 * lat_coll_open: in init. The rest: any thread after it. All members of a group ask with equal
 * arguments and so take the same algorithm. */
#ifndef SHMEM_COLL_SELECT_H
#define SHMEM_COLL_SELECT_H

#include "uccs/team/team.h"

#include <stddef.h>

enum lat_coll {
    LAT_COLL_SYNC,
    LAT_COLL_BROADCAST,
    LAT_COLL_COLLECT,
    LAT_COLL_FCOLLECT,
    LAT_COLL_ALLTOALL,
    LAT_COLL_ALLTOALLS,
    LAT_COLL_REDUCE,
    LAT_COLL_SCAN,
    LAT_COLLS
};

enum lat_algorithm {
    LAT_BY_POST,   /* through the posts: data travels with the flag, nobody waits for readers */
    LAT_BY_LEADER, /* through the posts of member 0: fewer looks where members are many */
    LAT_BY_PULL,   /* each reads the others' source and writes its own dest */
    LAT_BY_PUSH,   /* each reads its own source and writes the others' dest */
    LAT_BY_SHARE,  /* each does its share of the elements from all sources to all dests */
    LAT_BY_MAIL,   /* over nodes: through the leads, small data with the flag */
    LAT_BY_RAIL,   /* over nodes: straight to one member of each node, long data */
    LAT_ALGORITHMS
};

/* Returns 0, or -1 after a line that says what LATERAL_COLL names in vain. */
int lat_coll_open(void);

/* `bytes` of the vector, of one PE's block (fcollect), of one PE's blocks for all (alltoall). */
enum lat_algorithm lat_coll_choose(enum lat_coll coll, const struct uccs_team *group, size_t bytes);

/* The same for groups over several nodes: mail, rail or pull; `bytes` of one PE's vector or block. */
enum lat_algorithm lat_coll_choose_far(enum lat_coll coll, const struct uccs_team *group, size_t bytes);

#endif
