/* Dynamic windows: memory comes and goes, on the heap, the stack and from MPI_Alloc_mem; wrong use gives its class.
 * ranks: 1 4 */
#include "check.h"

static MPI_Win win;

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
    CHECK_EQ(error_class(MPI_Win_detach(win, &word)), MPI_ERR_RMA_ATTACH);
    MPI_Aint at = told(&word);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win));
    CHECK_EQ(error_class(MPI_Put(&word, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win)), MPI_ERR_RMA_RANGE);
    OK(MPI_Win_unlock(next_rank, win));
    MPI_Aint size;
    int unit;
    void *base;
    CHECK_EQ(error_class(MPI_Win_shared_query(win, 0, &size, &unit, &base)), MPI_ERR_RMA_FLAVOR);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void)
{
    int64_t stack[16], *heap = malloc(80000), *allocated;
    void *value;
    int flag;
    check_start(MPI_THREAD_SINGLE);
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
    OK(MPI_Win_free(&win));
    OK(MPI_Free_mem(allocated));
    free(heap);
    return check_pass();
}
