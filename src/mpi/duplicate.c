/* MPIX_Win_dup_with_info. */
#include "family.h"
#include "hints.h"
#include "mpix_rma.h"

#include <string.h>

int MPIX_Win_dup_with_info(MPI_Win parentwin, MPI_Info info, MPI_Win *newwin)
{
    struct lmpi_window *window = lmpi_window(parentwin);
    if (!window)
        return MPI_ERR_WIN;
    if (!newwin)
        return lmpi_error(window, MPI_ERR_ARG);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_FLAVOR);
    struct lmpi_window *made = lmpi_child_new(window, info);
    if (!made)
        return lmpi_error(window, MPI_ERR_NO_MEM);
    struct lmpi_target *source = window->target;
    bool mapped = true;
    for (int i = 0; i < window->ranks && mapped; i++)
        mapped = source[i].local || !source[i].memory;
    if (mapped)
        made->target = source;
    else
        memcpy(made->target, source, (size_t)window->ranks * sizeof *source);
    lmpi_window_be(made, lmpi_info_kind(info, window->kind));
    lmpi_child_join(made);
    *newwin = made->handle;
    return MPI_SUCCESS;
}
