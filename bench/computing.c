/* What a progress thread is worth while PEs compute (LATERAL_PROGRESS=thread, set here). 2 PEs; uccs.h and shmemx.h.
 *
 *   answer, answer.p99     PE 0 asks PE 1, which computes and never calls the library: until the answer is here
 *   answer.waiting         the same while PE 1 waits in the library
 *   alone.N                a sum of N longs (split-phase), started and waited for at once
 *   overlap.N              the part of it that computation hides: (alone + work - both) / alone, where both PEs do work for
 *                          twice as long as the sum takes, on the processor
 *   overlap_away.N         the same where the work leaves the processor alone (another device computes, or a file is read)
 *   left_away.N            ns of the sum that such work does not hide: both - work
 *
 * All kinds take turns, because the machine changes over time. */
#include "bench.h"
#include "uccs_share.h"

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

static void compute(double ns)
{
    static volatile double x = 1;
    for (double end = bench_now() + ns; bench_now() < end;)
        for (int i = 0; i < 50; i++)
            x = x * 1.0000001;
}

static void be_away(double ns)
{
    struct timespec time = {(time_t)(ns / 1e9), (long)ns % 1000000000};
    nanosleep(&time, 0);
}

/* PE 0: asks every half a millisecond or so. */
static void measure_answers(double *ns, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        compute(2e5 + 1e3 * (i % 97) * 5);
        double start = bench_now();
        long before = answers;
        uccs_am_short(context, peer, ASK, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0);
        while (answers == before)
            uccs_progress();
        ns[i] = bench_now() - start;
    }
    shmem_long_p(&over, 1, 1);
    shmem_quiet();
}

static void test_answers(void)
{
    static double ns[ROUNDS];
    int rounds = bench.quick ? ROUNDS / 8 : ROUNDS;
    for (int computes = 1; computes >= 0; computes--) {
        shmem_barrier_all();
        if (bench.me == 0) {
            measure_answers(ns, rounds);
            bench_result(bench_median(ns, rounds), "ns", "%s", computes ? "answer" : "answer.waiting");
            if (computes)
                bench_result(ns[rounds * 99 / 100], "ns", "answer.p99");
        } else if (bench.me == 1 && computes) {
            while (*(volatile long *)&over == 0)
                compute(1e4);
        } else if (bench.me == 1) {
            shmem_long_wait_until(&over, SHMEM_CMP_EQ, 1);
        }
        shmem_barrier_all();
        over = 0;
    }
}

/* One sum with work beside it. Returns the time. */
static double sum(long *dest, long *source, size_t n, void (*work)(double), double ns)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    shmem_barrier_all();
    double start = bench_now();
    shmemx_long_sum_reduce_nbe(SHMEM_TEAM_WORLD, dest, source, n, &request);
    if (work)
        work(ns);
    shmemx_request_wait(&request);
    double took = bench_now() - start;
    shmemx_request_free(&request);
    return took;
}

static double work_alone(void (*work)(double), double ns)
{
    shmem_barrier_all();
    double start = bench_now();
    work(ns);
    return bench_now() - start;
}

static void test_overlap(long *dest, long *source, size_t n)
{
    double alone[TURNS], works[2][TURNS], both[2][TURNS], first[5];
    void (*const work[])(double) = {compute, be_away};
    static const char *const names[] = {"overlap", "overlap_away"};
    for (int i = 0; i < 5; i++)
        first[i] = sum(dest, source, n, 0, 0);
    int turns = bench.quick ? QUICK_TURNS : TURNS;
    double ns = 2 * (double)bench_agree((long)bench_median(first, 5));
    ns = ns < 1e5 ? 1e5 : ns;
    for (int i = 0; i < turns; i++) {
        alone[i] = sum(dest, source, n, 0, 0);
        for (int k = 0; k < 2; k++) {
            works[k][i] = work_alone(work[k], ns);
            both[k][i] = sum(dest, source, n, work[k], ns);
        }
    }
    double sums = bench_median(alone, turns), left[2];
    bench_result(sums, "ns", "alone.%zu", n);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < turns; i++)
            both[k][i] -= works[k][i];
        left[k] = bench_median(both[k], turns);
        bench_result((sums - left[k]) / sums, "", "%s.%zu", names[k], n);
    }
    bench_result(left[1], "ns", "left_away.%zu", n);
}

static void measure(void)
{
    long *source = bench_need(shmem_malloc(MOST * sizeof *source)),
         *dest = bench_need(shmem_malloc(MOST * sizeof *dest));
    memset(source, 1, MOST * sizeof *source);
    memset(dest, 0, MOST * sizeof *dest);
    context = bench_context();
    uccs_am_register(context, ASK, UCCS_AM_NETWORK_PROTOCOL, ask, 0);
    uccs_am_register(context, ANSWER, UCCS_AM_NETWORK_PROTOCOL, answer, 0);
    uccs_endpoint_create(context, UCCS_GROUP_WORLD, (bench.me + 1) % bench.pes, &peer);
    test_answers();
    for (size_t n = 1; n <= MOST; n *= 8)
        test_overlap(dest, source, n);
}

int main(int argc, char **argv)
{
    setenv("LATERAL_PROGRESS", "thread", 0);
    bench_open(argc, argv);
    if (bench.pes >= 2)
        measure();
    return bench_end("computing", 0);
}
