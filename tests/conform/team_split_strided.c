/* Teams: split_strided. Every triplet of the world and of a team, with positive, negative and zero stride: members,
 * their numbers, non-members, return values on all; all members report an invalid triplet; the handle is always set.
 * prints: ^PASS$
 */
#include "check.h"

/* A handle that was something else before, so that a call that leaves it alone is found. */
static shmem_team_t split(shmem_team_t parent, int start, int stride, int size, int want_success)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int result = shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team);
    CHECK_EQ(result == 0, want_success);
    if (!want_success)
        CHECK(team == SHMEM_TEAM_INVALID);
    return team;
}

/* My number in the set, or -1. */
static int my_place(int my_parent_pe, int start, int stride, int size)
{
    for (int i = 0; i < size; i++)
        if (start + stride * i == my_parent_pe)
            return i;
    return -1;
}

/* The members: numbers, sizes, translation to the parent; a sum over the team as a sign of life. */
static void check_team(shmem_team_t parent, shmem_team_t team, int start, int stride, int size)
{
    static long one, sum;
    int place = my_place(shmem_team_my_pe(parent), start, stride, size);
    if (place < 0) {
        CHECK(team == SHMEM_TEAM_INVALID);
        CHECK_EQ(shmem_team_my_pe(team), -1);
        CHECK_EQ(shmem_team_n_pes(team), -1);
        shmem_team_destroy(team); /* no operation */
        return;
    }
    CHECK(team != SHMEM_TEAM_INVALID && team != parent);
    CHECK_EQ(shmem_team_my_pe(team), place);
    CHECK_EQ(shmem_team_n_pes(team), size);
    for (int i = 0; i < size; i++)
        CHECK_EQ(shmem_team_translate_pe(team, i, parent), start + stride * i);
    for (int pe = 0; pe < shmem_team_n_pes(parent); pe++)
        CHECK_EQ(shmem_team_translate_pe(parent, pe, team), my_place(pe, start, stride, size));
    one = place + 1;
    CHECK_EQ(shmem_long_sum_reduce(team, &sum, &one, 1), 0);
    CHECK_EQ(sum, (long)size * (size + 1) / 2);
    CHECK_EQ(shmem_team_sync(team), 0); /* everybody's sum may be written again */
    shmem_team_destroy(team);
}

static void every_triplet(shmem_team_t parent)
{
    int n = shmem_team_n_pes(parent);
    for (int start = 0; start < n; start++)
        for (int stride = -n; stride <= n; stride++)
            for (int size = 1; size <= n; size++) {
                int last = start + stride * (size - 1);
                if (last < 0 || last >= n || (stride == 0 && size != 1))
                    continue; /* wrap-around and such: undefined */
                if (n > 4 && (start + stride + size) % 3 != 0)
                    continue; /* enough */
                check_team(parent, split(parent, start, stride, size, 1), start, stride, size);
            }
}

/* A single PE with any stride at all. */
static void one_with_any_stride(void)
{
    static const int strides[] = {0, 1, -1, 1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT_OF(strides); i++) {
        shmem_team_t team = split(SHMEM_TEAM_WORLD, npes - 1, strides[i], 1, 1);
        CHECK_EQ(shmem_team_my_pe(team), me == npes - 1 ? 0 : -1);
        CHECK_EQ(shmem_team_n_pes(team), me == npes - 1 ? 1 : -1);
        shmem_team_destroy(team);
    }
}

/* A start outside of the parent, and no parent at all: nonzero everywhere, and the parent still works. */
static void invalid(shmem_team_t parent)
{
    int n = shmem_team_n_pes(parent);
    split(parent, -1, 1, 1, 0);
    split(parent, n, 1, 1, 0);
    split(parent, n + 5, -1, 1, 0);
    split(SHMEM_TEAM_INVALID, 0, 1, 1, 0);
    CHECK_EQ(shmem_team_sync(parent), 0);
}

int main(void)
{
    check_start();
    every_triplet(SHMEM_TEAM_WORLD);
    one_with_any_stride();
    invalid(SHMEM_TEAM_WORLD);
    shmem_team_t backwards = split(SHMEM_TEAM_WORLD, npes - 1, -1, npes, 1);
    every_triplet(backwards); /* a parent in reverse order */
    invalid(backwards);
    shmem_team_t even = split(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, 1);
    if (even != SHMEM_TEAM_INVALID)
        every_triplet(even);
    shmem_team_destroy(even);
    shmem_team_destroy(backwards);
    every_triplet(SHMEM_TEAM_SHARED);
    return check_pass();
}
