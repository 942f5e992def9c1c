/* Many operations under way at once: messages that wait for a long one behind a fence cost each the same, and gets that
 * nobody waits for yet take up no more than some megabytes at their target.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self
 * case: kept
 * env: LATERAL_PROGRESS=poll
 * args: kept
 * case: gets
 * args: gets
 * case: gets_poll
 * args: gets
 * env: LATERAL_PROGRESS=poll
 */
#include "../conform/check.h"

#include <sys/resource.h>
#include <time.h>

enum { KEPT = 60000, LONG = 64 << 20, GETS = 40000, BYTES = 8192, MOST_MEGABYTES = 64, MOST_SECONDS = 10 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* In time that grows with their square this takes a minute, else a fraction of a second. */
static void test_kept(void)
{
    static long values[KEPT];
    char *box = check_alloc(LONG), *source = calloc(LONG, 1);
    long *cells = check_alloc(KEPT * sizeof *cells);
    CHECK(source != NULL);
    for (long i = 0; i < KEPT; i++)
        values[i] = i + 1;
    memset(source, 7, LONG);
    shmem_barrier_all();
    double start = now();
    if (me == 0) {
        shmem_putmem_nbi(box, source, LONG, 1);
        shmem_fence();
        for (long i = 0; i < KEPT; i++)
            shmem_long_put_nbi(&cells[i], &values[i], 1, 1);
    }
    shmem_barrier_all();
    CHECK(now() - start < MOST_SECONDS);
    for (long i = 0; me == 1 && i < KEPT; i++)
        CHECK_EQ(cells[i], i + 1);
    CHECK_EQ(me == 1 ? box[LONG - 1] : 7, 7);
    free(source);
}

static long megabytes(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss >> 10;
}

/* They may come in any order, so the place is the same for all of a value. */
static void test_gets(void)
{
    char *source = check_alloc(BYTES), dest[BYTES] = {0};
    memset(source, 5 + me, BYTES);
    shmem_barrier_all();
    long before = megabytes();
    for (long i = 0; me == 0 && i < GETS; i++)
        shmem_getmem_nbi(dest, source, BYTES, 1);
    shmem_barrier_all();
    CHECK(megabytes() - before < MOST_MEGABYTES);
    for (int i = 0; me == 0 && i < BYTES; i++)
        CHECK_EQ(dest[i], 6);
}

int main(int argc, char **argv)
{
    check_start();
    CHECK(argc == 2);
    strcmp(argv[1], "kept") == 0 ? test_kept() : test_gets();
    return check_pass();
}
