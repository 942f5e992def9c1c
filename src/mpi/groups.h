/* Groups of MPI_Win_post and MPI_Win_start as ranks of a window. A window keeps the last one of each call: programs pass
 * the same groups again and again, and a translation costs more than the call. A handle means the same group until a
 * group is freed. The calls of one window's epochs come one at a time. */
#ifndef MPI_GROUPS_H
#define MPI_GROUPS_H

#include <mpi.h>
#include <stdint.h>

struct lmpi_window;

struct lmpi_ranks {
    MPI_Group group;
    uint64_t age; /* 0: nothing is kept */
    int n;
    int *rank;
};

extern uint64_t lmpi_groups_age; /* release: a group is freed */

/* Translates. Returns null when a member is not of the window, or the handle is no group. */
const struct lmpi_ranks *lmpi_ranks_slow(const struct lmpi_window *window, MPI_Group group, struct lmpi_ranks *kept);

static inline const struct lmpi_ranks *lmpi_ranks(const struct lmpi_window *window, MPI_Group group,
                                                  struct lmpi_ranks *kept)
{
    if (__builtin_expect(kept->group == group && kept->age == __atomic_load_n(&lmpi_groups_age, __ATOMIC_ACQUIRE), 1))
        return kept; /* release: MPI_Group_free */
    return lmpi_ranks_slow(window, group, kept);
}

#endif
