/* MPICH has no list of functions that its waits call, but over UCX each of its waits calls ucp_worker_progress, and finds
 * the one below before UCX's own. It moves the substrate's messages too. So a rank that waits in the MPI answers at once,
 * where the progress thread must first be woken on a core that the wait keeps busy.
 *
 * A thread in MPI_Init records the workers that the MPI makes. The substrate's own workers are others, so its calls go
 * straight to UCX. Where MPICH uses another network nothing here is called. */
#include "progress.h"

#include "real.h"

#ifdef MPICH_VERSION
#include <dlfcn.h>

#define WORKERS 64 /* of an MPI: one for each of its interfaces */

/* The parts of UCX's interface that pass through. */
typedef void *ucp_worker_h;
typedef int ucs_status_t;
LMPI_EXPORT ucs_status_t ucp_worker_create(void *context, const void *params, ucp_worker_h *worker);
LMPI_EXPORT unsigned ucp_worker_progress(ucp_worker_h worker);

static ucs_status_t (*real_create)(void *, const void *, ucp_worker_h *);
static unsigned (*real_progress)(ucp_worker_h);
static ucp_worker_h workers[WORKERS]; /* written within MPI_Init alone */
static int count;
static _Thread_local bool recording;

static __attribute__((constructor)) void find_real(void)
{
    real_create = (ucs_status_t(*)(void *, const void *, ucp_worker_h *))dlsym(RTLD_NEXT, "ucp_worker_create");
    real_progress = (unsigned (*)(ucp_worker_h))dlsym(RTLD_NEXT, "ucp_worker_progress");
}

void lmpi_workers_record(bool on)
{
    recording = on;
}

ucs_status_t ucp_worker_create(void *context, const void *params, ucp_worker_h *worker)
{
    ucs_status_t status = real_create(context, params, worker);
    if (recording && status == 0 && count < WORKERS)
        workers[count++] = *worker;
    return status;
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    unsigned found = real_progress(worker);
    for (int i = 0; i < count; i++)
        if (workers[i] == worker)
            return found + (unsigned)lmpi_progress_serve();
    return found;
}

#else

void lmpi_workers_record(bool on)
{
    (void)on;
}
#endif
