/* Memory handles. A handle is a memory handle of the substrate and what MPI needs besides; a hash of all of it, keyed by the
 * parent, makes only that window accept it. Each handle is a registration of its own, so that a released one is found
 * stale. */
#include "base/siphash.h"
#include "mpi/core/process.h"
#include "mpi/create/create.h"
#include "mpi/memory/block.h"
#include "mpi/window/control.h"
#include "mpi/window/completion.h"
#include "mpi/window/window.h"
#include "mpix_rma.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct handle {
    uint64_t hash; /* of all that is behind it */
    uint64_t bytes, base, number;
    uint32_t owner, length; /* its rank in the parent; bytes of `memory` that count */
    unsigned char memory[UCCS_MEMORY_HANDLE_MAX];
};
_Static_assert(sizeof(struct handle) <= MPIX_MAX_MEMHANDLE_SIZE, "the room that programs give");

struct exposed { /* by this process */
    uint64_t number;
    const struct lmpi_window *window; /* the parent */
    uccs_memory_t memory;
    struct lmpi_block *block; /* of ours that has the bytes, or null */
    struct exposed *next;
};
static struct exposed *list;     /* under lock */
static struct exposed *released; /* under lock; their bytes wait until no rank of the node has a window of them */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash_of(const struct lmpi_window *window, const struct handle *handle)
{
    const size_t bytes = offsetof(struct handle, memory) + handle->length - sizeof handle->hash;
    return siphash(window->key, (const char *)handle + sizeof handle->hash, bytes);
}

static void unregister_exposed(const struct exposed *gone)
{
    if (gone->memory)
        uccs_memory_release(gone->memory);
    lmpi_block_unpin(gone->block);
}

/* Ranks of the node may have windows of the handle: they count before they look whether it is released. */
static bool is_mapped(const struct lmpi_window *window, const struct exposed *gone)
{
    const struct lmpi_control *own = window->peer[window->rank].control; /* reached since the window was made */
    return __atomic_load_n(&own->handles[gone->number % LMPI_HANDLES], __ATOMIC_SEQ_CST) != 0; /* partner: reach */
}

/* Takes the handles of a window off a list: all of them, or the ones that nobody maps. Under lock. */
static struct exposed *take_exposed(struct exposed **from, const struct lmpi_window *window, bool all)
{
    struct exposed *taken = 0;
    while (*from) {
        struct exposed *entry = *from;
        if (entry->window != window || !(all || !is_mapped(window, entry))) {
            from = &entry->next;
            continue;
        }
        *from = entry->next;
        entry->next = taken;
        taken = entry;
    }
    return taken;
}

static void unregister_all(struct exposed *gone)
{
    for (struct exposed *next; gone; gone = next) {
        next = gone->next;
        unregister_exposed(gone);
        free(gone);
    }
}

/* Ends the registration, so that later imports fail; then the bytes, when no rank of the node maps them. */
static void retire_exposed(const struct lmpi_window *window, struct exposed *gone)
{
    uccs_memory_release(gone->memory);
    gone->memory = 0;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the release before the look at the count; partner: reach */
    pthread_mutex_lock(&lock);
    gone->next = released;
    released = gone;
    gone = take_exposed(&released, window, false);
    pthread_mutex_unlock(&lock);
    unregister_all(gone);
}

static struct lmpi_window *root_of(MPI_Win handle)
{
    struct lmpi_window *window = lmpi_window_root(handle);
    return window && window->of_memhandle ? 0 : window;
}

/* Returns an error class. */
static int register_handle(struct handle *handle, void *base, size_t bytes, struct exposed *entry)
{
    size_t length = sizeof handle->memory;
    entry->block = lmpi_block_pin(base);
    if (uccs_memory_register(lmpi_process.context, base, bytes, &entry->memory) != UCCS_OK ||
        uccs_memory_export(entry->memory, handle->memory, &length) != UCCS_OK) {
        unregister_exposed(entry);
        return MPI_ERR_RMA_ATTACH;
    }
    handle->bytes = bytes;
    handle->base = (uintptr_t)base;
    handle->length = (uint32_t)length;
    return MPI_SUCCESS;
}

static int create_handle(struct lmpi_window *window, void *base, MPI_Aint size, void *memhandle, int *memhandle_size)
{
    static uint64_t numbers;
    struct handle made = {.number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED)};
    if (!memhandle || !memhandle_size)
        return MPI_ERR_ARG;
    if (size <= 0)
        return MPI_ERR_SIZE;
    if (!base)
        return MPI_ERR_RMA_ATTACH;
    struct exposed *entry = calloc(1, sizeof *entry);
    const int status = entry ? register_handle(&made, base, (size_t)size, entry) : MPI_ERR_NO_MEM;
    if (status != MPI_SUCCESS) {
        free(entry);
        return status;
    }
    made.owner = (uint32_t)window->rank;
    made.hash = hash_of(window, &made);
    entry->number = made.number;
    entry->window = window;
    pthread_mutex_lock(&lock);
    entry->next = list;
    list = entry;
    pthread_mutex_unlock(&lock);
    *memhandle_size = (int)(offsetof(struct handle, memory) + made.length);
    memcpy(memhandle, &made, (size_t)*memhandle_size);
    return MPI_SUCCESS;
}

int MPIX_Memhandle_create(void *base, MPI_Aint size, MPI_Info info, MPI_Win parentwin, void *memhandle,
                          int *memhandle_size)
{
    struct lmpi_window *window = root_of(parentwin);
    (void)info;
    return window ? lmpi_end(window, create_handle(window, base, size, memhandle, memhandle_size), __func__)
                  : MPI_ERR_WIN;
}

/* Copies a handle out of the program's buffer, of any alignment. Returns false when it is none of this window. */
static bool read_handle(const struct lmpi_window *window, const void *memhandle, struct handle *handle)
{
    if (!memhandle)
        return false;
    memcpy(handle, memhandle, offsetof(struct handle, memory));
    if (handle->length > sizeof handle->memory || handle->length % 8)
        return false;
    memcpy(handle->memory, (const char *)memhandle + offsetof(struct handle, memory), handle->length);
    return handle->hash == hash_of(window, handle);
}

/* Counts the window at the handle's owner, before it looks whether the handle is released. */
static void count_window(struct lmpi_window *made, const struct handle *handle)
{
    struct lmpi_control *owner = lmpi_peer(made->parent, (int)handle->owner)->control;
    if (!owner)
        return;
    made->counted = &owner->handles[handle->number % LMPI_HANDLES];
    __atomic_fetch_add(made->counted, 1, __ATOMIC_SEQ_CST); /* partner: retire */
}

/* Reaches the memory. Returns an error class. */
static int reach_memory(struct lmpi_window *made, const struct handle *handle, MPI_Aint size, int unit)
{
    const struct lmpi_peer *peer = &made->parent->peer[handle->owner];
    struct lmpi_target *target = &made->target[handle->owner];
    struct uccs_memory_attr attr;
    uccs_memory_t memory;
    int status = uccs_memory_import(lmpi_process.context, handle->memory, handle->length, &memory);
    if (status != UCCS_OK)
        return status == UCCS_ERR_STALE ? MPI_ERR_RMA_ATTACH : MPI_ERR_ARG;
    if (uccs_memory_query(memory, &attr) != UCCS_OK || attr.owner != peer->world || handle->bytes != attr.length) {
        uccs_memory_release(memory);
        return MPI_ERR_ARG;
    }
    char *near = attr.address;
    *target = (struct lmpi_target){.near = near,
                                   .bytes = (size_t)size,
                                   .unit = (uint32_t)unit,
                                   .memory = memory,
                                   .local = peer->control != 0,
                                   .endpoint = lmpi_endpoint_along(made->kind, peer->world),
                                   .base = (char *)(uintptr_t)handle->base,
                                   .reached = true};
    lmpi_target_list(made, (int)handle->owner);
    made->has_remote = !target->local;
    if (near)
        target->direct = (uint8_t)uccs_accumulate_intrinsic(target->endpoint, memory, UCCS_INT64, UCCS_SUM);
    return MPI_SUCCESS;
}

static int check_handle(const struct lmpi_window *window, const void *memhandle, MPI_Aint size, int unit, int target,
                        struct handle *handle)
{
    if (!read_handle(window, memhandle, handle))
        return MPI_ERR_ARG;
    if (target < 0 || (uint32_t)target != handle->owner || target >= window->ranks)
        return MPI_ERR_RANK;
    if (size < 0 || (uint64_t)size > handle->bytes)
        return MPI_ERR_SIZE;
    return unit > 0 ? MPI_SUCCESS : MPI_ERR_DISP;
}

/* Each operation then looks whether the handle is released. */
static void forget_mapping(struct lmpi_target *target)
{
    target->near = 0;
    target->direct = 0;
}

int MPIX_Win_from_memhandle(const void *memhandle, MPI_Aint size, int disp_unit, MPI_Info info, int target,
                            MPI_Win parentwin, MPI_Win *newwin)
{
    struct lmpi_window *window = root_of(parentwin);
    struct handle handle;
    if (!window)
        return MPI_ERR_WIN;
    int status = newwin ? check_handle(window, memhandle, size, disp_unit, target, &handle) : MPI_ERR_ARG;
    struct lmpi_window *made = status == MPI_SUCCESS ? lmpi_child_new(lmpi_window(parentwin), info) : 0;
    if (!made)
        return lmpi_error(window, status == MPI_SUCCESS ? MPI_ERR_NO_MEM : status);
    made->of_memhandle = true;
    made->rank = target;
    made->kind = (uint8_t)lmpi_info_kind(info, made->kind);
    made->open = 0;
    made->flavor = MPIX_WIN_FLAVOR_MEMHANDLE;
    made->unit = disp_unit;
    made->bytes = size;
    count_window(made, &handle);
    status = reach_memory(made, &handle, size, disp_unit);
    if (status != MPI_SUCCESS) {
        lmpi_child_drop(made);
        return lmpi_error(window, status);
    }
    made->base = made->target[target].near;
    made->op = made->target[target].local ? 0 : lmpi_stream_op(made->kind);
    if (lmpi_process.checked)
        forget_mapping(&made->target[target]);
    lmpi_child_join(made);
    *newwin = made->handle;
    return MPI_SUCCESS;
}

int MPIX_Memhandle_release(void *memhandle, MPI_Win parentwin)
{
    struct lmpi_window *window = root_of(parentwin);
    struct handle handle;
    if (!window)
        return MPI_ERR_WIN;
    if (!read_handle(window, memhandle, &handle) || handle.owner != (uint32_t)window->rank)
        return lmpi_error(window, MPI_ERR_ARG);
    pthread_mutex_lock(&lock);
    struct exposed **at = &list;
    while (*at && (*at)->number != handle.number)
        at = &(*at)->next;
    struct exposed *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    if (!found)
        return lmpi_error(window, MPI_ERR_ARG);
    retire_exposed(window, found);
    return MPI_SUCCESS;
}

void lmpi_handles_end(const struct lmpi_window *window)
{
    pthread_mutex_lock(&lock);
    struct exposed *left = take_exposed(&list, window, true), *gone = take_exposed(&released, window, true);
    pthread_mutex_unlock(&lock);
    unregister_all(left);
    unregister_all(gone);
}
