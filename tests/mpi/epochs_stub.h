/* A window of four ranks for the layer's epochs, in one process: rank 1 is this one, rank 0 shares its node, ranks 2 and 3 are of
 * other nodes. The substrate notes what it is asked. */
#ifndef MPI_TEST_EPOCHS_STUB_H
#define MPI_TEST_EPOCHS_STUB_H
#include "layer_stub.h"

#include <limits.h>

static int aborts, abort_code;

static int fake_abort(MPI_Comm comm, int code)
{
    (void)comm;
    aborts++;
    abort_code = code;
    return MPI_SUCCESS;
}
static int fake_translate(MPI_Group from, int n, const int *ranks, MPI_Group to, int *result);
static int fake_size(MPI_Group group, int *size);
#define PMPI_Abort fake_abort
#define PMPI_Group_translate_ranks fake_translate
#define PMPI_Group_size fake_size

#include "../../src/mpi/complete.c"
#include "../../src/mpi/control.c"
#include "../../src/mpi/groups.c"
#include "../../src/mpi/lock.c"
#include "../../src/mpi/notify.c"
#define check check_flush
#include "../../src/mpi/sync_flush.c"
#undef check
#include "../../src/mpi/sync_fence.c"
#include "../../src/mpi/sync_lock.c"
#include "../../src/mpi/sync_pscw.c"

enum { RANKS = 4, ME = 1, NEAR = 0, FAR = 2, LAST = 3, WORDS = 4096 };
enum what { ENTERED = 1, LEFT, FLUSHED, LOCAL, SPREAD, ADDED, SET, RAN, SIGNALLED, FINISHED };
enum { BY_MESSAGE = 16 };      /* beside the mode of a lock */
enum { OURS = 1, PART, COPY }; /* handles: the window, one of a memory handle, a duplicate */

struct uccs_endpoint {
    int rank;
};
struct uccs_region {
    int rank;
};

struct lmpi_life lmpi_life;
_Thread_local int lmpi_calling;
uint64_t lmpi_windows_age = 7;
_Thread_local struct lmpi_last_windows lmpi_last_windows;

static struct lmpi_target target[RANKS + 1];
static struct lmpi_peer peer[RANKS + 1];
static struct lmpi_window window, part, copy;
static struct uccs_endpoint endpoint[RANKS];
static struct uccs_region memory[RANKS];
static struct lmpi_control *control[RANKS]; /* those of other nodes too, which are reached by messages alone */
static int requests_released, lock_status, atomic_status, request_status, wait_status, slow, progressed, waits_told;
static void (*on_pause)(void);

static void reset(void)
{
    window = (struct lmpi_window){.target = target,
                                  .ranks = RANKS,
                                  .rank = ME,
                                  .leaves = true,
                                  .handle = WIN(OURS),
                                  .peer = peer,
                                  .group = GROUP(1),
                                  .start_ranks.group = MPI_GROUP_NULL,
                                  .post_ranks.group = MPI_GROUP_NULL,
                                  .exposed = -1};
    memset(target, 0, sizeof target);
    memset(peer, 0, sizeof peer);
    for (int i = 0; i < RANKS; i++) {
        memset(control[i], 0, WORDS);
        endpoint[i].rank = memory[i].rank = i;
        target[i].endpoint = peer[i].endpoint = &endpoint[i];
        target[i].local = i < FAR;
        peer[i].memory = &memory[i];
        peer[i].control = i < FAR ? control[i] : 0;
        peer[i].world = 10 + i;
        peer[i].ids = 3;
    }
    target[RANKS] = (struct lmpi_target){.open = LMPI_OPEN_SHARED | LMPI_OPEN_LATE,
                                         .far_ops = LMPI_FAR_SOME}; /* none of the window's */
    peer[RANKS] =
        (struct lmpi_peer){.control = control[NEAR], .endpoint = &endpoint[NEAR], .memory = &memory[NEAR], .ids = 9};
    copy = part = window;
    copy.family = part.family = true;
    copy.parent = part.parent = &window;
    part.part = true;
    part.handle = WIN(PART);
    copy.handle = WIN(COPY);
    lmpi_life = (struct lmpi_life){.crowded = true, .any_calls = true, .rank = 41, .running = true};
    lmpi_last_windows.age = 0;
    requests_released = lock_status = atomic_status = request_status = wait_status = slow = progressed = aborts = 0;
    on_pause = 0;
    *said = 0;
    happened = seen = 0;
}

static void begin(void)
{
    check_start(MPI_THREAD_SINGLE);
    for (int i = 0; i < RANKS; i++)
        CHECK((control[i] = aligned_alloc(64, WORDS)));
    reset();
}

static int end(void)
{
    reset();
    for (int i = 0; i < RANKS; i++)
        free(control[i]);
    return check_pass();
}

/* ---- the layer's other parts ---- */

struct lmpi_window *lmpi_window_slow(MPI_Win handle)
{
    return handle == WIN(OURS) ? &window : handle == WIN(PART) ? &part : handle == WIN(COPY) ? &copy : 0;
}

/* What an error handler was told, which the caller returns. */
#define FAILED(class) ((class) + 5000)
#define FAILS(call, class) CHECK_EQ(call, FAILED(class))

int lmpi_error(const struct lmpi_window *one, int class)
{
    CHECK(one == &window || one == &part || one == &copy);
    return FAILED(class);
}

void lmpi_spread_slow(struct lmpi_window *one, int rank)
{
    CHECK(one == &window);
    note(SPREAD, rank, 0);
}

void lmpi_stream_flush(unsigned kind, bool threads, uccs_endpoint_t to)
{
    note(FLUSHED, to ? to->rank : -1, (int)kind + (threads ? 8 : 0));
}

void lmpi_stream_flush_local(unsigned kind, uccs_endpoint_t to)
{
    note(LOCAL, to ? to->rank : -1, (int)kind);
}

void lmpi_progress(void)
{
    progressed++;
}

void lmpi_pause_slow(struct lmpi_wait *wait)
{
    CHECK(wait->window == &window);
    CHECK(slow++ < 1000); /* else nobody would end this wait */
    if (on_pause)
        on_pause();
}

/* ---- the substrate ---- */

void uccs_waiting_end(int record)
{
    waits_told += record != 0;
}

int uccs_progress(void)
{
    progressed++;
    return 0;
}

const char *uccs_status_text(int status)
{
    return status == UCCS_ERR_STALE ? "stale" : "another";
}

int uccs_request_create(uccs_request_t *request)
{
    *request = (uccs_request_t)&request_status;
    return request_status;
}

int uccs_request_release(uccs_request_t *request)
{
    *request = 0;
    requests_released++;
    return UCCS_OK;
}

int uccs_wait(uccs_request_t *request)
{
    CHECK(*request == (uccs_request_t)&request_status);
    return wait_status;
}

int uccs_lock_mapped(uccs_endpoint_t to, void *at, enum uccs_lock_mode mode)
{
    CHECK(at == control[to->rank]->lock);
    note(ENTERED, to->rank, (int)mode);
    return lock_status;
}

int uccs_unlock_mapped(uccs_endpoint_t to, void *at, enum uccs_lock_mode mode)
{
    CHECK(at == control[to->rank]->lock);
    note(LEFT, to->rank, (int)mode);
    return lock_status;
}

int uccs_lock(uccs_endpoint_t to, uccs_memory_t held, size_t offset, enum uccs_lock_mode mode)
{
    CHECK(held == &memory[to->rank] && offset == LMPI_WORD(lock) && lmpi_calling == 1);
    note(ENTERED, to->rank, (int)mode + BY_MESSAGE);
    return lock_status;
}

int uccs_unlock(uccs_endpoint_t to, uccs_memory_t held, size_t offset, enum uccs_lock_mode mode)
{
    CHECK(held == &memory[to->rank] && offset == LMPI_WORD(lock));
    note(LEFT, to->rank, (int)mode + BY_MESSAGE);
    return lock_status;
}

int uccs_atomic64(uccs_context_t context, uccs_endpoint_t to, uccs_memory_t held, size_t offset, enum uccs_atomic what,
                  uint64_t operand, uint64_t compare, uint64_t *result, const struct uccs_op *op)
{
    uint64_t *word = (uint64_t *)((char *)control[to->rank] + offset);
    CHECK(context == lmpi_life.context && held == &memory[to->rank] && !op && offset < WORDS);
    if (atomic_status != UCCS_OK)
        return atomic_status;
    *result = *word;
    if (what == UCCS_ATOMIC_ADD)
        *word += operand;
    else if (what == UCCS_ATOMIC_SET || (what == UCCS_ATOMIC_CSWAP && *word == compare))
        *word = operand;
    if (what != UCCS_ATOMIC_FETCH)
        note(what == UCCS_ATOMIC_ADD ? ADDED : SET, to->rank, (int)offset);
    return UCCS_OK;
}

/* ---- groups: 1 is the window's; 2 has its ranks 3, 0 and 1; 3 rank 0 alone; 4 somebody else; 5 none; 6 is refused; 7 has rank 2 ---- */

static const int members[][5] =
    {[2] = {3, 3, 0, 1}, [3] = {1, 0}, [4] = {2, 0, MPI_UNDEFINED}, [5] = {0}, [6] = {2, 0, 0}, [7] = {1, 2}};
static int translated;

static int fake_size(MPI_Group group, int *size)
{
    const intptr_t number = (intptr_t)group;
    if (number < 2 || number > 7)
        return MPI_ERR_GROUP;
    *size = members[number][0];
    return MPI_SUCCESS;
}

static int fake_translate(MPI_Group from, int n, const int *ranks, MPI_Group to, int *result)
{
    const intptr_t number = (intptr_t)from;
    CHECK(to == GROUP(1) && n == members[number][0]);
    translated++;
    for (int i = 0; i < n; i++) {
        CHECK_EQ(ranks[i], i);
        result[i] = members[number][1 + i];
    }
    return number == 6 ? MPI_ERR_RANK : MPI_SUCCESS;
}

#endif
