/* Children of a window: its duplicates and its windows of memory handles. The parent's locks and epochs hold for the children; each has a
 * configuration of its own. Duplicates of a window whose ranks are all mapped share its targets.
 *
 * Any thread makes and frees children; locks and epochs change on one thread at a time, as MPI demands. */
#ifndef MPI_WINDOW_DUP_H
#define MPI_WINDOW_DUP_H

#include "mpi/window/window.h"

/* Returns the window whose locks and epochs hold: of a duplicate its parent. Null: not ours. */
static inline struct lmpi_window *lmpi_window_root(MPI_Win handle)
{
    struct lmpi_window *window = lmpi_window(handle);
    return window && window->parent && !window->of_memhandle ? window->parent : window;
}

/* Copies what is open at a rank, or at all ranks (-1), from a window to its children. */
void lmpi_dups_open_slow(struct lmpi_window *window, int rank);
static inline void lmpi_dups_open(struct lmpi_window *window, int rank)
{
    if (__builtin_expect(window->children != 0, 0))
        lmpi_dups_open_slow(window, rank);
}

/* Sets the kind of a window (LMPI_THREAD, LMPI_ORDERED). Without memory for its endpoints the window keeps its kind. */
void lmpi_window_set_kind(struct lmpi_window *window, unsigned kind);

/* Returns a child with a handle and `targets` that are zero, the parent's configuration and error handler, and the hints
 * of `info`; or null without memory. lmpi_child_join lets the program's calls find it. */
struct lmpi_window *lmpi_child_new(struct lmpi_window *parent, MPI_Info info);
void lmpi_child_join(struct lmpi_window *child);
/* Frees a child that has not joined. */
void lmpi_child_drop(struct lmpi_window *child);
/* Completes the child's operations, frees it, and sets its handle to MPI_WIN_NULL. Returns a code of the MPI. */
int lmpi_child_free(struct lmpi_window *child, MPI_Win *handle);

#endif
