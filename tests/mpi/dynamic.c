/* Dynamic windows: memory comes and goes, on the heap, the stack and from MPI_Alloc_mem; wrong use gives its class.
 * Peers of other nodes learn of it with the next synchronisation.
 * ranks: 1 4
 * ways: plain far */
#include "check.h"

static MPI_Win win;
static int far; /* each rank is a node */

static MPI_Aint told(const void *mine)
{
    MPI_Aint address, theirs;
    MPI_Get_address(mine, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, prev_rank, 0, &theirs, 1, MPI_AINT, next_rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return theirs;
}

static void use(int64_t *memory, int n)
{
    int64_t value = 10 + me, got = 0, old = -1, one = 1;
    OK(MPI_Win_attach(win, memory, n * (MPI_Aint)sizeof *memory));
    memset(memory, 0, (size_t)n * sizeof *memory);
    MPI_Aint at = told(memory), last = MPI_Aint_add(at, (n - 1) * (MPI_Aint)sizeof *memory);
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win));
    OK(MPI_Accumulate(&value, 1, MPI_INT64_T, next_rank, last, 1, MPI_INT64_T, MPI_SUM, win));
    OK(MPI_Win_flush(next_rank, win));
    OK(MPI_Get(&got, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win));
    OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, next_rank, last, MPI_SUM, win));
    OK(MPI_Win_flush(next_rank, win));
    CHECK_EQ(got, value);
    CHECK_EQ(old, value);
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(memory[0], 10 + prev_rank);
    CHECK_EQ(memory[n - 1], 11 + prev_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_detach(win, memory));
}

static void mistakes(void)
{
    int64_t word = 0;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    OK(MPI_Win_attach(win, &word, 0)); /* no mistake */
    OK(MPI_Win_detach(win, &word));
    CHECK_EQ(error_class(MPI_Win_detach(win, &word)), MPI_ERR_RMA_ATTACH);
    MPI_Aint at = told(&word);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win));
    int class = error_class(MPI_Put(&word, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win));
    CHECK(class == (far ? MPI_SUCCESS : MPI_ERR_RMA_RANGE));
    CHECK_EQ(error_class(MPI_Win_unlock(next_rank, win)), far ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
    MPI_Aint size;
    int unit;
    void *base;
    CHECK_EQ(error_class(MPI_Win_shared_query(win, 0, &size, &unit, &base)), MPI_ERR_RMA_FLAVOR);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int handled;

static void handler(MPI_Win *which, int *code, ...)
{
    CHECK(*which == win);
    CHECK_EQ(error_class(*code), MPI_ERR_RMA_RANGE);
    handled++;
}

enum end { FLUSH, FLUSH_ALL, UNLOCK, UNLOCK_ALL, FENCE, COMPLETE, ENDS };

static void begin_epoch(enum end end, MPI_Group all)
{
    if (end == UNLOCK || end == FLUSH)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win));
    else if (end == UNLOCK_ALL || end == FLUSH_ALL)
        OK(MPI_Win_lock_all(0, win));
    else if (end == FENCE)
        OK(MPI_Win_fence(0, win));
    else {
        OK(MPI_Win_post(all, 0, win));
        OK(MPI_Win_start(all, 0, win));
    }
}

static int end_epoch(enum end end)
{
    int status;
    switch (end) {
    case FLUSH:
        status = MPI_Win_flush(next_rank, win);
        OK(MPI_Win_unlock(next_rank, win));
        return status;
    case FLUSH_ALL:
        status = MPI_Win_flush_all(win);
        OK(MPI_Win_unlock_all(win));
        return status;
    case UNLOCK: return MPI_Win_unlock(next_rank, win);
    case UNLOCK_ALL: return MPI_Win_unlock_all(win);
    case FENCE: return MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    default: status = MPI_Win_complete(win); OK(MPI_Win_wait(win));
    }
    return status;
}

/* Wrong addresses, beside attached memory and detached, give one error at the call or at the end of the epoch, and hurt
 * nobody. */
static void refused(enum end end, int64_t *memory, int accumulate)
{
    MPI_Errhandler mine;
    MPI_Group all;
    int64_t value = 5;
    memory[0] = memory[1] = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    OK(MPI_Win_create_errhandler(handler, &mine));
    OK(MPI_Win_set_errhandler(win, mine));
    OK(MPI_Win_attach(win, memory, 8));
    MPI_Aint at = told(memory);
    for (int wrong = 0; wrong < 2; wrong++) {
        handled = 0;
        begin_epoch(end, all);
        OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win));
        if (wrong && accumulate)
            MPI_Accumulate(&value, 1, MPI_INT64_T, next_rank, at + 8, 1, MPI_INT64_T, MPI_SUM, win);
        else if (wrong)
            MPI_Put(&value, 1, MPI_INT64_T, next_rank, at + 8, 1, MPI_INT64_T, win);
        int status = end_epoch(end);
        CHECK_EQ(handled, wrong);
        CHECK_EQ(error_class(status), wrong && far ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(memory[0] == 5 && memory[1] == 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_Win_detach(win, memory));
    MPI_Group_free(&all);
    MPI_Errhandler_free(&mine);
}

int main(int argc, char **argv)
{
    int64_t stack[16], *heap = malloc(80000), *allocated;
    void *value;
    int flag;
    check_start(MPI_THREAD_SINGLE);
    far = argc > 1 && strcmp(argv[1], "far") == 0;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
    CHECK(flag && *(int *)value == MPI_WIN_FLAVOR_DYNAMIC);
    OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
    CHECK(flag && value == MPI_BOTTOM);
    OK(MPI_Alloc_mem(4096, MPI_INFO_NULL, &allocated));
    for (int turn = 0; turn < 3; turn++) {
        use(heap, 10000);
        use(stack, 16);
        use(allocated, 512);
    }
    mistakes();
    for (enum end end = FLUSH; end < ENDS; end++)
        for (int accumulate = 0; accumulate < 2; accumulate++)
            refused(end, heap, accumulate);
    OK(MPI_Win_free(&win));
    OK(MPI_Free_mem(allocated));
    free(heap);
    return check_pass();
}
