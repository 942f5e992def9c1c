/* Collectives on active sets: every operation, overlapping sets with a pSync each, pSync restored, the root's dest
 * untouched; and more sets than the node has slots for, which synchronise on pSync itself.
 *
 * pes: 1 2 3 4 7
 */
#include "coll.h"

enum { SETS = 80, ROOM = 300000, STEPS = 1500 };

static long *psyncs[SETS]; /* on the heap, but for the first */
static long global_psync[SHMEM_SYNC_SIZE];
static unsigned char *source, *dest;
static int me, npes;

struct set {
    int start, log, size, rank; /* rank < 0: not in it */
    long *psync;
};

static struct set draw_set(uint64_t *seed)
{
    struct set set = {.log = (int)(draw(seed) % 3)};
    set.start = (int)(draw(seed) % (uint64_t)npes);
    int most = (npes - 1 - set.start) / (1 << set.log) + 1;
    set.size = 1 + (int)(draw(seed) % (uint64_t)most);
    int distance = me - set.start;
    bool in = distance >= 0 && distance % (1 << set.log) == 0 && distance >> set.log < set.size;
    set.rank = in ? distance >> set.log : -1;
    return set;
}

static void check(const char *what, uint64_t step, const unsigned char *at, int rank, size_t from, size_t bytes)
{
    size_t where = differs(at, step, rank, from, bytes);
    REQUIRE(where == bytes, "step %lu: %s of %zu bytes: wrong at byte %zu of member %d", (unsigned long)step, what,
            bytes, where, rank);
}

static void broadcast(const struct set *s, uint64_t step, uint64_t *seed)
{
    size_t n = draw_size(seed, ROOM) / 8;
    int root = (int)(draw(seed) % (uint64_t)s->size);
    fill(source, step, s->rank, 0, n * 8);
    memset(dest, 0x5a, n * 8);
    shmem_broadcast64(dest, source, n, root, s->start, s->log, s->size, s->psync);
    memset(source, 1, n * 8);
    if (s->rank != root)
        check("broadcast64", step, dest, root, 0, n * 8);
    for (size_t i = 0; i < n * 8 && s->rank == root; i++)
        REQUIRE(dest[i] == 0x5a, "broadcast64 wrote to the root's dest");
}

static void collects(const struct set *s, uint64_t step, uint64_t *seed)
{
    size_t n[64], at = 0, same = draw_size(seed, ROOM / (size_t)s->size) / 4;
    bool fixed = draw(seed) % 2;
    for (int i = 0; i < s->size; i++)
        n[i] = fixed ? same : draw_size(seed, ROOM / (size_t)s->size) / 4;
    fill(source, step, s->rank, 0, n[s->rank] * 4);
    if (fixed)
        shmem_fcollect32(dest, source, same, s->start, s->log, s->size, s->psync);
    else
        shmem_collect32(dest, source, n[s->rank], s->start, s->log, s->size, s->psync);
    memset(source, 2, n[s->rank] * 4);
    for (int i = 0; i < s->size; at += n[i++] * 4)
        check(fixed ? "fcollect32" : "collect32", step, dest + at, i, 0, n[i] * 4);
}

static void alltoall(const struct set *s, uint64_t step, uint64_t *seed)
{
    size_t n = draw_size(seed, ROOM / 2 / (size_t)s->size) / 4;
    bool strided = draw(seed) % 2;
    size_t step_bytes = strided ? 8 : 4, block = n * step_bytes;
    fill(source, step, s->rank, 0, block * (size_t)s->size);
    if (strided)
        shmem_alltoalls32(dest, source, 2, 2, n, s->start, s->log, s->size, s->psync);
    else
        shmem_alltoall32(dest, source, n, s->start, s->log, s->size, s->psync);
    memset(source, 3, block * (size_t)s->size);
    for (int i = 0; i < s->size; i++)
        for (size_t e = 0; e < n; e++)
            check("alltoall32", step, dest + (size_t)i * block + e * step_bytes, i,
                  (size_t)s->rank * block + e * step_bytes, 4);
}

static void reduce(const struct set *s, uint64_t step, uint64_t *seed)
{
    static long pwrk[40000 / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    size_t n = draw_size(seed, 40000);
    bool in_place = draw(seed) % 2;
    long *to = (long *)dest, *from = in_place ? to : (long *)source;
    n = n < ROOM / 8 ? n : ROOM / 8;
    for (size_t i = 0; i < n; i++)
        from[i] = (long)(mix(step + i) % 1000) * (s->rank + 1);
    shmem_long_sum_to_all(to, from, (int)n, s->start, s->log, s->size, pwrk, s->psync);
    memset(source, 4, n * 8);
    for (size_t i = 0; i < n; i++)
        REQUIRE(to[i] == (long)(mix(step + i) % 1000) * (s->size * (s->size + 1) / 2),
                "step %lu: sum_to_all of %zu at %zu", (unsigned long)step, n, i);
}

static void barriers(const struct set *s, uint64_t step, uint64_t *seed)
{
    (void)seed;
    int next = s->start + ((s->rank + 1) % s->size << s->log);
    int before = (s->rank + s->size - 1) % s->size;
    long *slot = (long *)dest;
    shmem_barrier(s->start, s->log, s->size, s->psync); /* nobody reads the last step's dest any more */
    shmem_long_p(slot, (long)step * 100 + s->rank, next);
    shmem_barrier(s->start, s->log, s->size, s->psync);
    REQUIRE(*slot == (long)step * 100 + before, "step %lu: barrier: %ld of %d", (unsigned long)step, *slot, before);
    shmem_sync(s->start, s->log, s->size, s->psync);
}

static void at_rest(const long *psync, uint64_t step)
{
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        REQUIRE(psync[i] == SHMEM_SYNC_VALUE, "step %lu: pSync[%d] is %ld", (unsigned long)step, i, psync[i]);
}

static void run(int sets, int steps, uint64_t seed)
{
    static void (*const operations[])(const struct set *, uint64_t, uint64_t *) = {broadcast, collects, alltoall,
                                                                                   reduce, barriers};
    uint64_t own = 7 + (uint64_t)me;
    for (int step = 0; step < steps; step++) {
        int which = step % sets;
        struct set set = draw_set(&seed);
        uint64_t what = draw(&seed) % 5, detail = draw(&seed);
        set.psync = psyncs[which];
        if (which == sets - 1) {
            shmem_barrier_all(); /* the next round uses each pSync for another set */
            at_rest(set.psync, (uint64_t)step);
            shmem_barrier_all();
        }
        if (set.rank < 0) { /* returns at once */
            shmem_barrier(set.start, set.log, set.size, set.psync);
            continue;
        }
        dawdle(&own);
        operations[what](&set, (uint64_t)step, &detail);
    }
    shmem_barrier_all();
    for (int i = 0; i < sets; i++)
        at_rest(psyncs[i], 0);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    source = shmem_malloc(ROOM);
    dest = shmem_malloc(ROOM);
    psyncs[0] = global_psync;
    for (int i = 1; i < SETS; i++)
        psyncs[i] = shmem_malloc(SHMEM_SYNC_SIZE * sizeof(long));
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < SHMEM_SYNC_SIZE; k++)
            psyncs[i][k] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    run(4, STEPS, 1);
    run(SETS, STEPS, 2);
    shmem_finalize();
    return 0;
}
