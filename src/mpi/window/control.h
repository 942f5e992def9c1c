/* The words of a window by which its ranks meet: barriers, MPI_Win_post, and its lock. Each rank has one control, in memory that
 * the ranks of its node map; others reach it by messages.
 *
 * Any thread. Words change by the functions below alone, so that all see one order. */
#ifndef MPI_WINDOW_CONTROL_H
#define MPI_WINDOW_CONTROL_H

#include "mpi/core/process.h"
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

/* Add to the word at an offset of a peer's control, and store to it. add orders this process's earlier loads and stores before it. */
void lmpi_word_add(const struct lmpi_peer *peer, size_t at, uint64_t value);
void lmpi_word_store(const struct lmpi_peer *peer, size_t at, uint64_t value);

enum { LMPI_ALL = -1, LMPI_SOME = -2 };

/* Wait until a word of this process is at least a value; release: lmpi_word_add and lmpi_word_store of the peers, and others' stores.
 * A wait that lasts tells those who ask why the job hangs about the window, and for which of its ranks it is: LMPI_ALL: all meet;
 * LMPI_SOME: not known. The substrate's wait moves the MPI's messages on, too. */
void lmpi_await_slow(const uint64_t *word, uint64_t least, const struct lmpi_window *window, int rank);
static inline void lmpi_await(const uint64_t *word, uint64_t least, const struct lmpi_window *window, int rank)
{
    bool there = false;
    for (int looks = lmpi_process.crowded ? 1 : 1000; looks && !there; looks--)
        there = __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least;
    if (__builtin_expect(!there, 0))
        lmpi_await_slow(word, least, window, rank);
}

/* Collective over the window's ranks. Stores of any rank before it are visible to all ranks after it. */
void lmpi_barrier(struct lmpi_window *window);

/* The lock of each rank of a window: for readers and a writer, and fair (uccs_lock). */
static inline void lmpi_lock_enter(const struct lmpi_peer *peer, enum uccs_lock_mode mode)
{
    struct lmpi_control *near = peer->control;
    lmpi_calling++;
    int status = near ? uccs_lock_mapped(peer->endpoint, near->lock, mode)
                      : uccs_lock(peer->endpoint, peer->memory, LMPI_WORD(lock), mode);
    lmpi_calling--;
    if (__builtin_expect(status != UCCS_OK, 0))
        lmpi_unreachable("the lock", peer->world, status);
}

static inline void lmpi_lock_leave(const struct lmpi_peer *peer, enum uccs_lock_mode mode)
{
    struct lmpi_control *near = peer->control;
    int status = near ? uccs_unlock_mapped(peer->endpoint, near->lock, mode)
                      : uccs_unlock(peer->endpoint, peer->memory, LMPI_WORD(lock), mode);
    if (__builtin_expect(status != UCCS_OK, 0))
        lmpi_unreachable("the lock", peer->world, status);
}

/* Enters the lock of a rank of another node, for MPI_Win_lock_all. */
void lmpi_lock_late(struct lmpi_window *window, int rank);

#endif
