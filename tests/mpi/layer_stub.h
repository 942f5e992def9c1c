/* Files of the layer compiled into a test, which is in the place of the MPI: the layer's calls have names of their own, what they pass
 * on is the test's, and what they print comes into `said`. */
#ifndef MPI_TEST_LAYER_STUB_H
#define MPI_TEST_LAYER_STUB_H
#define MPI_REAL_H /* real.h would take the MPI's names */
#define LMPI_EXPORT static __attribute__((unused))
#define LMPI_NAME(name) _Static_assert(1, "")
#include "check.h"

#include <pthread.h>
#include <stdbool.h>

/* The layer's locks are taken and given back in turn, one at a time. */
static int locks_held;
#define pthread_mutex_lock(mutex) (CHECK_EQ(locks_held++, 0), pthread_mutex_lock(mutex))
#define pthread_mutex_unlock(mutex) (CHECK_EQ(--locks_held, 0), pthread_mutex_unlock(mutex))

/* How many fences there have been. */
static __attribute__((unused)) int fences_made;
#define __atomic_thread_fence(order) (fences_made++, __atomic_thread_fence(order))

struct lmpi_real {
#define LMPI_ROW(name) __typeof__(&PMPI_##name) name;
#include "../../src/mpi/taken.def"
#undef LMPI_ROW
};
static struct lmpi_real lmpi_real;

#define MPI_Init layer_Init
#define MPI_Init_thread layer_Init_thread
#define MPI_Abort layer_Abort
#define MPI_Win_create layer_Win_create
#define MPI_Win_allocate layer_Win_allocate
#define MPI_Win_allocate_shared layer_Win_allocate_shared
#define MPI_Win_create_dynamic layer_Win_create_dynamic
#define MPI_Win_attach layer_Win_attach
#define MPI_Win_detach layer_Win_detach
#define MPI_Alloc_mem layer_Alloc_mem
#define MPI_Free_mem layer_Free_mem
#define MPI_Win_set_info layer_Win_set_info
#define MPI_Win_get_info layer_Win_get_info
#define MPI_Win_shared_query layer_Win_shared_query
#define MPI_Win_free layer_Win_free
#define MPI_Win_get_group layer_Win_get_group
#define MPI_Win_get_attr layer_Win_get_attr
#define MPI_Win_set_attr layer_Win_set_attr
#define MPI_Win_set_name layer_Win_set_name
#define MPI_Group_free layer_Group_free
#define MPI_Request_get_status layer_Request_get_status
#define MPI_Put layer_Put
#define MPI_Get layer_Get
#define MPI_Rput layer_Rput
#define MPI_Rget layer_Rget
#define MPI_Accumulate layer_Accumulate
#define MPI_Raccumulate layer_Raccumulate
#define MPI_Get_accumulate layer_Get_accumulate
#define MPI_Rget_accumulate layer_Rget_accumulate
#define MPI_Fetch_and_op layer_Fetch_and_op
#define MPI_Compare_and_swap layer_Compare_and_swap
#define MPI_Win_fence layer_Win_fence
#define MPI_Win_post layer_Win_post
#define MPI_Win_start layer_Win_start
#define MPI_Win_complete layer_Win_complete
#define MPI_Win_wait layer_Win_wait
#define MPI_Win_test layer_Win_test
#define MPI_Win_lock layer_Win_lock
#define MPI_Win_lock_all layer_Win_lock_all
#define MPI_Win_unlock layer_Win_unlock
#define MPI_Win_unlock_all layer_Win_unlock_all
#define MPI_Win_flush layer_Win_flush
#define MPI_Win_flush_all layer_Win_flush_all
#define MPI_Win_flush_local layer_Win_flush_local
#define MPI_Win_flush_local_all layer_Win_flush_local_all
#define MPI_Win_sync layer_Win_sync
#define MPI_Win_create_c layer_Win_create_c
#define MPI_Win_allocate_c layer_Win_allocate_c
#define MPI_Win_allocate_shared_c layer_Win_allocate_shared_c
#define MPI_Win_shared_query_c layer_Win_shared_query_c
#define MPI_Put_c layer_Put_c
#define MPI_Get_c layer_Get_c
#define MPI_Rput_c layer_Rput_c
#define MPI_Rget_c layer_Rget_c
#define MPI_Accumulate_c layer_Accumulate_c
#define MPI_Raccumulate_c layer_Raccumulate_c
#define MPI_Get_accumulate_c layer_Get_accumulate_c
#define MPI_Rget_accumulate_c layer_Rget_accumulate_c
#define MPI_Request_get_status_all layer_Request_get_status_all
#define MPI_Request_get_status_any layer_Request_get_status_any
#define MPI_Request_get_status_some layer_Request_get_status_some

/* Handles that the layer passes on as they are. */
#define WIN(number) ((MPI_Win)(intptr_t)(number))
#define GROUP(number) ((MPI_Group)(intptr_t)(number))
#define COMM(number) ((MPI_Comm)(intptr_t)(number))

static char said[1000];
#define fprintf(file, ...) ((void)(file), snprintf(said, sizeof said, __VA_ARGS__))

/* A call without a result, which a report names when it does not end. */
#define RETURNS(call) CHECK_EQ(((call), 0), 0)

/* What the layer has called in the test, in order. */
static struct {
    int what, rank, how;
} events[256];
static int happened, seen;

static __attribute__((unused)) void note(int what, int rank, int how)
{
    CHECK(happened < 256);
    events[happened].what = what;
    events[happened].rank = rank;
    events[happened++].how = how;
}

static __attribute__((unused)) bool next_is(int what, int rank, int how)
{
    if (seen == happened)
        return false;
    const int at = seen++;
    return events[at].what == what && events[at].rank == rank && events[at].how == how;
}

/* Returns how many events have not been looked at, and forgets all. */
static __attribute__((unused)) int rest(void)
{
    const int left = happened - seen;
    happened = seen = 0;
    return left;
}

static __attribute__((unused)) void start_over(void)
{
    happened = seen = 0;
}

#define NEXT(what, rank, how) CHECK(next_is(what, rank, how))
#define NO_MORE() CHECK_EQ(rest(), 0)

#endif
