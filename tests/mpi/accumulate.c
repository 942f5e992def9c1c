/* The accumulate family: every operation on every kind of type, by all ranks at once, on allocated and created windows.
 * ranks: 2 4
 * ways: plain far */
#include "check.h"

#define TURNS 20

static MPI_Win win;
static int64_t *base;

/* All ranks add to all ranks' words; no update is lost. */
static void sums(void)
{
    int64_t ones[4] = {1, 2, 3, 4}, old;
    double half[2] = {0.5, 0.25};
    OK(MPI_Win_fence(0, win));
    memset(base, 0, 800);
    OK(MPI_Win_fence(0, win));
    for (int turn = 0; turn < TURNS; turn++)
        for (int rank = 0; rank < ranks; rank++) {
            OK(MPI_Accumulate(ones, 4, MPI_INT64_T, rank, 0, 4, MPI_INT64_T, MPI_SUM, win));
            OK(MPI_Accumulate(half, 2, MPI_DOUBLE, rank, 10, 2, MPI_DOUBLE, MPI_SUM, win));
            OK(MPI_Fetch_and_op(ones, &old, MPI_INT64_T, rank, 20, MPI_SUM, win));
        }
    OK(MPI_Win_fence(0, win));
    CHECK(old >= TURNS - 1 && old < TURNS * ranks);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(base[i], (i + 1) * TURNS * ranks);
    CHECK(((double *)base)[10] == 0.5 * TURNS * ranks && ((double *)base)[11] == 0.25 * TURNS * ranks);
    CHECK_EQ(base[20], TURNS * ranks);
}

/* A lock of compare-and-swap guards two words. */
static void swaps(void)
{
    int zero = 0, one = 1, old;
    int64_t words[2];
    OK(MPI_Win_fence(0, win));
    memset(base, 0, 800);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_lock_all(0, win));
    for (int turn = 0; turn < TURNS; turn++) {
        do {
            OK(MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, 0, 0, win));
            OK(MPI_Win_flush(0, win));
        } while (old);
        OK(MPI_Get(words, 2, MPI_INT64_T, 0, 1, 2, MPI_INT64_T, win));
        OK(MPI_Win_flush(0, win));
        CHECK_EQ(words[0], words[1]);
        words[0]++;
        words[1]++;
        OK(MPI_Put(words, 2, MPI_INT64_T, 0, 1, 2, MPI_INT64_T, win));
        OK(MPI_Win_flush(0, win));
        OK(MPI_Accumulate(&zero, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win));
        OK(MPI_Win_flush(0, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Get_accumulate(0, 0, MPI_INT64_T, words, 2, MPI_INT64_T, 0, 1, 2, MPI_INT64_T, MPI_NO_OP, win));
    OK(MPI_Win_flush(0, win));
    CHECK_EQ(words[0], TURNS * ranks);
    CHECK_EQ(words[1], TURNS * ranks);
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One operation on this rank's own word and the next rank's; MPI_Reduce_local knows the answer. */
static void compare(MPI_Datatype type, MPI_Op op, const void *operand, const void *start)
{
    unsigned char expected[64], old[64];
    MPI_Aint lb, bytes;
    MPI_Type_get_extent(type, &lb, &bytes);
    memset(expected, 0, sizeof expected);
    memcpy(expected, start, (size_t)bytes);
    MPI_Reduce_local(operand, expected, 1, type, op);
    OK(MPI_Win_fence(0, win));
    memset(base, 0, 64);
    memcpy(base, start, (size_t)bytes);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get_accumulate(operand, 1, type, old, 1, type, next_rank, 0, 1, type, op, win));
    OK(MPI_Win_fence(0, win));
    int size;
    MPI_Type_size(type, &size); /* pairs have padding behind */
    if (memcmp(base, expected, (size_t)size) || memcmp(old, start, (size_t)size)) {
        char name[2][MPI_MAX_OBJECT_NAME];
        MPI_Type_get_name(type, name[0], &size);
        fprintf(stderr, "%s by operation %p\n", name[0], (void *)(uintptr_t)op);
        CHECK(!"an operation gives another result than MPI_Reduce_local");
    }
}

static void every_operation(void)
{
    const MPI_Op arithmetic[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN}, bits[] = {MPI_BAND, MPI_BOR, MPI_BXOR},
                 logical[] = {MPI_LAND, MPI_LOR, MPI_LXOR}, places[] = {MPI_MAXLOC, MPI_MINLOC};
    const MPI_Datatype integers[] = {MPI_SIGNED_CHAR,   MPI_SHORT,          MPI_INT,      MPI_LONG,
                                     MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                                     MPI_AINT,          MPI_OFFSET,         MPI_COUNT};
    const int64_t starts[] = {0, 5, -3}, operands[] = {3, 0, -7};
    for (int v = 0; v < 3; v++) {
        for (size_t t = 0; t < sizeof integers / sizeof *integers; t++) {
            for (int o = 0; o < 4; o++)
                compare(integers[t], arithmetic[o], &operands[v], &starts[v]);
            for (int o = 0; o < 3 && t < 8; o++) {
                compare(integers[t], bits[o], &operands[v], &starts[v]);
                compare(integers[t], logical[o], &operands[v], &starts[v]);
            }
        }
        for (int o = 0; o < 3; o++)
            compare(MPI_BYTE, bits[o], &operands[v], &starts[v]);
    }
    for (int o = 0; o < 4; o++) {
        float f[2] = {1.5f, -2.25f};
        double d[2] = {1.5, -2.25};
        long double l[2] = {1.5L, -2.25L};
        compare(MPI_FLOAT, arithmetic[o], &f[0], &f[1]);
        compare(MPI_DOUBLE, arithmetic[o], &d[0], &d[1]);
        memset(l, 0, sizeof l);
        l[0] = 1.5L;
        l[1] = -2.25L;
        OK(MPI_Win_fence(0, win));
        memcpy(base, &l[0], sizeof *l);
        OK(MPI_Win_fence(0, win));
        OK(MPI_Accumulate(&l[1], 1, MPI_LONG_DOUBLE, next_rank, 0, 1, MPI_LONG_DOUBLE, arithmetic[o], win));
        OK(MPI_Win_fence(0, win));
        MPI_Reduce_local(&l[0], &l[1], 1, MPI_LONG_DOUBLE, arithmetic[o]);
        CHECK(memcmp(base, &l[1], 10) == 0);
    }
    double pairs[2][2] = {{1, 2}, {-3, 0.5}};
    compare(MPI_C_DOUBLE_COMPLEX, MPI_SUM, pairs[0], pairs[1]);
    compare(MPI_C_DOUBLE_COMPLEX, MPI_PROD, pairs[0], pairs[1]);
    for (int o = 0; o < 2; o++)
        for (int v = 0; v < 3; v++) {
            struct {
                double value;
                int index;
            } d[2] = {{1 + v, 4}, {2, 3}};
            struct {
                int value, index;
            } i[2] = {{1 + v, 4}, {2, 3}};
            compare(MPI_DOUBLE_INT, places[o], &d[0], &d[1]);
            compare(MPI_2INT, places[o], &i[0], &i[1]);
        }
}

/* Elements of derived types on both sides. */
static void derived(void)
{
    MPI_Datatype every_other, pieces;
    int64_t operand[10], old[10];
    int lengths[] = {1, 4}, places[] = {0, 3};
    MPI_Type_vector(5, 1, 2, MPI_INT64_T, &every_other);
    MPI_Type_indexed(2, lengths, places, MPI_INT64_T, &pieces);
    MPI_Type_commit(&every_other);
    MPI_Type_commit(&pieces);
    for (int i = 0; i < 10; i++) {
        operand[i] = i + 1;
        old[i] = -1;
    }
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 20; i++)
        base[i] = 100 * i;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get_accumulate(operand, 1, every_other, old, 5, MPI_INT64_T, next_rank, 1, 1, pieces, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    const int at[] = {0, 3, 4, 5, 6};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(old[i], 100 * (at[i] + 1));
        CHECK_EQ(base[at[i] + 1], 100 * (at[i] + 1) + 2 * i + 1);
    }
    CHECK_EQ(base[2], 200);
    CHECK_EQ(base[8], 800);
    MPI_Type_free(&every_other);
    MPI_Type_free(&pieces);
}

static void by_requests(void)
{
    MPI_Request requests[2];
    int64_t one = 1, old = -1;
    OK(MPI_Win_fence(0, win));
    base[0] = 41;
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win));
    OK(MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, MPI_SUM, win,
                           &requests[0]));
    OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, MPI_MAX, win, &requests[1]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK_EQ(old, 41);
    OK(MPI_Win_unlock(next_rank, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(base[0], 42);
}

static void sum_of_mine(void *in, void *out, int *n, MPI_Datatype *type)
{
    (void)in, (void)out, (void)n, (void)type;
}

static void mistakes(void)
{
    MPI_Op own;
    int64_t word = 0, old;
    double real = 0;
    MPI_Op_create(sum_of_mine, 1, &own);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    OK(MPI_Win_lock_all(0, win));
    CHECK_EQ(error_class(MPI_Accumulate(&word, 1, MPI_INT64_T, me, 0, 1, MPI_INT64_T, own, win)), MPI_ERR_OP);
    CHECK_EQ(error_class(MPI_Accumulate(&word, 1, MPI_INT64_T, me, 0, 1, MPI_INT64_T, MPI_NO_OP, win)), MPI_ERR_OP);
    CHECK_EQ(error_class(MPI_Accumulate(&real, 1, MPI_DOUBLE, me, 0, 1, MPI_DOUBLE, MPI_BOR, win)), MPI_ERR_OP);
    CHECK_EQ(error_class(MPI_Accumulate(&real, 1, MPI_DOUBLE, me, 0, 1, MPI_INT64_T, MPI_SUM, win)), MPI_ERR_TYPE);
    CHECK_EQ(error_class(MPI_Fetch_and_op(&word, &old, MPI_INT64_T, me, 100, MPI_SUM, win)), MPI_ERR_RMA_RANGE);
    CHECK_EQ(error_class(MPI_Compare_and_swap(&real, &real, &real, MPI_DOUBLE, me, 0, win)), MPI_ERR_TYPE);
    OK(MPI_Win_unlock_all(win));
    MPI_Op_free(&own);
}

/* A pointer and its rank go as a whole through MPI_BYTE. */
static void pairs(void)
{
    struct {
        int64_t rank, place;
    } mine, seen = {0};
    OK(MPI_Win_fence(0, win));
    memset(base, 0, 800);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_lock_all(0, win));
    for (int turn = 0; turn < 50 * TURNS; turn++) {
        mine.rank = mine.place = ranks * turn + me;
        OK(MPI_Accumulate(&mine, sizeof mine, MPI_BYTE, 0, 5, sizeof mine, MPI_BYTE, MPI_REPLACE, win));
        OK(MPI_Get_accumulate(0, 0, MPI_BYTE, &seen, sizeof seen, MPI_BYTE, 0, 5, sizeof seen, MPI_BYTE, MPI_NO_OP,
                              win));
        OK(MPI_Win_flush(0, win));
        CHECK_EQ(seen.rank, seen.place);
    }
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* MPI_CHAR counts as an integer, as with both MPIs; nothing at all is right with any type. */
static void lenient(void)
{
    MPI_Datatype none;
    char one = 1, old = -1;
    double unused = 0;
    OK(MPI_Type_contiguous(0, MPI_INT, &none));
    OK(MPI_Type_commit(&none));
    OK(MPI_Win_fence(0, win));
    memset(base, 0, 800);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Fetch_and_op(&one, &old, MPI_CHAR, 0, 3, MPI_SUM, win));
    OK(MPI_Accumulate(&unused, 0, MPI_DOUBLE, 0, 0, 0, MPI_INT, MPI_SUM, win));
    OK(MPI_Accumulate(&unused, 1, none, 0, 0, 0, MPI_DOUBLE, MPI_SUM, win));
    OK(MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_DOUBLE, 0, 0, 5, none, MPI_SUM, win));
    OK(MPI_Get_accumulate(NULL, 0, MPI_BYTE, NULL, 0, MPI_BYTE, 0, 0, 0, MPI_BYTE, MPI_SUM, win));
    OK(MPI_Put(NULL, 3, none, 0, 0, 0, MPI_DOUBLE, win));
    OK(MPI_Win_fence(0, win));
    CHECK(old >= 0 && old < ranks);
    if (me == 0)
        CHECK_EQ(*(char *)&base[3], ranks);
    MPI_Type_free(&none);
}

static void all(void)
{
    sums();
    swaps();
    every_operation();
    derived();
    by_requests();
    pairs();
    lenient();
    mistakes();
    OK(MPI_Win_free(&win));
}

int main(void)
{
    static int64_t own[100];
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    all();
    base = own;
    OK(MPI_Win_create(own, 800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    all();
    return check_pass();
}
