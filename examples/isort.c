/* Parallel sort of 2^K random 32-bit keys by key exchange.
 *
 * Every PE owns an equal range of key values. Each one (1) counts its keys per owner, (2) reserves room
 * at every owner with one fetch_add, (3) puts each owner's keys there as one block, and after a barrier
 * (4) sorts the keys that it received. The program checks that keys are sorted on every PE and ordered across PEs,
 * and that their number and checksum are unchanged.
 *
 *   oshcc -O2 isort.c -o isort && oshrun -n 2 ./isort 24
 *   arguments: [K]
 *
 * The tests run it so:
 *   args: 16
 *   prints: verified
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 3 }; /* measured, after one to warm up */

/* Symmetric: what others reserve, and what PE 0 reads for the verdict. */
static long received;
static struct summary {
    long count, sorted;
    uint64_t sum_before, sum_after;
    long first, last; /* -1 where there is no key */
    double seconds;
} mine;
static uint32_t *inbox; /* room for keys from all PEs */

struct sorter {
    int me, pes;
    long total, local, room;
    uint32_t *keys, *outbox;
    long *begin; /* begin[p]..begin[p+1] is the block for PE p in outbox */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The key with a given index, whatever the number of PEs (the mixing step of splitmix64). */
static uint32_t key_at(uint64_t index)
{
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

static int owner_of(uint32_t key, int pes)
{
    return (int)(((uint64_t)key * (uint64_t)pes) >> 32);
}

/* Independent of order; squares make it notice one key traded for another. */
static uint64_t checksum(const uint32_t *keys, long count)
{
    uint64_t sum = 0;
    for (long i = 0; i < count; i++)
        sum += (uint64_t)keys[i] * keys[i] + keys[i];
    return sum;
}

static int setup(struct sorter *s)
{
    long share = s->total / s->pes, more = s->total % s->pes;
    long first = s->me * share + (s->me < more ? s->me : more);
    s->local = share + (s->me < more);
    s->room = share + share / 8 + 4096; /* random keys spread evenly; checked when reserving */
    s->keys = malloc((size_t)s->local * sizeof *s->keys + 1);
    s->outbox = malloc((size_t)s->room * sizeof *s->outbox); /* also the scratch of the local sort */
    s->begin = malloc(((size_t)s->pes + 1) * sizeof *s->begin);
    inbox = shmem_malloc((size_t)s->room * sizeof *inbox);
    if (s->keys == NULL || s->outbox == NULL || s->begin == NULL || inbox == NULL)
        return 0;
    for (long i = 0; i < s->local; i++)
        s->keys[i] = key_at((uint64_t)(first + i));
    mine.sum_before = checksum(s->keys, s->local);
    return 1;
}

/* Groups the keys by owner in outbox. */
static void group_keys(struct sorter *s)
{
    long *begin = s->begin;
    memset(begin, 0, ((size_t)s->pes + 1) * sizeof *begin);
    for (long i = 0; i < s->local; i++)
        begin[owner_of(s->keys[i], s->pes)]++;
    for (long pe = 0, at = 0; pe <= s->pes; pe++) {
        at += begin[pe];
        begin[pe] = at; /* the end of each block; filling backwards makes it the beginning */
    }
    for (long i = s->local - 1; i >= 0; i--)
        s->outbox[--begin[owner_of(s->keys[i], s->pes)]] = s->keys[i];
}

/* Sends each owner its block; PEs start at different owners so that no owner is hit by all at once. */
static void exchange_keys(struct sorter *s)
{
    for (int i = 0; i < s->pes; i++) {
        int pe = (s->me + i) % s->pes;
        long count = s->begin[pe + 1] - s->begin[pe];
        long at = shmem_long_atomic_fetch_add(&received, count, pe);
        if (at + count > s->room) {
            fprintf(stderr, "isort: PE %d has no room for %ld keys\n", pe, at + count);
            shmem_global_exit(1);
        }
        shmem_uint32_put_nbi(inbox + at, s->outbox + s->begin[pe], (size_t)count, pe);
    }
    shmem_barrier_all(); /* completes the puts of all PEs */
}

/* One pass of a radix sort on 11 bits. */
static void radix_pass(const uint32_t *from, uint32_t *to, long count, int shift)
{
    long at[2048] = {0}, sum = 0;
    for (long i = 0; i < count; i++)
        at[(from[i] >> shift) & 2047]++;
    for (int d = 0; d < 2048; d++) {
        long here = at[d];
        at[d] = sum;
        sum += here;
    }
    for (long i = 0; i < count; i++)
        to[at[(from[i] >> shift) & 2047]++] = from[i];
}

/* Three passes: the result is in s->outbox. */
static void sort_received(struct sorter *s)
{
    radix_pass(inbox, s->outbox, received, 0);
    radix_pass(s->outbox, inbox, received, 11);
    radix_pass(inbox, s->outbox, received, 22);
}

static double one_round(struct sorter *s)
{
    received = 0;
    shmem_barrier_all();
    double start = now();
    group_keys(s);
    exchange_keys(s);
    sort_received(s);
    return now() - start;
}

static void summarize(const struct sorter *s)
{
    mine.count = received;
    mine.sum_after = checksum(s->outbox, received);
    mine.sorted = 1;
    for (long i = 1; i < received; i++)
        mine.sorted &= s->outbox[i - 1] <= s->outbox[i];
    mine.first = received ? (long)s->outbox[0] : -1;
    mine.last = received ? (long)s->outbox[received - 1] : -1;
}

/* Called on PE 0 after a barrier: collects the summaries; *slowest is the longest time. */
static int verify(const struct sorter *s, double *slowest)
{
    long count = 0, last = -1;
    uint64_t before = 0, after = 0;
    int right = 1;
    *slowest = 0;
    for (int pe = 0; pe < s->pes; pe++) {
        struct summary theirs;
        shmem_getmem(&theirs, &mine, sizeof theirs, pe);
        count += theirs.count;
        before += theirs.sum_before;
        after += theirs.sum_after;
        right &= theirs.sorted && (theirs.count == 0 || theirs.first >= last);
        last = theirs.count ? theirs.last : last;
        *slowest = theirs.seconds > *slowest ? theirs.seconds : *slowest;
    }
    return right && count == s->total && before == after;
}

static int report(const struct sorter *s, int bits)
{
    double slowest;
    int right = verify(s, &slowest);
    double rate = (double)s->total / slowest * 1e-6;
    printf("isort: 2^%d keys, %d PEs: %.1f Mkeys/s, %s\n", bits, s->pes, rate, right ? "verified" : "WRONG");
    return right;
}

int main(int argc, char **argv)
{
    int bits = argc > 1 ? atoi(argv[1]) : 24;
    shmem_init();
    struct sorter s = {.me = shmem_my_pe(), .pes = shmem_n_pes()};
    if (bits < 0 || bits > 34) {
        if (s.me == 0)
            fprintf(stderr, "isort: K is a number from 0 to 34\nusage: isort [K]\n");
        shmem_finalize();
        return 2;
    }
    s.total = 1L << bits;
    if (!setup(&s)) {
        fprintf(stderr, "isort: PE %d: out of memory; a larger SHMEM_SYMMETRIC_SIZE may help\n", s.me);
        shmem_global_exit(1);
    }
    shmem_barrier_all();
    for (int round = 0; round <= ROUNDS; round++) {
        double seconds = one_round(&s);
        if (round > 0)
            mine.seconds += seconds / ROUNDS;
    }
    summarize(&s);
    shmem_barrier_all();
    int wrong = s.me == 0 && !report(&s, bits);
    shmem_barrier_all(); /* PE 0 reads our summary until here */
    shmem_free(inbox);
    free(s.begin);
    free(s.outbox);
    free(s.keys);
    shmem_finalize();
    return wrong;
}
