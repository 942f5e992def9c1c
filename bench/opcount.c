/* Does one operation N times, in the function `measured`, whose instructions bench/guard.py counts.
 *
 *   opcount OPERATION N
 *
 * Runs without a launcher, on this PE's own memory; of two PEs the first works on the second's memory, and the second waits. */
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct box {
    long data, source;
    uint64_t signal;
} global; /* symmetric */
enum { WARM = 16 };
static int to; /* the PE that operations go to */
static volatile long sink;
static shmemx_request_t request;
static shmemx_ct_t counter;

/* What can be counted: X(name, statement). x: memory on the heap or a global variable. */
#define OPERATIONS(X)                                                                                            \
    X(loop, (void)0)                                                                                             \
    X(p, shmem_long_p(&x->data, i, to))                                                                          \
    X(g, sink = shmem_long_g(&x->data, to))                                                                      \
    X(put1, shmem_long_put(&x->data, &x->source, 1, to))                                                         \
    X(get1, shmem_long_get(&x->source, &x->data, 1, to))                                                         \
    X(atomic_inc, shmem_long_atomic_inc(&x->data, to))                                                           \
    X(atomic_fetch_add, sink = shmem_long_atomic_fetch_add(&x->data, 1, to))                                     \
    X(put_signal, shmem_long_put_signal(&x->data, &x->source, 1, &x->signal, (uint64_t)i, SHMEM_SIGNAL_SET, to)) \
    X(fence, shmem_fence())                                                                                      \
    X(quiet, shmem_quiet())                                                                                      \
    X(wait_until, shmem_long_wait_until(&x->source, SHMEM_CMP_EQ, 1))                                            \
    X(ctx_p, shmem_ctx_long_p(SHMEM_CTX_DEFAULT, &x->data, i, to))                                               \
    X(put1_nbe, shmemx_long_put_nbe(&x->data, &x->source, 1, to, &request))                                      \
    X(get1_nbe, shmemx_long_get_nbe(&x->source, &x->data, 1, to, &request))                                      \
    X(request_test, sink = shmemx_request_test(&request))                                                        \
    X(put1_ct, shmemx_long_put_ct(counter, &x->data, &x->source, 1, to))                                         \
    X(ct_wait, shmemx_ct_wait(counter, 0))                                                                       \
    X(put_nbi, shmem_long_put_nbi(&x->data, &x->source, 1, to))                                                  \
    X(barrier, shmem_barrier_all())

#define FUNCTION(name, operation)                \
    static void do_##name(long n, struct box *x) \
    {                                            \
        for (long i = 0; i < n; i++) {           \
            operation;                           \
            __asm__ volatile("" ::: "memory");   \
        }                                        \
        (void)x;                                 \
    }
OPERATIONS(FUNCTION)

#define ROW(name, operation) {#name, do_##name},
static const struct {
    const char *name;
    void (*run)(long, struct box *);
} operations[] = {OPERATIONS(ROW)};

__attribute__((noinline)) static void measured(void (*run)(long, struct box *), long n, struct box *x)
{
    run(n, x);
    __asm__ volatile("" ::: "memory"); /* no tail call: valgrind counts until this function returns */
}

/* PEs beside PE 0 do the operation only where all must. */
static void all(void (*run)(long, struct box *), long n, struct box *x)
{
    if (shmem_my_pe() == 0 || run == do_barrier) {
        run(WARM, x);
        measured(run, n, x);
    }
    shmem_barrier_all();
}

static int run(const char *name, long n)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        size_t length = strlen(operations[i].name);
        if (strncmp(name, operations[i].name, length) != 0)
            continue;
        struct box *heap = shmem_calloc(1, sizeof *heap);
        heap->source = global.source = 1;
        shmemx_ct_create(&counter);
        (void)shmemx_request_create(SHMEMX_REQUEST_PRIVATE, &request);
        if (name[length] == 0)
            all(operations[i].run, n, heap);
        else if (strcmp(name + length, ".global") == 0)
            all(operations[i].run, n, &global);
        else
            continue;
        shmem_free(heap);
        return 0;
    }
    fprintf(stderr, "opcount: no operation %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    shmem_init();
    to = shmem_n_pes() > 1;
    int status = run(argv[1], atol(argv[2]));
    shmem_finalize();
    return status;
}
