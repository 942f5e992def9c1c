#include "hints.h"

#include "life.h"
#include "window.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define IDS 1024 /* where the program does not say */

/* The paper's names of the hints, and those of its author's prototype. Returns whether one says a value; the paper's wins. */
static bool says(MPI_Info info, const char *key, const char *other, const char *on, const char *off, bool *value)
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
    if (says(info, "mpi_win_scope", "mpi_win_scope_thread", "thread", "process", &value))
        kind = (kind & ~(unsigned)LMPI_THREAD) | (value ? LMPI_THREAD : 0);
    if (says(info, "mpi_win_order", "mpi_win_ordered", "true", "false", &value))
        kind = (kind & ~(unsigned)LMPI_ORDERED) | (value ? LMPI_ORDERED : 0);
    return kind;
}

bool lmpi_info_promises(MPI_Info info, bool before)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    if (info == MPI_INFO_NULL || !lmpi_life.checked)
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
