/* Teams: members and numbers, splits of splits, reversed and single ones, errors that change nothing, as many live
 * teams as there are slots and one more, reuse after destroy, disjoint teams at once, a later life of the library.
 *
 * pes: 1 2 3 4 7
 */
#include "coll.h"

#include <limits.h>

enum { MOST = 254 }; /* slots beside those of the predefined teams */

static int me, npes;

/* The team holds the PEs start + i * stride of the world: numbers, translation, a collective. */
static void check_team(shmem_team_t team, int start, int stride, int size)
{
    static long in, all[64];
    int rank = shmem_team_my_pe(team);
    REQUIRE(shmem_team_n_pes(team) == size && rank >= 0 && start + rank * stride == me, "member %d of %d, wanted %d",
            rank, shmem_team_n_pes(team), size);
    for (int i = 0; i < size; i++) {
        REQUIRE(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) == start + i * stride, "to the world");
        REQUIRE(shmem_team_translate_pe(SHMEM_TEAM_WORLD, start + i * stride, team) == i, "from the world");
        REQUIRE(shmem_team_ptr(team, &in, i) == shmem_ptr(&in, start + i * stride), "team_ptr");
    }
    REQUIRE(shmem_team_translate_pe(team, size, SHMEM_TEAM_WORLD) == -1 && !shmem_team_ptr(team, &in, size), "beyond");
    in = me * 3;
    REQUIRE(shmem_long_fcollect(team, all, &in, 1) == 0, "fcollect");
    for (int i = 0; i < size; i++)
        REQUIRE(all[i] == 3 * (start + i * stride), "fcollect: %ld of member %d", all[i], i);
}

static void check_triplet(int start, int stride, int size)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    bool inside = start >= 0 && start < npes && size >= 1 &&
                  (size == 1 ||
                   (stride != 0 && start + (long)stride * (size - 1) >= 0 && start + (long)stride * (size - 1) < npes));
    int status = shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, 0, 0, &team);
    bool member = false;
    for (int i = 0; i < size && inside; i++)
        member |= start + i * (size == 1 ? 0 : stride) == me;
    REQUIRE((status == 0) == inside, "split (%d, %d, %d) gives %d", start, stride, size, status);
    REQUIRE((team != SHMEM_TEAM_INVALID) == member, "split (%d, %d, %d): member or not", start, stride, size);
    if (member)
        check_team(team, start, size == 1 ? 1 : stride, size);
    shmem_team_destroy(team);
}

static void test_triplets(void)
{
    for (int start = -1; start <= npes; start += npes > 7 ? 3 : 1)
        for (int stride = -3; stride <= 3; stride++)
            for (int size = 0; size <= npes + 1; size += npes > 7 ? 4 : 1)
                check_triplet(start, stride, size);
    check_triplet(0, INT_MAX, 1);
    check_triplet(npes - 1, INT_MIN, 1);
    check_triplet(0, INT_MIN, INT_MAX);
    check_triplet(0, INT_MAX, INT_MAX);
    check_triplet(0, 1, INT_MAX);
}

static void test_2d(void)
{
    for (int xrange = 1; xrange <= npes + 1; xrange++) {
        shmem_team_t x, y;
        int width = xrange < npes ? xrange : npes, column = me % width, row = me - column;
        shmem_team_config_t wanted = {.num_contexts = 3}, got = {.num_contexts = -5};
        REQUIRE(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, 0, 0, &x, &wanted, SHMEM_TEAM_NUM_CONTEXTS, &y) == 0,
                "2d");
        check_team(x, row, 1, npes - row < width ? npes - row : width);
        check_team(y, column, width, (npes - column + width - 1) / width);
        REQUIRE(shmem_team_my_pe(x) == column, "x coordinate");
        REQUIRE(shmem_team_get_config(y, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 3, "config");
        REQUIRE(shmem_team_get_config(x, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 0, "config");
        shmem_team_destroy(x);
        shmem_team_destroy(y);
    }
}

/* Halves of halves, reversed each time: their slots are the same where they are disjoint. */
static void test_nested(shmem_team_t parent, int start, int stride, int size, int depth)
{
    shmem_team_t left, right;
    int half = size / 2;
    if (half == 0)
        return;
    REQUIRE(shmem_team_split_strided(parent, half - 1, -1, half, 0, 0, &left) == 0, "left");
    REQUIRE(shmem_team_split_strided(parent, size - 1, -1, size - half, 0, 0, &right) == 0, "right");
    if (left != SHMEM_TEAM_INVALID) {
        check_team(left, start + (half - 1) * stride, -stride, half);
        test_nested(left, start + (half - 1) * stride, -stride, half, depth + 1);
    } else {
        check_team(right, start + (size - 1) * stride, -stride, size - half);
        test_nested(right, start + (size - 1) * stride, -stride, size - half, depth + 1);
    }
    shmem_team_destroy(left);
    shmem_team_destroy(right);
}

/* All slots of this PE, then one more, and again after all are given back. */
static void test_many(void)
{
    static shmem_team_t teams[MOST];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MOST; i++)
            REQUIRE(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, 0, 0, &teams[i]) == 0, "team %d", i);
        shmem_team_t none = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
        REQUIRE(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, 0, 0, &none) != 0 && none == SHMEM_TEAM_INVALID,
                "one team too many");
        REQUIRE(shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, 0, 0, &none, 0, 0, &other) != 0 &&
                    none == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID,
                "two teams too many");
        for (int i = 0; i < MOST; i += 25)
            check_team(teams[i], 0, 1, npes);
        shmem_team_destroy(teams[MOST / 2]);
        REQUIRE(shmem_team_split_2d(SHMEM_TEAM_WORLD, npes, 0, 0, &none, 0, 0, &other) != 0 &&
                    none == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID,
                "room for one of two");
        REQUIRE(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, 0, 0, &teams[MOST / 2]) == 0,
                "one again");
        check_team(teams[MOST / 2], npes - 1, -1, npes);
        for (int i = 0; i < MOST; i++)
            shmem_team_destroy(teams[(i * 37) % MOST]);
    }
}

/* Without a sync of the user between use, destroy and the next team in the same slot. */
static void test_reuse(void)
{
    uint64_t own = (uint64_t)me + 3;
    static int value;
    for (int i = 0; i < 300; i++) {
        shmem_team_t team;
        int size = 1 + i % npes;
        REQUIRE(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size, 0, 0, &team) == 0, "split");
        if (team == SHMEM_TEAM_INVALID)
            continue;
        dawdle(&own);
        value = i * 10;
        if (shmem_team_my_pe(team) == i % size)
            value = i;
        shmem_int_broadcast(team, &value, &value, 1, i % size);
        REQUIRE(value == i, "broadcast after reuse: %d, not %d", value, i);
        shmem_team_destroy(team);
    }
}

static void test_invalid(void)
{
    shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
    shmem_team_config_t config = {.num_contexts = 7};
    REQUIRE(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, 0, 0, &x) != 0 && x == SHMEM_TEAM_INVALID, "strided");
    REQUIRE(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, 0, SHMEM_TEAM_NUM_CONTEXTS, &x) != 0, "mask alone");
    x = SHMEM_TEAM_WORLD;
    REQUIRE(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, 0, 0, &x, 0, 0, &y) != 0 && x == SHMEM_TEAM_INVALID &&
                y == SHMEM_TEAM_INVALID,
            "2d");
    REQUIRE(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0 &&
                config.num_contexts == 7,
            "config");
    REQUIRE(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, 0) == 0, "config of nothing");
    REQUIRE(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1 &&
                shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1 &&
                shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_WORLD) == -1,
            "translate");
    REQUIRE(!shmem_team_ptr(SHMEM_TEAM_INVALID, &me, 0), "ptr");
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

int main(void)
{
    for (int life = 0; life < 2; life++) {
        shmem_init();
        me = shmem_my_pe();
        npes = shmem_n_pes();
        test_invalid();
        test_triplets();
        test_2d();
        test_nested(SHMEM_TEAM_WORLD, 0, 1, npes, 0);
        test_reuse();
        test_many();
        shmem_team_t left_to_finalize;
        shmem_ctx_t ctx;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, 0, 0, &left_to_finalize);
        REQUIRE(shmem_team_create_ctx(left_to_finalize, 0, &ctx) == 0, "context");
        shmem_finalize();
    }
    return 0;
}
