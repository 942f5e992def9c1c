/* Hints. MPI_Win_get_info gives those that the layer knows, with the program's value where that is one of theirs. */
#include "hints.h"
#include "window.h"
#include "real.h"

#include <stdio.h>
#include <string.h>

enum rule { BOOLEAN, ORDERING, OPERATIONS, NUMBER };

/* The standard's hints and those of mpix_rma.h that the layer takes, and what holds where the program does not say. */
static const struct {
    const char *key, *value;
    enum rule rule;
} known[] = {
    {"no_locks", "false", BOOLEAN},
    {"accumulate_ordering", "rar,raw,war,waw", ORDERING},
    {"accumulate_ops", "same_op_no_op", OPERATIONS},
    {"mpi_accumulate_granularity", "0", NUMBER},
    {"mpi_assert_accumulate_intrinsic", "false", BOOLEAN},
    {"same_size", "false", BOOLEAN},
    {"same_disp_unit", "false", BOOLEAN},
    {"alloc_shared_noncontig", "false", BOOLEAN},
};

/* A list with commas of the four orders, or none. */
static bool is_ordering(const char *value)
{
    for (const char *word = value; strcmp(value, "none") != 0; word += 4) {
        if (strncmp(word, "rar", 3) != 0 && strncmp(word, "raw", 3) != 0 && strncmp(word, "war", 3) != 0 &&
            strncmp(word, "waw", 3) != 0)
            return false;
        if (!word[3])
            return true;
        if (word[3] != ',')
            return false;
    }
    return true;
}

static bool is_right(enum rule rule, const char *value)
{
    switch (rule) {
    case BOOLEAN: return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    case ORDERING: return is_ordering(value);
    case OPERATIONS: return strcmp(value, "same_op") == 0 || strcmp(value, "same_op_no_op") == 0;
    case NUMBER: return *value && strspn(value, "0123456789") == strlen(value);
    }
    return false;
}

/* Reads a hint of the program. Returns whether it says one of its values. */
static bool read_hint(MPI_Info info, size_t which, char value[MPI_MAX_INFO_VAL + 1])
{
    int found = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, known[which].key, MPI_MAX_INFO_VAL, value, &found);
    return found && is_right(known[which].rule, value);
}

/* What is in force, whatever the program has asked for. */
static void add_kind(MPI_Info info, unsigned kind)
{
    PMPI_Info_set(info, "mpi_win_scope", kind & LMPI_THREAD ? "thread" : "process");
    PMPI_Info_set(info, "mpi_win_scope_thread", kind & LMPI_THREAD ? "true" : "false");
    PMPI_Info_set(info, "mpi_win_order", kind & LMPI_ORDERED ? "true" : "false");
    PMPI_Info_set(info, "mpi_win_ordered", kind & LMPI_ORDERED ? "true" : "false");
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
    char value[MPI_MAX_INFO_VAL + 1];
    int status = PMPI_Info_create(info);
    for (size_t i = 0; i < sizeof known / sizeof *known && status == MPI_SUCCESS; i++)
        PMPI_Info_set(*info, known[i].key, read_hint(window->info, i, value) ? value : known[i].value);
    if (status == MPI_SUCCESS) {
        add_kind(*info, window->kind);
        add_ids(*info, window);
    }
    return status;
}
LMPI_NAME(Win_get_info);

void lmpi_info_merge(MPI_Info into, MPI_Info from)
{
    char value[MPI_MAX_INFO_VAL + 1];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (read_hint(from, i, value))
            PMPI_Info_set(into, known[i].key, value);
}

/* Adds the hints to those of the window, but those that say nothing known. */
