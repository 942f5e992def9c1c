/* All PEs send a message to all (Dinan et al. 2014, figure 4). Measures the nanoseconds of one exchange.
 *
 *   barrier     puts, barrier_all
 *   flags       puts, fence, atomic_add of -1 to every PE's flag, wait for 0 (the paper's baseline)
 *   ct          counting puts, wait for as many as there are PEs
 *
 * Two buffers, flags and counters take turns, as in the paper, so that a fast PE may be one exchange ahead: its next
 * exchange needs all others' puts of this one. Every PE checks every message. */
#include "bench.h"

enum { WAYS = 3, MOST = 32768 };

static struct exchange {
    long *in[2]; /* symmetric: a message from each PE */
    long *out;
    int *flag[2]; /* symmetric */
    size_t words;
    long round;
    shmemx_ct_t ct[2];
} exchanges[WAYS];

static long wrong;

static void write_messages(struct exchange *x)
{
    x->round++;
    for (int pe = 0; pe < bench.pes; pe++)
        x->out[(size_t)pe * x->words] = x->out[(size_t)(pe + 1) * x->words - 1] = x->round * 1000 + bench.me;
}

static void look(const struct exchange *x)
{
    const volatile long *in = x->in[x->round % 2];
    for (int pe = 0; pe < bench.pes; pe++) {
        long want = x->round * 1000 + pe;
        wrong += in[(size_t)pe * x->words] != want || in[(size_t)(pe + 1) * x->words - 1] != want;
    }
}

static void put_all(const struct exchange *x)
{
    long *to = x->in[x->round % 2] + (size_t)bench.me * x->words;
    for (int i = 0, pe = bench.me; i < bench.pes; i++, pe = pe + 1 < bench.pes ? pe + 1 : 0)
        shmem_putmem(to, x->out + (size_t)pe * x->words, x->words * sizeof *to, pe);
}

static void do_barrier(long n, void *arg)
{
    struct exchange *x = arg;
    for (; n > 0; n--) {
        write_messages(x);
        put_all(x);
        shmem_barrier_all();
        look(x);
    }
}

static void do_flags(long n, void *arg)
{
    struct exchange *x = arg;
    for (; n > 0; n--) {
        write_messages(x);
        int *flag = x->flag[x->round % 2];
        put_all(x);
        shmem_fence();
        for (int i = 0, pe = bench.me; i < bench.pes; i++, pe = pe + 1 < bench.pes ? pe + 1 : 0)
            shmem_int_atomic_add(flag, -1, pe);
        shmem_int_wait_until(flag, SHMEM_CMP_EQ, 0);
        *(volatile int *)flag = bench.pes;
        look(x);
    }
}

static void do_ct(long n, void *arg)
{
    struct exchange *x = arg;
    for (; n > 0; n--) {
        write_messages(x);
        shmemx_ct_t ct = x->ct[x->round % 2];
        long *to = x->in[x->round % 2] + (size_t)bench.me * x->words;
        for (int i = 0, pe = bench.me; i < bench.pes; i++, pe = pe + 1 < bench.pes ? pe + 1 : 0)
            shmemx_putmem_ct(ct, to, x->out + (size_t)pe * x->words, x->words * sizeof *to, pe);
        shmemx_ct_wait(ct, bench.pes);
        shmemx_ct_set(ct, 0);
        look(x);
    }
}

/* Without counters a program does as `flags`: one fence for all puts. */
static const struct bench_kind ways[WAYS] = {{"barrier", do_barrier, &exchanges[0]},
                                             {"flags", do_flags, &exchanges[1]},
                                             {"ct", BENCH_REQUESTS ? do_ct : do_flags, &exchanges[2]}};

static void set_up(struct exchange *x)
{
    *x = (struct exchange){.out = bench_need(calloc((size_t)bench.pes, MOST))};
    for (int i = 0; i < 2; i++) {
        x->in[i] = bench_need(shmem_malloc((size_t)bench.pes * MOST));
        x->flag[i] = bench_need(shmem_align(128, 128));
        *x->flag[i] = bench.pes;
        shmemx_ct_create(&x->ct[i]);
    }
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    for (int k = 0; k < WAYS; k++)
        set_up(&exchanges[k]);
    shmem_barrier_all();
    for (size_t size = 8; size <= MOST; size *= 16) {
        for (int k = 0; k < WAYS; k++)
            exchanges[k].words = size / sizeof(long);
        bench_kinds(ways, WAYS, BENCH_TOGETHER, 1, size);
    }
    return bench_end("exchange", wrong);
}
