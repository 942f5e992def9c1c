/* Measures half a round trip of messages between two PEs, by the size of the message (Dinan et al. 2014, figure 3):
 *
 *   inc         put, fence, atomic_inc of a flag; the receiver waits and sets it back (the paper's baseline)
 *   put_signal  put_signal that sets        put_signal_add   put_signal that adds
 *   ct          counting put; the receiver waits for one and sets the counter back, as in the paper
 *   p           a flag alone, 8 B; inc.near, put_signal.near: 8 B with the flag in the same cache line
 *   store       memcpy to the receiver's memory and a release store of a flag, if shmem_ptr gives the memory
 *
 * The receiver reads and checks the first and the last word of every message. 2 PEs. A hop of a cache line is the
 * floor. Kinds take turns, so that all see the same machine. */
#include "bench.h"

struct box {
    long *data; /* symmetric, as are flag and signal */
    int *flag;
    uint64_t *signal;
    long *source;
    size_t words;
    long sent;
#if BENCH_REQUESTS
    shmemx_ct_t ct;
#endif
};

static long wrong;

static int other(void)
{
    return 1 - bench.me;
}

static void look(struct box *b)
{
    const volatile long *data = b->data;
    wrong += data[0] != b->sent || data[b->words - 1] != b->sent;
}

static void write_message(struct box *b)
{
    b->source[0] = b->source[b->words - 1] = b->sent;
}

#define PINGPONG(name, send, receive)   \
    static void name(long n, void *arg) \
    {                                   \
        struct box *b = arg;            \
        for (long i = 0; i < n; i++) {  \
            b->sent++;                  \
            if (bench.me == 0) {        \
                write_message(b);       \
                send;                   \
            }                           \
            receive;                    \
            look(b);                    \
            if (bench.me == 1) {        \
                write_message(b);       \
                send;                   \
            }                           \
        }                               \
    }

PINGPONG(do_inc,
         (shmem_putmem(b->data, b->source, b->words * 8, other()), shmem_fence(),
          shmem_int_atomic_inc(b->flag, other())),
         (shmem_int_wait_until(b->flag, SHMEM_CMP_NE, 0), *(volatile int *)b->flag = 0))
PINGPONG(do_p, shmem_long_p(b->data, b->sent, other()), shmem_long_wait_until(b->data, SHMEM_CMP_EQ, b->sent))
#if BENCH_15
PINGPONG(do_signal,
         shmem_putmem_signal(b->data, b->source, b->words * 8, b->signal, (uint64_t)b->sent, SHMEM_SIGNAL_SET, other()),
         shmem_signal_wait_until(b->signal, SHMEM_CMP_EQ, (uint64_t)b->sent))
PINGPONG(do_signal_add, shmem_putmem_signal(b->data, b->source, b->words * 8, b->signal, 1, SHMEM_SIGNAL_ADD, other()),
         shmem_signal_wait_until(b->signal, SHMEM_CMP_EQ, (uint64_t)b->sent))
#endif
#if BENCH_REQUESTS
PINGPONG(do_ct, shmemx_putmem_ct(b->ct, b->data, b->source, b->words * 8, other()),
         (shmemx_ct_wait(b->ct, 1), shmemx_ct_set(b->ct, 0)))
#endif

static void store(const struct box *b)
{
    memcpy(shmem_ptr(b->data, other()), b->source, b->words * 8);
    __atomic_store_n((uint64_t *)shmem_ptr(b->signal, other()), (uint64_t)b->sent, __ATOMIC_RELEASE);
}

static void await(const struct box *b)
{
    while (__atomic_load_n(b->signal, __ATOMIC_ACQUIRE) != (uint64_t)b->sent)
        ;
}
PINGPONG(do_store, store(b), await(b))

static const struct {
    const char *name;
    bench_loop *loop;
} ways[] = {
    {"inc", do_inc},
#if BENCH_15
    {"put_signal", do_signal},
    {"put_signal_add", do_signal_add},
#endif
#if BENCH_REQUESTS
    {"ct", do_ct},
#else
    {"ct", do_inc}, /* a program does this where there are no counters */
#endif
    {"store", do_store}, /* the last one, left out where memory cannot be mapped */
};
enum { WAYS = sizeof ways / sizeof ways[0], NEAR = BENCH_15 ? 3 : 2, MOST = 32768 };

static void measure(struct box *boxes, size_t size)
{
    struct bench_kind kinds[WAYS];
    int count = shmem_ptr(boxes[0].data, other()) ? WAYS : WAYS - 1;
    for (int k = 0; k < count; k++) {
        boxes[k].words = size / sizeof(long);
        kinds[k] = (struct bench_kind){ways[k].name, ways[k].loop, &boxes[k]};
    }
    bench_kinds(kinds, count, BENCH_TOGETHER, 0.5, size);
}

/* Messages of one word in one cache line, beside hops of such a line. */
static void measure_near(struct box *boxes)
{
    struct bench_hop hop;
    struct bench_kind kinds[NEAR + 2] =
    { {"p", do_p, &boxes[0]},
      {"inc.near", do_inc, &boxes[1]},
#if BENCH_15
      {"put_signal.near", do_signal, &boxes[2]},
#endif
      {"hop", bench_hop_tight, &hop},
      {"hop", bench_hop_relaxed, &hop} };
    double ns[NEAR + 2];
    int hops = bench_hop_setup(&hop);
    for (int k = 0; k < NEAR; k++) {
        boxes[k].words = 1;
        boxes[k].flag = (int *)(boxes[k].data + 2);
        boxes[k].signal = (uint64_t *)(boxes[k].data + 4);
        boxes[k].data[2] = boxes[k].data[4] = 0;
    }
    shmem_barrier_all();
    bench_rounds(kinds, hops ? NEAR + 2 : NEAR, ns, BENCH_TOGETHER);
    for (int k = 0; k < NEAR; k++)
        bench_result(ns[k] / 2, "ns", "%s", kinds[k].name);
    if (hops)
        bench_hop_result(ns + NEAR);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 64, 512, 4096, MOST};
    struct box boxes[WAYS];
    bench_open(argc, argv);
    for (int k = 0; k < WAYS; k++) {
        boxes[k] = (struct box){.data = bench_need(shmem_align(128, MOST)),
                                .flag = bench_need(shmem_align(128, 128)),
                                .signal = bench_need(shmem_align(128, 128)),
                                .source = bench_need(calloc(1, MOST))};
        *boxes[k].flag = 0;
        *boxes[k].signal = 0;
#if BENCH_REQUESTS
        shmemx_ct_create(&boxes[k].ct);
#endif
    }
    shmem_barrier_all();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        measure(boxes, sizes[i]);
    measure_near(boxes);
    return bench_end("notify", wrong);
}
