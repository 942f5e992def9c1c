/* The hint mpi_minimum_memory_alignment: memory begins where it says, is all there, goes back, and peers reach it. Other
 * values of the hint are ignored. A window tells how it was made, whatever it is told later.
 * ranks: 1 2
 * ways: plain far */
#include "check.h"

enum { BYTES = 1000 };

static MPI_Info hint_of(const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", value);
    return info;
}

static void check_at(const void *memory, uintptr_t alignment)
{
    CHECK(memory != 0);
    CHECK_EQ((uintptr_t)memory % alignment, 0);
}

static void put_around(MPI_Win win, const char *base, int bytes)
{
    char sent[BYTES];
    memset(sent, 'a' + me, BYTES);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(sent, bytes, MPI_CHAR, next_rank, 0, bytes, MPI_CHAR, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < bytes; i++)
        CHECK_EQ(base[i], 'a' + prev_rank);
}

/* What MPI_Win_get_info tells, after hints that come too late. */
static void tells(MPI_Win win, const char *key, const char *wanted)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info late = hint_of("8192"), info;
    int found;
    MPI_Info_set(late, "alloc_shared_noncontig", strcmp(wanted, "true") == 0 ? "false" : "true");
    OK(MPI_Win_set_info(win, late));
    OK(MPI_Win_get_info(win, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    CHECK(found && strcmp(value, wanted) == 0);
    MPI_Info_free(&info);
    MPI_Info_free(&late);
}

static void memory(MPI_Info info, uintptr_t alignment)
{
    char *at[20];
    for (int i = 0; i < 20; i++) {
        OK(MPI_Alloc_mem(BYTES + i, info, &at[i]));
        check_at(at[i], alignment);
        memset(at[i], i, (size_t)(BYTES + i));
    }
    for (int i = 0; i < 20; i++)
        for (int k = 0; k < BYTES + i; k++)
            CHECK_EQ(at[i][k], i);
    for (int i = 0; i < 20; i++)
        OK(MPI_Free_mem(at[(i * 7) % 20]));
}

static void windows(MPI_Info info, uintptr_t alignment, int far)
{
    MPI_Win win;
    char *base, *theirs;
    MPI_Aint size;
    int unit;
    char told[24];
    snprintf(told, sizeof told, "%lu", (unsigned long)alignment);
    OK(MPI_Win_allocate(BYTES, 1, info, MPI_COMM_WORLD, &base, &win));
    check_at(base, alignment);
    put_around(win, base, BYTES);
    tells(win, "mpi_minimum_memory_alignment", told);
    tells(win, "alloc_shared_noncontig", "false");
    OK(MPI_Win_free(&win));
    if (far)
        return; /* no shared windows */
    OK(MPI_Win_allocate_shared(BYTES / 2 + me, 1, info, MPI_COMM_WORLD, &base, &win));
    OK(MPI_Win_shared_query(win, 0, &size, &unit, &theirs));
    if (me == 0)
        check_at(base, alignment);
    CHECK(base == theirs + (me ? BYTES / 2 : 0)); /* contiguous all the same */
    put_around(win, base, BYTES / 2);
    tells(win, "alloc_shared_noncontig", "false");
    OK(MPI_Win_free(&win));
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    OK(MPI_Win_allocate_shared(BYTES, 1, info, MPI_COMM_WORLD, &base, &win));
    check_at(base, alignment);
    put_around(win, base, BYTES);
    tells(win, "alloc_shared_noncontig", "true");
    tells(win, "mpi_minimum_memory_alignment", told);
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    static const char *const values[] = {"1", "64", "128", "4096", "2097152", "0", "-64", "banana", "24"};
    const int far = argc > 1 && strcmp(argv[1], "far") == 0;
    check_start(MPI_THREAD_SINGLE);
    for (int i = 0; i < 9; i++) {
        const long alignment = strtol(values[i], 0, 10);
        const int taken = alignment > 0 && (alignment & (alignment - 1)) == 0;
        MPI_Info info = hint_of(values[i]);
        memory(info, taken ? (uintptr_t)alignment : 1);
        windows(info, taken ? (uintptr_t)alignment : 1, far);
        MPI_Info_free(&info);
    }
    return check_pass();
}
