/* Active epochs: MPI_Win_fence; post, start, complete, wait and test. A post is a word of each origin that counts the posts of this
 * rank; a complete adds one to a word of each target. Counts only grow, so epochs cannot be confused. */
#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"

#include <stdint.h>
#include <stdlib.h>

#define FENCE_ASSERTS (MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)
#define POST_ASSERTS (MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)

static int fence_window(struct lmpi_window *window, int assert)
{
    if (assert & ~FENCE_ASSERTS)
        return MPI_ERR_ASSERT;
    if (window->of_memhandle || lmpi_window_has_epoch(window))
        return MPI_ERR_RMA_SYNC;
    const int status = lmpi_complete_stored(window, -1); /* the barrier begins with a fence */
    lmpi_barrier(window);
    window->open = assert &MPI_MODE_NOSUCCEED ? 0 : LMPI_OPEN_FENCE;
    lmpi_dups_open(window, -1);
    return status;
}
LMPI_TAKE(Win_fence, lmpi_window_root, fence_window(window, assert), (assert, win), int assert, MPI_Win win);

static uint64_t groups_age = 1; /* release: a group is freed */

/* Writes the ranks of n members behind room for their numbers. Returns false when one is not of the window. */
static bool translate_ranks(const struct lmpi_window *window, MPI_Group group, int n, int *rank)
{
    for (int i = 0; i < n; i++)
        rank[n + i] = i;
    bool inside = PMPI_Group_translate_ranks(group, n, rank + n, window->group, rank) == MPI_SUCCESS;
    for (int i = 0; i < n && inside; i++)
        inside = rank[i] != MPI_UNDEFINED;
    return inside;
}

/* Returns null when a member is not of the window, or the handle is no group. */
static const struct lmpi_ranks *translate_group(const struct lmpi_window *window, MPI_Group group,
                                                struct lmpi_ranks *kept)
{
    uint64_t age = __atomic_load_n(&groups_age, __ATOMIC_ACQUIRE); /* release: MPI_Group_free */
    int n = 0;
    if (group == MPI_GROUP_NULL || PMPI_Group_size(group, &n) != MPI_SUCCESS)
        return 0;
    int *rank = malloc((2 * (size_t)n + 1) * sizeof *rank);
    if (!rank || !translate_ranks(window, group, n, rank)) {
        free(rank);
        return 0;
    }
    free(kept->rank);
    *kept = (struct lmpi_ranks){group, age, n, rank};
    return kept;
}

/* A handle means the same group until a group is freed. */
static inline const struct lmpi_ranks *ranks_of(const struct lmpi_window *window, MPI_Group group,
                                                struct lmpi_ranks *kept)
{
    if (__builtin_expect(kept->group == group && kept->age == __atomic_load_n(&groups_age, __ATOMIC_ACQUIRE), 1))
        return kept; /* release: MPI_Group_free */
    return translate_group(window, group, kept);
}

LMPI_EXPORT int MPI_Group_free(MPI_Group *group)
{
    __atomic_fetch_add(&groups_age, 1, __ATOMIC_RELEASE); /* acquire: ranks_of */
    return lmpi_real.Group_free(group);
}
LMPI_NAME(Group_free);

static int post_window(struct lmpi_window *window, MPI_Group group, int assert)
{
    if (window->of_memhandle)
        return MPI_ERR_RMA_SYNC;
    if (assert & ~POST_ASSERTS)
        return MPI_ERR_ASSERT;
    if (window->exposed >= 0 || window->open & LMPI_OPEN_LOCK_ALL)
        return MPI_ERR_RMA_SYNC;
    const struct lmpi_ranks *ranks = ranks_of(window, group, &window->post_ranks);
    if (!ranks)
        return MPI_ERR_GROUP;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* stores to the window come before operations of the origins */
    window->open &= ~LMPI_OPEN_FENCE;
    window->exposed = ranks->n;
    lmpi_dups_open(window, -1);
    for (int i = 0; i < ranks->n; i++) {
        struct lmpi_peer *peer = lmpi_peer(window, ranks->rank[i]);
        (void)lmpi_posts_of(window, ranks->rank[i]);
        lmpi_post_store(peer, window->rank, ++peer->posts_made);
    }
    return MPI_SUCCESS;
}
LMPI_TAKE(Win_post, lmpi_window_root, post_window(window, group, assert), (group, assert, win), MPI_Group group,
          int assert, MPI_Win win);

/* A lock of a member is held: its post could wait for that. */
static bool any_open(const struct lmpi_window *window, const struct lmpi_ranks *ranks)
{
    bool open = false;
    for (int i = 0; i < ranks->n && !open; i++)
        open = window->target[ranks->rank[i]].open != 0;
    return open;
}

/* MPI_MODE_NOCHECK says that the posts have happened, and they are counted all the same. */
static int start_window(struct lmpi_window *window, MPI_Group group, int assert)
{
    if (window->of_memhandle)
        return MPI_ERR_RMA_SYNC;
    if (assert & ~MPI_MODE_NOCHECK)
        return MPI_ERR_ASSERT;
    if (window->started || window->open & LMPI_OPEN_LOCK_ALL)
        return MPI_ERR_RMA_SYNC;
    const struct lmpi_ranks *ranks = ranks_of(window, group, &window->start_ranks);
    if (!ranks)
        return MPI_ERR_GROUP;
    if (any_open(window, ranks))
        return MPI_ERR_RMA_SYNC;
    window->open &= ~LMPI_OPEN_FENCE;
    const uint64_t *posts = lmpi_posts_of(window, window->rank)->near;
    for (int i = 0; i < ranks->n; i++) {
        const int rank = ranks->rank[i];
        lmpi_await(&posts[rank], ++lmpi_peer(window, rank)->posts_taken, window, rank);
        window->target[rank].open |= LMPI_OPEN_STARTED;
    }
    lmpi_dups_open(window, -1);
    window->started = true;
    return MPI_SUCCESS;
}
LMPI_TAKE(Win_start, lmpi_window_root, start_window(window, group, assert), (group, assert, win), MPI_Group group,
          int assert, MPI_Win win);

static int complete_window(struct lmpi_window *window)
{
    if (!window->started)
        return MPI_ERR_RMA_SYNC;
    const struct lmpi_ranks *ranks = &window->start_ranks;
    const int status = lmpi_complete_stored(window, -1); /* the addition comes behind stores */
    for (int i = 0; i < ranks->n; i++) {
        window->target[ranks->rank[i]].open &= ~LMPI_OPEN_STARTED;
        lmpi_word_add(lmpi_peer(window, ranks->rank[i]), LMPI_WORD(completes), 1);
    }
    lmpi_dups_open(window, -1);
    window->started = false;
    return status;
}
LMPI_TAKE(Win_complete, lmpi_window_root, complete_window(window), (win), MPI_Win win);

static uint64_t completes_due(const struct lmpi_window *window)
{
    return window->completes + (uint64_t)window->exposed;
}

static void end_exposure(struct lmpi_window *window)
{
    window->completes = completes_due(window);
    window->exposed = -1;
}

static int wait_exposure(struct lmpi_window *window)
{
    if (window->exposed < 0)
        return MPI_ERR_RMA_SYNC;
    lmpi_await(&window->peer[window->rank].control->completes, completes_due(window), window, LMPI_SOME);
    end_exposure(window);
    return MPI_SUCCESS;
}
LMPI_TAKE(Win_wait, lmpi_window_root, wait_exposure(window), (win), MPI_Win win);

static int test_exposure(struct lmpi_window *window, int *flag)
{
    if (!flag)
        return MPI_ERR_ARG;
    if (window->exposed < 0)
        return MPI_ERR_RMA_SYNC;
    const uint64_t *word = &window->peer[window->rank].control->completes;
    *flag =
        __atomic_load_n(word, __ATOMIC_ACQUIRE) >= completes_due(window); /* seq_cst: MPI_Win_complete of an origin */
    if (*flag)
        end_exposure(window);
    else
        lmpi_progress();
    return MPI_SUCCESS;
}
LMPI_TAKE(Win_test, lmpi_window_root, test_exposure(window, flag), (win, flag), MPI_Win win, int *flag);
