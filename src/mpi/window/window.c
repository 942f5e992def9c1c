/* The windows of ours by their handles. A hash table under a lock; threads keep what they found. */
#include "mpi/window/window.h"

#include "mpi/core/process.h"
#include "mpi/core/real.h"

#include <pthread.h>
#include <stdint.h>

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
 * MPI_Win_create there. So this tries one kind after the other. */

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

bool lmpi_handle_window_new(MPI_Win *handle)
{
    static int good; /* the way that worked last */
    for (int i = 0; i < 4; i++)
        if (make_handle_window((good + i) & 3, handle)) {
            good = (good + i) & 3;
            return true;
        }
    if (lmpi_verbose())
        lmpi_log(LMPI_MPI " makes no window on one process; is a setting such as osc in the way?");
    return false;
}
