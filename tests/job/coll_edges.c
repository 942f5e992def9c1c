/* Collectives at the edges of their ways: sizes just below, at and above those where the way changes, teams of one member and more, in
 * place and not, one after another. Each stores its result and not a byte beside it, whatever lay in the library's memory before. The
 * library lives once with each way of the operations.
 *
 * pes: 3
 */
#include "coll.h"

#include <malloc.h>

enum { GAP = 512, ROOM = 5 << 20, FEW = 40000 };

struct member {
    shmem_team_t team;
    int rank, size;
};

static unsigned char *source, *area; /* area: a gap, the dest, another gap */
static uint64_t step;
static int me;
static bool nodes;
static long psync[SHMEM_SYNC_SIZE];

static unsigned char unused(size_t i)
{
    return (unsigned char)(me * 37 + 5 + (int)(i * 11 % 251));
}

/* Fills the dest and its gaps with bytes that differ from PE to PE. Returns the dest. */
static unsigned char *fresh(size_t bytes)
{
    for (size_t i = 0; i < bytes + 2 * GAP; i++)
        area[i] = unused(i);
    step++;
    return area + GAP;
}

/* From byte `from` of the dest on nothing has been stored. */
static void untouched(const char *what, size_t from, size_t bytes)
{
    for (size_t i = GAP + from; i < GAP + from + bytes; i++)
        REQUIRE(area[i] == unused(i), "%s %d: byte %ld of dest was overwritten: wrong", what, (int)step, (long)i - GAP);
}

static void stored(const char *what, size_t at, int rank, size_t from, size_t bytes)
{
    size_t where = differs(area + GAP + at, step, rank, from, bytes);
    REQUIRE(where == bytes, "%s %d of %zu bytes: wrong at byte %zu of member %d", what, (int)step, bytes, where, rank);
}

static void only(const char *what, size_t bytes)
{
    for (size_t i = 0; i < GAP; i++)
        REQUIRE(area[i] == unused(i), "%s %d: byte %ld of dest was overwritten: wrong", what, (int)step, (long)i - GAP);
    untouched(what, bytes, GAP);
}

static void broadcast(const struct member *m, size_t bytes, int root)
{
    unsigned char *dest = fresh(bytes);
    fill(source, step, m->rank, 0, bytes);
    REQUIRE(shmem_broadcastmem(m->team, dest, source, bytes, root) == 0, "broadcast");
    memset(source, 1, bytes);
    stored("broadcast", 0, root, 0, bytes);
    only("broadcast", bytes);
}

static void fcollect(const struct member *m, size_t bytes)
{
    const size_t all = bytes * (size_t)m->size;
    unsigned char *dest = fresh(all);
    fill(source, step, m->rank, 0, bytes);
    REQUIRE(shmem_fcollectmem(m->team, dest, source, bytes) == 0, "fcollect");
    memset(source, 1, bytes);
    for (int rank = 0; rank < m->size; rank++)
        stored("fcollect", (size_t)rank * bytes, rank, 0, bytes);
    only("fcollect", all);
}

/* Each third member has nothing to give, and no address of it. */
static size_t share_of(int rank, size_t bytes)
{
    return rank % 3 == 1 ? 0 : bytes + (size_t)rank;
}

static void collect(const struct member *m, size_t bytes)
{
    size_t at = 0, mine = share_of(m->rank, bytes);
    unsigned char *dest = fresh((bytes + 8) * (size_t)m->size);
    fill(source, step, m->rank, 0, mine);
    REQUIRE(shmem_collectmem(m->team, dest, mine ? source : 0, mine) == 0, "collect");
    memset(source, 1, mine);
    for (int rank = 0; rank < m->size; at += share_of(rank++, bytes))
        stored("collect", at, rank, 0, share_of(rank, bytes));
    only("collect", at);
}

static void alltoall(const struct member *m, size_t bytes)
{
    const size_t all = bytes * (size_t)m->size;
    unsigned char *dest = fresh(all);
    fill(source, step, m->rank, 0, all);
    REQUIRE(shmem_alltoallmem(m->team, dest, source, bytes) == 0, "alltoall");
    memset(source, 1, all);
    for (int rank = 0; rank < m->size; rank++)
        stored("alltoall", (size_t)rank * bytes, rank, (size_t)m->rank * bytes, bytes);
    only("alltoall", all);
}

/* Elements of four bytes, two apart in source and three apart in dest, where what lies between stays. */
static void alltoalls(const struct member *m, size_t nelems)
{
    enum { DST = 3, SST = 2 };
    const size_t count = nelems * (size_t)m->size;
    unsigned char *dest = fresh(count * DST * 4);
    fill(source, step, m->rank, 0, count * SST * 4);
    REQUIRE(shmem_float_alltoalls(m->team, (float *)(void *)dest, (float *)(void *)source, DST, SST, nelems) == 0,
            "alltoalls");
    memset(source, 1, count * SST * 4);
    for (size_t i = 0; i < count; i++) {
        stored("alltoalls", i * DST * 4, (int)(i / nelems), ((size_t)m->rank * nelems + i % nelems) * SST * 4, 4);
        untouched("alltoalls", i * DST * 4 + 4, (DST - 1) * 4);
    }
    only("alltoalls", count * DST * 4);
}

static long term(int rank, size_t i)
{
    return (long)mix(step * 977 + (uint64_t)rank * 31 + i) >> 8;
}

/* (((x0 + x1) + x2) + ...): any other order of these terms gives other bits, as between nodes. */
static double real(int rank, size_t i)
{
    return (rank % 2 ? -1.0 : 1.0) * (1e16 + (double)i) / (rank + 3.0) + 1.0 / (double)(i + (size_t)rank + 1);
}

static void reduce(const struct member *m, size_t n, bool in_place)
{
    long *dest = (long *)(void *)fresh(n * sizeof(long)), *from = in_place ? dest : (long *)(void *)source;
    for (size_t i = 0; i < n; i++)
        from[i] = term(m->rank, i);
    REQUIRE(shmem_long_sum_reduce(m->team, dest, from, n) == 0, "reduce");
    memset(source, 1, n * sizeof(long));
    for (size_t i = 0; i < n; i++) {
        long sum = 0;
        for (int rank = 0; rank < m->size; rank++)
            sum += term(rank, i);
        REQUIRE(dest[i] == sum, "reduce %d of %zu: element %zu is wrong", (int)step, n, i);
    }
    only("reduce", n * sizeof(long));
}

static void reduce_reals(const struct member *m, size_t n)
{
    double *dest = (double *)(void *)fresh(n * sizeof(double)), *from = (double *)(void *)source;
    for (size_t i = 0; i < n; i++)
        from[i] = real(m->rank, i);
    REQUIRE(shmem_double_sum_reduce(m->team, dest, from, n) == 0, "reduce");
    memset(source, 1, n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        double sum = real(0, i);
        for (int rank = 1; rank < m->size; rank++)
            sum += real(rank, i);
        REQUIRE(nodes || dest[i] == sum, "reduce %d of %zu: real %zu is wrong", (int)step, n, i);
    }
    only("reduce", n * sizeof(double));
}

static void scan(const struct member *m, size_t n, bool inclusive, bool in_place)
{
    long *dest = (long *)(void *)fresh(n * sizeof(long)), *from = in_place ? dest : (long *)(void *)source;
    for (size_t i = 0; i < n; i++)
        from[i] = term(m->rank, i);
    REQUIRE((inclusive ? shmem_long_sum_inscan : shmem_long_sum_exscan)(m->team, dest, from, n) == 0, "scan");
    memset(source, 1, n * sizeof(long));
    for (size_t i = 0; i < n; i++) {
        long sum = 0;
        for (int rank = 0; rank < m->rank + inclusive; rank++)
            sum += term(rank, i);
        REQUIRE(dest[i] == sum, "scan %d of %zu: element %zu is wrong", (int)step, n, i);
    }
    only("scan", n * sizeof(long));
}

/* The world as an active set: a broadcast leaves the root's dest alone, and pSync is as it was. */
static void sets(const struct member *m, size_t n, int root)
{
    unsigned char *dest = fresh(n * 8);
    fill(source, step, m->rank, 0, n * 8);
    shmem_broadcast64(dest, source, n, root, 0, 0, m->size, psync);
    memset(source, 1, n * 8);
    if (m->rank == root)
        untouched("broadcast64", 0, n * 8);
    else
        stored("broadcast64", 0, root, 0, n * 8);
    only("broadcast64", n * 8);
    const size_t mine = m->rank % 3 == 1 ? 0 : n;
    size_t at = 0;
    shmem_barrier_all();
    dest = fresh(n * 8 * (size_t)m->size);
    fill(source, step, m->rank, 0, n * 8);
    shmem_collect64(dest, mine ? source : 0, mine, 0, 0, m->size, psync);
    memset(source, 1, n * 8);
    for (int rank = 0; rank < m->size; at += rank++ % 3 == 1 ? 0 : n * 8)
        stored("collect64", at, rank, 0, rank % 3 == 1 ? 0 : n * 8);
    only("collect64", at);
    shmem_barrier_all();
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        REQUIRE(psync[i] == SHMEM_SYNC_VALUE, "pSync[%d] is wrong", i);
}

static void everything(const struct member *m, size_t bytes, bool world)
{
    const int root = (int)(bytes % (size_t)m->size);
    const bool odd = bytes / 8 % 2;
    broadcast(m, bytes, root);
    fcollect(m, bytes);
    collect(m, bytes);
    alltoall(m, bytes);
    reduce(m, (bytes + 7) / 8, odd);
    scan(m, (bytes + 7) / 8, odd, !odd);
    if (bytes > FEW)
        return;
    alltoalls(m, (bytes + 7) / 8);
    scan(m, (bytes + 7) / 8, !odd, !odd);
    reduce(m, (bytes + 7) / 8, !odd);
    reduce_reals(m, (bytes + 7) / 8);
    if (world)
        sets(m, (bytes + 7) / 8, root);
}

/* Each member is the root of one that is longer than all chunks together, and of one that comes through a chain of nodes. */
static void longest(const struct member *m)
{
    for (int root = 0; root < m->size; root++)
        broadcast(m, (512u << 10) - 4u * (root % 2), root);
    broadcast(m, (4u << 20) + 4096, m->size - 1);
    sets(m, 70000, 0);
    sets(m, 70000, m->size - 1);
}

/* All have returned from the one before, but none waits for the others between two steps of a team. */
static void live(bool long_too)
{
    static const size_t sizes[] = {1, 56, 57, 520, 2056, 4096, 4104, 30000};
    const int npes = shmem_n_pes();
    struct member world = {SHMEM_TEAM_WORLD, me, npes}, half, one;
    source = shmem_malloc(ROOM);
    area = shmem_malloc(ROOM);
    for (int i = 0; i < 2; i++) { /* the last of them first; the others go at the same time */
        const int size = (npes - i + 1) / 2;
        shmem_team_t team;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1 - i, size > 1 ? -2 : 1, size, 0, 0, &team);
        if (team != SHMEM_TEAM_INVALID)
            half = (struct member){team, shmem_team_my_pe(team), shmem_team_n_pes(team)};
    }
    for (int pe = 0; pe < npes; pe++) {
        shmem_team_t team;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, pe, 1, 1, 0, 0, &team);
        if (team != SHMEM_TEAM_INVALID)
            one = (struct member){team, 0, 1};
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        everything(&world, sizes[i], true);
        shmem_barrier_all();
        everything(&half, sizes[i], false);
        everything(&one, sizes[i], false);
        shmem_barrier_all();
    }
    if (long_too)
        longest(&world);
    shmem_team_destroy(half.team);
    shmem_team_destroy(one.team);
    shmem_free(area);
    shmem_free(source);
}

static void choose(const char *operations, const char *way)
{
    static const char *const names[] = {"broadcast", "collect", "fcollect", "alltoall", "alltoalls", "reduce", "scan"};
    char list[256] = "";
    for (int i = 0; i < 7; i++)
        if (strchr(operations, '0' + i))
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s:%s,", names[i], way);
    setenv("LATERAL_COLL", list, 1);
}

int main(void)
{
    static const struct {
        const char *operations, *way; /* as in choose */
    } near[] = {{"", ""}, {"012356", "slots"}, {"01234", "pull"}, {"5", "leader"}, {"56", "share"}},
      far[] = {{"", ""}, {"0123456", "pull"}, {"012356", "gather"}, {"02345", "rail"}};
    nodes = getenv("LATERAL_NODE_SIZE");
    mallopt(M_PERTURB, 0x5a);
    setenv("LATERAL_PROGRESS", "poll", 1);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < (nodes ? 4 : 5); i++) {
        choose(nodes ? far[i].operations : near[i].operations, nodes ? far[i].way : near[i].way);
        shmem_init();
        me = shmem_my_pe();
        live(nodes && strcmp(far[i].way, "rail") == 0);
        shmem_finalize();
    }
    return 0;
}
