/* Notification: each rank puts to, gets from and accumulates at the next one, which waits by the MPI's own families.
 * ways: single multiple far
 * links: layer */
#include "check.h"

#define MPIX_PAPER_NAMES
#include <mpix_rma.h>
#include <pthread.h>
#include <stdbool.h>

enum { WORDS = 1 << 15, IDS = 100000, THREADS = 4, TURNS = 50 };

static int64_t *base, data[WORDS];
static MPI_Win win;
static bool multiple;

static long value_of(int id)
{
    long value = -1;
    OK(MPIX_Win_notify_get_value(win, id, &value));
    return value;
}

static void wait_for(int id, long count)
{
    MPI_Request request;
    OK(MPIX_Win_wait_notify(win, id, count, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
}

static void reset(int id, long expected)
{
    long old = -1;
    OK(MPIX_Win_notify_reset(win, id, &old));
    CHECK_EQ(old, expected);
    CHECK_EQ(value_of(id), 0);
}

/* The data is there when the notification is, whatever its length. */
static void puts_of(int count)
{
    for (int turn = 1; turn <= TURNS; turn++) {
        for (int i = 0; i < count; i++)
            data[i] = turn * 1000003ll + i + me;
        OK(MPIX_Put_notify(data, count, MPI_INT64_T, next_rank, 0, count, MPI_INT64_T, 7, win));
        wait_for(7, turn);
        for (int i = 0; i < count; i++)
            CHECK_EQ(base[i], turn * 1000003ll + i + prev_rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    reset(7, TURNS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Data with gaps on both sides, and none at all. */
static void parts(void)
{
    MPI_Datatype every_other;
    MPI_Type_vector(500, 1, 2, MPI_INT64_T, &every_other);
    MPI_Type_commit(&every_other);
    memset(base, 0, WORDS * 8);
    for (int i = 0; i < 1000; i++)
        data[i] = i + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Put_notify(data, 1, every_other, next_rank, 0, 1, every_other, 8, win));
    wait_for(8, 1);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(base[i], i % 2 ? 0 : i + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Accumulate_notify(data, 1, every_other, next_rank, 0, 1, every_other, MPI_SUM, 8, win));
    wait_for(8, 2);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(base[i], i % 2 ? 0 : 2 * (i + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    memset(data, 0, sizeof data);
    OK(MPIX_Get_notify(data, 1, every_other, next_rank, 0, 1, every_other, 8, win));
    wait_for(8, 3);
    for (int i = 0; i < 999; i++)
        CHECK_EQ(data[i], i % 2 ? 0 : 2 * (i + 1));
    OK(MPIX_Put_notify(data, 0, MPI_INT64_T, next_rank, 0, 0, MPI_INT64_T, 8, win));
    wait_for(8, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    reset(8, 4);
    MPI_Type_free(&every_other);
}

/* The owner changes its memory as soon as it has been read. */
static void gets(void)
{
    for (int i = 0; i < WORDS; i++)
        base[i] = me * 7ll + i;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Get_notify(data, WORDS, MPI_INT64_T, next_rank, 0, WORDS, MPI_INT64_T, 9, win));
    wait_for(9, 1);
    memset(base, 0xff, WORDS * 8);
    OK(MPI_Win_flush_local(next_rank, win));
    for (int i = 0; i < WORDS; i++)
        CHECK_EQ(data[i], next_rank * 7ll + i);
    MPI_Barrier(MPI_COMM_WORLD);
    reset(9, 1);
}

static void accumulates(void)
{
    int64_t one = 1;
    base[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TURNS; i++)
        for (int to = 0; to < ranks; to++)
            OK(MPIX_Accumulate_notify(&one, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, MPI_SUM, IDS - 1, win));
    wait_for(IDS - 1, (long)ranks * TURNS);
    CHECK_EQ(base[0], ranks * TURNS);
    MPI_Barrier(MPI_COMM_WORLD);
    reset(IDS - 1, (long)ranks * TURNS);
}

/* A flush completes the notification too. */
static void flushes(void)
{
    OK(MPIX_Put_notify(data, 1, MPI_INT64_T, next_rank, 3, 1, MPI_INT64_T, 10, win));
    OK(MPI_Win_flush(next_rank, win));
    MPI_Barrier(MPI_COMM_WORLD);
    reset(10, 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

enum { A, B, MESSAGE, REQUESTS };

static void begin_both(MPI_Request *request, int *word)
{
    OK(MPI_Irecv(word, 1, MPI_INT, prev_rank, 1, MPI_COMM_WORLD, &request[MESSAGE]));
    OK(MPIX_Win_wait_notify(win, 11, 1, &request[A]));
    OK(MPIX_Win_wait_notify(win, 12, 2, &request[B]));
}

static void tell(int id, int times)
{
    for (int i = 0; i < times; i++)
        OK(MPIX_Put_notify(data, 1, MPI_INT64_T, next_rank, 4, 1, MPI_INT64_T, id, win));
}

static void send_word(int word)
{
    OK(MPI_Send(&word, 1, MPI_INT, next_rank, 1, MPI_COMM_WORLD));
}

static void clear(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    reset(11, 1);
    reset(12, 2);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every family takes them beside a receive of the MPI's own. */
static void families(void)
{
    MPI_Request request[REQUESTS];
    MPI_Status states[REQUESTS], state;
    int word = 0, index, flag, count, indices[REQUESTS], done = 0;

    begin_both(request, &word); /* Waitany: in the order of what the neighbour does */
    OK(MPI_Testany(REQUESTS, request, &index, &flag, &state));
    CHECK_EQ(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    tell(12, 2);
    OK(MPI_Waitany(REQUESTS, request, &index, &state));
    CHECK_EQ(index, B);
    MPI_Barrier(MPI_COMM_WORLD);
    tell(11, 1);
    OK(MPI_Waitany(REQUESTS, request, &index, &state));
    CHECK_EQ(index, A);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Isend(&(int){5}, 1, MPI_INT, next_rank, 1, MPI_COMM_WORLD, &request[A]));
    OK(MPI_Wait(&request[MESSAGE], &state));
    CHECK_EQ(word, 5);
    CHECK_EQ(state.MPI_SOURCE, prev_rank);
    OK(MPI_Wait(&request[A], MPI_STATUS_IGNORE));
    clear();

    begin_both(request, &word); /* Testsome */
    OK(MPI_Testsome(REQUESTS, request, &count, indices, states));
    CHECK_EQ(count, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    tell(12, 2);
    tell(11, 1);
    send_word(6);
    while (done < REQUESTS) {
        OK(MPI_Testsome(REQUESTS, request, &count, indices, states));
        done += count;
    }
    OK(MPI_Testsome(REQUESTS, request, &count, indices, states));
    CHECK_EQ(count, MPI_UNDEFINED);
    CHECK_EQ(word, 6);
    clear();

    begin_both(request, &word); /* Waitsome */
    for (done = 0; done < REQUESTS; done += count) {
        if (done == 0) {
            send_word(7);
            tell(11, 1);
            tell(12, 2);
        }
        OK(MPI_Waitsome(REQUESTS, request, &count, indices, states));
        CHECK(count > 0);
    }
    clear();

    begin_both(request, &word); /* Waitall: the receive first */
    send_word(8);
    tell(11, 1);
    tell(12, 2);
    OK(MPI_Waitall(REQUESTS, request, states));
    CHECK_EQ(word, 8);
    clear();

    begin_both(request, &word); /* Testall */
    OK(MPI_Testall(REQUESTS, request, &flag, states));
    CHECK_EQ(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    tell(11, 1);
    tell(12, 2);
    send_word(9);
    while (!flag)
        OK(MPI_Testall(REQUESTS, request, &flag, states));
    CHECK_EQ(word, 9);
    clear();
}

/* The neighbour's notification depends on a message that this rank can only move inside of its wait: a large one. */
static void progress(void)
{
    MPI_Request request[2];
    MPI_Status states[2];
    for (int all = 0; all < 2; all++) {
        int64_t *big = calloc(1 << 18, 8), *got = calloc(1 << 18, 8);
        big[(1 << 18) - 1] = 77 + me;
        OK(MPIX_Win_wait_notify(win, 13, 1, &request[0]));
        OK(MPI_Isend(big, 1 << 18, MPI_INT64_T, next_rank, 2, MPI_COMM_WORLD, &request[1]));
        if (me % 2 == 0) { /* waits first; its neighbour receives first */
            if (ranks > 1)
                OK(all ? MPI_Waitall(2, request, states) : MPI_Wait(&request[0], MPI_STATUS_IGNORE));
            OK(MPI_Recv(got, 1 << 18, MPI_INT64_T, prev_rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPIX_Put_notify(got, 1, MPI_INT64_T, prev_rank, 0, 1, MPI_INT64_T, 13, win));
        } else {
            OK(MPI_Recv(got, 1 << 18, MPI_INT64_T, prev_rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPIX_Put_notify(got, 1, MPI_INT64_T, prev_rank, 0, 1, MPI_INT64_T, 13, win));
        }
        CHECK_EQ(got[(1 << 18) - 1], 77 + prev_rank);
        OK(MPI_Waitall(2, request, states));
        MPI_Barrier(MPI_COMM_WORLD);
        reset(13, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        free(big);
        free(got);
    }
}

static void cancels(void)
{
    MPI_Request request;
    MPI_Status state;
    int flag = 0;
    OK(MPIX_Win_wait_notify(win, 14, 1, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &state));
    OK(MPI_Test_cancelled(&state, &flag));
    CHECK(flag);
    MPI_Barrier(MPI_COMM_WORLD);
    tell(14, 1);
    OK(MPI_Win_wait_notify(win, 14, &request)); /* the paper's form */
    OK(MPI_Wait(&request, &state));
    MPI_Barrier(MPI_COMM_WORLD);
    reset(14, 1);
}

static void *thread(void *argument)
{
    int mine = (int)(intptr_t)argument;
    for (int turn = 1; turn <= TURNS; turn++) {
        int64_t word = mine * 1000 + turn;
        OK(MPIX_Put_notify(&word, 1, MPI_INT64_T, next_rank, 64 + mine, 1, MPI_INT64_T, 20 + mine, win));
        wait_for(20 + mine, turn);
        CHECK_EQ(__atomic_load_n(&base[64 + mine], __ATOMIC_RELAXED), word);
        OK(MPIX_Put_notify(&word, 1, MPI_INT64_T, prev_rank, 80 + mine, 1, MPI_INT64_T, 40 + mine, win));
        wait_for(40 + mine, turn); /* the next rank has looked */
    }
    return 0;
}

static void threads(void)
{
    pthread_t others[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&others[i], 0, thread, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(others[i], 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Duplicates and windows of memory handles notify the parent's target. */
static void relatives(void)
{
    char handle[MPIX_MAX_MEMHANDLE_SIZE], theirs[MPIX_MAX_MEMHANDLE_SIZE];
    MPI_Win twin, part;
    MPI_Info info;
    int size;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_scope", "thread");
    MPI_Info_set(info, "mpi_win_order", "true");
    OK(MPIX_Win_dup_with_info(win, info, &twin));
    MPI_Info_free(&info);
    data[0] = 4711 + me;
    OK(MPIX_Put_notify(data, 1, MPI_INT64_T, next_rank, 100, 1, MPI_INT64_T, 60, twin));
    wait_for(60, 1);
    CHECK_EQ(base[100], 4711 + prev_rank);
    OK(MPIX_Memhandle_create(base + 200, 80, MPI_INFO_NULL, win, handle, &size));
    OK(MPI_Sendrecv(handle, sizeof handle, MPI_BYTE, prev_rank, 3, theirs, sizeof theirs, MPI_BYTE, next_rank, 3,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPIX_Win_from_memhandle(theirs, 80, 8, MPI_INFO_NULL, next_rank, win, &part));
    OK(MPIX_Put_notify(data, 1, MPI_INT64_T, next_rank, 3, 1, MPI_INT64_T, 60, part));
    wait_for(60, 2);
    CHECK_EQ(base[203], 4711 + prev_rank);
    OK(MPI_Win_free(&part));
    OK(MPI_Win_free(&twin));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Memhandle_release(handle, win));
    reset(60, 2);
}

static int handled;
static void handler(MPI_Win *window, int *code, ...)
{
    (void)window;
    handled = error_class(*code);
}

static void fails(int code, int class)
{
    CHECK_EQ(error_class(code), class);
    CHECK_EQ(handled, class);
    handled = 0;
}

static void mistakes(void)
{
    MPI_Errhandler own;
    MPI_Request request;
    long value;
    MPI_Win_create_errhandler(handler, &own);
    MPI_Win_set_errhandler(win, own);
    fails(MPIX_Put_notify(data, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, IDS, win), MPI_ERR_ARG);
    fails(MPIX_Put_notify(data, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, -1, win), MPI_ERR_ARG);
    fails(MPIX_Put_notify(data, 1, MPI_INT64_T, ranks, 0, 1, MPI_INT64_T, 0, win), MPI_ERR_RANK);
    fails(MPIX_Put_notify(data, 1, MPI_INT64_T, next_rank, WORDS, 1, MPI_INT64_T, 0, win), MPI_ERR_RMA_RANGE);
    fails(MPIX_Get_notify(data, 1, MPI_INT64_T, -7, 0, 1, MPI_INT64_T, 0, win), MPI_ERR_RANK);
    fails(MPIX_Accumulate_notify(data, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, MPI_MAXLOC, 0, win), MPI_ERR_OP);
    fails(MPIX_Win_wait_notify(win, IDS, 1, &request), MPI_ERR_ARG);
    fails(MPIX_Win_notify_get_value(win, -1, &value), MPI_ERR_ARG);
    fails(MPIX_Win_notify_reset(win, IDS, &value), MPI_ERR_ARG);
    CHECK_EQ(MPIX_Put_notify(data, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, 0, MPI_WIN_NULL), MPI_ERR_WIN);
    CHECK_EQ(MPIX_Win_wait_notify(MPI_WIN_NULL, 0, 1, &request), MPI_ERR_WIN);
    OK(MPIX_Put_notify(data, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, 0, win));
    OK(MPI_Win_flush_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(value_of(0), 0);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&own);
}

static void open_window(void)
{
    MPI_Info info;
    char text[16];
    int flag;
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%d", IDS);
    MPI_Info_set(info, "mpi_win_notify_ids", text);
    OK(MPI_Win_allocate(WORDS * 8, 8, info, MPI_COMM_WORLD, &base, &win));
    MPI_Info_free(&info);
    OK(MPI_Win_get_info(win, &info));
    MPI_Info_get(info, "mpi_win_notify_ids", sizeof text - 1, text, &flag);
    CHECK(flag);
    CHECK_EQ(atoi(text), IDS);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_EQ(error_class(MPIX_Put_notify(data, 1, MPI_INT64_T, me, 0, 1, MPI_INT64_T, 0, win)), MPI_ERR_RMA_SYNC);
}

/* On memory that is attached later. */
static void dynamic(void)
{
    MPI_Win kept = win;
    MPI_Aint mine, theirs;
    MPI_Request request;
    int64_t *memory, wide[2] = {me + 5, me + 6};
    OK(MPI_Alloc_mem(1 << 16, MPI_INFO_NULL, &memory));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, memory, 1 << 16));
    memory[0] = memory[1] = 0;
    MPI_Get_address(memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, prev_rank, 0, &theirs, 1, MPI_AINT, next_rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    OK(MPI_Win_lock_all(0, win));
    OK(MPIX_Put_notify(wide, 2, MPI_INT64_T, next_rank, theirs, 2, MPI_INT64_T, 1, win));
    wait_for(1, 1);
    CHECK_EQ(memory[0], prev_rank + 5);
    CHECK_EQ(memory[1], prev_rank + 6);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Accumulate_notify(wide, 2, MPI_INT64_T, next_rank, theirs, 2, MPI_INT64_T, MPI_SUM, 1, win));
    wait_for(1, 2);
    CHECK_EQ(memory[1], 2 * (prev_rank + 6));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Rrput(wide, 2, MPI_INT64_T, next_rank, theirs, 2, MPI_INT64_T, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(memory[0], prev_rank + 5);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
    MPI_Free_mem(memory);
    win = kept;
}

int main(int argc, char **argv)
{
    MPI_Request left;
    multiple = argc < 2 || strcmp(argv[1], "single") != 0;
    check_start(multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    dynamic();
    open_window();
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, win));
    puts_of(1);
    puts_of(WORDS / 8);
    parts();
    gets();
    accumulates();
    flushes();
    families();
    progress();
    cancels();
    if (multiple)
        threads();
    relatives();
    mistakes();
    OK(MPI_Win_unlock_all(win));
    OK(MPIX_Win_wait_notify(win, 98, 1, &left));
    OK(MPI_Request_free(&left)); /* before it happens */
    OK(MPIX_Win_wait_notify(win, 99, 1, &left));
    OK(MPI_Win_free(&win));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(error_class(MPI_Wait(&left, MPI_STATUS_IGNORE)), MPI_ERR_WIN);
    return check_pass();
}
