/* Measures half a round trip of messages between two PEs, by the size of the message (Dinan et al. 2014, figure 3):
 *
 *   inc         put, fence, atomic_inc of a flag; the receiver waits and sets it back (the paper's baseline)
 *   put_signal  put_signal that sets        put_signal_add   put_signal that adds
 *   ct          counting put; the receiver waits for one and sets the counter back, as in the paper
 *   p           a flag alone, 8 B; inc.near, put_signal.near: 8 B with the flag in the same cache line
 *
 * The receiver reads and checks the first and the last word of every message. 2 PEs. Kinds take turns, so that all see the same
 * machine. */
#include "bench.h"

enum { WAYS = 4, NEAR = 3, MOST = 32768 };

static struct box {
    long *data; /* symmetric, as are flag and signal */
    int *flag;
    uint64_t *signal;
    long *source;
    size_t words;
    long sent;
    shmemx_ct_t ct;
} boxes[WAYS];

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
PINGPONG(do_signal,
         shmem_putmem_signal(b->data, b->source, b->words * 8, b->signal, (uint64_t)b->sent, SHMEM_SIGNAL_SET, other()),
         shmem_signal_wait_until(b->signal, SHMEM_CMP_EQ, (uint64_t)b->sent))
PINGPONG(do_signal_add, shmem_putmem_signal(b->data, b->source, b->words * 8, b->signal, 1, SHMEM_SIGNAL_ADD, other()),
         shmem_signal_wait_until(b->signal, SHMEM_CMP_EQ, (uint64_t)b->sent))
PINGPONG(do_ct, shmemx_putmem_ct(b->ct, b->data, b->source, b->words * 8, other()),
         (shmemx_ct_wait(b->ct, 1), shmemx_ct_set(b->ct, 0)))

static const struct bench_kind ways[WAYS] = {{"inc", do_inc, &boxes[0]},
                                             {"put_signal", do_signal, &boxes[1]},
                                             {"put_signal_add", do_signal_add, &boxes[2]},
                                             {"ct", BENCH_REQUESTS ? do_ct : do_inc, &boxes[3]}};
static const struct bench_kind near[NEAR] = {{"p", do_p, &boxes[0]},
                                             {"inc.near", do_inc, &boxes[1]},
                                             {"put_signal.near", do_signal, &boxes[2]}};

/* Messages of one word in one cache line. */
static void measure_near(void)
{
    for (int k = 0; k < NEAR; k++) {
        boxes[k].words = 1;
        boxes[k].flag = (int *)(boxes[k].data + 2);
        boxes[k].signal = (uint64_t *)(boxes[k].data + 4);
        boxes[k].data[2] = boxes[k].data[4] = 0;
    }
    shmem_barrier_all();
    bench_kinds(near, NEAR, BENCH_TOGETHER, 0.5, 0);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    for (int k = 0; k < WAYS; k++) {
        boxes[k] = (struct box){.data = bench_need(shmem_align(128, MOST)),
                                .flag = bench_need(shmem_align(128, 128)),
                                .signal = bench_need(shmem_align(128, 128)),
                                .source = bench_need(calloc(1, MOST))};
        *boxes[k].flag = 0;
        *boxes[k].signal = 0;
        shmemx_ct_create(&boxes[k].ct);
    }
    shmem_barrier_all();
    for (size_t size = 8; size <= MOST; size *= 8) {
        for (int k = 0; k < WAYS; k++)
            boxes[k].words = size / sizeof(long);
        bench_kinds(ways, WAYS, BENCH_TOGETHER, 0.5, size);
    }
    measure_near();
    return bench_end("notify", wrong);
}
