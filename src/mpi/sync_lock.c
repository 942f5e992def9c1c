/* MPI_Win_lock, lock_all and their ends.
 *
 * A target's word counts its readers, or holds the mark of a writer. MPI_Win_lock_all takes one word of rank 0 instead of
 * the words of all ranks: there holders of all ranks and writers of any rank count each other out. (The two levels are
 * those of foMPI: Gerstenberger, Besta, Hoefler, SC13.) */
#include "control.h"
#include "family.h"
#include "progress.h"
#include "real.h"

#define WRITER ((uint64_t)1 << 63)
#define EXCLUSIVES ((uint64_t)1 << 32) /* in rank 0's word: one holder of an exclusive lock */
#define ALLS (EXCLUSIVES - 1)

/* Counts this process in rank 0's word as `mine` when no process of the other kind is there. */
static void enter_all(struct lmpi_window *window, uint64_t mine, uint64_t others)
{
    struct lmpi_wait wait = {0};
    struct lmpi_peer *first = &window->peer[0];
    while (lmpi_word_add(first, LMPI_WORD(all), mine) & others) {
        lmpi_word_add(first, LMPI_WORD(all), -mine);
        do
            lmpi_pause(&wait);
        while (lmpi_word_load(first, LMPI_WORD(all)) & others);
    }
}

static void lock_shared(struct lmpi_window *window, int rank)
{
    struct lmpi_wait wait = {0};
    struct lmpi_peer *peer = &window->peer[rank];
    while (lmpi_word_add(peer, LMPI_WORD(lock), 1) & WRITER) {
        lmpi_word_add(peer, LMPI_WORD(lock), (uint64_t)-1);
        do
            lmpi_pause(&wait);
        while (lmpi_word_load(peer, LMPI_WORD(lock)) & WRITER);
    }
}

static void lock_exclusive(struct lmpi_window *window, int rank)
{
    struct lmpi_wait wait = {0};
    enter_all(window, EXCLUSIVES, ALLS);
    while (lmpi_word_swap_if(&window->peer[rank], LMPI_WORD(lock), 0, WRITER) != 0)
        lmpi_pause(&wait);
}

LMPI_EXPORT int MPI_Win_lock(int type, int rank, int assert, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_lock(type, rank, assert, win);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
        return lmpi_error(window, MPI_ERR_LOCKTYPE);
    if (assert & ~MPI_MODE_NOCHECK)
        return lmpi_error(window, MPI_ERR_ASSERT);
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (rank < 0 || rank >= window->ranks)
        return lmpi_error(window, MPI_ERR_RANK);
    if (window->target[rank].open || window->open & LMPI_OPEN_LOCK_ALL)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    window->open &= ~LMPI_OPEN_FENCE;
    if (!(assert &MPI_MODE_NOCHECK) && type == MPI_LOCK_SHARED)
        lock_shared(window, rank);
    else if (!(assert &MPI_MODE_NOCHECK))
        lock_exclusive(window, rank);
    window->target[rank].open = (type == MPI_LOCK_SHARED ? LMPI_OPEN_SHARED : LMPI_OPEN_EXCLUSIVE) |
                                (assert &MPI_MODE_NOCHECK ? LMPI_OPEN_UNCHECKED : 0);
    lmpi_spread(window, rank);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_lock);

LMPI_EXPORT int MPI_Win_unlock(int rank, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_unlock(rank, win);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (rank < 0 || rank >= window->ranks)
        return lmpi_error(window, MPI_ERR_RANK);
    unsigned held = window->target[rank].open;
    if (!(held & LMPI_PASSIVE))
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    lmpi_complete_threads(window, rank);
    window->target[rank].open = 0;
    lmpi_spread(window, rank);
    if (held & LMPI_OPEN_UNCHECKED)
        return MPI_SUCCESS;
    if (held & LMPI_OPEN_SHARED) {
        lmpi_word_add(&window->peer[rank], LMPI_WORD(lock), (uint64_t)-1);
        return MPI_SUCCESS;
    }
    lmpi_word_add(&window->peer[rank], LMPI_WORD(lock), WRITER); /* back to none; readers may have tried meanwhile */
    lmpi_word_add(&window->peer[0], LMPI_WORD(all), -EXCLUSIVES);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_unlock);

LMPI_EXPORT int MPI_Win_lock_all(int assert, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_lock_all(assert, win);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (assert & ~MPI_MODE_NOCHECK)
        return lmpi_error(window, MPI_ERR_ASSERT);
    bool open = (window->open & LMPI_OPEN_LOCK_ALL) || window->started != MPI_GROUP_NULL;
    for (int i = 0; i < window->ranks && !open; i++)
        open = window->target[i].open != 0;
    if (open)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (!(assert &MPI_MODE_NOCHECK))
        enter_all(window, 1, ALLS << 32);
    window->open = LMPI_OPEN_LOCK_ALL | (assert &MPI_MODE_NOCHECK ? LMPI_OPEN_UNCHECKED : 0);
    lmpi_spread(window, -1);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_lock_all);

LMPI_EXPORT int MPI_Win_unlock_all(MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_unlock_all(win);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (!(window->open & LMPI_OPEN_LOCK_ALL))
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    lmpi_complete_threads(window, -1);
    if (!(window->open & LMPI_OPEN_UNCHECKED))
        lmpi_word_add(&window->peer[0], LMPI_WORD(all), (uint64_t)-1);
    window->open = 0;
    lmpi_spread(window, -1);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_unlock_all);
