#include "progress.h"

#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#define YIELDS 200       /* of a crowded node, before a wait sleeps */
#define LOOKS_A_CLOCK 64 /* slow looks between two looks at the clock */
#define EAGER 64         /* looks in vain of a wait of the MPI's, before they get rarer */
#define SELDOM 16        /* then one in so many of its rounds looks */

/* Open MPI calls registered functions in every wait of its own. Its progress function is cheaper than a probe. */
static int (*opal_register)(int (*)(void)), (*opal_unregister)(int (*)(void));
static void (*opal_progress)(void);

/* This thread is in a call of the program's that waits here, so it may call the MPI; or the MPI has called us. */
static _Thread_local int inside;

static bool serving; /* between begin and end */

_Thread_local int lmpi_calling;

static _Thread_local bool is_main; /* this thread has called MPI_Init, and may call the MPI at any time */

static void (*watch)(void); /* atomic */

static bool on_one_node; /* all ranks are */

/* A rank that waits for the MPI's own messages turns around every 30 ns on a node, and a look of the substrate takes 60. Few
 * operations on the node need it, so it looks in each round only while it finds something. Between nodes a round of the MPI's
 * takes a microsecond, and each operation needs us. */
static int look_at_substrate(void)
{
    static _Thread_local unsigned in_vain;
    if (on_one_node && ++in_vain > EAGER && in_vain % SELDOM)
        return 0;
    inside++;
    int found = uccs_progress();
    inside--;
    in_vain = found ? 0 : in_vain;
    return found;
}

int lmpi_progress_serve(void)
{
    if (inside || !serving)
        return 0;
    const int found = look_at_substrate();
    void (*look)(void) = __atomic_load_n(&watch, __ATOMIC_ACQUIRE); /* release: lmpi_progress_watch */
    if (look)
        look();
    return found;
}

void lmpi_progress_watch(void (*look)(void))
{
    __atomic_store_n(&watch, look, __ATOMIC_RELEASE); /* acquire: lmpi_progress_serve */
}

bool lmpi_progress_inside(void)
{
    return opal_register && opal_unregister;
}

static void serve_mpi(void)
{
    int found;
    if (opal_progress)
        opal_progress();
    else
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, lmpi_life.comm, &found, MPI_STATUS_IGNORE);
}

/* Waits of the substrate call it, those of OpenSHMEM as well; only a thread that may call the MPI then does. */
static int serve_mpi_in_waits(void *unused)
{
    (void)unused;
    if (inside || !(lmpi_life.any_thread || is_main || lmpi_calling))
        return 0;
    inside++;
    serve_mpi();
    inside--;
    return 0;
}

static bool is_on_one_node(void)
{
    struct uccs_resource list[16];
    size_t count = sizeof list / sizeof *list;
    if (uccs_resource_query(lmpi_life.context, list, &count) != UCCS_OK || count > sizeof list / sizeof *list)
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
    on_one_node = is_on_one_node();
    serving = true;
    uccs_poller_add(serve_mpi_in_waits, 0);
    opal_register = (int (*)(int (*)(void)))dlsym(RTLD_DEFAULT, "opal_progress_register");
    opal_unregister = (int (*)(int (*)(void)))dlsym(RTLD_DEFAULT, "opal_progress_unregister");
    opal_progress = (void (*)(void))dlsym(RTLD_DEFAULT, "opal_progress");
    if (opal_register && opal_unregister)
        opal_register(lmpi_progress_serve);
}

void lmpi_progress_end(void)
{
    serving = false;
    uccs_poller_remove(serve_mpi_in_waits, 0);
    if (opal_register && opal_unregister)
        opal_unregister(lmpi_progress_serve);
}

void lmpi_progress(void)
{
    inside++;
    uccs_progress();
    serve_mpi();
    inside--;
}

void lmpi_pause_slow(struct lmpi_wait *wait)
{
    lmpi_progress();
    if (!wait->record && wait->looks % LOOKS_A_CLOCK == 0)
        lmpi_wait_tell(wait);
    if (wait->looks++ < LMPI_LOOKS + YIELDS || !lmpi_life.crowded)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = 50000}, 0);
}
