/* What a progress thread is worth while PEs compute (LATERAL_PROGRESS=thread, set here). 2 PEs; uccs.h and shmemx.h.
 *
 *   answer, answer.p99     PE 0 asks PE 1, which computes and never calls the library: until the answer is here
 *   alone.N                a sum of N longs (split-phase), started and waited for at once
 *   left.N                 ns that such a sum takes beside work on the processor between start and wait, of twice its length: all of
 *                          the time but the processor's own time for the work
 *   left_away.N            the same beside work that leaves the processor alone (another device computes, or a file is read): all of
 *                          the time but the work's
 *
 * All kinds take turns, because the machine changes over time. */
#include "bench.h"
#include "uccs_open.h"

enum { ASK = 1, ANSWER = 2, ROUNDS = 400, TURNS = 41, QUICK_TURNS = 5, MOST = 1 << 20 };

static uccs_context_t context;
static uccs_endpoint_t peer;
static volatile long answers;
static long over; /* symmetric, at PE 1 */

static void ask(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)payload, (void)length, (void)argument;
    uccs_am_reply(token, ANSWER, UCCS_AM_NETWORK_PROTOCOL, 0, 0);
}

static void answer(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    answers++;
}

/* Returns the ns that this thread has had a processor. */
static double own_time(void)
{
    return bench_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Both return the ns that the work took by itself. */
static double compute(double ns)
{
    static volatile double x = 1;
    double start = own_time(), now = start;
    for (; now < start + ns; now = own_time())
        for (int i = 0; i < 500; i++)
            x = x * 1.0000001;
    return now - start;
}

static double be_away(double ns)
{
    struct timespec time = {(time_t)(ns / 1e9), (long)ns % 1000000000};
    double start = bench_now();
    nanosleep(&time, 0);
    return bench_now() - start;
}

/* PE 0 asks every half a millisecond or so. */
static void test_answers(void)
{
    static double ns[ROUNDS];
    const int rounds = bench.quick ? ROUNDS / 8 : ROUNDS;
    shmem_barrier_all();
    for (int i = 0; i < rounds && bench.me == 0; i++) {
        compute(2e5 + 1e3 * (i % 97) * 5);
        double start = bench_now();
        long before = answers;
        uccs_am_short(context, peer, ASK, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0);
        while (answers == before)
            uccs_progress();
        ns[i] = bench_now() - start;
    }
    if (bench.me == 0) {
        shmem_long_p(&over, 1, 1);
        shmem_quiet();
        bench_result(bench_median(ns, rounds), "ns", "answer");
        bench_result(ns[rounds * 99 / 100], "ns", "answer.p99");
    }
    while (bench.me == 1 && *(volatile long *)&over == 0)
        compute(1e4);
    shmem_barrier_all();
}

/* One sum with work beside it. Returns the time without the work's own. */
static double sum(long *dest, long *source, size_t n, double (*work)(double), double ns)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    shmem_barrier_all();
    double start = bench_now();
    shmemx_long_sum_reduce_nbe(SHMEM_TEAM_WORLD, dest, source, n, &request);
    double worked = work ? work(ns) : 0;
    shmemx_request_wait(&request);
    double took = bench_now() - start;
    shmemx_request_free(&request);
    return took - worked;
}

static void test_overlap(long *dest, long *source, size_t n)
{
    double (*const work[])(double) = {0, compute, be_away};
    double took[3][TURNS], first[5], ns[3];
    for (int i = 0; i < 5; i++)
        first[i] = sum(dest, source, n, 0, 0);
    int turns = bench.quick ? QUICK_TURNS : TURNS;
    double length = 2 * (double)bench_agree((long)bench_median(first, 5));
    for (int i = 0; i < turns; i++)
        for (int k = 0; k < 3; k++)
            took[k][i] = sum(dest, source, n, work[k], length < 1e5 ? 1e5 : length);
    for (int k = 0; k < 3; k++)
        ns[k] = bench_median(took[k], turns);
    bench_result(ns[0], "ns", "alone.%zu", n);
    bench_result(ns[1], "ns", "left.%zu", n);
    bench_result(ns[2], "ns", "left_away.%zu", n);
}

int main(int argc, char **argv)
{
    setenv("LATERAL_PROGRESS", "thread", 0);
    bench_open(argc, argv);
    long *source = bench_need(shmem_malloc(MOST * sizeof *source)),
         *dest = bench_need(shmem_malloc(MOST * sizeof *dest));
    memset(source, 1, MOST * sizeof *source);
    memset(dest, 0, MOST * sizeof *dest);
    context = bench_context((bench.me + 1) % bench.pes, &peer);
    uccs_am_register(context, ASK, UCCS_AM_NETWORK_PROTOCOL, ask, 0);
    uccs_am_register(context, ANSWER, UCCS_AM_NETWORK_PROTOCOL, answer, 0);
    test_answers();
    for (size_t n = 1; n <= MOST; n *= 8)
        test_overlap(dest, source, n);
    return bench_end("computing", 0);
}
