/* How the layer begins and ends, makes progress and waits, in one process: the MPI and the substrate are the test's. */
#ifndef MPI_TEST_RUNNING_STUB_H
#define MPI_TEST_RUNNING_STUB_H
#include "layer_stub.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum what {
    RECORD = 1,
    GIVEN,
    STARTED,
    CONTEXT,
    ENDPOINTS,
    TYPES,
    POLLER_ADDED,
    POLLER_GONE,
    REGISTERED,
    UNREGISTERED,
    SPARE_ENDED,
    CONTEXT_GONE,
    FINALIZED,
    ENVIRONMENT_ENDED,
    TYPES_ENDED,
    GROUP_FREED,
    COMM_FREED,
    BARRIER,
    TESTED,
    MADE_ENDPOINT,
    GONE_ENDPOINT,
    MADE_STREAM,
    GONE_STREAM,
    MADE_REQUEST,
    GONE_REQUEST,
    FLUSHED,
    FLUSHED_HERE,
    WAITED
};

enum { RANK = 3, RANKS = 6 };
static int rank_here = RANK;

/* ---- the MPI ---- */

static int level = MPI_THREAD_MULTIPLE, barrier_status, tests_left, test_status, agree = 1, keyval_status, attr_status,
           slept;
static int processors = 4;
static int (*end_callback)(MPI_Comm, int, void *, void *);

static int fake_rank(MPI_Comm comm, int *rank)
{
    CHECK(comm == MPI_COMM_WORLD);
    *rank = rank_here;
    return MPI_SUCCESS;
}

static int fake_size(MPI_Comm comm, int *size)
{
    CHECK(comm == MPI_COMM_WORLD);
    *size = RANKS;
    return MPI_SUCCESS;
}

static int fake_level(int *given)
{
    *given = level;
    return MPI_SUCCESS;
}

static int fake_dup(MPI_Comm comm, MPI_Comm *made)
{
    CHECK(comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF);
    *made = comm == MPI_COMM_WORLD ? COMM(7) : COMM(8);
    return MPI_SUCCESS;
}

static int returning;

static int fake_handler(MPI_Comm comm, MPI_Errhandler handler)
{
    CHECK(handler == MPI_ERRORS_RETURN);
    returning |= comm == COMM(7) ? 1 : comm == COMM(8) ? 2 : 4;
    return MPI_SUCCESS;
}

static int fake_group(MPI_Comm comm, MPI_Group *group)
{
    CHECK(comm == MPI_COMM_WORLD);
    *group = GROUP(4);
    return MPI_SUCCESS;
}

static int good_here;

static int fake_allreduce(const void *mine, void *all, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    CHECK(n == 1 && type == MPI_INT && op == MPI_MIN && comm == COMM(7));
    good_here = *(const int *)mine;
    *(int *)all = good_here && agree > 0;
    return agree < 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int fake_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *end, int *key, void *state)
{
    CHECK(copy == MPI_COMM_NULL_COPY_FN && !state);
    end_callback = end;
    *key = 55;
    return keyval_status;
}

static int fake_set_attr(MPI_Comm comm, int key, void *value)
{
    CHECK(comm == MPI_COMM_SELF && key == 55 && !value);
    return attr_status;
}

static int fake_ibarrier(MPI_Comm comm, MPI_Request *request)
{
    CHECK(comm == COMM(7) && request);
    note(BARRIER, 0, 0);
    return barrier_status;
}

static int fake_test(MPI_Request *request, int *done, MPI_Status *status)
{
    CHECK(request && status == MPI_STATUS_IGNORE);
    note(TESTED, 0, 0);
    *done = tests_left-- <= 0;
    return test_status;
}

static int fake_group_free(MPI_Group *group)
{
    CHECK(*group == GROUP(4));
    note(GROUP_FREED, 0, 0);
    return MPI_SUCCESS;
}

static int fake_comm_free(MPI_Comm *comm)
{
    note(COMM_FREED, *comm == COMM(7) ? 7 : *comm == COMM(8) ? 8 : 0, 0);
    return MPI_SUCCESS;
}

static int probes;

static int fake_iprobe(int source, int tag, MPI_Comm comm, int *found, MPI_Status *status)
{
    CHECK(source == MPI_ANY_SOURCE && tag == MPI_ANY_TAG && comm == COMM(7) && found && status == MPI_STATUS_IGNORE);
    probes++;
    return MPI_SUCCESS;
}

static int fake_usleep(unsigned microseconds)
{
    CHECK(microseconds > 0);
    slept++;
    return 0;
}

static long fake_sysconf(int name)
{
    CHECK_EQ(name, _SC_NPROCESSORS_ONLN);
    return processors;
}

static int yields, naps;
static void (*on_nap)(void);

static int fake_yield(void)
{
    yields++;
    return 0;
}

static int fake_nap(const struct timespec *time, struct timespec *left)
{
    CHECK(time->tv_sec == 0 && time->tv_nsec > 0 && !left);
    naps++;
    if (on_nap)
        on_nap();
    return 0;
}

static double now;

static int fake_clock(clockid_t clock, struct timespec *time)
{
    CHECK_EQ(clock, CLOCK_MONOTONIC);
    time->tv_sec = (time_t)now;
    time->tv_nsec = (long)((now - (double)time->tv_sec) * 1e9);
    return 0;
}

static void *fake_symbol(void *where, const char *name);

#define PMPI_Comm_rank fake_rank
#define PMPI_Comm_size fake_size
#define PMPI_Query_thread fake_level
#define PMPI_Comm_dup fake_dup
#define PMPI_Comm_set_errhandler fake_handler
#define PMPI_Comm_group fake_group
#define PMPI_Allreduce fake_allreduce
#define PMPI_Comm_create_keyval fake_keyval
#define PMPI_Comm_set_attr fake_set_attr
#define PMPI_Ibarrier fake_ibarrier
#define PMPI_Test fake_test
#define PMPI_Group_free fake_group_free
#define PMPI_Comm_free fake_comm_free
#undef PMPI_Iprobe
#define PMPI_Iprobe fake_iprobe
#define usleep fake_usleep
#define sysconf fake_sysconf
#define sched_yield fake_yield
#define nanosleep fake_nap
#define clock_gettime fake_clock
#define dlsym fake_symbol

#include "../../src/mpi/progress.h"
#include "../../src/mpi/window.h"

#define LMPI_MPI "the test's MPI"
#include "../../src/mpi/endpoint.c"
#define lmpi_workers_record note_workers
static void note_workers(bool on)
{
    note(RECORD, 0, on);
}
#define begin begin_life
#include "../../src/mpi/life.c"
#undef begin
#undef lmpi_workers_record
#include "../../src/mpi/progress.c"
#define make make_stream
#define lock lock_of_streams
#include "../../src/mpi/streams.c"
#undef lock
#undef make
#include "../../src/mpi/verbose.c"
#define begin begin_record
#include "../../src/mpi/wait.c"
#undef begin
#define count count_of_workers
#include "../../src/mpi/workers.c"
#undef count
#undef PMPI_Win_f2c
#define PMPI_Win_f2c(number) WIN(number)
#define next next_symbol
#ifdef OPEN_MPI /* whose function has names beside it */
#undef LMPI_EXPORT
#define LMPI_EXPORT __attribute__((visibility("hidden")))
#endif
#include "../../src/mpi/fortran.c"
#undef next

/* ---- the layer's other parts ---- */

uint64_t lmpi_windows_age = 7;
_Thread_local struct lmpi_last_windows lmpi_last_windows;
static struct lmpi_window window;

struct lmpi_window *lmpi_window_slow(MPI_Win handle)
{
    return handle == WIN(1) ? &window : 0;
}

static int environment_status, types_fail;

int lmpi_environment_give(void)
{
    note(GIVEN, 0, 0);
    return environment_status;
}

void lmpi_environment_end(void)
{
    note(ENVIRONMENT_ENDED, 0, 0);
}

bool lmpi_types_begin(void)
{
    note(TYPES, 0, 0);
    return !types_fail;
}

void lmpi_types_end(void)
{
    note(TYPES_ENDED, 0, 0);
}

void lmpi_spare_end(void)
{
    note(SPARE_ENDED, 0, 0);
}

#include "running_substrate.h"

#endif
