/* The words of a window by which its ranks meet: barriers, MPI_Win_post, and its lock; and what a rank tells of its window. Each rank has
 * one control for a window, in a table in memory that the ranks of its node map; others reach it by messages.
 *
 * Any thread. Words change by the functions below alone, so that all see one order. */
#ifndef MPI_WINDOW_CONTROL_H
#define MPI_WINDOW_CONTROL_H

#include "mpi/core/process.h"
#include "mpi/window/window.h"

#include <stddef.h>

#define LMPI_ROUNDS 32  /* of a barrier of 2^32 ranks */
#define LMPI_HANDLES 64 /* words that count windows of memory handles, each of every 64th handle */

/* What a rank tells of its window, constant while the window is there. Handles are of the substrate. */
struct lmpi_record {
    uint64_t bytes, offset, base;
    uint32_t unit, ids; /* ids: of notifications */
    struct lmpi_handle {
        uint32_t length; /* 0: no memory */
        char handle[UCCS_MEMORY_HANDLE_MAX];
    } memory, posts, notices;
};

struct lmpi_control {
    _Alignas(64) char lock[UCCS_LOCK_BYTES]; /* of this rank, a lock of uccs.h */
    _Alignas(64) uint64_t completes;
    _Alignas(64) uint64_t round[LMPI_ROUNDS];
    _Alignas(64) uint64_t handles[LMPI_HANDLES]; /* windows that ranks of the node have made from this rank's handles */
    _Alignas(64) struct lmpi_record record;
};

#define LMPI_WORD(member) offsetof(struct lmpi_control, member)

/* Add to the word at an offset of a peer's control, and store to it or to its posts. add orders this process's earlier loads and stores
 * before it. */
void lmpi_word_add(const struct lmpi_peer *peer, size_t at, uint64_t value);
void lmpi_word_store(const struct lmpi_peer *peer, size_t at, uint64_t value);
void lmpi_post_store(const struct lmpi_peer *peer, int rank, uint64_t value);

/* ---- peers.c: tables, and the rows of a window. Each rank keeps its controls in a table of its own, found by a word that the ranks of a
 * window know from its creation. A process reads the control of a rank that it needs, from there. Any thread. ---- */

/* Makes this rank's table, and writes the handle that others need. find: copies that of a rank of the world; false: it has told none.
 * Returns false without memory. One thread; no window is there before begin and after end. */
bool lmpi_tables_begin(struct lmpi_handle *own, bool (*find)(int world, struct lmpi_handle *handle));
void lmpi_tables_end(void);

/* Writes a handle of this process's memory, of null none. Returns false when it has none for others. */
bool lmpi_memory_name(uccs_memory_t memory, struct lmpi_handle *handle);

/* Takes room for a window in this rank's table. Returns false when all is taken. publish shows the window by its key, once its ranks have
 * agreed that there is one; withdraw gives the room back, published or not. */
bool lmpi_window_reserve(struct lmpi_window *window);
void lmpi_window_publish(struct lmpi_window *window, const struct lmpi_record *record);
void lmpi_window_withdraw(struct lmpi_window *window);

/* Fills the rows of a rank, as soon as that rank has published. Returns null, or why it cannot. */
const char *lmpi_window_reach(struct lmpi_window *window, int rank);
/* Like lmpi_window_reach; ends the job where the rows cannot be filled. */
void lmpi_window_need(struct lmpi_window *window, int rank);
/* Adds a rank to the window's list. */
void lmpi_target_list(struct lmpi_window *window, int rank);
/* Releases what the rows of a window hold. */
void lmpi_window_forget(struct lmpi_window *window);

/* Returns the rank in the world, or -1. */
int lmpi_window_world(const struct lmpi_window *window, int rank);

/* Return the rows of a rank. The window of a peer is none's child. */
static inline struct lmpi_target *lmpi_target(struct lmpi_window *window, int rank)
{
    struct lmpi_target *target = &window->target[rank];
    if (__builtin_expect(!__atomic_load_n(&target->reached, __ATOMIC_ACQUIRE), 0)) /* release: lmpi_window_reach */
        lmpi_window_need(window, rank);
    return target;
}
static inline struct lmpi_peer *lmpi_peer(struct lmpi_window *window, int rank)
{
    (void)lmpi_target(window, rank);
    return &window->peer[rank];
}

/* Return a rank's posts and notifications. */
const struct lmpi_words *lmpi_posts_of(struct lmpi_window *window, int rank);
const struct lmpi_words *lmpi_notices_of(struct lmpi_window *window, int rank);

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
                      : uccs_lock(peer->endpoint, peer->memory, peer->at + LMPI_WORD(lock), mode);
    lmpi_calling--;
    if (__builtin_expect(status != UCCS_OK, 0))
        lmpi_unreachable("the lock", peer->world, status);
}

static inline void lmpi_lock_leave(const struct lmpi_peer *peer, enum uccs_lock_mode mode)
{
    struct lmpi_control *near = peer->control;
    int status = near ? uccs_unlock_mapped(peer->endpoint, near->lock, mode)
                      : uccs_unlock(peer->endpoint, peer->memory, peer->at + LMPI_WORD(lock), mode);
    if (__builtin_expect(status != UCCS_OK, 0))
        lmpi_unreachable("the lock", peer->world, status);
}

/* Enters the lock of a rank that is first used under MPI_Win_lock_all. */
void lmpi_lock_late(struct lmpi_window *window, int rank);

#endif
