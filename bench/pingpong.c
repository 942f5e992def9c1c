/* Measures the time from one PE's send until another PE, which waits for the value, sees it (half a round trip).
 *
 *   hop              plain stores and loads of one line, if shmem_ptr gives the other's memory
 *   p                p of a flag alone
 *   put_inc          put of one element, fence, atomic_inc of a flag in the same cache line
 *   put_inc.apart    the same with the flag in another cache line; two lines travel, as in all below with .apart
 *   put_signal       put_signal of one element, the signal in the same cache line
 *   put_signal.apart, put_signal_add.apart      put_signal that sets, and that adds
 *   ct.apart         counting put
 *   store.apart      a plain store of the element and a release store of a flag, if shmem_ptr gives the memory
 *
 * The receiver reads and checks every value. Kinds take turns batch by batch, so that all see the same machine. */
#include "extension.h"

/* Symmetric, one for each kind. Numbers go on from batch to batch. */
struct box {
    _Alignas(128) long data;
    long flag;
    uint64_t signal;
    _Alignas(128) long far_flag;
    _Alignas(128) uint64_t far_signal;
};

struct exchange {
    struct box *box, *there; /* the other PE's box, or null if it cannot be mapped */
    long *flag;              /* the flag or signal this kind uses */
    long sent;               /* messages so far; both sides count the same */
#if BENCH_REQUESTS
    shmemx_ct_t ct;
#endif
};

static long wrong;

static int other(void)
{
    return 1 - bench.me;
}

static void look(const struct exchange *x)
{
    wrong += *(const volatile long *)&x->box->data != x->sent;
}

#define PINGPONG(name, send, receive)   \
    static void name(long n, void *arg) \
    {                                   \
        struct exchange *x = arg;       \
        for (long i = 0; i < n; i++) {  \
            x->sent++;                  \
            if (bench.me == 0)          \
                send;                   \
            receive;                    \
            if (bench.me == 1)          \
                send;                   \
        }                               \
    }

#define WAIT shmem_long_wait_until(x->flag, SHMEM_CMP_GE, x->sent)
PINGPONG(do_p, shmem_long_p(x->flag, x->sent, other()), WAIT)
PINGPONG(do_put_inc,
         (shmem_long_put(&x->box->data, &x->sent, 1, other()), shmem_fence(), shmem_long_atomic_inc(x->flag, other())),
         (WAIT, look(x)))
#if BENCH_15
#define SIGNAL_WAIT (shmem_signal_wait_until((uint64_t *)x->flag, SHMEM_CMP_GE, (uint64_t)x->sent), look(x))
PINGPONG(do_put_signal,
         shmem_long_put_signal(&x->box->data, &x->sent, 1, (uint64_t *)x->flag, (uint64_t)x->sent, SHMEM_SIGNAL_SET,
                               other()),
         SIGNAL_WAIT)
PINGPONG(do_put_signal_add,
         shmem_long_put_signal(&x->box->data, &x->sent, 1, (uint64_t *)x->flag, 1, SHMEM_SIGNAL_ADD, other()),
         SIGNAL_WAIT)
#endif
#if BENCH_REQUESTS
PINGPONG(do_ct, shmemx_long_put_ct(x->ct, &x->box->data, &x->sent, 1, other()),
         (shmemx_ct_wait(x->ct, x->sent), look(x)))
#endif

static void store(const struct exchange *x)
{
    *(volatile long *)&x->there->data = x->sent;
    __atomic_store_n(&x->there->far_flag, x->sent, __ATOMIC_RELEASE);
}

static void await(const struct exchange *x)
{
    while (__atomic_load_n(&x->box->far_flag, __ATOMIC_ACQUIRE) < x->sent)
        ;
    look(x);
}
PINGPONG(do_store, store(x), await(x))

enum { SAME, APART, SIGNAL, SIGNAL_APART };

static const struct {
    const char *name;
    bench_loop *loop;
    int flag;
} ways[] = {
    {"p", do_p, SAME},
    {"put_inc", do_put_inc, SAME},
    {"put_inc.apart", do_put_inc, APART},
#if BENCH_15
    {"put_signal", do_put_signal, SIGNAL},
    {"put_signal.apart", do_put_signal, SIGNAL_APART},
    {"put_signal_add.apart", do_put_signal_add, SIGNAL_APART},
#endif
#if BENCH_REQUESTS
    {"ct.apart", do_ct, APART},
#endif
    {"store.apart", do_store, APART}, /* the last one, left out where memory cannot be mapped */
};
enum { WAYS = sizeof ways / sizeof ways[0] };
_Static_assert((int)WAYS + 2 <= (int)BENCH_MOST_KINDS, "all ways and the hops take turns");

static void prepare(struct exchange *x, struct box *box, int flag)
{
    *x = (struct exchange){.box = box, .there = shmem_ptr(box, other())};
    x->flag = flag == SAME     ? &box->flag
              : flag == APART  ? &box->far_flag
              : flag == SIGNAL ? (long *)&box->signal
                               : (long *)&box->far_signal;
#if BENCH_REQUESTS
    shmemx_ct_create(&x->ct);
#endif
}

static void measure(struct box *boxes)
{
    struct exchange x[WAYS];
    struct bench_hop hop;
    struct bench_kind kinds[WAYS + 2];
    double ns[WAYS + 2];
    for (int k = 0; k < WAYS; k++) {
        prepare(&x[k], &boxes[k], ways[k].flag);
        kinds[k] = (struct bench_kind){ways[k].name, ways[k].loop, &x[k]};
    }
    int hops = bench_hop_setup(&hop), ours = hops ? WAYS : WAYS - 1;
    kinds[WAYS] = (struct bench_kind){"hop", bench_hop_tight, &hop};
    kinds[WAYS + 1] = (struct bench_kind){"hop", bench_hop_relaxed, &hop};
    bench_turns(kinds, hops ? WAYS + 2 : ours, ns);
    for (int k = 0; k < ours; k++)
        bench_result(kinds[k].name, ns[k] / 2, "ns");
    if (hops)
        bench_hop_result(ns + WAYS);
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
    struct box *boxes = bench_need(shmem_align(128, WAYS * sizeof *boxes));
    memset(boxes, 0, WAYS * sizeof *boxes);
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
