/* Dynamic memory: ranges of every kind come and go while peers use others; data, atomics,
 * accumulates, shapes, bounds and errors.
 * pes: 2 3
 * case: kernel
 * case: target
 * env: LATERAL_WIRE=messages
 */
#define _GNU_SOURCE
#include "check.h"

#include <stdbool.h>
#include <sys/mman.h>

enum { BYTES = 100000, HALF = BYTES / 2, KINDS = 3, MANY = 3000, GAP = 64 };

static uccs_context_t context;
static uccs_endpoint_t next;
static uccs_memory_t own, *all, there;
static char global[BYTES] __attribute__((aligned(64)));
static char *mine[KINDS], *out, *in;
static uint64_t (*places)[KINDS]; /* of everybody's ranges */

static void share_places(void)
{
    uint64_t here[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        here[kind] = (uintptr_t)mine[kind];
    OK(uccs_allgather(UCCS_GROUP_WORLD, here, places, sizeof here));
}

static void test_moves(uint64_t at)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    for (int i = 0; i < BYTES; i++)
        out[i] = (char)(i * 7 + me);
    OK(uccs_put_large_contiguous(context, next, there, at, out, BYTES, 0));
    OK(uccs_flush(context));
    memset(in, 0, BYTES);
    OK(uccs_get_large_contiguous(context, next, there, at, in, BYTES, 0));
    CHECK(memcmp(in, out, BYTES) == 0);
    OK(uccs_put_large_contiguous_nb(context, next, there, at + 8, out, 16, &desc));
    OK(uccs_wait(&desc));
    memset(in, 0, BYTES);
    OK(uccs_get_large_contiguous_nb(context, next, there, at + 8, in, 16, &desc));
    OK(uccs_wait(&desc));
    CHECK(memcmp(in, out, 16) == 0);
    OK(uccs_request_release(&desc));
}

/* Maps a page at one address in every process. Something else may lie there in one of them, often the gigabytes of addresses
 * that the library reserves; then all try another one, ever further below. */
static char *map_same_address(void)
{
    enum { TRIES = 12, PAGE = 4096 };
    const int how = MAP_PRIVATE | MAP_ANONYMOUS, rights = PROT_READ | PROT_WRITE;
    char **where = calloc((size_t)npes, sizeof *where), *page = 0, *wanted = 0;
    bool same = false;
    for (int i = 0; i < TRIES && !same; i++) {
        page = me == 0 ? mmap(wanted, PAGE, rights, how, -1, 0) : 0;
        OK(uccs_allgather(UCCS_GROUP_WORLD, &page, where, sizeof page));
        wanted = where[0];
        if (me != 0)
            page = mmap(wanted, PAGE, rights, how | MAP_FIXED_NOREPLACE, -1, 0);
        OK(uccs_allgather(UCCS_GROUP_WORLD, &page, where, sizeof page));
        same = true;
        for (int pe = 0; pe < npes; pe++)
            same = same && where[pe] == wanted;
        if (!same && page != MAP_FAILED)
            munmap(page, PAGE);
        wanted -= (size_t)1 << (28 + i);
    }
    CHECK(same);
    free(where);
    return page;
}

/* Memory that lies at the same address in every process is still each one's own. */
static void test_same_address(void)
{
    long *word = (long *)map_same_address(), value = 100 + me;
    OK(uccs_memory_attach(own, word, 4096));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_put_short_contiguous(context, next, there, (uintptr_t)word, &value, sizeof value, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(*word, 100 + prev_pe);
    value = 0;
    OK(uccs_get_short_contiguous(context, next, there, (uintptr_t)word, &value, sizeof value, 0));
    CHECK_EQ(value, 100 + me);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_memory_detach(own, word));
    munmap(word, 4096);
}

static void test_shapes(uint64_t at)
{
    struct uccs_stride stride = {.block = 24, .count = 10, .remote_stride = 64, .local_stride = 32};
    struct uccs_piece pieces[] = {{at + 1000, out, 100}, {at + 3000, out + 500, 200}};
    OK(uccs_put_strided(context, next, there, at, out, &stride, 0));
    OK(uccs_flush(context));
    memset(in, 0, BYTES);
    OK(uccs_get_strided(context, next, there, at, in, &stride, 0));
    for (int i = 0; i < 10; i++)
        CHECK(memcmp(in + i * 32, out + i * 32, 24) == 0);
    OK(uccs_put_vector(context, next, there, pieces, 2, 0));
    OK(uccs_flush(context));
    memset(in, 0, BYTES);
    pieces[0].local = in;
    pieces[1].local = in + 500;
    OK(uccs_get_vector(context, next, there, pieces, 2, 0));
    CHECK(memcmp(in, out, 100) == 0 && memcmp(in + 500, out + 500, 200) == 0);
}

/* Every process adds to a word of process 0, which adds too: one domain for all paths. */
static void test_atomics(int kind)
{
    enum { ADDS = 200 };
    uccs_endpoint_t zero = check_endpoint(context, 0);
    uint64_t at = places[0][kind] + 256, old = 0;
    uint32_t small = 0;
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 0) {
        uint64_t nothing[2] = {0};
        OK(uccs_put_short_contiguous(context, zero, all[0], at, nothing, sizeof nothing, 0));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int i = 0; i < ADDS; i++)
        OK(uccs_atomic64(context, zero, all[0], at, UCCS_ATOMIC_ADD, 1, 0, i % 2 ? &old : 0, 0));
    OK(uccs_atomic32(context, zero, all[0], at + 8, UCCS_ATOMIC_OR, 1u << me, 0, &small, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_atomic64(context, zero, all[0], at, UCCS_ATOMIC_FETCH, 0, 0, &old, 0));
    CHECK_EQ(old, ADDS * npes);
    OK(uccs_atomic32(context, zero, all[0], at + 8, UCCS_ATOMIC_FETCH, 0, 0, &small, 0));
    CHECK_EQ(small, (1u << npes) - 1);
    CHECK_EQ(uccs_atomic64(context, zero, all[0], at + 4, UCCS_ATOMIC_FETCH, 0, 0, &old, 0), UCCS_ERR_INVALID);
    OK(uccs_endpoint_release(zero));
}

/* Everybody accumulates on one array of process 0, whose elements lie across stripes of locks: pairs, reals, and words
 * that do not lie at a multiple of their size. */
static void test_accumulates(int kind)
{
    enum { N = 3000, TIMES = 3 };
    uccs_endpoint_t zero = check_endpoint(context, 0);
    const uint64_t at = places[0][kind] + 1024, odd = places[0][kind] + 40001;
    double *ones = malloc(N * sizeof *ones), *sums = calloc(N, sizeof *sums);
    struct pair {
        double value;
        int index;
    } best = {me, me}, found = {0};
    long word = 1L << me, words = 0, none = 0;
    for (int i = 0; i < N; i++)
        ones[i] = i + 0.5;
    OK(uccs_accumulate(zero, all[0], at, sums, 0, me == 0 ? N : 0, UCCS_DOUBLE, UCCS_REPLACE, 0));
    OK(uccs_accumulate(zero, all[0], odd, &none, 0, me == 0, UCCS_INT64, UCCS_REPLACE, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int i = 0; i < TIMES; i++)
        OK(uccs_accumulate(zero, all[0], at, ones, i ? sums : 0, N, UCCS_DOUBLE, UCCS_SUM, 0));
    for (int i = 0; i < N; i++) /* others' additions may come between my second one and my third */
        CHECK(sums[i] >= 2 * ones[i] && sums[i] <= (TIMES * npes - 1) * ones[i]);
    OK(uccs_accumulate(zero, all[0], odd, &word, 0, 1, UCCS_INT64, UCCS_OR, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_accumulate(zero, all[0], at, 0, sums, N, UCCS_DOUBLE, UCCS_NO_OP, 0));
    OK(uccs_get_short_contiguous(context, zero, all[0], odd, &words, sizeof words, 0));
    for (int i = 0; i < N; i++)
        CHECK(sums[i] == TIMES * npes * ones[i]);
    CHECK_EQ(words, (1L << npes) - 1);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_accumulate(zero, all[0], at, &best, 0, 1, UCCS_DOUBLE_INT, me == 0 ? UCCS_REPLACE : UCCS_NO_OP, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_accumulate(zero, all[0], at, &best, 0, 1, UCCS_DOUBLE_INT, UCCS_MAX, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_accumulate(zero, all[0], at, 0, &found, 1, UCCS_DOUBLE_INT, UCCS_NO_OP, 0));
    CHECK(found.value == npes - 1 && found.index == npes - 1);
    CHECK_EQ(uccs_accumulate(zero, all[0], 64, &word, &words, 1, UCCS_INT64, UCCS_SUM, 0), UCCS_ERR_BOUNDS);
    OK(uccs_endpoint_release(zero));
    free(ones);
    free(sums);
}

/* The range [at, at + BYTES) is attached, and nothing beside it; `near` tells whether the caller can see that. */
static void test_bounds(uint64_t at)
{
    uint64_t word = 77;
    uccs_request_t desc = UCCS_REQUEST_NULL;
    CHECK_EQ(uccs_get_short_contiguous(context, next, there, 64, &word, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_get_short_contiguous(context, next, there, at + BYTES, &word, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_get_short_contiguous(context, next, there, at + BYTES - 4, &word, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_get_short_contiguous(context, next, there, at - 4, &word, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_get_short_contiguous(context, next, there, SIZE_MAX - 3, &word, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_atomic64(context, next, there, 64, UCCS_ATOMIC_ADD, 1, 0, &word, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(word, 77);
    int status = uccs_put_large_contiguous_nb(context, next, there, at + BYTES, out, 8, &desc);
    CHECK_EQ(status == UCCS_OK ? uccs_wait(&desc) : status, check_near(next_pe) ? UCCS_ERR_BOUNDS : UCCS_ERR_FAILED);
    OK(uccs_request_release(&desc));
}

/* What dynamic memory has taken is there for others when it is released. */
static void test_leaves_nothing(void)
{
    uccs_memory_t first, again;
    struct uccs_memory_attr before, after;
    OK(uccs_memory_allocate(context, 64, &first));
    OK(uccs_memory_query(first, &before));
    OK(uccs_memory_release(first));
    OK(uccs_memory_dynamic(context, &again));
    OK(uccs_memory_attach(again, out, BYTES));
    OK(uccs_memory_detach(again, out));
    OK(uccs_memory_release(again));
    OK(uccs_memory_allocate(context, 64, &first));
    OK(uccs_memory_query(first, &after));
    CHECK(after.address == before.address);
    OK(uccs_memory_release(first));
}

static void test_errors(void)
{
    uccs_memory_t plain;
    struct uccs_memory_attr attr;
    CHECK_EQ(uccs_memory_dynamic(context, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_attach(own, 0, 8), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_attach(own, mine[0], 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_attach(own, mine[0] + 2 * BYTES, SIZE_MAX - 64), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_attach(own, mine[0], BYTES), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_attach(own, mine[0] - 1, 2), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_attach(own, mine[0] + BYTES - 1, 2), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_attach(own, mine[0] + 8, 8), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_attach(all[next_pe], mine[0], 8), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_detach(own, mine[0] + 8), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_detach(0, mine[0]), UCCS_ERR_INVALID);
    OK(uccs_memory_register(0, out, 64, &plain));
    CHECK_EQ(uccs_memory_attach(plain, mine[0], 8), UCCS_ERR_INVALID);
    OK(uccs_memory_release(plain));
    OK(uccs_memory_query(own, &attr));
    CHECK(attr.address == 0 && attr.length == 0 && attr.owner == me);
}

/* A view of each range leads to its bytes, and ends when the owner changes its ranges. */
static void test_views(void)
{
    struct uccs_view view;
    const bool near = check_near(next_pe);
    for (int kind = 0; kind < KINDS; kind++) {
        const uint64_t at = places[next_pe][kind];
        unsigned char byte = 0, sent = (unsigned char)(3 * me + kind);
        int status = uccs_memory_view(there, at + 100, &view);
        CHECK_EQ(status, near ? UCCS_OK : UCCS_ERR_INVALID);
        if (!near)
            continue;
        CHECK(view.start == at && view.length == BYTES && *view.version == view.seen);
        CHECK_EQ(view.domain, kind == 2 ? UCCS_DOMAIN_LOCKED : UCCS_DOMAIN_CPU);
        CHECK(kind == 2 ? !view.address || next_pe == me : view.address != 0);
        OK(uccs_put(next, there, at + 100, &sent, 1, 0));
        if (view.address)
            CHECK_EQ((unsigned char)view.address[100], sent);
        OK(uccs_get(next, there, at + 100, &byte, 1, 0));
        CHECK_EQ(byte, sent);
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (near) {
        CHECK_EQ(uccs_memory_view(there, 64, &view), UCCS_ERR_BOUNDS);
        OK(uccs_memory_view(there, places[next_pe][2], &view));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_memory_detach(own, mine[2]));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (near) {
        CHECK(__atomic_load_n(view.version, __ATOMIC_ACQUIRE) != view.seen);
        CHECK_EQ(uccs_memory_view(there, places[next_pe][2], &view), UCCS_ERR_BOUNDS);
    }
}

/* Ranges that touch are one to an operation; ranges with a gap are not. The owner changes others meanwhile. */
static void test_neighbours(void)
{
    uint64_t at = places[next_pe][0], old = places[next_pe][1];
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_memory_detach(own, mine[0]));
    OK(uccs_memory_attach(own, mine[0] + HALF, HALF));
    OK(uccs_memory_attach(own, mine[0], HALF));
    OK(uccs_memory_detach(own, mine[1]));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    test_moves(at);
    CHECK_EQ(uccs_get_short_contiguous(context, next, there, old, in, 8, 0), UCCS_ERR_BOUNDS);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_memory_detach(own, mine[0]));
    OK(uccs_memory_attach(own, mine[0], HALF - GAP));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(uccs_get_large_contiguous(context, next, there, at, in, BYTES, 0), UCCS_ERR_BOUNDS);
    OK(uccs_get_large_contiguous(context, next, there, at, in, HALF - GAP, 0));
    OK(uccs_get_large_contiguous(context, next, there, at + HALF, in, HALF, 0));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_memory_detach(own, mine[0]));
    OK(uccs_memory_detach(own, mine[0] + HALF));
}

/* Thousands of ranges, of pages that are gone once they are detached; a peer reads while the owner attaches. */
static void test_many(void)
{
    char *pages = mmap(0, (size_t)MANY * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t start = (uintptr_t)pages, *starts = malloc((size_t)npes * sizeof *starts);
    unsigned char byte = 0;
    CHECK(pages != MAP_FAILED);
    OK(uccs_allgather(UCCS_GROUP_WORLD, &start, starts, sizeof start));
    for (int i = 0; i < MANY; i++) { /* from both ends to the middle */
        int page = i % 2 ? MANY - 1 - i / 2 : i / 2;
        pages[page * 4096L] = (char)(page % 100);
        OK(uccs_memory_attach(own, pages + page * 4096L, 2048));
        if (i % 100 == 0) {
            int status =
                uccs_get_short_contiguous(context, next, there, starts[next_pe] + (size_t)page * 4096, &byte, 1, 0);
            CHECK(status == UCCS_ERR_BOUNDS || (status == UCCS_OK && byte == page % 100));
        }
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int page = 0; page < MANY; page += 37) {
        OK(uccs_get_short_contiguous(context, next, there, starts[next_pe] + (size_t)page * 4096, &byte, 1, 0));
        CHECK_EQ(byte, page % 100);
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int page = MANY - 1; page >= 0; page--)
        OK(uccs_memory_detach(own, pages + page * 4096L));
    munmap(pages, (size_t)MANY * 4096);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(uccs_get_short_contiguous(context, next, there, starts[next_pe], &byte, 1, 0), UCCS_ERR_BOUNDS);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    free(starts);
}

int main(void)
{
    uccs_memory_t block;
    struct uccs_memory_attr attr;
    check_start();
    OK(uccs_context_create(0, &context));
    next = check_endpoint(context, next_pe);
    out = malloc(BYTES);
    in = malloc(BYTES);
    all = calloc((size_t)npes, sizeof *all);
    places = calloc((size_t)npes, sizeof *places);
    OK(uccs_memory_allocate(0, BYTES, &block));
    OK(uccs_memory_query(block, &attr));
    mine[0] = global;
    mine[1] = attr.address;
    mine[2] = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mine[2] != MAP_FAILED);
    OK(uccs_memory_dynamic(0, &own));
    check_share(0, own, all); /* before any range is attached */
    there = all[next_pe];
    CHECK_EQ(uccs_get_short_contiguous(context, next, there, 4096, in, 8, 0), UCCS_ERR_BOUNDS);
    OK(uccs_put_short_contiguous(context, next, there, 4096, out, 0, 0));
    for (int kind = 0; kind < KINDS; kind++)
        OK(uccs_memory_attach(own, mine[kind], BYTES));
    share_places();
    test_same_address();
    for (int kind = 0; kind < KINDS; kind++) {
        test_moves(places[next_pe][kind]);
        test_shapes(places[next_pe][kind]);
        test_atomics(kind);
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        test_accumulates(kind);
        OK(uccs_barrier(UCCS_GROUP_WORLD));
    }
    test_views();
    test_bounds(places[next_pe][0]);
    test_errors();
    test_leaves_nothing();
    test_neighbours();
    test_many();
    OK(uccs_memory_release(own));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(uccs_get_short_contiguous(context, next, there, places[next_pe][2], in, 8, 0), UCCS_ERR_STALE);
    for (int pe = 0; pe < npes; pe++)
        OK(uccs_memory_release(all[pe]));
    OK(uccs_memory_release(block));
    OK(uccs_context_destroy(context));
    return check_pass();
}
