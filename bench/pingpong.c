/* How long until a value that one PE sends is seen by another that waits for it (half a round trip)?
 *
 *   hop            plain stores and loads on the same kind of memory, where shmem_ptr gives it
 *   p              p of a flag alone
 *   put_inc        put of one element, fence, atomic_inc of a flag in the same cache line
 *   put_inc.apart  the same with the flag in another cache line: two lines travel
 *   put_signal     put_signal of one element, the signal in the same cache line
 * The receiver checks every value. Kinds take turns batch by batch, so that all see the same machine. */
#include "bench.h"

/* Symmetric, one for each kind: numbers go on from batch to batch. */
struct box {
    _Alignas(128) long data;
    long flag;
    uint64_t signal;
    _Alignas(128) long far_flag;
};

struct exchange {
    struct box *box;
    long *flag; /* the flag this kind uses */
    long sent;  /* messages so far; both sides count alike */
};

static long wrong;

static int other(void)
{
    return 1 - bench.me;
}

static void send_inc(struct exchange *x)
{
    shmem_long_put(&x->box->data, &x->sent, 1, other());
    shmem_fence();
    shmem_long_atomic_inc(x->flag, other());
}

static void do_put_inc(long n, void *arg)
{
    struct exchange *x = arg;
    for (long i = 0; i < n; i++) {
        x->sent++;
        if (bench.me == 0)
            send_inc(x);
        shmem_long_wait_until(x->flag, SHMEM_CMP_GE, x->sent);
        wrong += *(volatile long *)&x->box->data != x->sent;
        if (bench.me == 1)
            send_inc(x);
    }
}

static void do_p(long n, void *arg)
{
    struct exchange *x = arg;
    for (long i = 0; i < n; i++) {
        x->sent++;
        if (bench.me == 0)
            shmem_long_p(x->flag, x->sent, other());
        shmem_long_wait_until(x->flag, SHMEM_CMP_GE, x->sent);
        if (bench.me == 1)
            shmem_long_p(x->flag, x->sent, other());
    }
}

#if BENCH_15
static void send_signal(struct exchange *x)
{
    shmem_long_put_signal(&x->box->data, &x->sent, 1, &x->box->signal, (uint64_t)x->sent, SHMEM_SIGNAL_SET, other());
}

static void do_put_signal(long n, void *arg)
{
    struct exchange *x = arg;
    for (long i = 0; i < n; i++) {
        x->sent++;
        if (bench.me == 0)
            send_signal(x);
        shmem_signal_wait_until(&x->box->signal, SHMEM_CMP_GE, (uint64_t)x->sent);
        wrong += *(volatile long *)&x->box->data != x->sent;
        if (bench.me == 1)
            send_signal(x);
    }
}
#endif

enum { OURS = 3 + BENCH_15, KINDS = OURS + 2 };

static void measure(struct box *boxes)
{
    struct exchange x[OURS];
    struct bench_hop hop;
    double ns[KINDS];
    for (int k = 0; k < OURS; k++)
        x[k] = (struct exchange){.box = &boxes[k], .flag = k == 2 ? &boxes[k].far_flag : &boxes[k].flag};
    const struct bench_kind kinds[KINDS] =
    { {"p", do_p, &x[0]},
      {"put_inc", do_put_inc, &x[1]},
      {"put_inc.apart", do_put_inc, &x[2]},
#if BENCH_15
      {"put_signal", do_put_signal, &x[3]},
#endif
      {"hop", bench_hop_tight, &hop},
      {"hop", bench_hop_relaxed, &hop},
    };
    int hops = bench_hop_setup(&hop);
    bench_turns(kinds, hops ? KINDS : OURS, ns);
    for (int k = 0; k < OURS; k++)
        bench_result(kinds[k].name, ns[k] / 2, "ns");
    if (hops)
        bench_hop_result(ns + OURS);
    shmem_barrier_all();
    shmem_free(hop.here);
}

int main(int argc, char **argv)
{
    shmem_init();
    bench_start(argc, argv);
    if (bench.pes != 2) {
        fprintf(stderr, "pingpong: needs 2 PEs\n");
        shmem_finalize();
        return 2;
    }
    struct box *boxes = bench_need(shmem_align(128, OURS * sizeof *boxes));
    memset(boxes, 0, OURS * sizeof *boxes);
    shmem_barrier_all();
    measure(boxes);
    bench_print("pingpong");
    if (wrong)
        fprintf(stderr, "pingpong: PE %d saw %ld wrong values\n", bench.me, wrong);
    shmem_barrier_all();
    shmem_free(boxes);
    shmem_finalize();
    return wrong != 0;
}
