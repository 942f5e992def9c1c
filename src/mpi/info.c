/* Hints. A window keeps what the program says; MPI_Win_get_info gives that, and for the rest what holds. */
#include "family.h"
#include "hints.h"
#include "real.h"

#include <stdio.h>

static const struct {
    const char *key, *value;
} standard[] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"mpi_accumulate_granularity", "0"},
    {"mpi_assert_accumulate_intrinsic", "false"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"alloc_shared_noncontig", "false"},
};

/* What is in force, whatever the program has asked for. */
static void add_kind(MPI_Info info, unsigned kind)
{
    PMPI_Info_set(info, "mpi_win_scope", kind & LMPI_THREAD ? "thread" : "process");
    PMPI_Info_set(info, "mpi_win_scope_thread", kind & LMPI_THREAD ? "true" : "false");
    PMPI_Info_set(info, "mpi_win_order", kind & LMPI_ORDERED ? "true" : "false");
    PMPI_Info_set(info, "mpi_win_ordered", kind & LMPI_ORDERED ? "true" : "false");
}

static void add_missing(MPI_Info info, const char *key, const char *value)
{
    char present[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, present, &found);
    if (!found)
        PMPI_Info_set(info, key, value);
}

static void add_ids(MPI_Info info, const struct lmpi_window *window)
{
    const struct lmpi_window *first = window->parent ? window->parent : window;
    char text[16];
    snprintf(text, sizeof text, "%u", (unsigned)first->peer[first->rank].ids);
    PMPI_Info_set(info, LMPI_NOTIFY_IDS, text);
}

LMPI_EXPORT int MPI_Win_get_info(MPI_Win win, MPI_Info *info)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Win_get_info(win, info);
    int status = window->info == MPI_INFO_NULL ? PMPI_Info_create(info) : PMPI_Info_dup(window->info, info);
    for (size_t i = 0; i < sizeof standard / sizeof *standard && status == MPI_SUCCESS; i++)
        add_missing(*info, standard[i].key, standard[i].value);
    if (status == MPI_SUCCESS) {
        add_kind(*info, window->kind);
        add_ids(*info, window);
    }
    return status;
}
LMPI_NAME(Win_get_info);

/* Adds the hints to those of the window. */
LMPI_EXPORT int MPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    struct lmpi_window *window = lmpi_window(win);
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int keys = 0, found;
    if (!window)
        return lmpi_real.Win_set_info(win, info);
    if (info == MPI_INFO_NULL)
        return lmpi_error(window, MPI_ERR_INFO);
    if (window->info == MPI_INFO_NULL && PMPI_Info_create(&window->info) != MPI_SUCCESS)
        return lmpi_error(window, MPI_ERR_NO_MEM);
    lmpi_window_be(window, lmpi_info_kind(info, window->kind));
    window->promised = lmpi_info_promises(info, window->promised);
    PMPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        PMPI_Info_get_nthkey(info, i, key);
        PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        if (found)
            PMPI_Info_set(window->info, key, value);
    }
    return MPI_SUCCESS;
}
LMPI_NAME(Win_set_info);
