/* What the text of the standard allows at its edges: memory that may only be read, stack and static memory; types with absolute
 * addresses and negative strides; MPI_PROC_NULL and zero counts in every call; windows without bytes; attributes of uneven
 * windows; communicators between groups; windows that are alive in MPI_Finalize.
 * ranks: 2
 * ways: plain far */
#include "check.h"

#include <sys/mman.h>

static const char constant[1 << 16] = "nobody may write here";
static int64_t globals[4000];

/* All ranks get the first bytes of memory that may only be read. */
static void reads(const char *memory, MPI_Aint bytes)
{
    MPI_Win win;
    char got[7] = "";
    OK(MPI_Win_create((void *)(uintptr_t)memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    OK(MPI_Get(got, 6, MPI_CHAR, next_rank, 0, 6, MPI_CHAR, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, win));
    CHECK(memcmp(got, "nobody", 6) == 0);
    OK(MPI_Win_free(&win));
}

static void read_only(void)
{
    const size_t bytes = 1 << 16;
    char *pages = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    memcpy(pages, constant, bytes);
    CHECK(mprotect(pages, bytes, PROT_READ) == 0);
    reads(pages, (MPI_Aint)bytes);
    reads(constant, sizeof constant);
    munmap(pages, bytes);
}

/* Puts and adds to words at the end of any memory. */
static void writes(int64_t *memory, int n)
{
    MPI_Win win;
    int64_t value = 100 + me;
    memory[n - 1] = memory[n - 2] = 0;
    OK(MPI_Win_create(memory, n * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, n - 1, 1, MPI_INT64_T, win));
    OK(MPI_Accumulate(&value, 1, MPI_INT64_T, next_rank, n - 2, 1, MPI_INT64_T, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(memory[n - 1], 100 + prev_rank);
    CHECK_EQ(memory[n - 2], 100 + prev_rank);
    OK(MPI_Win_free(&win));
}

/* The origin's type holds addresses; the target's does not begin at its displacement. */
static void absolute(MPI_Win win, const int64_t *memory)
{
    int64_t number = 1 + me;
    double real = 2.5;
    int blocks[2] = {1, 1};
    MPI_Aint here[2], there[2] = {16, 40};
    MPI_Datatype parts[2] = {MPI_INT64_T, MPI_DOUBLE}, from, to;
    MPI_Get_address(&number, &here[0]);
    MPI_Get_address(&real, &here[1]);
    OK(MPI_Type_create_struct(2, blocks, here, parts, &from));
    OK(MPI_Type_create_struct(2, blocks, there, parts, &to));
    OK(MPI_Type_commit(&from));
    OK(MPI_Type_commit(&to));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(MPI_BOTTOM, 1, from, next_rank, 1, 1, to, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(memory[3], 1 + prev_rank);
    CHECK(memcmp(&memory[6], &real, 8) == 0);
    number = 0;
    real = 0;
    OK(MPI_Get(MPI_BOTTOM, 1, from, next_rank, 1, 1, to, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(number, 1 + me);
    CHECK(real == 2.5);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

static void backwards(MPI_Win win, const int64_t *memory)
{
    int64_t source[4] = {1, 2, 3, 4}, result[10] = {0};
    MPI_Datatype type;
    OK(MPI_Type_vector(4, 1, -2, MPI_INT64_T, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Put(source, 4, MPI_INT64_T, next_rank, 50, 1, type, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get(result + 9, 1, type, next_rank, 50, 1, type, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(result + 9, 1, type, next_rank, 50, 1, type, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(result[9 - 2 * i], 1 + i);
        CHECK_EQ(memory[50 - 2 * i], 2 * (1 + i));
    }
    CHECK_EQ(memory[49], 0);
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_EQ(error_class(MPI_Put(source, 4, MPI_INT64_T, next_rank, 5, 1, type, win)), MPI_ERR_RMA_RANGE);
    OK(MPI_Win_fence(0, win));
    MPI_Type_free(&type);
}

/* Every operation at one rank, `n` elements; none of them moves anything. */
static void no_elements(MPI_Win win, int rank, int n)
{
    int a = 1, b = 2, c = 3;
    MPI_Request request[4];
    MPI_Status status[4];
    OK(MPI_Put(&a, n, MPI_INT, rank, 0, n, MPI_INT, win));
    OK(MPI_Get(&a, n, MPI_INT, rank, 0, n, MPI_INT, win));
    OK(MPI_Accumulate(&a, n, MPI_INT, rank, 0, n, MPI_INT, MPI_SUM, win));
    OK(MPI_Get_accumulate(&a, n, MPI_INT, &b, n, MPI_INT, rank, 0, n, MPI_INT, MPI_SUM, win));
    OK(MPI_Rput(&a, n, MPI_INT, rank, 0, n, MPI_INT, win, &request[0]));
    OK(MPI_Rget(&a, n, MPI_INT, rank, 0, n, MPI_INT, win, &request[1]));
    OK(MPI_Raccumulate(&a, n, MPI_INT, rank, 0, n, MPI_INT, MPI_SUM, win, &request[2]));
    OK(MPI_Rget_accumulate(&a, n, MPI_INT, &b, n, MPI_INT, rank, 0, n, MPI_INT, MPI_SUM, win, &request[3]));
    OK(MPI_Waitall(4, request, status));
    if (rank == MPI_PROC_NULL) {
        OK(MPI_Fetch_and_op(&a, &b, MPI_INT, rank, 0, MPI_SUM, win));
        OK(MPI_Compare_and_swap(&a, &b, &c, MPI_INT, rank, 0, win));
    }
    OK(MPI_Win_flush(rank, win));
    OK(MPI_Win_flush_local(rank, win));
    CHECK(a == 1 && b == 2 && c == 3);
}

static void nothing(MPI_Win win)
{
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    OK(MPI_Win_unlock(MPI_PROC_NULL, win));
    OK(MPI_Win_lock_all(0, win));
    no_elements(win, MPI_PROC_NULL, 1);
    no_elements(win, next_rank, 0);
    OK(MPI_Win_unlock_all(win));
}

/* Only even ranks have bytes. */
static void uneven(void)
{
    MPI_Win win, none;
    MPI_Group group, world;
    MPI_Aint *bytes;
    void *memory;
    int64_t value = 7;
    int found, same, *number;
    OK(MPI_Win_allocate(me % 2 ? 0 : 64, 1 + me, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Win_create(0, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &found));
    CHECK(found && *bytes == (me % 2 ? 0 : 64));
    OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &found));
    CHECK(found && *number == 1 + me);
    OK(MPI_Win_get_group(win, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    CHECK_EQ(same, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(error_class(MPI_Put(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win)), MPI_ERR_RMA_RANGE);
    OK(MPI_Put(&value, 1, MPI_INT64_T, 0, 56, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(0, win));
    CHECK(me || memcmp((char *)memory + 56, &value, 8) == 0);
    OK(MPI_Win_free(&win)); /* the first one first */
    OK(MPI_Win_free(&none));
}

/* No window is over two groups; MPICH crashes on it. */
static void between(void)
{
    MPI_Comm half, both;
    MPI_Win win;
    void *memory;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 7, &both);
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    CHECK_EQ(error_class(MPI_Win_allocate(8, 1, MPI_INFO_NULL, both, &memory, &win)), MPI_ERR_COMM);
    CHECK_EQ(error_class(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, both, &memory, &win)), MPI_ERR_COMM);
    CHECK_EQ(error_class(MPI_Win_create(globals, 8, 1, MPI_INFO_NULL, both, &win)), MPI_ERR_COMM);
    CHECK_EQ(error_class(MPI_Win_create_dynamic(MPI_INFO_NULL, both, &win)), MPI_ERR_COMM);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void alive(void)
{
    MPI_Win win;
    void *memory;
    OK(MPI_Win_allocate(80000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Win_create(globals, sizeof globals, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, globals, 800));
}

int main(void)
{
    MPI_Win win;
    int64_t stack[20000], *memory;
    check_start(MPI_THREAD_SINGLE);
    read_only();
    writes(stack, 20000);
    writes(globals, 4000);
    OK(MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    memset(memory, 0, 800);
    absolute(win, memory);
    backwards(win, memory);
    nothing(win);
    OK(MPI_Win_free(&win));
    uneven();
    between();
    alive();
    return check_pass();
}
