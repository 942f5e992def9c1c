/* A quiet, in each of its forms, completes a long put for everybody: PE 0 puts to PE 1, makes the quiet and tells PE 2, which
 * gets the data from PE 1. A fence of a context that threads share orders what either thread issued, on every worker.
 * pes: 3
 * prints: ^PASS$
 * env: LATERAL_TRANSPORTS=fault:ucx UCX_TLS=tcp,self LATERAL_NODE_SIZE=1
 * timeout: 120
 * labels: more
 * case: seed1
 * env: LATERAL_TRANSPORTS=fault,seed=1,hold=30,steps=800:ucx LATERAL_LANES=2
 * case: seed2
 * env: LATERAL_TRANSPORTS=fault,seed=2,hold=60,steps=300:ucx LATERAL_LANES=3
 */
#include "../conform/check.h"

#include <pthread.h>
#include <stdbool.h>

enum { LONG = 2000, ROUNDS = 15, NAMED = 70 };
enum form { ALL, OF_PE, OF_MANY, OF_CONTEXT, CONTEXT_OF_PE, FORMS };

static long data[LONG], turn, done;
static shmem_ctx_t shared;

/* Names PE 1 behind 69 others, more than fit into one word of a set. */
static void quiet_many(void)
{
    int pes[NAMED];
    for (int i = 0; i < NAMED - 1; i++)
        pes[i] = 2 * (i % 2);
    pes[NAMED - 1] = 1;
    shmem_pe_quiet(pes, NAMED);
}

static void complete(enum form form)
{
    const int pe = 1;
    switch (form) {
    case ALL: shmem_quiet(); break;
    case OF_PE: shmem_pe_quiet(&pe, 1); break;
    case OF_MANY: quiet_many(); break;
    case OF_CONTEXT: shmem_ctx_quiet(shared); break;
    default: shmem_ctx_pe_quiet(shared, &pe, 1);
    }
}

static bool on_context(enum form form)
{
    return form == OF_CONTEXT || form == CONTEXT_OF_PE;
}

static void put_and_tell(enum form form, long value)
{
    static long source[LONG];
    for (long i = 0; i < LONG; i++)
        source[i] = value * LONG + i;
    shmem_ctx_long_put_nbi(on_context(form) ? shared : SHMEM_CTX_DEFAULT, data, source, LONG, 1);
    complete(form);
    shmem_long_atomic_set(&turn, value, 2);
    shmem_long_wait_until(&done, SHMEM_CMP_EQ, value);
}

static void get_and_look(long value)
{
    static long seen[LONG];
    shmem_long_wait_until(&turn, SHMEM_CMP_EQ, value);
    shmem_long_get(seen, data, LONG, 1);
    for (long i = 0; i < LONG; i++)
        CHECK_EQ(seen[i], value * LONG + i);
    shmem_long_atomic_set(&done, value, 0);
}

static void test_quiet(void)
{
    for (long value = 1; value <= ROUNDS * FORMS; value++)
        if (me == 0)
            put_and_tell((enum form)(value % FORMS), value);
        else if (me == 2)
            get_and_look(value);
    shmem_barrier_all();
}

/* --- Fence. Thread 1 puts and fences; then thread 2 puts the flag, through the same context, which every other time is new: then
 * thread 2 has no worker of it before the fence. */

static pthread_barrier_t together;

static void *put_flag(void *argument)
{
    for (long value = 1; value <= ROUNDS; value++) {
        pthread_barrier_wait(&together); /* thread 1 has made its fence */
        shmem_ctx_long_p(shared, &turn, value, 1);
        pthread_barrier_wait(&together);
    }
    return argument;
}

static void put_and_fence(void)
{
    static long source[ROUNDS + 1][LONG];
    pthread_t other;
    pthread_barrier_init(&together, 0, 2);
    CHECK(pthread_create(&other, 0, put_flag, 0) == 0);
    for (long value = 1; value <= ROUNDS; value++) {
        for (long i = 0; i < LONG; i++)
            source[value][i] = value + i;
        shmem_ctx_long_put_nbi(shared, data, source[value], LONG, 1);
        shmem_ctx_fence(shared);
        pthread_barrier_wait(&together);
        pthread_barrier_wait(&together);
        shmem_long_wait_until(&done, SHMEM_CMP_EQ, value);
        if (value % 2 == 0)
            continue;
        shmem_ctx_destroy(shared);
        CHECK(shmem_ctx_create(0, &shared) == 0);
    }
    pthread_join(other, 0);
}

static void look_behind_flag(void)
{
    for (long value = 1; value <= ROUNDS; value++) {
        shmem_long_wait_until(&turn, SHMEM_CMP_EQ, value);
        for (long i = 0; i < LONG; i++)
            CHECK_EQ(data[i], value + i);
        shmem_long_atomic_set(&done, value, 0);
    }
}

static void test_fence(void)
{
    turn = done = 0;
    shmem_barrier_all();
    if (me == 0)
        put_and_fence();
    else if (me == 1)
        look_behind_flag();
    shmem_barrier_all();
}

int main(void)
{
    int provided = 0;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    check_who();
    CHECK(shmem_ctx_create(0, &shared) == 0);
    test_quiet();
    test_fence();
    shmem_ctx_destroy(shared);
    return check_pass();
}
