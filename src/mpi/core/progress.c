
#include "mpi/core/process.h"
#include "mpi/core/real.h"

#include <dlfcn.h>

#define EAGER 64  /* polls in vain within a wait of the MPI's, before they get rarer */
#define SELDOM 16 /* then one poll in this many rounds of the wait */

/* Open MPI calls registered functions in every wait of its own. Its progress function is cheaper than a probe. */
static int (*opal_register)(int (*)(void)), (*opal_unregister)(int (*)(void));
static void (*opal_progress)(void);

/* This thread is in a call of the program's that waits here, so it may call the MPI; or the MPI has called us. */
static _Thread_local int inside;

static bool serving; /* between begin and end */

_Thread_local int lmpi_calling;

static _Thread_local bool is_main; /* this thread has called MPI_Init, and may call the MPI at any time */

static void (*also)(void); /* atomic */

/* A rank that waits for the MPI's own messages turns around every 30 ns on a node, and a look of the substrate takes 60. Few
 * operations on the node need it, so it looks in each round only while it finds something. Between nodes a round of the MPI's
 * takes a microsecond, and each operation needs us. Where several threads may be in the MPI, this one may hold its lock; the MPI yields
 * after it has given the lock back. */
static int poll_substrate(void)
{
    static _Thread_local unsigned in_vain;
    if (lmpi_process.one_node && ++in_vain > EAGER && in_vain % SELDOM)
        return 0;
    inside++;
    int found = lmpi_process.any_thread ? uccs_poll() : uccs_progress();
    inside--;
    in_vain = found ? 0 : in_vain;
    return found;
}

int lmpi_progress_poll(void)
{
    if (inside || !serving)
        return 0;
    const int found = poll_substrate();
    void (*poll)(void) = __atomic_load_n(&also, __ATOMIC_ACQUIRE); /* release: lmpi_progress_also */
    if (poll)
        poll();
    return found;
}

void lmpi_progress_also(void (*poll)(void))
{
    __atomic_store_n(&also, poll, __ATOMIC_RELEASE); /* acquire: lmpi_progress_poll */
}

bool lmpi_progress_inside(void)
{
    return opal_register && opal_unregister;
}

static void poll_mpi(void)
{
    int found;
    if (opal_progress)
        opal_progress();
    else
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, lmpi_process.comm, &found, MPI_STATUS_IGNORE);
}

/* Waits of the substrate call it, those of OpenSHMEM as well; only a thread that may call the MPI then does. */
static int poll_mpi_in_waits(void *unused)
{
    (void)unused;
    if (inside || !(lmpi_process.any_thread || is_main || lmpi_calling))
        return 0;
    inside++;
    poll_mpi();
    inside--;
    return 0;
}

bool lmpi_is_on_one_node(void)
{
    struct uccs_resource list[16];
    size_t count = sizeof list / sizeof *list;
    if (uccs_resource_query(lmpi_process.context, list, &count) != UCCS_OK || count > sizeof list / sizeof *list)
        return false;
    for (size_t i = 0; i < count; i++)
        if (list[i].latency >= UCCS_CLASS_RDMA)
            return false;
    return true;
}

void lmpi_progress_begin(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    is_main = level != MPI_THREAD_SERIALIZED; /* there another thread may be in the MPI */
    serving = true;
    uccs_poller_add(poll_mpi_in_waits, 0);
    opal_register = (int (*)(int (*)(void)))dlsym(RTLD_DEFAULT, "opal_progress_register");
    opal_unregister = (int (*)(int (*)(void)))dlsym(RTLD_DEFAULT, "opal_progress_unregister");
    opal_progress = (void (*)(void))dlsym(RTLD_DEFAULT, "opal_progress");
    if (opal_register && opal_unregister)
        opal_register(lmpi_progress_poll);
}

void lmpi_progress_end(void)
{
    serving = false;
    uccs_poller_remove(poll_mpi_in_waits, 0);
    if (opal_register && opal_unregister)
        opal_unregister(lmpi_progress_poll);
}

void lmpi_progress(void)
{
    inside++;
    uccs_progress();
    poll_mpi();
    inside--;
}

/* MPICH has no list of functions that its waits call, but over UCX each of its waits calls ucp_worker_progress, and finds
 * the one below before UCX's own. It moves the substrate's messages too. So a rank that waits in the MPI answers at once,
 * where the progress thread must first be woken on a core that the wait keeps busy.
 *
 * A thread in MPI_Init records the workers that the MPI makes. The substrate's own workers are others, so its calls go
 * straight to UCX. Where MPICH uses another network nothing here is called. */

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
            return found + (unsigned)lmpi_progress_poll();
    return found;
}

#else

void lmpi_workers_record(bool on)
{
    (void)on;
}
#endif
