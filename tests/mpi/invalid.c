/* Arguments that are wrong: every function of mpix_rma.h returns an error class. Hints: what is told is in force. And up to how many
 * elements MPIX_Win_op_intrinsic says yes.
 * ranks: 2
 * links: layer */
#include "check.h"

#include <mpix_rma.h>

#define GIVES(class, call) CHECK_EQ(error_class(call), class)

static MPI_Win win, other;
static long *base;
static long one = 1;

static void no_window(void)
{
    char handle[MPIX_MAX_MEMHANDLE_SIZE];
    int size, flag;
    long value;
    MPI_Request request;
    const MPI_Win none = MPI_WIN_NULL;
    GIVES(MPI_ERR_WIN, MPIX_Win_dup_with_info(none, MPI_INFO_NULL, &other));
    GIVES(MPI_ERR_WIN, MPIX_Memhandle_create(base, 8, MPI_INFO_NULL, none, handle, &size));
    GIVES(MPI_ERR_WIN, MPIX_Win_from_memhandle(handle, 8, 8, MPI_INFO_NULL, 0, none, &other));
    GIVES(MPI_ERR_WIN, MPIX_Memhandle_release(handle, none));
    GIVES(MPI_ERR_WIN, MPIX_Win_op_intrinsic("sum", 1, MPI_LONG, none, &flag));
    GIVES(MPI_ERR_WIN, MPIX_Rrput(&one, 1, MPI_LONG, me, 0, 1, MPI_LONG, none, &request));
    GIVES(MPI_ERR_WIN, MPIX_Put_notify(&one, 1, MPI_LONG, me, 0, 1, MPI_LONG, 0, none));
    GIVES(MPI_ERR_WIN, MPIX_Win_wait_notify(none, 0, 1, &request));
    GIVES(MPI_ERR_WIN, MPIX_Win_notify_get_value(none, 0, &value));
    GIVES(MPI_ERR_WIN, MPIX_Win_notify_reset(none, 0, &value));
}

static void null_arguments(void)
{
    char handle[MPIX_MAX_MEMHANDLE_SIZE];
    int size, flag;
    MPI_Request request;
    GIVES(MPI_ERR_ARG, MPIX_Win_dup_with_info(win, MPI_INFO_NULL, 0));
    GIVES(MPI_ERR_ARG, MPIX_Memhandle_create(base, 8, MPI_INFO_NULL, win, 0, &size));
    GIVES(MPI_ERR_ARG, MPIX_Memhandle_create(base, 8, MPI_INFO_NULL, win, handle, 0));
    GIVES(MPI_ERR_RMA_ATTACH, MPIX_Memhandle_create(0, 8, MPI_INFO_NULL, win, handle, &size));
    GIVES(MPI_ERR_SIZE, MPIX_Memhandle_create(base, -1, MPI_INFO_NULL, win, handle, &size));
    GIVES(MPI_ERR_ARG, MPIX_Win_from_memhandle(0, 8, 8, MPI_INFO_NULL, 0, win, &other));
    OK(MPIX_Memhandle_create(base, 8, MPI_INFO_NULL, win, handle, &size));
    GIVES(MPI_ERR_ARG, MPIX_Win_from_memhandle(handle, 8, 8, MPI_INFO_NULL, me, win, 0));
    OK(MPIX_Memhandle_release(handle, win));
    GIVES(MPI_ERR_ARG, MPIX_Memhandle_release(0, win));
    GIVES(MPI_ERR_OP, MPIX_Win_op_intrinsic(0, 1, MPI_LONG, win, &flag));
    GIVES(MPI_ERR_ARG, MPIX_Win_op_intrinsic("sum", 1, MPI_LONG, win, 0));
    GIVES(MPI_ERR_TYPE, MPIX_Win_op_intrinsic("sum", 1, MPI_DATATYPE_NULL, win, &flag));
    GIVES(MPI_ERR_COUNT, MPIX_Win_op_intrinsic("sum", -1, MPI_LONG, win, &flag));
    GIVES(MPI_ERR_ARG, MPIX_Win_wait_notify(win, 0, 1, 0));
    GIVES(MPI_ERR_ARG, MPIX_Win_wait_notify(win, -1, 1, &request));
    GIVES(MPI_ERR_ARG, MPIX_Win_notify_get_value(win, 0, 0));
    OK(MPIX_Win_notify_reset(win, 0, 0));
}

static void null_operands(void)
{
    MPI_Request request;
    long old;
    OK(MPI_Win_lock_all(0, win));
    GIVES(MPI_ERR_ARG, MPIX_Rrput(&one, 1, MPI_LONG, me, 0, 1, MPI_LONG, win, 0));
    GIVES(MPI_ERR_ARG, MPIX_Rraccumulate(&one, 1, MPI_LONG, me, 0, 1, MPI_LONG, MPI_SUM, win, 0));
    GIVES(MPI_ERR_ARG,
          MPIX_Rrget_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, me, 0, 1, MPI_LONG, MPI_SUM, win, 0));
    GIVES(MPI_ERR_ARG, MPIX_Rrfetch_and_op(&one, &old, MPI_LONG, me, 0, MPI_SUM, win, 0));
    GIVES(MPI_ERR_ARG, MPIX_Rrcompare_and_swap(&one, &one, &old, MPI_LONG, me, 0, win, 0));
    GIVES(MPI_ERR_BUFFER, MPIX_Rrput(0, 1, MPI_LONG, me, 0, 1, MPI_LONG, win, &request));
    GIVES(MPI_ERR_BUFFER, MPIX_Rraccumulate(0, 1, MPI_LONG, me, 0, 1, MPI_LONG, MPI_SUM, win, &request));
    GIVES(MPI_ERR_BUFFER, MPIX_Rrfetch_and_op(&one, 0, MPI_LONG, me, 0, MPI_SUM, win, &request));
    GIVES(MPI_ERR_BUFFER, MPIX_Rrcompare_and_swap(&one, 0, &old, MPI_LONG, me, 0, win, &request));
    GIVES(MPI_ERR_BUFFER, MPIX_Put_notify(0, 1, MPI_LONG, me, 0, 1, MPI_LONG, 0, win));
    GIVES(MPI_ERR_BUFFER, MPIX_Get_notify(0, 1, MPI_LONG, me, 0, 1, MPI_LONG, 0, win));
    GIVES(MPI_ERR_BUFFER, MPIX_Accumulate_notify(0, 1, MPI_LONG, me, 0, 1, MPI_LONG, MPI_SUM, 0, win));
    GIVES(MPI_ERR_ARG, MPIX_Put_notify(&one, 1, MPI_LONG, me, 0, 1, MPI_LONG, -1, win));
    OK(MPI_Win_unlock_all(win));
}

/* Returns what is in force, or "" for a hint that nobody knows. */
static const char *told(const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    int found;
    MPI_Info info;
    OK(MPI_Win_get_info(win, &info));
    OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found));
    MPI_Info_free(&info);
    return found ? value : "";
}

static void hint(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    OK(MPI_Win_set_info(win, info));
    MPI_Info_free(&info);
}

static void hints(void)
{
    CHECK(strcmp(told("no_such_hint"), "") == 0 && strcmp(told("no_locks"), "false") == 0);
    CHECK(strcmp(told("accumulate_ops"), "same_op_no_op") == 0 && strcmp(told("same_size"), "true") == 0);
    hint("no_such_hint", "1");
    hint("no_locks", "maybe");
    hint("accumulate_ordering", "none");
    CHECK(strcmp(told("no_such_hint"), "") == 0 && strcmp(told("no_locks"), "false") == 0);
    CHECK(strcmp(told("accumulate_ordering"), "none") == 0);
    hint("accumulate_ordering", "rar,wow");
    CHECK(strcmp(told("accumulate_ordering"), "none") == 0);
    hint("accumulate_ordering", "rar,waw");
    CHECK(strcmp(told("accumulate_ordering"), "rar,waw") == 0);
    hint("no_locks", "true");
    CHECK(strcmp(told("no_locks"), "true") == 0);
    hint("no_locks", "false");
}

int main(void)
{
    int few, lots;
    MPI_Info info;
    check_start(MPI_THREAD_SINGLE);
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_such_hint", "1");
    MPI_Info_set(info, "no_locks", "perhaps");
    MPI_Info_set(info, "accumulate_ops", "nonsense");
    MPI_Info_set(info, "same_size", "true");
    OK(MPI_Win_allocate(4096, 8, info, MPI_COMM_WORLD, &base, &win));
    MPI_Info_free(&info);
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    no_window();
    null_arguments();
    null_operands();
    hints();
    OK(MPIX_Win_op_intrinsic("sum,cas", 4, MPI_LONG, win, &few));
    OK(MPIX_Win_op_intrinsic("sum", 5, MPI_LONG, win, &lots));
    CHECK(few && !lots); /* a lock and a loop are faster */
    MPI_Datatype pair, many;
    int two, three, row, swap;
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_vector(1000, 1, 2, MPI_LONG, &many);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&many);
    OK(MPIX_Win_op_intrinsic("sum", 2, pair, win, &two));
    OK(MPIX_Win_op_intrinsic("sum", 3, pair, win, &three));
    OK(MPIX_Win_op_intrinsic("sum", 1, many, win, &row));
    OK(MPIX_Win_op_intrinsic("cas", 1, pair, win, &swap)); /* MPI_Compare_and_swap takes no such type */
    CHECK(two && !three && !row && !swap);
    MPI_Type_free(&pair);
    MPI_Type_free(&many);
    OK(MPI_Win_free(&win));
    return check_pass();
}
