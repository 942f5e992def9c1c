/* The words of a window by which its ranks meet: barriers, MPI_Win_post, and its lock. Each rank has one control, in memory that
 * the ranks of its node map; others reach it by messages.
 *
 * Any thread. Words change by the functions below alone, so that all see one order. */
#ifndef MPI_WINDOW_CONTROL_H
#define MPI_WINDOW_CONTROL_H

#include "mpi/window/window.h"

#include <stddef.h>

#define LMPI_ROUNDS 32  /* of a barrier of 2^32 ranks */
#define LMPI_HANDLES 64 /* words that count windows of memory handles, each of every 64th handle */

struct lmpi_control {
    _Alignas(64) char lock[UCCS_LOCK_BYTES]; /* of this rank, a lock of uccs.h */
    _Alignas(64) uint64_t completes;
    _Alignas(64) uint64_t round[LMPI_ROUNDS];
    _Alignas(64) uint64_t handles[LMPI_HANDLES]; /* windows that ranks of the node have made from this rank's handles */
    uint64_t posts[];                            /* of each rank to this one */
};

static inline size_t lmpi_control_bytes(int ranks)
{
    return (sizeof(struct lmpi_control) + (size_t)ranks * sizeof(uint64_t) + 63) & ~(size_t)63;
}

/* Returns the offset of the word of a notification: these words follow the control. */
static inline size_t lmpi_notify_word(int ranks, int id)
{
    return lmpi_control_bytes(ranks) + (size_t)id * sizeof(uint64_t);
}

#define LMPI_WORD(member) offsetof(struct lmpi_control, member)

/* Add to the word at an offset of a peer's control, and store to it. add returns the old value, and orders this process's earlier loads
 * and stores before it. Any thread. */
uint64_t lmpi_word_add(struct lmpi_peer *peer, size_t at, uint64_t value);
void lmpi_word_store(struct lmpi_peer *peer, size_t at, uint64_t value);

/* Collective over the window's ranks. Stores of any rank before it are visible to all ranks after it. */
void lmpi_barrier(struct lmpi_window *window);

#endif
