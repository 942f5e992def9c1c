/* The windows of ours by their handles. A hash table under a lock; threads keep what they found. */
#include "mpi/window/window.h"

#include "mpi/core/process.h"
#include "mpi/core/real.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define BUCKETS 64

static struct lmpi_window *buckets[BUCKETS]; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
uint64_t lmpi_windows_age = 1;
_Thread_local struct lmpi_last_windows lmpi_last_windows;

static struct lmpi_window **bucket_of(MPI_Win handle)
{
    return &buckets[(uint64_t)(uintptr_t)handle * 0x9E3779B97F4A7C15u >> 58];
}

struct lmpi_window *lmpi_window_slow(MPI_Win handle)
{
    unsigned slot = lmpi_window_slot(handle);
    pthread_mutex_lock(&lock);
    struct lmpi_window *found = *bucket_of(handle);
    while (found && found->handle != handle)
        found = found->next;
    uint64_t age = lmpi_windows_age;
    pthread_mutex_unlock(&lock);
    if (lmpi_last_windows.age != age)
        lmpi_last_windows = (struct lmpi_last_windows){.age = age};
    lmpi_last_windows.slot[slot].handle = handle;
    lmpi_last_windows.slot[slot].window = found;
    return found;
}

void lmpi_window_add(struct lmpi_window *window)
{
    pthread_mutex_lock(&lock);
    struct lmpi_window **bucket = bucket_of(window->handle);
    window->next = *bucket;
    *bucket = window;
    __atomic_store_n(&lmpi_windows_age, lmpi_windows_age + 1, __ATOMIC_RELEASE); /* acquire: lmpi_window */
    pthread_mutex_unlock(&lock);
}

void lmpi_window_remove(struct lmpi_window *window)
{
    pthread_mutex_lock(&lock);
    struct lmpi_window **at = bucket_of(window->handle);
    while (*at != window)
        at = &(*at)->next;
    *at = window->next;
    __atomic_store_n(&lmpi_windows_age, lmpi_windows_age + 1, __ATOMIC_RELEASE); /* acquire: lmpi_window */
    pthread_mutex_unlock(&lock);
}

/* Views of dynamic memory, kept by each thread. */

_Thread_local struct lmpi_view lmpi_views[LMPI_VIEWS];

const struct lmpi_view *lmpi_view_slow(const struct lmpi_target *target, size_t offset)
{
    struct lmpi_view *slot = &lmpi_views[((uintptr_t)target / sizeof *target ^ offset >> 16) & (LMPI_VIEWS - 1)];
    uint64_t age = __atomic_load_n(&lmpi_windows_age, __ATOMIC_ACQUIRE); /* release: a window comes or goes */
    struct lmpi_view found = {.target = target, .age = age};
    if (uccs_memory_view(target->memory, offset, &found.seen) != UCCS_OK)
        return 0;
    *slot = found;
    return slot;
}

/* Handle windows. Not every MPI makes every kind of window on one process: Open MPI's default has none for
 * MPI_Win_create there. So this tries one kind after the other. To make one takes Open MPI 5 a millisecond, so windows that end
 * leave theirs to the next ones. */

#define SPARE 32

static struct lmpi_window *spare; /* under lock */
static int spares;

static bool make_handle_window(int way, MPI_Win *handle)
{
    static char byte;
    void *base = 0;
    switch (way) {
    case 0: return lmpi_real.Win_allocate_shared(8, 1, MPI_INFO_NULL, lmpi_process.self, &base, handle) == MPI_SUCCESS;
    case 1: return lmpi_real.Win_allocate(8, 1, MPI_INFO_NULL, lmpi_process.self, &base, handle) == MPI_SUCCESS;
    case 2: return lmpi_real.Win_create_dynamic(MPI_INFO_NULL, lmpi_process.self, handle) == MPI_SUCCESS;
    }
    return lmpi_real.Win_create(&byte, 1, 1, MPI_INFO_NULL, lmpi_process.self, handle) == MPI_SUCCESS;
}

static MPI_Win new_handle(void)
{
    static int good; /* the way that worked last */
    MPI_Win made;
    for (int i = 0; i < 4; i++)
        if (make_handle_window((good + i) & 3, &made)) {
            good = (good + i) & 3;
            return made;
        }
    if (lmpi_verbose())
        lmpi_log(LMPI_MPI " makes no window on one process; is a setting such as osc in the way?");
    return MPI_WIN_NULL;
}

struct lmpi_window *lmpi_window_new(void)
{
    pthread_mutex_lock(&lock);
    struct lmpi_window *taken = spare;
    if (taken) {
        spare = taken->next;
        spares--;
    }
    pthread_mutex_unlock(&lock);
    if (!taken && (taken = calloc(1, sizeof *taken)))
        taken->handle = new_handle();
    return taken;
}

/* The handle window of a marked window goes before: its attributes' callbacks still find the window. */
int lmpi_window_end(struct lmpi_window *window, MPI_Win *handle)
{
    const int status = window->marked ? lmpi_real.Win_free(handle) : MPI_SUCCESS;
    if (status != MPI_SUCCESS)
        return status; /* a callback has refused */
    *handle = MPI_WIN_NULL;
    lmpi_window_remove(window);
    if (window->marked)
        window->handle = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

static void free_window(struct lmpi_window *window)
{
    if (window->handle != MPI_WIN_NULL)
        lmpi_real.Win_free(&window->handle);
    if (window->posts)
        uccs_memory_release(window->posts);
    lmpi_rows_free(window->targets, window->capacity, sizeof(*window->targets));
    free(window);
}

void lmpi_window_drop(struct lmpi_window *window)
{
    if (window->handle != MPI_WIN_NULL)
        PMPI_Win_set_errhandler(window->handle, MPI_ERRORS_ARE_FATAL);
    pthread_mutex_lock(&lock);
    const bool keep = window->handle != MPI_WIN_NULL && spares < SPARE;
    if (keep) {
        window->next = spare;
        spare = window;
        spares++;
    }
    pthread_mutex_unlock(&lock);
    if (!keep)
        free_window(window);
}

void lmpi_windows_end(void)
{
    for (struct lmpi_window *window = spare; window; window = spare) {
        spare = window->next;
        free_window(window);
    }
    spares = 0;
}
