/* Locks of windows: readers and writers exclude each other, also from MPI_Win_lock_all; a writer gets its turn although
 * readers come all the time, and a reader although writers do.
 * ranks: 2 4
 * ways: plain far far-4 far-4-fault */
#include "check.h"

enum { TURNS = 150 };

static MPI_Win win;
static int64_t *memory; /* two words that writers keep equal */

/* Changes both words of a rank by loads and stores of RMA that are not atomic together. */
static void write_both(int rank)
{
    int64_t both[2] = {-1, -2};
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    OK(MPI_Get(both, 2, MPI_INT64_T, rank, 0, 2, MPI_INT64_T, win));
    OK(MPI_Win_flush(rank, win));
    CHECK_EQ(both[0], both[1]);
    both[0]++;
    OK(MPI_Put(&both[0], 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, win));
    OK(MPI_Win_flush(rank, win));
    both[1]++;
    OK(MPI_Put(&both[1], 1, MPI_INT64_T, rank, 1, 1, MPI_INT64_T, win));
    OK(MPI_Win_unlock(rank, win));
}

static void read_both(int rank)
{
    int64_t both[2] = {-1, -2};
    OK(MPI_Get(&both[1], 1, MPI_INT64_T, rank, 1, 1, MPI_INT64_T, win));
    OK(MPI_Win_flush(rank, win));
    OK(MPI_Get(&both[0], 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, win));
    OK(MPI_Win_flush(rank, win));
    CHECK_EQ(both[0], both[1]);
}

static void all_ways(void)
{
    memory[0] = memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < TURNS; turn++) {
        int rank = (me + turn) % ranks;
        switch ((turn + me) % 3) {
        case 0: write_both(rank); break;
        case 1:
            OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
            read_both(rank);
            OK(MPI_Win_unlock(rank, win));
            break;
        default:
            OK(MPI_Win_lock_all(0, win));
            for (int i = 0; i < 2; i++)
                read_both((rank + i) % ranks);
            CHECK_EQ(((volatile int64_t *)memory)[0], ((volatile int64_t *)memory)[1]); /* own memory */
            OK(MPI_Win_unlock_all(win));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t mine = memory[0], sum = 0;
    CHECK_EQ(memory[0], memory[1]);
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    int64_t writes = 0;
    for (int rank = 0; rank < ranks; rank++)
        for (int turn = 0; turn < TURNS; turn++)
            writes += (turn + rank) % 3 == 0;
    CHECK_EQ(sum, writes);
}

/* Rank 1 ends only when rank 0 has had a turn; all others ask for the lock again and again. */
static void gets_turn(int type, int other)
{
    static int64_t done;
    int64_t seen = 0, one = 1;
    MPI_Win flag;
    done = 0;
    OK(MPI_Win_create(&done, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &flag));
    OK(MPI_Win_lock_all(0, flag));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        for (int i = 0; i < 20; i++) {
            OK(MPI_Win_lock(type, ranks - 1, 0, win));
            OK(MPI_Win_unlock(ranks - 1, win));
        }
        for (int rank = 0; rank < ranks; rank++)
            OK(MPI_Accumulate(&one, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, MPI_SUM, flag));
    } else {
        while (!seen) {
            OK(MPI_Win_lock(other, ranks - 1, 0, win));
            OK(MPI_Fetch_and_op(&one, &seen, MPI_INT64_T, me, 0, MPI_NO_OP, flag));
            OK(MPI_Win_flush(me, flag));
            OK(MPI_Win_unlock(ranks - 1, win));
        }
    }
    OK(MPI_Win_unlock_all(flag));
    OK(MPI_Win_free(&flag));
}

/* The end of a lock may be under way when its window is freed. It must not reach a later window in the same place. */
static void free_behind_unlock(void)
{
    enum { KEPT = 150 };
    static MPI_Win kept[KEPT];
    int64_t *base;
    for (int turn = 0; turn < 3 * KEPT; turn++) {
        MPI_Win *which = &kept[turn % KEPT];
        for (int i = 0; turn >= KEPT && i < ranks; i++) {
            OK(MPI_Win_lock(turn & 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, (me + i) % ranks, 0, *which));
            OK(MPI_Win_unlock((me + i) % ranks, *which));
        }
        if (turn >= KEPT)
            OK(MPI_Win_free(which));
        if (turn < 2 * KEPT)
            OK(MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, which));
    }
}

int main(void)
{
    static int64_t own[2];
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Win_create(memory = own, sizeof own, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    all_ways();
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    all_ways();
    gets_turn(MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED);
    gets_turn(MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE);
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win)); /* alone, unchecked */
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    free_behind_unlock();
    return check_pass();
}
