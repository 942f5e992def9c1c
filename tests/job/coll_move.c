/* Collectives that move data, on several overlapping teams in random order, without a sync between them. All PEs use
 * the same seeds, so each knows the data of all. Each PE changes source as soon as a call returns, and fills dest with
 * other data before a call.
 *
 * pes: 2 4 7
 * case: chosen
 * pes: 1 2 3 4 7 16
 * case: slots
 * env: LATERAL_COLL=broadcast:slots,collect:slots,fcollect:slots,alltoall:slots
 * case: pull
 * env: LATERAL_COLL=broadcast:pull,collect:pull,fcollect:pull,alltoall:pull,alltoalls:pull
 * case: disseminate
 * pes: 4 7
 * env: LATERAL_COLL=sync:disseminate
 * case: count
 * pes: 2 4 7
 * env: LATERAL_COLL=sync:count
 */
#include "coll.h"

enum { TEAMS = 6, ROOM = 4 << 20 };

struct member {
    shmem_team_t team;
    int rank, size;
};

static unsigned char *source, *dest;
static unsigned char global_source[3000], global_dest[48000];

static void check(const char *what, uint64_t step, const unsigned char *at, int rank, size_t from, size_t bytes)
{
    size_t where = differs(at, step, rank, from, bytes);
    REQUIRE(where == bytes, "step %lu: %s of %zu bytes: wrong at byte %zu of member %d", (unsigned long)step, what,
            bytes, where, rank);
}

static void broadcast(const struct member *m, uint64_t step, uint64_t *seed)
{
    size_t bytes = draw_size(seed, ROOM);
    int root = (int)(draw(seed) % (uint64_t)m->size);
    bool in_place = draw(seed) % 4 == 0;
    unsigned char *from = in_place ? dest : source;
    fill(from, step, m->rank, 0, bytes);
    REQUIRE(shmem_broadcastmem(m->team, dest, from, bytes, root) == 0, "broadcast failed");
    memset(source, 1, bytes < 5000 ? bytes : 5000);
    check("broadcast", step, dest, root, 0, bytes);
}

static void fcollect(const struct member *m, uint64_t step, uint64_t *seed)
{
    size_t bytes = draw_size(seed, ROOM / (size_t)m->size);
    bool global = bytes <= sizeof global_source && bytes * (size_t)m->size <= sizeof global_dest;
    unsigned char *from = global ? global_source : source, *to = global ? global_dest : dest;
    fill(from, step, m->rank, 0, bytes);
    REQUIRE(shmem_fcollectmem(m->team, to, from, bytes) == 0, "fcollect failed");
    memset(from, 2, bytes);
    for (int rank = 0; rank < m->size; rank++)
        check("fcollect", step, to + (size_t)rank * bytes, rank, 0, bytes);
}

static void collect(const struct member *m, uint64_t step, uint64_t *seed)
{
    size_t sizes[64], at = 0;
    for (int rank = 0; rank < m->size; rank++)
        sizes[rank] = draw_size(seed, ROOM / (size_t)m->size) * (draw(seed) % 3 != 0);
    size_t mine = sizes[m->rank];
    fill(source, step, m->rank, 0, mine);
    REQUIRE(shmem_collectmem(m->team, dest, mine ? source : 0, mine) == 0, "collect failed");
    memset(source, 3, mine);
    for (int rank = 0; rank < m->size; at += sizes[rank++])
        check("collect", step, dest + at, rank, 0, sizes[rank]);
}

static void alltoall(const struct member *m, uint64_t step, uint64_t *seed)
{
    size_t bytes = draw_size(seed, ROOM / (size_t)m->size);
    fill(source, step, m->rank, 0, bytes * (size_t)m->size);
    REQUIRE(shmem_alltoallmem(m->team, dest, source, bytes) == 0, "alltoall failed");
    memset(source, 4, bytes * (size_t)m->size);
    for (int rank = 0; rank < m->size; rank++)
        check("alltoall", step, dest + (size_t)rank * bytes, rank, (size_t)m->rank * bytes, bytes);
}

/* Elements of `size` bytes; what lies between them stays. */
static void strided(const struct member *m, size_t size, size_t nelems, size_t dst, size_t sst)
{
    switch (size) {
    case 1: shmem_alltoallsmem(m->team, dest, source, (ptrdiff_t)dst, (ptrdiff_t)sst, nelems); break;
    case 2:
        shmem_short_alltoalls(m->team, (short *)dest, (short *)source, (ptrdiff_t)dst, (ptrdiff_t)sst, nelems);
        break;
    case 4:
        shmem_float_alltoalls(m->team, (float *)dest, (float *)source, (ptrdiff_t)dst, (ptrdiff_t)sst, nelems);
        break;
    case 8: shmem_long_alltoalls(m->team, (long *)dest, (long *)source, (ptrdiff_t)dst, (ptrdiff_t)sst, nelems); break;
    default:
        shmem_longdouble_alltoalls(m->team, (long double *)dest, (long double *)source, (ptrdiff_t)dst, (ptrdiff_t)sst,
                                   nelems);
    }
}

static void alltoalls(const struct member *m, uint64_t step, uint64_t *seed)
{
    size_t size = (size_t)1 << draw(seed) % 5, nelems = draw_size(seed, 2000);
    size_t dst = 1 + draw(seed) % 4, sst = 1 + draw(seed) % 4, blocks = (size_t)m->size;
    fill(source, step, m->rank, 0, blocks * nelems * sst * size);
    memset(dest, 0xa5, blocks * nelems * dst * size);
    strided(m, size, nelems, dst, sst);
    memset(source, 5, blocks * nelems * sst * size);
    for (size_t i = 0; i < blocks * nelems; i++) {
        size_t rank = i / nelems, e = i % nelems;
        check("alltoalls", step, dest + i * dst * size, (int)rank, ((size_t)m->rank * nelems + e) * sst * size, size);
        for (size_t gap = size; gap < dst * size; gap++)
            REQUIRE(dest[i * dst * size + gap] == 0xa5, "step %lu: alltoalls wrote between elements",
                    (unsigned long)step);
    }
}

static void synchronise(const struct member *m, uint64_t step, uint64_t *seed)
{
    (void)step, (void)seed;
    REQUIRE(shmem_team_sync(m->team) == 0, "sync failed");
}

static void take_in(struct member *m, shmem_team_t team)
{
    *m = (struct member){team, shmem_team_my_pe(team), shmem_team_n_pes(team)};
}

static void make_teams(struct member *teams)
{
    int n = shmem_n_pes();
    shmem_team_t x, y, odd, back;
    take_in(&teams[0], SHMEM_TEAM_WORLD);
    take_in(&teams[1], SHMEM_TEAM_SHARED);
    REQUIRE(shmem_team_split_2d(SHMEM_TEAM_WORLD, (n + 1) / 2, 0, 0, &x, 0, 0, &y) == 0, "split");
    REQUIRE(shmem_team_split_strided(SHMEM_TEAM_WORLD, n > 1, 2, (n + (n == 1)) / 2, 0, 0, &odd) == 0, "split");
    REQUIRE(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, 0, 0, &back) == 0, "split");
    take_in(&teams[2], x);
    take_in(&teams[3], y);
    take_in(&teams[4], odd);
    take_in(&teams[5], back);
}

int main(void)
{
    static void (*const operations[])(const struct member *, uint64_t,
                                      uint64_t *) = {broadcast, broadcast, broadcast, fcollect,  fcollect,   collect,
                                                     collect,   alltoall,  alltoall,  alltoalls, synchronise};
    struct member teams[TEAMS];
    shmem_init();
    make_teams(teams);
    source = shmem_malloc(ROOM);
    dest = shmem_malloc(ROOM);
    uint64_t seed = 1, own = 77 + (uint64_t)shmem_my_pe();
    int steps = 4000 / (1 + shmem_n_pes());
    for (int step = 0; step < steps; step++) {
        const struct member *m = &teams[draw(&seed) % TEAMS];
        uint64_t what = draw(&seed) % (sizeof operations / sizeof *operations), detail = draw(&seed);
        if (m->team == SHMEM_TEAM_INVALID)
            continue;
        dawdle(&own);
        operations[what](m, (uint64_t)step, &detail);
    }
    REQUIRE(shmem_broadcastmem(SHMEM_TEAM_WORLD, 0, 0, 0, 0) == 0 &&
                shmem_fcollectmem(SHMEM_TEAM_WORLD, 0, 0, 0) == 0 && shmem_collectmem(SHMEM_TEAM_WORLD, 0, 0, 0) == 0 &&
                shmem_alltoallmem(SHMEM_TEAM_WORLD, 0, 0, 0) == 0 &&
                shmem_alltoallsmem(SHMEM_TEAM_WORLD, 0, 0, 1, 1, 0) == 0,
            "null and zero");
    shmem_finalize();
    return 0;
}
