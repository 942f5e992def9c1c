
#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/memory/block.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS 1024 /* where the program does not say */

/* The paper's names of the hints, and those of its author's prototype. Returns whether one says a value; the paper's wins. */
static bool read_flag(MPI_Info info, const char *key, const char *other, const char *on, const char *off, bool *value)
{
    const struct {
        const char *key, *on, *off;
    } ways[] = {{key, on, off}, {other, "true", "false"}};
    for (int i = 0; i < 2; i++) {
        char text[MPI_MAX_INFO_VAL + 1];
        int found = 0;
        PMPI_Info_get(info, ways[i].key, MPI_MAX_INFO_VAL, text, &found);
        if (found && (strcmp(text, ways[i].on) == 0 || strcmp(text, ways[i].off) == 0)) {
            *value = strcmp(text, ways[i].on) == 0;
            return true;
        }
    }
    return false;
}

unsigned lmpi_info_kind(MPI_Info info, unsigned kind)
{
    bool value;
    if (info == MPI_INFO_NULL)
        return kind;
    if (read_flag(info, "mpi_win_scope", "mpi_win_scope_thread", "thread", "process", &value))
        kind = (kind & ~(unsigned)LMPI_THREAD) | (value ? LMPI_THREAD : 0);
    if (read_flag(info, "mpi_win_order", "mpi_win_ordered", "true", "false", &value))
        kind = (kind & ~(unsigned)LMPI_ORDERED) | (value ? LMPI_ORDERED : 0);
    return kind;
}

bool lmpi_info_promises(MPI_Info info, bool before)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    if (info == MPI_INFO_NULL || !lmpi_process.checked)
        return before;
    PMPI_Info_get(info, "mpi_assert_accumulate_intrinsic", MPI_MAX_INFO_VAL, text, &found);
    return found ? strcmp(text, "true") == 0 : before;
}

int lmpi_info_ids(MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1], *end = text;
    int found = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, LMPI_NOTIFY_IDS, MPI_MAX_INFO_VAL, text, &found);
    long wanted = found ? strtol(text, &end, 10) : IDS;
    return end != text && !*end && wanted >= 0 && wanted <= INT_MAX ? (int)wanted : IDS;
}

/* MPI_Win_get_info gives the hints that the layer knows, each with the program's value where the hint allows that value. */

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

/* Adds the hints that the window's creation has decided. */
static void add_creation(MPI_Info info, const struct lmpi_window *window)
{
    struct lmpi_window *first = lmpi_window_first(window);
    const bool pieces = window->flavor == MPI_WIN_FLAVOR_SHARED && !window->of_first;
    char text[24];
    snprintf(text, sizeof text, "%u", (unsigned)lmpi_peer(first, first->rank)->ids);
    PMPI_Info_set(info, LMPI_NOTIFY_IDS, text);
    PMPI_Info_set(info, "alloc_shared_noncontig", pieces ? "true" : "false");
    if (!first->own_block || window->of_memhandle)
        return;
    snprintf(text, sizeof text, "%zu", first->own_block->alignment);
    PMPI_Info_set(info, "mpi_minimum_memory_alignment", text);
}

static int get_info(const struct lmpi_window *window, MPI_Info *info)
{
    if (!info)
        return MPI_ERR_ARG;
    char value[MPI_MAX_INFO_VAL + 1];
    const int status = PMPI_Info_create(info);
    if (status != MPI_SUCCESS)
        return status;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        PMPI_Info_set(*info, known[i].key, read_hint(window->info, i, value) ? value : known[i].value);
    add_kind(*info, window->kind);
    add_creation(*info, window);
    return MPI_SUCCESS;
}
LMPI_TAKE(Win_get_info, lmpi_window, get_info(window, info), (win, info), MPI_Win win, MPI_Info *info);

void lmpi_info_merge(MPI_Info into, MPI_Info from)
{
    char value[MPI_MAX_INFO_VAL + 1];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (read_hint(from, i, value))
            PMPI_Info_set(into, known[i].key, value);
}
