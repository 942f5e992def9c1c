/* Allocated and created windows: put and get under fences, MPI_Win_lock_all, posts and flushes; attributes and groups.
 * ways: plain far */
#include "check.h"

#include <malloc.h>

#define N 1000

static void attributes(MPI_Win win, void *base, MPI_Aint bytes, int unit, int flavor)
{
    void *value;
    int flag;
    OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
    CHECK(flag && value == base);
    OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
    CHECK(flag && *(MPI_Aint *)value == bytes);
    OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag));
    CHECK(flag && *(int *)value == unit);
    OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
    CHECK(flag && *(int *)value == flavor);
    OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag));
    CHECK(flag && *(int *)value == MPI_WIN_UNIFIED);
    MPI_Group group;
    int size, rank;
    OK(MPI_Win_get_group(win, &group));
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    CHECK_EQ(size, ranks);
    CHECK_EQ(rank, me);
    MPI_Group_free(&group);
}

/* MPI 4.1: memory that this process does not map has no address, and no size. With 2 ranks `far` says that they are on two
 * nodes; of more ranks some may share one. Any process knows its own memory. */
static void mapped(MPI_Win win, MPI_Aint bytes, int far)
{
    void *address = &bytes; /* not null */
    MPI_Aint size = -1;
    int unit = 0;
    OK(MPI_Win_shared_query(win, next_rank, &size, &unit, &address));
    if (!far || ranks <= 2)
        CHECK_EQ(address == 0, far && next_rank != me);
    CHECK_EQ(size, address ? bytes : 0);
    OK(MPI_Win_shared_query(win, me, &size, &unit, &address));
    CHECK_EQ(size, bytes);
    CHECK_EQ(unit, sizeof(int64_t));
}

/* Stores through the address that the query gives are those of a put. */
static void mapped_stores(MPI_Win win, int64_t *base)
{
    int64_t *theirs;
    MPI_Aint size;
    int unit;
    OK(MPI_Win_shared_query(win, next_rank, &size, &unit, &theirs));
    OK(MPI_Win_fence(0, win));
    if (theirs)
        theirs[7] = 4000 + me;
    else
        OK(MPI_Put(&(int64_t){4000 + me}, 1, MPI_INT64_T, next_rank, 7, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(base[7], 4000 + prev_rank);
}

/* A created window over memory of MPI_Alloc_mem, and over the program's own, which perhaps only its owner can address. */
static void created(int far)
{
    MPI_Win win;
    static int64_t few[10];
    int64_t *given;
    void *address;
    MPI_Aint size;
    int unit;
    OK(MPI_Alloc_mem(1 << 16, MPI_INFO_NULL, &given));
    OK(MPI_Win_create(given, 1 << 16, sizeof *given, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    mapped(win, 1 << 16, far);
    mapped_stores(win, given);
    OK(MPI_Win_free(&win));
    OK(MPI_Free_mem(given));
    OK(MPI_Win_create(few, sizeof few, sizeof *few, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_shared_query(win, me, &size, &unit, &address));
    CHECK(address == few);
    CHECK_EQ(size, sizeof few);
    OK(MPI_Win_shared_query(win, next_rank, &size, &unit, &address));
    CHECK_EQ(size, address ? sizeof few : 0);
    mapped_stores(win, few);
    OK(MPI_Win_free(&win));
}

/* MPI 4.1's hint of the size in which accumulates are atomic is kept. */
static void granularity(void)
{
    static const char *const sizes[] = {"1", "3", "8", "4096"};
    for (int i = 0; i < 4; i++) {
        MPI_Win win;
        MPI_Info info;
        int64_t *base;
        char value[16] = "";
        int found;
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_accumulate_granularity", sizes[i]);
        OK(MPI_Win_allocate(3 * sizeof *base, 8, info, MPI_COMM_WORLD, &base, &win));
        MPI_Info_free(&info);
        OK(MPI_Win_get_info(win, &info));
        MPI_Info_get(info, "mpi_accumulate_granularity", sizeof value - 1, value, &found);
        CHECK(found && strcmp(value, sizes[i]) == 0);
        MPI_Info_free(&info);
        OK(MPI_Win_free(&win));
    }
}

static void under_fences(MPI_Win win, int64_t *base)
{
    int64_t values[N], back[N];
    for (int i = 0; i < N; i++) {
        values[i] = me * 10000 + i;
        base[i] = -1;
    }
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    OK(MPI_Put(values, N, MPI_INT64_T, next_rank, 0, N, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N; i++)
        CHECK_EQ(base[i], prev_rank * 10000 + i);
    OK(MPI_Get(back, N - 1, MPI_INT64_T, next_rank, 1, N - 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < N - 1; i++)
        CHECK_EQ(back[i], me * 10000 + i + 1);
}

static void under_lock_all(MPI_Win win, int64_t *base)
{
    int64_t value = 77 + me, got = 0;
    OK(MPI_Win_lock_all(0, win));
    for (int rank = 0; rank < ranks; rank++)
        OK(MPI_Put(&value, 1, MPI_INT64_T, rank, 10 + me, 1, MPI_INT64_T, win));
    OK(MPI_Win_flush_local_all(win));
    OK(MPI_Win_flush_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_sync(win));
    for (int rank = 0; rank < ranks; rank++)
        CHECK_EQ(base[10 + rank], 77 + rank);
    MPI_Request request;
    OK(MPI_Rget(&got, 1, MPI_INT64_T, next_rank, 10 + me, 1, MPI_INT64_T, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(got, value);
    MPI_Barrier(MPI_COMM_WORLD);
    value = -value;
    OK(MPI_Rput(&value, 1, MPI_INT64_T, next_rank, 10 + me, 1, MPI_INT64_T, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(next_rank, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(base[10 + prev_rank], -77 - prev_rank);
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank tells its neighbours and hears from them, twice. */
static void under_posts(MPI_Win win, int64_t *base)
{
    MPI_Group world, targets, origins;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next_rank, &targets);
    MPI_Group_incl(world, 1, &prev_rank, &origins);
    for (int turn = 0; turn < 3; turn++) {
        int64_t value = 500 + 10 * turn + me;
        int done = 0;
        base[3] = -1;
        OK(MPI_Win_post(origins, 0, win));
        OK(MPI_Win_start(targets, 0, win));
        OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, 3, 1, MPI_INT64_T, win));
        OK(MPI_Win_complete(win));
        if (turn == 1)
            while (!done)
                OK(MPI_Win_test(win, &done));
        else
            OK(MPI_Win_wait(win));
        CHECK_EQ(base[3], 500 + 10 * turn + prev_rank);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
}

static void all_ways(MPI_Win win, int64_t *base)
{
    under_fences(win, base);
    under_lock_all(win, base);
    under_posts(win, base);
}

/* A name, an attribute of the program's and a window of some ranks alone, in another order. */
static void other_parts(void)
{
    MPI_Comm odd;
    MPI_Win win;
    int *base, length, one = 1;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &odd);
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, odd, &base, &win);
    OK(MPI_Win_set_name(win, "odd ones"));
    OK(MPI_Win_get_name(win, name, &length));
    CHECK(strcmp(name, "odd ones") == 0);
    int rank, size, expected = (ranks + 1 - me % 2) / 2;
    MPI_Comm_rank(odd, &rank);
    MPI_Comm_size(odd, &size);
    CHECK_EQ(size, expected);
    *base = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(*base, 1);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    MPI_Comm_free(&odd);
}

/* A window leaves nothing: the memory that the process holds stops growing. A pool of the MPI may grow once in a while, so what
 * counts is the batch that grew least. */
static void leaves_nothing(int dynamic)
{
    enum { BATCHES = 5, TIMES = 50, EACH = 64 };
    static int64_t memory[8];
    size_t least = SIZE_MAX;
    for (int batch = 0; batch < BATCHES; batch++) {
        size_t before = mallinfo2().uordblks;
        for (int i = 0; i < TIMES; i++) {
            MPI_Win win;
            OK(dynamic ? MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win)
                       : MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
            OK(MPI_Win_free(&win));
        }
        size_t after = mallinfo2().uordblks, grown = after > before ? after - before : 0;
        least = grown < least ? grown : least;
    }
    CHECK(least < EACH * TIMES); /* Open MPI keeps a few bytes each time */
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int64_t *base, own[N + 1];
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Win_allocate(N * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    attributes(win, base, N * sizeof *base, sizeof *base, MPI_WIN_FLAVOR_ALLOCATE);
    mapped(win, N * sizeof *base, argc > 1 && !strncmp(argv[1], "far", 3));
    mapped_stores(win, base);
    all_ways(win, base);
    OK(MPI_Win_free(&win));
    created(argc > 1 && !strncmp(argv[1], "far", 3));
    granularity();
    OK(MPI_Win_create(own, N * sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    attributes(win, own, N * sizeof *own, sizeof *own, MPI_WIN_FLAVOR_CREATE);
    all_ways(win, own);
    OK(MPI_Win_free(&win));
    other_parts();
    leaves_nothing(0);
    leaves_nothing(1);
    return check_pass();
}
