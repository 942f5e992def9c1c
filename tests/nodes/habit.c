/* Blocking puts that wait for the call that usually follows: they arrive while the program computes and calls nothing, also again
 * and again, and puts of all sizes bring their data with the quiet.
 * case: service
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 UCX_TLS=tcp,self
 * prints: ^PASS$
 * case: lane
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 UCX_TLS=tcp,self
 * args: lane
 * prints: ^PASS$
 */
#include "../conform/check.h"

enum { LONG = 40000, LEARN = 300, MISSES = 6 };

static unsigned char there[LONG], source[LONG];
static long cell, ready, seen;
static shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

static void put_with_quiets(int puts)
{
    for (int i = 0; i < puts; i++) {
        shmem_ctx_long_p(ctx, &cell, -i, next_pe);
        shmem_ctx_quiet(ctx);
    }
}

/* The last put is followed by nothing until the peer has seen it. */
static void test_left_alone(void)
{
    for (long i = 1; i <= MISSES; i++) {
        if (me == 0) {
            put_with_quiets(LEARN);
            shmem_ctx_long_p(ctx, &ready, i, 1);
            while (__atomic_load_n(&seen, __ATOMIC_ACQUIRE) < i)
                continue;
        } else {
            shmem_long_wait_until(&ready, SHMEM_CMP_EQ, i);
            shmem_long_p(&seen, i, 0);
            shmem_quiet();
        }
    }
    shmem_barrier_all();
}

static void test_sizes(void)
{
    put_with_quiets(LEARN);
    for (size_t bytes = 1; bytes < LONG; bytes += bytes / 2 + 1) {
        shmem_barrier_all();
        memset(there, 0, sizeof there);
        memset(source, (int)(bytes % 251 + 1), sizeof source);
        shmem_barrier_all();
        put_with_quiets(40);
        shmem_ctx_putmem(ctx, there, source, bytes / 2, next_pe);
        shmem_ctx_putmem(ctx, there + bytes / 2, source, bytes - bytes / 2, next_pe);
        memset(source, 0, sizeof source);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        size_t good = 0;
        for (size_t i = 0; i < LONG; i++)
            good += there[i] == (i < bytes ? bytes % 251 + 1 : 0);
        CHECK_EQ(good, LONG);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    check_start();
    if (argc > 1)
        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
    test_sizes();
    test_left_alone();
    if (argc > 1)
        shmem_ctx_destroy(ctx);
    check_pass();
    return 0;
}
