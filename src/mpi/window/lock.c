#include "mpi/window/lock.h"

#include "mpi/window/window.h"

#include <pthread.h>

void lmpi_lock_late(struct lmpi_window *window, int rank)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of two threads with the first operation, one enters */
    struct lmpi_target *target = &window->target[rank];
    pthread_mutex_lock(&lock);
    if (!(target->open & LMPI_OPEN_LATE)) {
        if (!(window->open & LMPI_OPEN_UNCHECKED) && !window->peer[rank].control)
            lmpi_lock_enter(&window->peer[rank], UCCS_LOCK_GUEST);
        __atomic_store_n(&target->open, target->open | LMPI_OPEN_LATE, __ATOMIC_RELEASE); /* acquire: lmpi_mark_far */
    }
    pthread_mutex_unlock(&lock);
}
