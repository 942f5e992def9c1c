/* MPI_Win_post, start, complete, wait and test. A post is a word of each origin that counts the posts of this rank; a
 * complete adds one to a word of each target. Counts only grow, so epochs cannot be confused. */
#include "control.h"
#include "family.h"
#include "progress.h"
#include "real.h"

#include <stdlib.h>

#define POST_ASSERTS (MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)

/* Translates a group into ranks of the window. Returns their number with *ranks to be freed, or -1. */
static int ranks_of(const struct lmpi_window *window, MPI_Group group, int **ranks)
{
    int n = 0;
    if (group == MPI_GROUP_NULL || PMPI_Group_size(group, &n) != MPI_SUCCESS)
        return -1;
    int *numbers = malloc(2 * (size_t)n * sizeof *numbers + sizeof *numbers);
    if (!numbers)
        return -1;
    for (int i = 0; i < n; i++)
        numbers[n + i] = i;
    int status = PMPI_Group_translate_ranks(group, n, numbers + n, window->group, numbers);
    bool inside = status == MPI_SUCCESS;
    for (int i = 0; i < n && inside; i++)
        inside = numbers[i] != MPI_UNDEFINED;
    *ranks = numbers;
    if (!inside)
        free(numbers);
    return inside ? n : -1;
}

static size_t post_word(int rank)
{
    return LMPI_WORD(posts) + (size_t)rank * sizeof(uint64_t);
}

LMPI_EXPORT int MPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_first(win);
    int *ranks;
    if (!window)
        return lmpi_real.Win_post(group, assert, win);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (assert & ~POST_ASSERTS)
        return lmpi_error(window, MPI_ERR_ASSERT);
    if (window->exposed >= 0 || window->open & LMPI_OPEN_LOCK_ALL)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    int n = ranks_of(window, group, &ranks);
    if (n < 0)
        return lmpi_error(window, MPI_ERR_GROUP);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* stores to the window come before operations of the origins */
    window->open &= ~LMPI_OPEN_FENCE;
    window->exposed = n;
    lmpi_spread(window, -1);
    for (int i = 0; i < n; i++) {
        struct lmpi_peer *peer = &window->peer[ranks[i]];
        lmpi_word_store(peer, post_word(window->rank), ++peer->posts_made);
    }
    free(ranks);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_post);

/* MPI_MODE_NOCHECK says that the posts have happened, and they are counted all the same. */
LMPI_EXPORT int MPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_first(win);
    int *ranks;
    if (!window)
        return lmpi_real.Win_start(group, assert, win);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (assert & ~MPI_MODE_NOCHECK)
        return lmpi_error(window, MPI_ERR_ASSERT);
    if (window->started != MPI_GROUP_NULL || window->open & LMPI_OPEN_LOCK_ALL)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    int n = ranks_of(window, group, &ranks);
    if (n < 0)
        return lmpi_error(window, MPI_ERR_GROUP);
    window->open &= ~LMPI_OPEN_FENCE;
    const uint64_t *posts = window->peer[window->rank].control->posts;
    for (int i = 0; i < n; i++) {
        struct lmpi_wait wait = {0};
        struct lmpi_peer *peer = &window->peer[ranks[i]];
        uint32_t due = ++peer->posts_taken;
        while ((int32_t)((uint32_t)__atomic_load_n(&posts[ranks[i]], __ATOMIC_ACQUIRE) - due) < 0) /* release: a post */
            lmpi_pause(&wait);
        window->target[ranks[i]].open |= LMPI_OPEN_STARTED;
    }
    lmpi_spread(window, -1);
    PMPI_Group_union(group, MPI_GROUP_EMPTY, &window->started);
    free(ranks);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_start);

LMPI_EXPORT int MPI_Win_complete(MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_first(win);
    int *ranks;
    if (!window)
        return lmpi_real.Win_complete(win);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (window->started == MPI_GROUP_NULL)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    int n = ranks_of(window, window->started, &ranks);
    if (n < 0)
        return lmpi_error(window, MPI_ERR_OTHER);
    lmpi_complete_threads(window, -1);
    for (int i = 0; i < n; i++) {
        window->target[ranks[i]].open &= ~LMPI_OPEN_STARTED;
        lmpi_word_add(&window->peer[ranks[i]], LMPI_WORD(completes), 1);
    }
    lmpi_spread(window, -1);
    PMPI_Group_free(&window->started);
    window->started = MPI_GROUP_NULL;
    free(ranks);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_complete);

static bool all_complete(const struct lmpi_window *window)
{
    const uint64_t *word = &window->peer[window->rank].control->completes;
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) - window->completes >= (uint64_t)window->exposed; /* add: complete */
}

static void end_exposure(struct lmpi_window *window)
{
    window->completes += (uint64_t)window->exposed;
    window->exposed = -1;
}

LMPI_EXPORT int MPI_Win_wait(MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_first(win);
    struct lmpi_wait wait = {0};
    if (!window)
        return lmpi_real.Win_wait(win);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (window->exposed < 0)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    while (!all_complete(window))
        lmpi_pause(&wait);
    end_exposure(window);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_wait);

LMPI_EXPORT int MPI_Win_test(MPI_Win win, int *flag)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_test(win, flag);
    if (window->part)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (window->exposed < 0)
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    *flag = all_complete(window);
    if (*flag)
        end_exposure(window);
    else
        lmpi_progress();
    return MPI_SUCCESS;
}
LMPI_NAME(Win_test);
