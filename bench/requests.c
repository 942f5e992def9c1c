/* Measures the cost of a request and the gain of merging. Nanoseconds per put in a window of 64, 8 B to 1 MB, from PE 0
 * to PE 1, which waits (Boehm et al. 2016: message rate and latency).
 *
 *   put        blocking puts, one quiet a window       nbi       put_nbi, one quiet a window
 *   request    a request for each put, wait_all        merged    one request for the window, one wait
 *   merge      a request for each put, merged into one, one wait
 *   put_inc    put, fence, atomic_inc of a counter     put_ct    counting put
 *   get, get_ct               blocking gets; counting gets, which count at PE 1
 *   put.each, request.each    one put and its remote completion at a time (quiet, wait)
 *
 * Every window writes other values, and the benchmark reads the last ones back. */
#include "bench.h"

enum { WINDOW = 64, MOST = 1 << 20 };

static struct windows {
    char *there; /* symmetric; a window of the largest size */
    char *source;
    long *count; /* symmetric */
    size_t size;
    int pe;
    shmemx_request_t request[WINDOW], whole;
    shmemx_ct_t ct;
} windows;

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
LOOP(do_get_ct, shmemx_getmem_ct(w->ct, w->source, to, w->size, w->pe), (void)0)
LOOP(do_request, shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[i]),
     shmemx_request_wait_all(w->request, (size_t)i, NULL))
LOOP(do_merged, shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[0]), shmemx_request_wait(&w->request[0]))
LOOP(do_merge, shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[i]),
     (shmemx_request_merge(&w->whole, (size_t)i, w->request), shmemx_request_wait(&w->whole)))
LOOP(do_request_each,
     (shmemx_putmem_nbe(to, w->source, w->size, w->pe, &w->request[0]), shmemx_request_wait(&w->request[0])), (void)0)
LOOP(do_ct, shmemx_putmem_ct(w->ct, to, w->source, w->size, w->pe), shmem_quiet())

static const struct bench_kind ways[] = {
    {"put", do_put, &windows},         {"nbi", do_nbi, &windows},
    {"put.each", do_each, &windows},   {"put_inc", do_inc, &windows},
    {"get", do_get, &windows},         {"get_ct", do_get_ct, &windows},
    {"request", do_request, &windows}, {"merged", do_merged, &windows},
    {"merge", do_merge, &windows},     {"request.each", do_request_each, &windows},
    {"put_ct", do_ct, &windows},
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

int main(int argc, char **argv)
{
    static long count;
    bench_open(argc, argv);
    struct windows *w = &windows;
    char *back = bench_need(malloc(MOST));
    *w = (struct windows){bench_need(shmem_malloc(WINDOW * MOST)), bench_need(malloc(MOST)), &count,
                          .pe = bench.pes - 1};
    shmemx_ct_create(&w->ct);
    shmem_barrier_all();
    for (w->size = 8; w->size <= MOST && bench.me == 0; w->size *= w->size == MOST / 4 ? 4 : 8) {
        bench_kinds(ways, WAYS, BENCH_ALONE, 1, w->size);
        verify(w, back);
    }
    return bench_end("requests", wrong);
}
