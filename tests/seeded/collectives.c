/* Collectives of OpenSHMEM on teams, as a seed draws them: each kind, of all lengths, in one phase and in two, in place and not, back to
 * back. Every byte of every dest is looked at, and what lies behind it.
 * pes: 5
 * labels: seeded
 * timeout: 120
 * case: gather
 * env: SEED=1 LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=fault,seed=1,hold=50:tcp
 * case: nodes
 * env: SEED=2 LATERAL_NODE_SIZE=0,1,1 LATERAL_TRANSPORTS=sim,seed=2,hold=50:fault,seed=2,hold=30:tcp
 */
#include "../conform/check.h"

#include "draw.h"

#include <shmemx.h>

enum { TEAMS = 4, ROUNDS = 120, MOST = 8, ROOM = 1 << 20, BEHIND = 16 }; /* ROOM holds the longest of 8 PEs */
enum what { BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, REDUCE, SCAN, SYNC, KINDS };

static shmem_team_t teams[TEAMS];
static unsigned char *source, *dest;

struct call {
    enum what what;
    shmem_team_t team;
    int rank, size, root;
    size_t bytes, dst, sst;
    bool in_place, split, inclusive;
    uint64_t number;
};

static size_t draw_bytes(void)
{
    static const size_t around[] = {1, 8, 48, 512, 4096, 16384, 65536};
    return below(&common, around[below(&common, 7)] + 3);
}

static struct call draw_call(void)
{
    struct call c = {.what = (enum what)below(&common, KINDS),
                     .team = teams[below(&common, TEAMS)],
                     .bytes = draw_bytes(),
                     .dst = 1 + below(&common, 3),
                     .sst = 1 + below(&common, 3),
                     .in_place = below(&common, 3) == 0,
                     .split = below(&common, 3) == 0,
                     .inclusive = below(&common, 2),
                     .number = draw(&common)};
    const size_t root = (size_t)draw(&common);
    if (c.team == SHMEM_TEAM_INVALID)
        return c;
    c.rank = shmem_team_my_pe(c.team);
    c.size = shmem_team_n_pes(c.team);
    c.root = (int)(root % (size_t)c.size);
    if (c.what == REDUCE || c.what == SCAN)
        c.bytes = c.bytes / 8 * 8 + 8;
    if (c.what == ALLTOALLS)
        c.bytes = c.bytes % 2000;
    c.in_place &= c.what == REDUCE || c.what == SCAN || c.what == BROADCAST;
    return c;
}

/* PEs give blocks of different lengths to collect; some are empty. */
static size_t length_at(const struct call *c, int rank)
{
    return (c->number + (uint64_t)rank) % 3 ? c->bytes / (1 + ((size_t)rank & 1)) : 0;
}

static void split_call(const struct call *c, void *to)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    int status = 0;
    switch (c->what) {
    case BROADCAST: status = shmemx_broadcastmem_nbe(c->team, to, source, c->bytes, c->root, &request); break;
    case FCOLLECT: status = shmemx_fcollectmem_nbe(c->team, to, source, c->bytes, &request); break;
    case ALLTOALL: status = shmemx_alltoallmem_nbe(c->team, to, source, c->bytes, &request); break;
    case REDUCE:
        status = shmemx_long_sum_reduce_nbe(c->team, to, (long *)(void *)source, c->bytes / 8, &request);
        break;
    default: status = shmemx_team_sync_nbe(c->team, &request); break;
    }
    CHECK_EQ(status, 0);
    for (size_t i = below(&own, 20); i > 0; i--)
        (void)shmem_test(&me, SHMEM_CMP_EQ, -1);
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
}

static void whole_call(const struct call *c, void *to)
{
    const long *from = (const long *)(void *)source;
    switch (c->what) {
    case BROADCAST: CHECK_EQ(shmem_broadcastmem(c->team, to, source, c->bytes, c->root), 0); break;
    case COLLECT: CHECK_EQ(shmem_collectmem(c->team, to, source, length_at(c, c->rank)), 0); break;
    case FCOLLECT: CHECK_EQ(shmem_fcollectmem(c->team, to, source, c->bytes), 0); break;
    case ALLTOALL: CHECK_EQ(shmem_alltoallmem(c->team, to, source, c->bytes), 0); break;
    case ALLTOALLS:
        CHECK_EQ(shmem_alltoallsmem(c->team, to, source, (ptrdiff_t)c->dst, (ptrdiff_t)c->sst, c->bytes), 0);
        break;
    case REDUCE: CHECK_EQ(shmem_long_sum_reduce(c->team, to, from, c->bytes / 8), 0); break;
    case SCAN:
        CHECK_EQ(c->inclusive ? shmem_long_sum_inscan(c->team, to, from, c->bytes / 8)
                              : shmem_long_sum_exscan(c->team, to, from, c->bytes / 8),
                 0);
        break;
    default: shmem_team_sync(c->team);
    }
}

static size_t source_bytes(const struct call *c)
{
    const size_t all = c->bytes * (size_t)c->size;
    return c->what == ALLTOALL ? all : c->what == ALLTOALLS ? all * c->sst : c->bytes;
}

/* Returns the bytes of the result at this PE. */
static size_t dest_bytes(const struct call *c)
{
    size_t all = 0;
    switch (c->what) {
    case COLLECT:
        for (int rank = 0; rank < c->size; rank++)
            all += length_at(c, rank);
        return all;
    case FCOLLECT:
    case ALLTOALL: return c->bytes * (size_t)c->size;
    case ALLTOALLS: return c->bytes * (size_t)c->size * c->dst;
    case SYNC: return 0;
    default: return c->bytes;
    }
}

static bool is_sum(const struct call *c, const unsigned char *at, int ranks)
{
    unsigned long *sum = calloc(c->bytes / 8, 8), *one = malloc(c->bytes);
    for (int rank = 0; rank < ranks; rank++) {
        fill_with(one, c->bytes, c->number + (uint64_t)rank);
        for (size_t i = 0; i < c->bytes / 8; i++)
            sum[i] += one[i];
    }
    const bool same = memcmp(sum, at, c->bytes) == 0;
    free(sum);
    free(one);
    return same;
}

static void look(const struct call *c, const unsigned char *at)
{
    size_t from = 0;
    for (int rank = 0; rank < c->size; rank++) {
        const uint64_t number = c->number + (uint64_t)rank;
        const unsigned char *block = at + (size_t)rank * c->bytes;
        if (c->what == COLLECT)
            CHECK(is_filled_with(at + from, length_at(c, rank), 0, number));
        from += length_at(c, rank);
        if (c->what == FCOLLECT)
            CHECK(is_filled_with(block, c->bytes, 0, number));
        if (c->what == ALLTOALL)
            CHECK(is_filled_with(block, c->bytes, (size_t)c->rank * c->bytes, number));
        for (size_t i = 0; c->what == ALLTOALLS && i < c->bytes; i++)
            CHECK(is_filled_with(at + ((size_t)rank * c->bytes + i) * c->dst, 1,
                                 ((size_t)c->rank * c->bytes + i) * c->sst, number));
    }
    if (c->what == BROADCAST)
        CHECK(is_filled_with(at, c->bytes, 0, c->number + (uint64_t)c->root));
    if (c->what == REDUCE || c->what == SCAN)
        CHECK(is_sum(c, at, c->what == REDUCE ? c->size : c->rank + c->inclusive));
}

static void one_round(void)
{
    const struct call c = draw_call();
    const size_t behind = dest_bytes(&c);
    if (c.team == SHMEM_TEAM_INVALID)
        return;
    unsigned char *to = c.in_place ? source : dest;
    memset(dest, 0x77, behind + BEHIND);
    fill_with(source, source_bytes(&c), c.number + (uint64_t)c.rank);
    shmem_team_sync(c.team);
    const bool splits = c.split && c.what != COLLECT && c.what != ALLTOALLS && c.what != SCAN;
    splits ? split_call(&c, to) : whole_call(&c, to);
    look(&c, to);
    for (int i = 0; i < BEHIND && !c.in_place && c.what != ALLTOALLS; i++)
        CHECK(to[behind + (size_t)i] == 0x77);
    shmem_team_sync(c.team); /* the next round writes to dest and source */
}

static void make_teams(void)
{
    teams[0] = SHMEM_TEAM_WORLD;
    for (int i = 1; i < TEAMS; i++) {
        const int start = (int)below(&common, (size_t)npes), stride = 1 + (int)below(&common, 2);
        const int most = (npes - 1 - start) / stride + 1;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, 1 + (int)below(&common, (size_t)most), 0, 0,
                                          &teams[i]),
                 0);
    }
}

int main(void)
{
    check_start();
    CHECK(npes <= MOST);
    draw_start(me);
    source = check_alloc(ROOM);
    dest = check_alloc(ROOM);
    for (int life = 0; life < 2; life++) {
        make_teams();
        for (int i = 0; i < ROUNDS; i++)
            one_round();
        shmem_barrier_all();
        for (int i = 1; i < TEAMS; i++)
            if (teams[i] != SHMEM_TEAM_INVALID)
                shmem_team_destroy(teams[i]);
    }
    return check_pass();
}
