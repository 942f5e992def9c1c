/* Many pieces of equal length: they go as one, near and far, and another datatype on the other side does not change what arrives.
 * ranks: 2
 * ways: plain far */
#include "check.h"

enum { WORDS = 1 << 17, APART = 40000 };

static MPI_Win win;
static int64_t *base, words[WORDS], back[WORDS];

static int64_t stamp(int rank, int i)
{
    return ((int64_t)(rank + 1) << 32) + i;
}

static void fill(int64_t *to, int rank)
{
    for (int i = 0; i < WORDS; i++)
        to[i] = stamp(rank, i);
}

/* Puts to the next rank and gets back, with sources that change, and data that is read, after flush_local. `here` and `there` say
 * where element i lies; what is between stays as it is. */
static void both_ways(MPI_Datatype local, int locals, MPI_Datatype remote, int remotes, int n, int (*here)(int),
                      int (*there)(int))
{
    int wrong = 0;
    MPI_Type_commit(&local);
    MPI_Type_commit(&remote);
    fill(words, me);
    memset(base, 0, WORDS * sizeof *base);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put(words, locals, local, next_rank, 0, remotes, remote, win));
    OK(MPI_Win_flush_local(next_rank, win));
    memset(words, 0xff, sizeof words);
    OK(MPI_Win_flush(next_rank, win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        wrong += base[there(i)] != stamp(prev_rank, here(i));
        base[there(i)] = 0;
    }
    for (int i = 0; i < WORDS; i++)
        wrong += base[i] != 0;
    CHECK_EQ(wrong, 0);
    fill(base, me);
    memset(back, 0, sizeof back);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Get(back, locals, local, next_rank, 0, remotes, remote, win));
    OK(MPI_Win_flush_local(next_rank, win));
    for (int i = 0; i < n; i++) {
        wrong += back[here(i)] != stamp(next_rank, there(i));
        back[here(i)] = 0;
    }
    for (int i = 0; i < WORDS; i++)
        wrong += back[i] != 0;
    CHECK_EQ(wrong, 0);
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
}

static int in_a_row(int i)
{
    return i;
}
static int every_second(int i)
{
    return 2 * i;
}
static int every_third(int i)
{
    return 3 * i;
}
static int in_fours(int i)
{
    return i / 4 * 6 + i % 4;
}

static int in_threes(int i)
{
    return i / 3 * 7 + i % 3;
}
static int in_long_rows(int i)
{
    return i / 300 * 301 + i % 300;
}
static int from_the_end(int i)
{
    return 2 * (APART - 1 - i);
}

static MPI_Datatype rows(int count, int length, int stride)
{
    MPI_Datatype type;
    MPI_Type_vector(count, length, stride, MPI_INT64_T, &type);
    return type;
}

/* One word of a struct that has the length of three. */
static MPI_Datatype member(void)
{
    MPI_Datatype one, type;
    MPI_Type_contiguous(1, MPI_INT64_T, &one);
    MPI_Type_create_resized(one, 0, 24, &type);
    MPI_Type_free(&one);
    return type;
}

/* The same words as `rows(APART, 1, 2)`, the last one first. */
static MPI_Datatype backwards(void)
{
    MPI_Datatype type, moved;
    const int one = 1;
    MPI_Aint end = 16 * (APART - 1);
    type = rows(APART, 1, -2);
    MPI_Type_create_hindexed(1, &one, &end, type, &moved);
    MPI_Type_free(&type);
    return moved;
}

static void types(void)
{
    MPI_Datatype second = rows(APART, 1, 2), fours = rows(APART / 4, 4, 6), threes = rows(4000, 3, 7),
                 few_fours = rows(3000, 4, 6), long_rows = rows(100, 300, 301), third = member(),
                 back_again = backwards();
    both_ways(second, 1, second, 1, APART, every_second, every_second);
    both_ways(second, 1, MPI_INT64_T, APART, APART, every_second, in_a_row);
    both_ways(MPI_INT64_T, APART, third, APART, APART, in_a_row, every_third);
    both_ways(third, APART, fours, 1, APART, every_third, in_fours);
    both_ways(fours, 1, fours, 1, APART, in_fours, in_fours);
    both_ways(threes, 1, few_fours, 1, 12000, in_threes, in_fours);
    both_ways(few_fours, 1, threes, 1, 12000, in_fours, in_threes);
    both_ways(long_rows, 1, long_rows, 1, 30000, in_long_rows, in_long_rows);
    both_ways(second, 1, back_again, 1, APART, every_second, from_the_end);
    both_ways(back_again, 1, third, APART, APART, from_the_end, every_third);
    MPI_Type_free(&second);
    MPI_Type_free(&fours);
    MPI_Type_free(&threes);
    MPI_Type_free(&few_fours);
    MPI_Type_free(&long_rows);
    MPI_Type_free(&third);
    MPI_Type_free(&back_again);
}

static int64_t value_at(MPI_Aint at, int n)
{
    int64_t value = -1;
    OK(MPI_Get(&value, 1, MPI_INT64_T, next_rank, at + n * 8, 1, MPI_INT64_T, win));
    OK(MPI_Win_flush(next_rank, win));
    return value;
}

/* Pieces beyond the end of an attached range are an error of their own; what went before and what comes after is there. */
static void beyond(void)
{
    int64_t one = 1, two = 2, many[16] = {0};
    int64_t *memory = calloc(64, sizeof *memory);
    MPI_Datatype second = rows(8, 1, 2);
    MPI_Aint at, mine;
    OK(MPI_Type_commit(&second));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_attach(win, memory, 16 * sizeof *memory));
    OK(MPI_Get_address(memory, &mine));
    OK(MPI_Sendrecv(&mine, 1, MPI_AINT, prev_rank, 0, &at, 1, MPI_AINT, next_rank, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    for (int get = 0; get < 2; get++) {
        OK(MPI_Win_lock_all(0, win));
        OK(MPI_Put(&one, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win));
        int status = get ? MPI_Get(many, 1, second, next_rank, at + 8 * 8, 1, second, win)
                         : MPI_Put(many, 1, second, next_rank, at + 8 * 8, 1, second, win);
        OK(MPI_Put(&two, 1, MPI_INT64_T, next_rank, at + 8, 1, MPI_INT64_T, win));
        int end = MPI_Win_flush(next_rank, win);
        CHECK_EQ(error_class(status == MPI_SUCCESS ? end : status), MPI_ERR_RMA_RANGE);
        CHECK_EQ(value_at(at, 0), 1);
        CHECK_EQ(value_at(at, 1), 2);
        OK(MPI_Put(many, 1, second, next_rank, at, 1, second, win));
        OK(MPI_Win_flush(next_rank, win));
        CHECK_EQ(value_at(at, 0), 0);
        OK(MPI_Win_unlock_all(win));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 16; i < 64; i++)
        CHECK_EQ(memory[i], 0);
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
    MPI_Type_free(&second);
    free(memory);
}

int main(void)
{
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Win_allocate(WORDS * sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    types();
    OK(MPI_Win_free(&win));
    beyond();
    return check_pass();
}
