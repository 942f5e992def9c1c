/* Wrong use gives the standard's error class through the window's error handler, and nothing hangs.
 * ranks: 1 2
 * ways: plain far */
#include "check.h"

#include <signal.h>

static volatile int calling; /* the line of the last wrong call */
static int handled;
static MPI_Win win;

static void handler(MPI_Win *which, int *code, ...)
{
    handled = error_class(*code);
    CHECK(*which == win);
}

/* A wrong call returns. The MPI may take over crashes, and would not tell of which call. */
static void crashed(int number)
{
    char text[80];
    int bytes = snprintf(text, sizeof text, "%s:%d: not true: the call returns\n", "errors.c", calling);
    signal(number, SIG_DFL);
    if (write(STDERR_FILENO, text, (size_t)bytes) < 0)
        _exit(1);
}

#define GIVES(class, call) (calling = __LINE__, gives(class, call, __LINE__))

static void gives(int class, int code, int line)
{
    check_equal(error_class(code), class, __FILE__, line, "the class that the call returns");
    check_equal(handled, class, __FILE__, line, "the class that the handler gets");
    handled = MPI_SUCCESS;
}

static void without_epoch(void)
{
    int64_t word = 0;
    MPI_Request request;
    GIVES(MPI_ERR_RMA_SYNC, MPI_Put(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Get(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Rput(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win, &request));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Rget(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win, &request));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Accumulate(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Raccumulate(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win, &request));
    GIVES(MPI_ERR_RMA_SYNC,
          MPI_Get_accumulate(&word, 1, MPI_INT64_T, &word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Rget_accumulate(&word, 1, MPI_INT64_T, &word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T,
                                                MPI_SUM, win, &request));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Fetch_and_op(&word, &word, MPI_INT64_T, 0, 0, MPI_SUM, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Compare_and_swap(&word, &word, &word, MPI_INT64_T, 0, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_flush_local_all(win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_flush_local(0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &(int){0}));
}

/* The first rank beyond a window of one, by several windows: what lies behind the table of ranks differs. */
static void wrong_rank(MPI_Errhandler errors)
{
    enum { WINDOWS = 16 };
    const MPI_Win before = win;
    MPI_Win all[WINDOWS];
    int64_t *base;
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
        MPI_Win_set_errhandler(win, errors);
        GIVES(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
        GIVES(MPI_ERR_RANK, MPI_Win_unlock(1, win));
        all[i] = win;
    }
    for (int i = 0; i < WINDOWS; i++)
        OK(MPI_Win_free(&all[i]));
    win = before;
}

static void wrong_arguments(void)
{
    int64_t word[4] = {0};
    MPI_Datatype pair, raw, one;
    MPI_Type_dup(MPI_INT64_T, &one); /* not predefined */
    MPI_Type_contiguous(2, MPI_INT64_T, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_contiguous(1, pair, &raw); /* not committed yet */
    GIVES(MPI_ERR_LOCKTYPE, MPI_Win_lock(12345, 0, 0, win));
    GIVES(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, 0, 1 << 30, win));
    GIVES(MPI_ERR_ASSERT, MPI_Win_fence(1 << 30, win));
    GIVES(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, win));
    OK(MPI_Win_lock_all(0, win));
    GIVES(MPI_ERR_RANK, MPI_Put(word, 1, MPI_INT64_T, ranks, 0, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_RANK, MPI_Put(word, 1, MPI_INT64_T, -77, 0, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_COUNT, MPI_Put(word, -1, MPI_INT64_T, 0, 0, -1, MPI_INT64_T, win));
    GIVES(MPI_ERR_TYPE, MPI_Put(word, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_TYPE, MPI_Put(word, 1, raw, 0, 0, 1, pair, win));
    GIVES(MPI_ERR_TYPE, MPI_Get(word, 1, pair, 0, 0, 1, raw, win));
    OK(MPI_Type_commit(&raw));
    OK(MPI_Put(word, 1, raw, 0, 0, 1, pair, win));
    GIVES(MPI_ERR_TYPE, MPI_Fetch_and_op(word, word + 1, raw, 0, 0, MPI_SUM, win));
    GIVES(MPI_ERR_TYPE, MPI_Fetch_and_op(word, word + 1, one, 0, 0, MPI_SUM, win));
    GIVES(MPI_ERR_TYPE, MPI_Compare_and_swap(word, word, word + 1, one, 0, 0, win));
    GIVES(MPI_ERR_TYPE, MPI_Compare_and_swap(word, word, word + 1, MPI_DOUBLE, 0, 0, win));
    GIVES(MPI_ERR_DISP, MPI_Put(word, 1, MPI_INT64_T, 0, -1, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(word, 1, MPI_INT64_T, 0, 100, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Get(word, 2, MPI_INT64_T, 0, 99, 2, MPI_INT64_T, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Get(word, 1, pair, 0, 99, 1, pair, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    OK(MPI_Put(word, 1, MPI_INT64_T, 0, 99, 1, MPI_INT64_T, win));
    OK(MPI_Win_unlock_all(win));
    MPI_Type_free(&one);
    MPI_Type_free(&raw);
    MPI_Type_free(&pair);
}

static void wrong_order(void)
{
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_SELF, &group);
    OK(MPI_Win_post(group, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_post(group, 0, win));
    OK(MPI_Win_start(group, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_start(group, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
    GIVES(MPI_ERR_GROUP, MPI_Win_post(MPI_GROUP_NULL, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    MPI_Group_free(&group);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_start(group, 0, win));
    MPI_Group_free(&group);
    OK(MPI_Win_unlock(me, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock(me, win));
}

static void own_sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

/* Accumulates: operations that are not predefined, sides that do not fit each other, places outside. */
static void wrong_updates(void)
{
    int64_t word[4] = {0}, old[4];
    MPI_Op own;
    OK(MPI_Op_create(own_sum, 1, &own));
    OK(MPI_Win_lock_all(0, win));
    GIVES(MPI_ERR_OP, MPI_Accumulate(word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, own, win));
    GIVES(MPI_ERR_OP, MPI_Get_accumulate(word, 1, MPI_INT64_T, old, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, own, win));
    GIVES(MPI_ERR_OP, MPI_Fetch_and_op(word, old, MPI_INT64_T, 0, 0, own, win));
    GIVES(MPI_ERR_OP, MPI_Accumulate(word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_OP_NULL, win));
    GIVES(MPI_ERR_OP, MPI_Accumulate(word, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win));
    GIVES(MPI_ERR_TYPE, MPI_Accumulate(word, 1, MPI_INT64_T, 0, 0, 1, MPI_DOUBLE, MPI_SUM, win));
    GIVES(MPI_ERR_COUNT, MPI_Accumulate(word, -1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    GIVES(MPI_ERR_TRUNCATE, MPI_Accumulate(word, 2, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    GIVES(MPI_ERR_TRUNCATE, MPI_Put(word, 2, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_RANK, MPI_Accumulate(word, 1, MPI_INT64_T, ranks, 0, 1, MPI_INT64_T, MPI_SUM, win));
    GIVES(MPI_ERR_RANK, MPI_Fetch_and_op(word, old, MPI_INT64_T, ranks, 0, MPI_SUM, win));
    GIVES(MPI_ERR_RANK, MPI_Compare_and_swap(word, word, old, MPI_INT64_T, -77, 0, win));
    GIVES(MPI_ERR_RANK, MPI_Win_flush(ranks, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Accumulate(word, 2, MPI_INT64_T, 0, 99, 2, MPI_INT64_T, MPI_SUM, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(word, old, MPI_INT64_T, 0, 100, MPI_SUM, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Compare_and_swap(word, word, old, MPI_INT64_T, 0, 100, win));
    GIVES(MPI_ERR_DISP, MPI_Fetch_and_op(word, old, MPI_INT64_T, 0, -1, MPI_SUM, win));
    OK(MPI_Win_unlock_all(win));
    MPI_Op_free(&own);
}

/* Null pointers, on this process's part of a window and on another's. */
static void null_pointers(int to)
{
    int64_t word = 0;
    void *value;
    int number;
    MPI_Aint bytes;
    OK(MPI_Win_lock_all(0, win));
    GIVES(MPI_ERR_BUFFER, MPI_Put(0, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_BUFFER, MPI_Get(0, 2, MPI_INT64_T, to, 0, 2, MPI_INT64_T, win));
    GIVES(MPI_ERR_BUFFER, MPI_Accumulate(0, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, MPI_SUM, win));
    GIVES(MPI_ERR_BUFFER, MPI_Fetch_and_op(0, &word, MPI_INT64_T, to, 0, MPI_SUM, win));
    GIVES(MPI_ERR_BUFFER, MPI_Fetch_and_op(&word, 0, MPI_INT64_T, to, 0, MPI_SUM, win));
    GIVES(MPI_ERR_BUFFER, MPI_Compare_and_swap(0, &word, &word, MPI_INT64_T, to, 0, win));
    GIVES(MPI_ERR_BUFFER, MPI_Compare_and_swap(&word, 0, &word, MPI_INT64_T, to, 0, win));
    GIVES(MPI_ERR_BUFFER, MPI_Compare_and_swap(&word, &word, 0, MPI_INT64_T, to, 0, win));
    GIVES(MPI_ERR_ARG, MPI_Rput(&word, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win, 0));
    GIVES(MPI_ERR_ARG, MPI_Rget(&word, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win, 0));
    OK(MPI_Put(0, 0, MPI_INT64_T, to, 0, 0, MPI_INT64_T, win));
    OK(MPI_Fetch_and_op(0, &word, MPI_INT64_T, to, 0, MPI_NO_OP, win));
    OK(MPI_Win_unlock_all(win));
    GIVES(MPI_ERR_ARG, MPI_Win_test(win, 0));
    GIVES(MPI_ERR_ARG, MPI_Win_get_attr(win, MPI_WIN_BASE, 0, &number));
    GIVES(MPI_ERR_ARG, MPI_Win_get_attr(win, MPI_WIN_BASE, &value, 0));
    GIVES(MPI_ERR_ARG, MPI_Win_get_info(win, 0));
    GIVES(MPI_ERR_ARG, MPI_Win_get_group(win, 0));
    GIVES(MPI_ERR_ARG, MPI_Win_shared_query(win, 0, 0, &number, &value));
    GIVES(MPI_ERR_ARG, MPI_Win_shared_query(win, 0, &bytes, 0, &value));
    GIVES(MPI_ERR_ARG, MPI_Win_shared_query(win, 0, &bytes, &number, 0));
}

static void comm_handler(MPI_Comm *which, int *code, ...)
{
    handled = error_class(*code);
    CHECK(*which == MPI_COMM_WORLD);
}

/* No window is there yet: its communicator's handler gets the error. */
static void wrong_creation(void)
{
    MPI_Errhandler errors;
    MPI_Win made;
    int64_t memory[2], *base;
    OK(MPI_Comm_create_errhandler(comm_handler, &errors));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors));
    GIVES(MPI_ERR_SIZE, MPI_Win_create(memory, -1, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &made));
    GIVES(MPI_ERR_DISP, MPI_Win_allocate(8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made));
    GIVES(MPI_ERR_DISP, MPI_Win_allocate_shared(8, -8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made));
    GIVES(MPI_ERR_ARG, MPI_Win_create(memory, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, 0));
    GIVES(MPI_ERR_ARG, MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, 0));
    GIVES(MPI_ERR_ARG, MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, 0, &made));
    GIVES(MPI_ERR_ARG, MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, 0));
    GIVES(MPI_ERR_ARG, MPI_Win_free(0));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&errors));
}

/* What this flavor of window does not have, and what no call takes. */
static void wrong_windows(void)
{
    MPI_Group group;
    int64_t word;
    int number = 0;
    MPI_Aint bytes;
    MPI_Comm_group(MPI_COMM_SELF, &group);
    GIVES(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, &word, sizeof word));
    GIVES(MPI_ERR_RMA_FLAVOR, MPI_Win_detach(win, &word));
    GIVES(MPI_ERR_RANK, MPI_Win_shared_query(win, ranks, &bytes, &number, &group));
    GIVES(MPI_ERR_INFO, MPI_Win_set_info(win, MPI_INFO_NULL));
    GIVES(MPI_ERR_ASSERT, MPI_Win_lock_all(1 << 30, win));
    GIVES(MPI_ERR_ASSERT, MPI_Win_post(group, 1 << 30, win));
    GIVES(MPI_ERR_ASSERT, MPI_Win_start(group, 1 << 30, win));
    GIVES(MPI_ERR_GROUP, MPI_Win_start(MPI_GROUP_NULL, 0, win));
    if (ranks > 1) { /* a target outside of the group of MPI_Win_start */
        OK(MPI_Win_post(group, 0, win));
        OK(MPI_Win_start(group, 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Get(&word, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, win));
        OK(MPI_Win_complete(win));
        OK(MPI_Win_wait(win));
    }
    MPI_Group_free(&group);
}

int main(void)
{
    MPI_Errhandler errors;
    int64_t *base;
    check_start(MPI_THREAD_SINGLE);
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_create_errhandler(handler, &errors);
    MPI_Win_set_errhandler(win, errors);
    signal(SIGSEGV, crashed);
    without_epoch();
    wrong_rank(errors);
    wrong_arguments();
    wrong_order();
    wrong_updates();
    wrong_windows();
    null_pointers(me);
    null_pointers(next_rank);
    wrong_creation();
    MPI_Errhandler_free(&errors);
    OK(MPI_Win_free(&win));
    return check_pass();
}
