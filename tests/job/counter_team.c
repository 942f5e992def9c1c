/* Counters of teams: two teams at once, counts right after the creation, slots used again; counts behind strided data and
 * behind a signal; a counter and an operation in one set of requests.
 * pes: 2 4
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { ROUNDS = 30, CELLS = 64 };

static long cells[CELLS], more[CELLS];
static uint64_t signal_word;

/* Every member counts at every member, as the world numbers them. */
static void everybody(shmem_team_t team, shmemx_ct_t ct)
{
    const int size = shmem_team_n_pes(team), rank = shmem_team_my_pe(team);
    for (int to = 0; to < size; to++) {
        long value = 70 + rank;
        shmemx_long_put_ct(ct, &cells[rank], &value, 1, shmem_team_translate_pe(team, to, SHMEM_TEAM_WORLD));
    }
    CHECK_EQ(shmemx_ct_wait(ct, size), size);
    for (int from = 0; from < size; from++)
        CHECK_EQ(cells[from], 70 + from);
}

static void teams(void)
{
    shmem_team_t half = SHMEM_TEAM_INVALID, other = SHMEM_TEAM_INVALID;
    shmemx_ct_t mine, whole, before = 0;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, me % 2 ? &other : &half);
    if (npes > 1)
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, npes / 2, NULL, 0, me % 2 ? &half : &other);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_EQ(shmemx_ct_create_team(half, &mine), 0);
        everybody(half, mine);
        CHECK_EQ(shmemx_ct_create_team(SHMEM_TEAM_WORLD, &whole), 0);
        CHECK(mine && whole && mine != whole && mine != before);
        everybody(SHMEM_TEAM_WORLD, whole);
        CHECK_EQ(shmemx_ct_fetch_reset(whole), npes);
        before = mine;
        CHECK_EQ(shmemx_ct_errors(mine), 0);
        CHECK(shmemx_ct_free_team(SHMEM_TEAM_WORLD, &whole) == 0 && whole == 0);
        CHECK(shmemx_ct_free_team(half, &mine) == 0 && mine == 0);
    }
    CHECK(shmemx_ct_create_team(SHMEM_TEAM_INVALID, &mine) != 0 && mine == 0);
    shmemx_ct_create(&mine);
    CHECK(shmemx_ct_free_team(half, &mine) != 0 && mine != 0); /* not one of a team */
    shmemx_ct_free(&mine);
    shmem_team_destroy(half);
}

/* A slot counts as taken when one member alone has taken it, be it the first. */
static void taken_by_one(void)
{
    shmem_team_t alone[2] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID};
    shmemx_ct_t own = 0, whole = 0;
    for (int pe = 0; pe < 2; pe++)
        shmem_team_split_strided(SHMEM_TEAM_WORLD, pe, 1, 1, NULL, 0, &alone[pe]);
    for (int pe = 0; pe < 2; pe++) {
        if (me == pe)
            CHECK_EQ(shmemx_ct_create_team(alone[pe], &own), 0);
        CHECK_EQ(shmemx_ct_create_team(SHMEM_TEAM_WORLD, &whole), 0);
        everybody(SHMEM_TEAM_WORLD, whole);
        if (me == pe)
            CHECK_EQ(shmemx_ct_get(own), 0);
        CHECK_EQ(shmemx_ct_free_team(SHMEM_TEAM_WORLD, &whole), 0);
        if (me == pe)
            CHECK_EQ(shmemx_ct_free_team(alone[pe], &own), 0);
    }
    for (int pe = 0; pe < 2; pe++)
        if (me == pe)
            shmem_team_destroy(alone[pe]);
}

/* When the count is there, all elements and the signal are. */
static void behind(shmemx_ct_t ct)
{
    long source[CELLS];
    for (long round = 1; round <= 200; round++) {
        for (int i = 0; i < CELLS; i++)
            source[i] = round * 1000 + i;
        shmemx_long_iput_ct(ct, cells, source, 4, 2, CELLS / 4, next_pe);
        shmemx_long_put_signal_ct(ct, more, source, CELLS, &signal_word, (uint64_t)round, SHMEM_SIGNAL_SET, next_pe);
        CHECK_EQ(shmemx_ct_wait(ct, 2), 2);
        for (int i = 0; i < CELLS / 4; i++)
            CHECK_EQ(cells[4 * i], round * 1000 + 2 * i);
        CHECK_EQ(shmem_signal_fetch(&signal_word), round);
        CHECK_EQ(more[CELLS - 1], round * 1000 + CELLS - 1);
        shmemx_ct_consume(ct, 2);
        shmem_barrier_all();
        long got[CELLS] = {0};
        shmemx_long_iget_ct(ct, got, more, 1, 2, CELLS / 2, next_pe);
        CHECK_EQ(got[5], round * 1000 + 10);
        CHECK_EQ(shmemx_ct_wait(ct, 1), 1); /* somebody has read here */
        shmemx_ct_consume(ct, 1);
        shmem_barrier_all();
    }
}

static void in_requests(shmemx_ct_t ct)
{
    for (int round = 0; round < ROUNDS; round++) {
        shmemx_request_t set[2] = {SHMEMX_REQUEST_NULL, SHMEMX_REQUEST_NULL}, add = SHMEMX_REQUEST_NULL;
        long got = -1;
        shmemx_ct_wait_nbe(ct, 3, &set[0]);
        shmemx_long_get_nbe(&got, &more[1], 1, next_pe, &set[1]);
        CHECK_EQ(shmemx_request_test(&set[0]), 0);
        CHECK_EQ(shmemx_request_wait_any(set, 2, NULL), 1);
        CHECK_EQ(got, 200 * 1000 + 1);
        shmem_barrier_all();
        shmemx_ct_add_nbe(ct, 3, next_pe, &add);
        shmemx_request_wait_all_free(set, 2, NULL);
        CHECK_EQ(shmemx_ct_fetch_reset(ct), 3);
        shmemx_request_wait_free(&add);
        CHECK(add == SHMEMX_REQUEST_NULL && set[0] == SHMEMX_REQUEST_NULL);
        shmem_barrier_all();
    }
}

int main(void)
{
    shmemx_ct_t ct;
    check_start();
    teams();
    taken_by_one();
    CHECK_EQ(shmemx_ct_create_team(SHMEM_TEAM_WORLD, &ct), 0);
    behind(ct);
    in_requests(ct);
    shmemx_ct_free_team(SHMEM_TEAM_WORLD, &ct);
    return check_pass();
}
