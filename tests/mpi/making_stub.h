/* How windows come and go, in one process: a job of four ranks, of which this is rank 1, in the place of the MPI and the substrate. Rank 0
 * shares its node and its memory, rank 2 its node alone, rank 3 is of another node. Their places in the world are 10 to 13. */
#ifndef MPI_TEST_MAKING_STUB_H
#define MPI_TEST_MAKING_STUB_H
#include "layer_stub.h"

#include <stdarg.h>

enum { RANKS = 4, ME = 1, NEAR = 0, UNMAPPED = 2, FAR = 3, WORLD = 10 };
enum what {
    ADMITTED = 1,
    COMPLETED,
    MET,
    ENDED_PENDING,
    WATCHED,
    UNWATCHED,
    FREED_WIN,
    HANDLER,
    COMM_HANDLER,
    DETACHED,
    ATTACHED
};

static int infos, groups;                                    /* that are there */
static int fake_inter, fake_inter_status;                    /* of PMPI_Comm_test_inter */
static int fake_gather_status, fake_all;                     /* fake_all: what ranks agree on; -1: what this one says */
static int fake_stranger = -1;                               /* a member that the world does not have */
static MPI_Errhandler fake_handler;                          /* of each window */
static void (*others)(void *records, int bytes, void *mine); /* alters what the other ranks tell */

static int fake_allgather(const void *mine, int bytes, MPI_Datatype type, void *all, int n, MPI_Datatype into,
                          MPI_Comm comm)
{
    (void)comm;
    CHECK(type == MPI_BYTE && into == MPI_BYTE && bytes == n);
    for (int i = 0; i < RANKS; i++)
        memcpy((char *)all + i * bytes, mine, (size_t)bytes);
    others(all, bytes, (char *)all + ME * bytes);
    return fake_gather_status;
}

static int fake_allreduce(const void *mine, void *all, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)comm;
    CHECK_EQ(n, 1);
    if (type == MPI_INT) {
        CHECK(op == MPI_MIN);
        *(int *)all = fake_all >= 0 ? fake_all : *(const int *)mine;
    } else {
        CHECK(type == MPI_UNSIGNED_LONG_LONG && op == MPI_SUM);
        *(unsigned long long *)all = 3 * 64 + *(const unsigned long long *)mine;
    }
    return MPI_SUCCESS;
}

static int fake_rank_here = ME;

static int fake_exscan(const void *mine, void *before, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)mine, (void)comm;
    CHECK(n == 1 && type == MPI_UNSIGNED_LONG_LONG && op == MPI_SUM);
    *(unsigned long long *)before = fake_rank_here ? 64 : 999; /* of rank 0 it is not defined */
    return MPI_SUCCESS;
}

static int fake_comm_size(MPI_Comm comm, int *size)
{
    CHECK(comm == COMM(3));
    *size = RANKS;
    return MPI_SUCCESS;
}

static int fake_comm_rank(MPI_Comm comm, int *rank)
{
    CHECK(comm == COMM(3));
    *rank = fake_rank_here;
    return MPI_SUCCESS;
}

static int fake_comm_group(MPI_Comm comm, MPI_Group *group)
{
    CHECK(comm == COMM(3));
    *group = GROUP(5);
    groups++;
    return MPI_SUCCESS;
}

static int fake_comm_test_inter(MPI_Comm comm, int *inter)
{
    CHECK(comm == COMM(3));
    *inter = fake_inter;
    return fake_inter_status;
}

static int fake_comm_call(MPI_Comm comm, int class)
{
    CHECK(comm == COMM(3));
    note(COMM_HANDLER, 0, class);
    return MPI_SUCCESS;
}

static int fake_group_size(MPI_Group group, int *size)
{
    CHECK(group == GROUP(5));
    *size = RANKS;
    return MPI_SUCCESS;
}

static int fake_group_free(MPI_Group *group)
{
    CHECK(*group == GROUP(5));
    groups--;
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

static int fake_group_union(MPI_Group one, MPI_Group other, MPI_Group *both)
{
    CHECK(one == GROUP(5) && other == MPI_GROUP_EMPTY);
    *both = GROUP(6);
    return MPI_SUCCESS;
}

static int fake_translate(MPI_Group from, int n, const int *numbers, MPI_Group to, int *result)
{
    CHECK(from == GROUP(5) && to == GROUP(4) && n == RANKS);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(numbers[i], i);
        result[i] = i == fake_stranger ? MPI_UNDEFINED : WORLD + i;
    }
    return MPI_SUCCESS;
}

static int fake_get_errhandler(MPI_Win win, MPI_Errhandler *handler)
{
    (void)win;
    *handler = fake_handler;
    return MPI_SUCCESS;
}

static MPI_Win handler_set_at;
static MPI_Errhandler handler_set;

static int fake_set_errhandler(MPI_Win win, MPI_Errhandler handler)
{
    handler_set_at = win;
    handler_set = handler;
    return MPI_SUCCESS;
}

static int handlers_freed;

static int fake_free_errhandler(MPI_Errhandler *handler)
{
    handlers_freed++;
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

static int fake_win_call(MPI_Win win, int class)
{
    note(HANDLER, (int)(intptr_t)win, class);
    return MPI_SUCCESS;
}

#define PMPI_Allgather fake_allgather
#define PMPI_Allreduce fake_allreduce
#define PMPI_Exscan fake_exscan
#define PMPI_Comm_size fake_comm_size
#define PMPI_Comm_rank fake_comm_rank
#define PMPI_Comm_group fake_comm_group
#define PMPI_Comm_test_inter fake_comm_test_inter
#define PMPI_Comm_call_errhandler fake_comm_call
#define PMPI_Group_size fake_group_size
#define PMPI_Group_free fake_group_free
#define PMPI_Group_union fake_group_union
#define PMPI_Group_translate_ranks fake_translate
#define PMPI_Win_get_errhandler fake_get_errhandler
#define PMPI_Win_set_errhandler fake_set_errhandler
#define PMPI_Win_call_errhandler fake_win_call
#define PMPI_Errhandler_free fake_free_errhandler
#define PMPI_Info_create(info) (infos++, PMPI_Info_create(info))
#define PMPI_Info_dup(info, copy) (infos++, PMPI_Info_dup(info, copy))
#define PMPI_Info_free(info) (infos--, PMPI_Info_free(info))

#include "../../src/mpi/control.h"

#define LMPI_MPI "the test's MPI"
#define lock lock_of_attached
#define take take_attached
#include "../../src/mpi/attach.c"
#undef take
#undef lock
#include "../../src/mpi/attributes.c"
#include "../../src/mpi/carrier.c"
#include "../../src/mpi/create.c"
#include "../../src/mpi/duplicate.c"
#include "../../src/mpi/errors.c"
#define lock lock_of_families
#define tell tell_child
#include "../../src/mpi/family.c"
#undef tell
#undef lock
#define lock lock_of_handles
#define list exposed_list
#define count count_at_owner
#define check check_handle
#include "../../src/mpi/handles.c"
#undef check
#undef count
#undef list
#undef lock
#include "../../src/mpi/hints.c"
#include "../../src/mpi/hold.c"
#include "../../src/mpi/info.c"
#include "../../src/mpi/shadow.c"
#include "../../src/mpi/shared.c"
#define lock lock_of_windows
#include "../../src/mpi/window.c"
#undef lock
#include "../../src/mpi/windows.c"

struct lmpi_life lmpi_life;
static int verbose;

int lmpi_verbose(void)
{
    return verbose;
}

void lmpi_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

/* ---- the layer's other parts ---- */

struct uccs_endpoint {
    int world, kind;
};
static struct uccs_endpoint endpoints[4][WORLD + RANKS];
static int endpoint_missing = -1; /* a rank of the world that has none */
static struct uccs_op thread_op;
static const struct uccs_op watch_op;
static int watch_fails;

uccs_endpoint_t lmpi_endpoint_along(unsigned kind, int world)
{
    CHECK(kind < 4 && world >= WORLD && world < WORLD + RANKS);
    endpoints[kind][world] = (struct uccs_endpoint){world, (int)kind};
    return world == endpoint_missing ? 0 : &endpoints[kind][world];
}

uccs_endpoint_t lmpi_endpoint(int world)
{
    return lmpi_endpoint_along(0, world);
}

const struct uccs_op *lmpi_stream_op(unsigned kind)
{
    return kind & LMPI_THREAD ? &thread_op : 0;
}

int lmpi_complete_threads(struct lmpi_window *window, int rank)
{
    note(COMPLETED, rank, window->kind);
    return MPI_SUCCESS;
}

void lmpi_barrier(struct lmpi_window *window)
{
    note(MET, window->rank, 0);
}

void lmpi_pending_end(const void *owner, int status)
{
    CHECK(owner != 0);
    note(ENDED_PENDING, 0, status);
}

bool lmpi_watch_begin(struct lmpi_window *window)
{
    window->op = &watch_op;
    note(WATCHED, 0, 0);
    return !watch_fails;
}

void lmpi_watch_end(struct lmpi_window *window)
{
    (void)window;
    note(UNWATCHED, 0, 0);
}

#include "making_memory.h"

#endif
