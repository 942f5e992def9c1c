/* Children are kept for later ones with their handles, because the MPI takes several microseconds to make a handle. */

#include "mpi/core/real.h"
#include "mpi/window/completion.h"
#include "mpi/window/window.h"
#include "mpix_rma.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the lists */

static void open_child(struct lmpi_window *child, int rank)
{
    const struct lmpi_window *first = child->parent;
    if (child->of_memhandle) {
        child->target[child->rank].open = first->open | first->target[child->rank].open;
        return;
    }
    child->open = first->open;
    if (child->target == first->target)
        return;
    for (int i = rank < 0 ? lmpi_listed(first) : rank; i >= 0; i = rank < 0 ? lmpi_listed_after(first, i) : -1) {
        child->target[i].open = first->target[i].open;
        if (child->target[i].open)
            lmpi_target_list(child, i);
    }
}

void lmpi_dups_open_slow(struct lmpi_window *window, int rank)
{
    pthread_mutex_lock(&lock);
    for (struct lmpi_window *child = window->children; child; child = child->sibling)
        open_child(child, rank);
    pthread_mutex_unlock(&lock);
}

void lmpi_window_set_kind(struct lmpi_window *window, unsigned kind)
{
    const struct lmpi_window *first = lmpi_window_first(window);
    if (kind == window->kind)
        return;
    const bool far = window->of_memhandle ? window->has_remote : !lmpi_process.one_node;
    for (int i = far ? lmpi_listed(window) : -1; i >= 0; i = lmpi_listed_after(window, i))
        if (!lmpi_endpoint_along(kind, lmpi_window_world(first, window->of_first ? 0 : i)))
            return;
    lmpi_complete_threads(window, -1);
    for (int i = far ? lmpi_listed(window) : -1; i >= 0; i = lmpi_listed_after(window, i))
        window->target[i].endpoint = lmpi_endpoint_along(kind, lmpi_window_world(first, window->of_first ? 0 : i));
    window->op = !far ? 0 : first->refusals ? first->op : lmpi_stream_op(kind);
    window->kind = (uint8_t)kind;
}

static void free_targets(struct lmpi_window *child)
{
    lmpi_rows_free(child->targets, child->capacity, sizeof(*child->targets));
    child->targets = 0;
    child->capacity = 0;
}

void lmpi_child_drop(struct lmpi_window *child)
{
    if (child->counted)
        __atomic_fetch_sub(child->counted, 1, __ATOMIC_RELEASE); /* acquire: is_mapped in handles.c */
    if (child->info != MPI_INFO_NULL)
        PMPI_Info_free(&child->info);
    if (child->of_memhandle) /* windows of handles come and go, so they keep their targets */
        memset(&child->targets[child->rank], 0, sizeof *child->targets);
    else
        free_targets(child);
    lmpi_window_drop(child);
}

static bool reserve_targets(struct lmpi_window *child, int ranks)
{
    if (child->capacity >= ranks)
        return true;
    free_targets(child);
    child->targets = lmpi_rows_new(ranks, sizeof(*child->targets));
    child->capacity = child->targets ? ranks : 0;
    return child->targets;
}

struct lmpi_window *lmpi_child_new(struct lmpi_window *parent, MPI_Info info)
{
    struct lmpi_window *first = lmpi_window_first(parent), *child = lmpi_window_new();
    MPI_Errhandler handler;
    if (!child || child->handle == MPI_WIN_NULL || !reserve_targets(child, first->ranks)) {
        if (child)
            lmpi_window_drop(child);
        return 0;
    }
    struct lmpi_target *targets = child->targets;
    MPI_Win handle = child->handle;
    int capacity = child->capacity;
    uccs_memory_t posts = child->posts;
    *child = *parent;
    child->posts = posts;
    child->targets = child->target = targets;
    child->capacity = capacity;
    child->holder = child;
    child->listed = 0;
    child->has_remote = false;
    child->handle = handle;
    child->parent = first;
    child->children = 0;
    child->own = 0;
    child->counted = 0;
    child->marked = child->of_memhandle = false;
    child->started = false;
    child->start_ranks = child->post_ranks = (struct lmpi_ranks){.group = MPI_GROUP_NULL};
    child->exposed = -1;
    child->has_dups = true;
    child->info = MPI_INFO_NULL;
    if (PMPI_Win_get_errhandler(parent->handle, &handler) == MPI_SUCCESS) {
        PMPI_Win_set_errhandler(handle, handler);
        PMPI_Errhandler_free(&handler);
    }
    if (parent->info != MPI_INFO_NULL)
        PMPI_Info_dup(parent->info, &child->info);
    else if (info != MPI_INFO_NULL)
        PMPI_Info_create(&child->info);
    if (info != MPI_INFO_NULL)
        lmpi_info_merge(child->info, info);
    child->promised = lmpi_info_promises(info, parent->promised);
    return child;
}

void lmpi_child_join(struct lmpi_window *child)
{
    struct lmpi_window *first = child->parent;
    pthread_mutex_lock(&lock);
    if (!first->has_dups) {
        for (int i = lmpi_listed(first); i >= 0; i = lmpi_listed_after(first, i))
            if (first->target[i].far_ops) /* what may be under way already */
                __atomic_fetch_or(&first->kinds, 1u << first->kind, __ATOMIC_RELAXED);
        first->has_dups = true;
    }
    child->sibling = first->children;
    first->children = child;
    open_child(child, -1);
    pthread_mutex_unlock(&lock);
    lmpi_window_add(child);
}

int lmpi_child_free(struct lmpi_window *child, MPI_Win *handle)
{
    lmpi_complete_threads(child, -1);
    const int status = lmpi_window_end(child, handle);
    if (status != MPI_SUCCESS)
        return status;
    pthread_mutex_lock(&lock);
    struct lmpi_window **at = &child->parent->children;
    while (*at != child)
        at = &(*at)->sibling;
    *at = child->sibling;
    pthread_mutex_unlock(&lock);
    if (child->of_memhandle)
        uccs_memory_release(child->target[child->rank].memory);
    lmpi_child_drop(child);
    return MPI_SUCCESS;
}

static int set_info(struct lmpi_window *window, MPI_Info info)
{
    if (info == MPI_INFO_NULL)
        return MPI_ERR_INFO;
    if (window->info == MPI_INFO_NULL && PMPI_Info_create(&window->info) != MPI_SUCCESS)
        return MPI_ERR_NO_MEM;
    lmpi_window_set_kind(window, lmpi_info_kind(info, window->kind));
    window->promised = lmpi_info_promises(info, window->promised);
    lmpi_info_merge(window->info, info);
    return MPI_SUCCESS;
}
LMPI_TAKE(Win_set_info, lmpi_window, set_info(window, info), (win, info), MPI_Win win, MPI_Info info);

static int dup_window(struct lmpi_window *window, MPI_Info info, MPI_Win *newwin)
{
    if (!newwin)
        return MPI_ERR_ARG;
    if (window->of_memhandle)
        return MPI_ERR_RMA_FLAVOR;
    struct lmpi_window *made = lmpi_child_new(window, info);
    if (!made)
        return MPI_ERR_NO_MEM;
    if (lmpi_process.one_node) {
        made->holder = window->holder;
        made->target = window->target;
    }
    lmpi_window_set_kind(made, lmpi_info_kind(info, window->kind));
    lmpi_child_join(made);
    *newwin = made->handle;
    return MPI_SUCCESS;
}
LMPI_OURS(Win_dup_with_info, dup_window(window, info, newwin), MPI_Win win, MPI_Info info, MPI_Win *newwin);
