/* Measures the cost of a request and the gain of merging. Nanoseconds per put in a window of 64, 8 B to 1 MB, from PE 0
 * to PE 1, which waits (Boehm et al. 2016: message rate and latency).
 *
 *   put        blocking puts, one quiet a window       nbi       put_nbi, one quiet a window
 *   request    a request for each put, wait_all        merged    one request for the window, one wait
 *   merge      a request for each put, merged into one, one wait
 *   request.new, merge.new    the same two, with handles that are null again after each window: their allocation counts
 *   put_inc    put, fence, atomic_inc of a counter     put_ct    counting put
 *   get, get_ct               blocking gets; counting gets, which count at PE 1
 *   put.each, request.each    one put and its remote completion at a time (quiet, wait)
 *   test       testing a merged request that is complete
 *
 * Every window writes other values, and the benchmark reads the last ones back. */
#include "bench.h"

enum { WINDOW = 64 };

struct windows {
    char *there; /* symmetric; a window of the largest size */
    char *source;
    long *count; /* symmetric */
    size_t size;
    int pe;
#if BENCH_REQUESTS
    shmemx_request_t request[WINDOW], whole;
    shmemx_ct_t ct;
#endif
};

static long wrong;

/* One loop for each way: does `put` for each message i of a window at `to`, then `end`. */
#define LOOP(name, put, end)                           \
    static void name(long n, void *arg)                \
    {                                                  \
        struct windows *w = arg;                       \
        int i = 0;                                     \
        for (; n > 0; n--) {                           \
            char *to = w->there + (size_t)i * w->size; \
            put;                                       \
            if (++i == WINDOW || n == 1) {             \
                end;                                   \
                i = 0;                                 \
            }                                          \
        }                                              \
    }

LOOP(do_put, shmem_putmem(to, w->source, w->size, w->pe), shmem_quiet())
LOOP(do_nbi, shmem_putmem_nbi(to, w->source, w->size, w->pe), shmem_quiet())
LOOP(do_each, (shmem_putmem(to, w->source, w->size, w->pe), shmem_quiet()), (void)0)
LOOP(do_inc, (shmem_putmem(to, w->source, w->size, w->pe), shmem_fence(), shmem_long_atomic_inc(w->count, w->pe)),
     shmem_quiet())
LOOP(do_get, shmem_getmem(w->source, to, w->size, w->pe), (void)0)
#if BENCH_REQUESTS
LOOP(do_get_ct, shmemx_getmem_ct(w->ct, w->source, to, w->size, w->pe), (void)0)
LOOP(do_request, shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[i]),
     shmemx_request_wait_all(w->request, (size_t)i, NULL))
LOOP(do_merged, shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[0]), shmemx_request_wait(&w->request[0]))
LOOP(do_merge, shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[i]),
     (shmemx_request_merge(&w->whole, (size_t)i, w->request), shmemx_request_wait(&w->whole)))
LOOP(do_request_new, shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[i]),
     shmemx_request_wait_all_free(w->request, (size_t)i, NULL))
LOOP(do_merge_new, shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[i]),
     (shmemx_request_merge(&w->whole, (size_t)i, w->request), shmemx_request_wait_free(&w->whole)))
LOOP(do_request_each,
     (shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[0]), shmemx_request_wait(&w->request[0])), (void)0)
LOOP(do_ct, shmemx_putmem_ct(w->ct, to, w->source, w->size, w->pe), shmem_quiet())
LOOP(do_test, (void)to; wrong += !shmemx_request_test(&w->request[0]), (void)0)
#else
LOOP(do_get_inc, (shmem_getmem(w->source, to, w->size, w->pe), shmem_long_atomic_inc(w->count, w->pe)), shmem_quiet())
#endif

static const struct {
    const char *name;
    bench_loop *loop;
} ways[] = {
    {"put", do_put},
    {"nbi", do_nbi},
    {"put.each", do_each},
    {"put_inc", do_inc},
    {"get", do_get},
#if BENCH_REQUESTS
    {"get_ct", do_get_ct},
    {"request", do_request},
    {"merged", do_merged},
    {"merge", do_merge},
    {"request.each", do_request_each},
    {"put_ct", do_ct},
    {"request.new", do_request_new},
    {"merge.new", do_merge_new},
#else /* a program does this where there are no requests */
    {"request", do_nbi}, {"merged", do_nbi},      {"merge", do_nbi},     {"request.each", do_each},
    {"put_ct", do_inc},  {"request.new", do_nbi}, {"merge.new", do_nbi}, {"get_ct", do_get_inc},
#endif
};
enum { WAYS = sizeof ways / sizeof ways[0] };
_Static_assert((int)WAYS <= (int)BENCH_MOST_KINDS, "all ways take turns");

/* Runs each way once more with a pattern of its own and reads it back. */
static void verify(struct windows *w, char *back)
{
    for (int k = 0; k < WAYS; k++) {
        memset(w->source, k + 1, w->size);
        ways[k].loop(WINDOW, w);
        shmem_quiet();
        for (int i = 0; i < WINDOW; i += WINDOW - 1) {
            shmem_getmem(back, w->there + (size_t)i * w->size, w->size, w->pe);
            wrong += memcmp(back, w->source, w->size) != 0;
        }
    }
}

static void measure(struct windows *w, char *back)
{
    struct bench_kind kinds[WAYS];
    for (int k = 0; k < WAYS; k++)
        kinds[k] = (struct bench_kind){ways[k].name, ways[k].loop, w};
    bench_kinds(kinds, WAYS, BENCH_ALONE, 1, w->size);
    verify(w, back);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 64, 512, 4096, 32768, 262144, 1048576};
    static long count;
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    bench_open(argc, argv);
    size_t most = sizes[SIZES - 1];
    struct windows w = {.there = bench_need(shmem_malloc(WINDOW * most)), .count = &count, .pe = bench.pes - 1};
    char *back = bench_need(malloc(most));
    w.source = bench_need(malloc(most));
#if BENCH_REQUESTS
    shmemx_ct_create(&w.ct);
#endif
    shmem_barrier_all();
    for (int i = 0; i < SIZES && bench.me == 0; i++) {
        w.size = sizes[i];
        measure(&w, back);
    }
#if BENCH_REQUESTS
    if (bench.me == 0)
        bench_kinds(&(struct bench_kind){"test", do_test, &w}, 1, BENCH_ALONE, 1, 0);
#endif
    return bench_end("requests", wrong);
}
