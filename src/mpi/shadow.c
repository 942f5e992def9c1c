/* Shadow windows. Not every MPI makes every kind of window on one process: Open MPI's default has none for
 * MPI_Win_create there. So this tries one kind after the other. */
#include "real.h"
#include "verbose.h"
#include "window.h"

static bool make(int way, MPI_Win *handle)
{
    static char byte;
    void *base = 0;
    switch (way) {
    case 0: return lmpi_real.Win_allocate_shared(8, 1, MPI_INFO_NULL, lmpi_life.self, &base, handle) == MPI_SUCCESS;
    case 1: return lmpi_real.Win_allocate(8, 1, MPI_INFO_NULL, lmpi_life.self, &base, handle) == MPI_SUCCESS;
    case 2: return lmpi_real.Win_create_dynamic(MPI_INFO_NULL, lmpi_life.self, handle) == MPI_SUCCESS;
    }
    return lmpi_real.Win_create(&byte, 1, 1, MPI_INFO_NULL, lmpi_life.self, handle) == MPI_SUCCESS;
}

bool lmpi_shadow_make(MPI_Win *handle)
{
    static int good; /* the way that worked last */
    for (int i = 0; i < 4; i++)
        if (make((good + i) & 3, handle)) {
            good = (good + i) & 3;
            return true;
        }
    if (lmpi_verbose())
        lmpi_say(LMPI_MPI " makes no window on one process; is a setting such as osc in the way?");
    return false;
}
