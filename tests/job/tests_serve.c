/* A loop of tests, or of fetches, is a wait: like a waiting call it handles active messages, so the PE that waits for
 * its message to be handled goes on and makes the test true.
 * pes: 2
 * timeout: 30
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <time.h>
#include <uccs.h>

#define OK(call) CHECK_EQ((call), UCCS_OK)
enum { HANDLER = 1, SECONDS = 10 };
enum loop { TEST, TEST_ALL, CT_TEST, CT_GET, SIGNAL_FETCH, TEST_LOCK, REQUEST_TEST, LOOPS };

static uccs_context_t context;
static uccs_endpoint_t other;
static shmemx_ct_t counter;
static long handled, lock;
static int flag;
static uint64_t signal_word;
static shmemx_request_t request;

static void handle(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)token, (void)data, (void)length, (void)argument;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

/* PE 0: makes the other one's test true after its message has been handled there. */
static void release_other(enum loop loop)
{
    uccs_request_t sent = UCCS_REQUEST_NULL;
    OK(uccs_am_short(context, other, HANDLER, UCCS_AM_NETWORK_PROTOCOL, 0, 0, &(struct uccs_op){.request = &sent}));
    OK(uccs_wait(&sent));
    OK(uccs_request_release(&sent));
    switch (loop) {
    case TEST:
    case TEST_ALL: shmem_int_p(&flag, 1, 1); break;
    case CT_TEST:
    case CT_GET: shmemx_ct_add(counter, 1, 1); break;
    case SIGNAL_FETCH: shmem_signal_set(&signal_word, 1, 1); break;
    case TEST_LOCK: shmem_clear_lock(&lock); break;
    case REQUEST_TEST:
        shmemx_barrier_all_nbe(&request);
        shmemx_request_wait(&request);
        break;
    case LOOPS: break;
    }
}

static int look(enum loop loop)
{
    switch (loop) {
    case TEST: return shmem_int_test(&flag, SHMEM_CMP_EQ, 1);
    case TEST_ALL: return shmem_int_test_all(&flag, 1, 0, SHMEM_CMP_EQ, 1);
    case CT_TEST: return shmemx_ct_test(counter, 1);
    case CT_GET: return shmemx_ct_get(counter) == 1;
    case SIGNAL_FETCH: return shmem_signal_fetch(&signal_word) == 1;
    case TEST_LOCK: return shmem_test_lock(&lock) == 0;
    case REQUEST_TEST: return shmemx_request_test(&request);
    case LOOPS: break;
    }
    return 1;
}

static void loop_until_true(enum loop loop)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (loop == REQUEST_TEST)
        shmemx_barrier_all_nbe(&request);
    while (!look(loop)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        CHECK(now.tv_sec <= end.tv_sec + SECONDS);
    }
    if (loop == TEST_LOCK)
        shmem_clear_lock(&lock);
}

static void play(enum loop loop)
{
    flag = 0;
    signal_word = 0;
    shmemx_ct_set(counter, 0);
    request = SHMEMX_REQUEST_NULL;
    if (me == 0 && loop == TEST_LOCK)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == 0)
        release_other(loop);
    else
        loop_until_true(loop);
    shmem_barrier_all();
    shmemx_request_free(&request);
    CHECK_EQ(handled, me == 0 ? 0 : (long)loop + 1);
}

/* So is a barrier of an active set. */
static void play_active_set(void)
{
    static long sync[SHMEM_BARRIER_SYNC_SIZE];
    uccs_request_t sent = UCCS_REQUEST_NULL;
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        sync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (me == 0) {
        OK(uccs_am_short(context, other, HANDLER, UCCS_AM_NETWORK_PROTOCOL, 0, 0, &(struct uccs_op){.request = &sent}));
        OK(uccs_wait(&sent));
        OK(uccs_request_release(&sent));
    }
    shmem_barrier(0, 0, 2, sync);
    CHECK_EQ(handled, me == 0 ? 0 : (long)LOOPS + 1);
}

int main(void)
{
    check_start();
    OK(uccs_init());
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, HANDLER, UCCS_AM_NETWORK_PROTOCOL, handle, 0));
    OK(uccs_endpoint_create(context, UCCS_GROUP_WORLD, 1 - me, &other));
    shmemx_ct_create(&counter);
    for (enum loop loop = 0; loop < LOOPS; loop++)
        play(loop);
    play_active_set();
    shmemx_ct_free(&counter);
    OK(uccs_finalize());
    return check_pass();
}
