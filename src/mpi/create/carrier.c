#include "mpi/create/carrier.h"

#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/window/window.h"

#include <stdio.h>
#include <stdlib.h>

const char *lmpi_carrier_refuse(MPI_Comm comm)
{
    int inter = 0, size = 0;
    MPI_Group group;
    if (!lmpi_process.running)
        return lmpi_process.why_not;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return LMPI_NO_WINDOW;
    PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &size);
    int *ranks = malloc(2 * (size_t)size * sizeof *ranks), foreign = 0;
    for (int i = 0; i < size && ranks; i++)
        ranks[i] = i;
    if (ranks)
        PMPI_Group_translate_ranks(group, size, ranks, lmpi_process.world, ranks + size);
    for (int i = 0; i < size && ranks; i++)
        foreign |= ranks[size + i] == MPI_UNDEFINED;
    free(ranks);
    lmpi_real.Group_free(&group);
    return foreign ? "it holds processes of another MPI_COMM_WORLD" : 0;
}

/* Returns the class of what is wrong. What the MPI itself finds is left to it. */
static int find_wrong(MPI_Aint size, int unit, MPI_Comm comm)
{
    int inter = 0;
    if (!lmpi_process.running || comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return MPI_SUCCESS;
    if (inter)
        return MPI_ERR_COMM;
    return size < 0 ? MPI_ERR_SIZE : unit <= 0 ? MPI_ERR_DISP : MPI_SUCCESS;
}

int lmpi_carrier_check(MPI_Aint size, int unit, MPI_Comm comm)
{
    const int class = find_wrong(size, unit, comm);
    if (class != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(comm, class);
    return class;
}

static const char *name_of(int flavor)
{
    switch (flavor) {
    case MPI_WIN_FLAVOR_CREATE: return "created";
    case MPI_WIN_FLAVOR_ALLOCATE: return "allocated";
    case MPI_WIN_FLAVOR_SHARED: return "shared";
    }
    return "dynamic";
}

void lmpi_carrier_log(const struct lmpi_window *window, int flavor, const char *why_not)
{
    if (!lmpi_verbose() || (window && window->rank) || (!window && !*why_not))
        return;
    if (!window) {
        lmpi_log("a window (%s) is carried by " LMPI_MPI ": %s", name_of(flavor), why_not);
        return;
    }
    int mapped = 0, local = 0, ranged = 0;
    for (int i = 0; i < window->ranks; i++) {
        const struct lmpi_target *target = &window->target[i];
        mapped += target->near || target->ranged;
        ranged |= target->ranged;
        local += target->local;
    }
    char size[40] = ""; /* a dynamic window has none */
    if (flavor != MPI_WIN_FLAVOR_DYNAMIC)
        snprintf(size, sizeof size, ", %zu bytes here", (size_t)window->bytes);
    lmpi_log("window %d (%s%s) is carried by Lateral: %d of %d ranks by load and store%s%s%s", window->number,
             name_of(flavor), size, mapped, window->ranks, ranged ? " where the node maps their memory" : "",
             mapped < local ? ", others by copies of the kernel" : "",
             local < window->ranks ? ", others by messages" : "");
}
