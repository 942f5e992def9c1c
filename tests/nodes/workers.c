/* Many threads, each with workers of its own or sharing them, against every other PE at once: data behind a fence, atomics,
 * counters, requests, gets, quiets of a context and of some PEs. More threads than workers, and than cores.
 * pes: 3
 * timeout: 120
 * env: LATERAL_NODE_SIZE=1 UCX_TLS=tcp,self
 * case: one
 * env: LATERAL_LANES=1
 * case: one_poll
 * env: LATERAL_LANES=1 LATERAL_PROGRESS=poll
 * case: two
 * env: LATERAL_LANES=2
 * case: two_poll
 * env: LATERAL_LANES=2 LATERAL_PROGRESS=poll
 * case: eight
 * env: LATERAL_LANES=8
 * case: eight_poll
 * env: LATERAL_LANES=8 LATERAL_PROGRESS=poll
 * case: chosen
 * env: LATERAL_LANES=0
 */
#include "../conform/check.h"

#include <pthread.h>
#include <shmemx.h>

enum { THREADS = 6, ROUNDS = 40, PES = 3, LONG = 6000 };

static long blocks[PES][THREADS][LONG]; /* from a PE's thread */
static long flags[PES][THREADS], acks[PES][THREADS], singles[PES][THREADS], mine[PES][THREADS];
static long tickets, sum;
static shmemx_ct_t arrivals;
static shmem_ctx_t shared = SHMEM_CTX_INVALID;
static pthread_barrier_t together;

static long value_of(int pe, int id, long round, long i)
{
    return ((round * PES + pe) * THREADS + id) * LONG + i;
}

static size_t length_of(long round)
{
    static const size_t lengths[] = {1, 7, 300, LONG}; /* of round 0: too short for every_second */
    return lengths[round % 4];
}

/* The data comes before the flag, whatever its way. */
static void send_round(shmem_ctx_t ctx, int id, long round, long *source)
{
    size_t n = length_of(round);
    for (size_t i = 0; i < n; i++)
        source[i] = value_of(me, id, round, (long)i);
    for (int pe = 0; pe < npes; pe++)
        if (pe != me)
            shmem_ctx_long_put_nbi(ctx, blocks[me][id], source, n, pe);
    shmem_ctx_fence(ctx);
    for (int pe = 0; pe < npes; pe++)
        if (pe != me)
            shmem_ctx_long_p(ctx, &flags[me][id], round, pe);
}

static void receive_round(shmem_ctx_t ctx, int id, long round)
{
    size_t n = length_of(round);
    for (int pe = 0; pe < npes; pe++) {
        if (pe == me)
            continue;
        shmem_long_wait_until(&flags[pe][id], SHMEM_CMP_GE, round);
        CHECK_EQ(blocks[pe][id][0], value_of(pe, id, round, 0));
        CHECK_EQ(blocks[pe][id][n - 1], value_of(pe, id, round, (long)n - 1));
        shmem_ctx_long_atomic_inc(ctx, &acks[me][id], pe);
    }
    for (int pe = 0; pe < npes; pe++)
        if (pe != me)
            shmem_long_wait_until(&acks[pe][id], SHMEM_CMP_GE, round);
}

/* What only this thread stores to is there as it left it, behind a quiet or a request. */
static void look_back(shmem_ctx_t ctx, int id, long round, long *back)
{
    size_t n = length_of(round);
    for (int pe = 0; pe < npes; pe++) {
        if (pe == me)
            continue;
        long single = round * 10 + id;
        shmem_ctx_long_put_nbi(ctx, &singles[me][id], &single, 1, pe);
        if (round % 2)
            shmem_ctx_pe_quiet(ctx, &pe, 1);
        else
            shmem_ctx_quiet(ctx);
        CHECK_EQ(shmem_ctx_long_g(ctx, &singles[me][id], pe), single);
        memset(back, 0, n * sizeof *back);
        shmem_ctx_long_get_nbi(ctx, back, blocks[me][id], n, pe);
        shmem_ctx_quiet(ctx);
        CHECK_EQ(back[0], value_of(me, id, round, 0));
        CHECK_EQ(back[n - 1], value_of(me, id, round, (long)n - 1));
    }
}

static void track(shmem_ctx_t ctx, int id, long round)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    long value = -round, back[PES] = {0};
    for (int pe = 0; pe < npes; pe++)
        if (pe != me)
            shmemx_ctx_long_put_ct_nbe(ctx, arrivals, &singles[me][id], &value, 1, pe, &request);
    shmemx_request_wait(&request);
    for (int pe = 0; pe < npes; pe++)
        if (pe != me)
            shmemx_ctx_long_get_nbe(ctx, &back[pe], &singles[me][id], 1, pe, &request);
    shmemx_request_wait(&request);
    long every_second[PES][3] = {{0}}, old[PES];
    for (int pe = 0; pe < npes; pe++) {
        if (pe == me)
            continue;
        shmemx_ctx_long_iget_nbe(ctx, every_second[pe], &blocks[me][id][1], 1, 2, round % 4 ? 3 : 0, pe, &request);
        shmemx_ctx_long_atomic_fetch_add_nbe(ctx, &old[pe], &mine[me][id], 1, pe, &request);
    }
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(back[pe], pe == me ? 0 : value);
        if (pe == me)
            continue;
        CHECK_EQ(old[pe], round - 1);
        for (int i = 0; round % 4 && i < 3; i++)
            CHECK_EQ(every_second[pe][i], value_of(me, id, round, 1 + 2 * i));
    }
}

static void count(shmem_ctx_t ctx)
{
    long old[PES];
    for (int pe = 0; pe < npes; pe++) {
        if (pe == me)
            continue;
        shmem_ctx_long_atomic_add(ctx, &sum, me + 1, pe);
        shmem_ctx_long_atomic_fetch_inc_nbi(ctx, &old[pe], &tickets, pe);
        CHECK(shmem_ctx_long_atomic_fetch_add(ctx, &sum, 0, pe) >= 0);
    }
    shmem_ctx_quiet(ctx);
    for (int pe = 0; pe < npes; pe++)
        CHECK(pe == me || (old[pe] >= 0 && old[pe] < 2L * (PES - 1) * THREADS * ROUNDS));
}

/* The first half with contexts of their own, then all with one. */
static void *work(void *argument)
{
    int id = (int)(long)argument;
    static const long options[] = {SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, 0};
    long *source = malloc(LONG * sizeof *source), *back = malloc(LONG * sizeof *back);
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(options[id % 3], &ctx) == 0);
    for (long round = 1; round <= 2 * ROUNDS; round++) {
        if (round == ROUNDS + 1) {
            shmem_ctx_destroy(ctx);
            ctx = shared;
        }
        send_round(ctx, id, round, source);
        receive_round(ctx, id, round);
        look_back(ctx, id, round, back);
        track(ctx, id, round);
        count(ctx);
    }
    pthread_barrier_wait(&together);
    free(source);
    free(back);
    return 0;
}

int main(void)
{
    int provided;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    check_who();
    CHECK_EQ(npes, PES);
    pthread_barrier_init(&together, 0, THREADS);
    shmemx_ct_create(&arrivals);
    CHECK(shmem_ctx_create(0, &shared) == 0);
    shmem_barrier_all();
    pthread_t threads[THREADS];
    for (long id = 0; id < THREADS; id++)
        CHECK(pthread_create(&threads[id], 0, work, (void *)id) == 0);
    for (long id = 0; id < THREADS; id++)
        pthread_join(threads[id], 0);
    shmem_ctx_destroy(shared);
    shmem_barrier_all();
    const long each = 2L * THREADS * ROUNDS;
    CHECK_EQ(sum, each * (PES * (PES + 1) / 2 - me - 1));
    CHECK_EQ(tickets, each * (PES - 1));
    CHECK_EQ(shmemx_ct_get(arrivals), each * (PES - 1));
    shmemx_ct_free(&arrivals);
    check_pass();
    return 0;
}
