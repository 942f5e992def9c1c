/* What is attached to dynamic windows. Such a window has one memory object of each rank, in which a displacement is an
 * address of the owner. Whole pages of attached memory move to where the node maps them, as those of created windows
 * do. */
#include "attach.h"

#include "family.h"
#include "memory.h"
#include "real.h"

#include <pthread.h>
#include <stdlib.h>

/* A range that this process has attached to a window. */
struct lmpi_attached {
    struct lmpi_hold *hold;
    struct lmpi_attached *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the lists of all windows */

static int attach(struct lmpi_window *window, void *base, size_t size)
{
    struct lmpi_attached *made = malloc(sizeof *made);
    struct lmpi_hold *hold = made ? lmpi_memory_hold(base, size) : 0;
    if (!hold || lmpi_hold_attach(hold, window->own) != UCCS_OK) {
        lmpi_memory_let_go(hold);
        free(made);
        return MPI_ERR_RMA_ATTACH;
    }
    made->hold = hold;
    pthread_mutex_lock(&lock);
    made->next = window->attached;
    window->attached = made;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

LMPI_EXPORT int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_attach(win, base, size);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return lmpi_error(window, MPI_ERR_RMA_FLAVOR);
    if (size < 0)
        return lmpi_error(window, MPI_ERR_SIZE);
    int status = attach(window, base, (size_t)size);
    return status == MPI_SUCCESS ? status : lmpi_error(window, status);
}
LMPI_NAME(Win_attach);

/* Takes what begins at `base` off the list. Returns null when nothing does. */
static struct lmpi_attached *take(struct lmpi_window *window, const void *base)
{
    pthread_mutex_lock(&lock);
    struct lmpi_attached **at = &window->attached, *found;
    while (*at && (*at)->hold->address != base)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

LMPI_EXPORT int MPI_Win_detach(MPI_Win win, const void *base)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_detach(win, base);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return lmpi_error(window, MPI_ERR_RMA_FLAVOR);
    struct lmpi_attached *gone = take(window, base);
    if (!gone)
        return lmpi_error(window, MPI_ERR_RMA_ATTACH);
    lmpi_hold_detach(gone->hold, window->own);
    lmpi_memory_let_go(gone->hold);
    free(gone);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_detach);

void lmpi_attached_end(struct lmpi_window *window)
{
    for (struct lmpi_attached *at = window->attached, *next; at; at = next) {
        next = at->next;
        lmpi_memory_let_go(at->hold);
        free(at);
    }
    window->attached = 0;
}
