#include "groups.h"

#include "real.h"
#include "window.h"

#include <stdlib.h>

uint64_t lmpi_groups_age = 1;

/* Writes the ranks of n members behind room for their numbers. Returns false when one is not of the window. */
static bool translate(const struct lmpi_window *window, MPI_Group group, int n, int *rank)
{
    for (int i = 0; i < n; i++)
        rank[n + i] = i;
    bool inside = PMPI_Group_translate_ranks(group, n, rank + n, window->group, rank) == MPI_SUCCESS;
    for (int i = 0; i < n && inside; i++)
        inside = rank[i] != MPI_UNDEFINED;
    return inside;
}

const struct lmpi_ranks *lmpi_ranks_slow(const struct lmpi_window *window, MPI_Group group, struct lmpi_ranks *kept)
{
    uint64_t age = __atomic_load_n(&lmpi_groups_age, __ATOMIC_ACQUIRE); /* release: MPI_Group_free */
    int n = 0;
    if (group == MPI_GROUP_NULL || PMPI_Group_size(group, &n) != MPI_SUCCESS)
        return 0;
    int *rank = malloc((2 * (size_t)n + 1) * sizeof *rank);
    if (!rank || !translate(window, group, n, rank)) {
        free(rank);
        return 0;
    }
    free(kept->rank);
    *kept = (struct lmpi_ranks){group, age, n, rank};
    return kept;
}

LMPI_EXPORT int MPI_Group_free(MPI_Group *group)
{
    __atomic_fetch_add(&lmpi_groups_age, 1, __ATOMIC_RELEASE); /* acquire: lmpi_ranks */
    return lmpi_real.Group_free(group);
}
LMPI_NAME(Group_free);
