/* A flush of thread scope waits for the messages of its own thread alone, whatever the number of threads: one thread's message
 * has no handler at its target, and the flushes of forty others return.
 * pes: 2
 * case: node
 * case: nodes
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=tcp
 */
#include "../uccs/check.h"

#include <time.h>

enum { THREADS = 40, EARLY = 1, LATE = 2, DONE = 3, LIMIT = 40 };

static uccs_context_t context;
static uccs_endpoint_t peer;
static long handled[4];
static int flushed;
static pthread_barrier_t sent, done;

static void take(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length;
    __atomic_fetch_add(&handled[(long)(intptr_t)argument], 1, __ATOMIC_RELEASE);
}

static void hear(long id, enum uccs_am_class cls)
{
    OK(uccs_am_register(context, (int)id, cls, take, (void *)(intptr_t)id));
}

static void *wait_long(void *unused)
{
    OK(uccs_am_short(context, peer, LATE, UCCS_AM_USER, 0, 0, 0));
    pthread_barrier_wait(&sent);
    OK(uccs_flush(context));
    __atomic_store_n(&flushed, 1, __ATOMIC_RELEASE);
    return unused;
}

/* All threads live at once, so each has a number of its own. */
static void *wait_briefly(void *unused)
{
    pthread_barrier_wait(&sent);
    OK(uccs_am_short(context, peer, EARLY, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0));
    OK(uccs_flush(context));
    pthread_barrier_wait(&done);
    return unused;
}

static void send_all(void)
{
    pthread_t threads[THREADS + 1];
    pthread_barrier_init(&sent, 0, THREADS + 1);
    pthread_barrier_init(&done, 0, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], 0, wait_briefly, 0) == 0);
    CHECK(pthread_create(&threads[THREADS], 0, wait_long, 0) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], 0) == 0);
    CHECK(!__atomic_load_n(&flushed, __ATOMIC_ACQUIRE));
    OK(uccs_am_short(context, peer, DONE, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0));
    CHECK(pthread_join(threads[THREADS], 0) == 0);
}

static void receive_all(void)
{
    const time_t end = time(0) + LIMIT;
    while (!__atomic_load_n(&handled[DONE], __ATOMIC_ACQUIRE) && time(0) < end)
        uccs_progress();
    CHECK_EQ(handled[EARLY], THREADS);
    CHECK_EQ(handled[DONE], 1);
    hear(LATE, UCCS_AM_USER);
    while (!__atomic_load_n(&handled[LATE], __ATOMIC_ACQUIRE))
        uccs_progress();
}

int main(void)
{
    check_start();
    OK(uccs_context_create(&(struct uccs_context_attr){.scope = UCCS_SCOPE_THREAD}, &context));
    hear(EARLY, UCCS_AM_NETWORK_PROTOCOL);
    hear(DONE, UCCS_AM_NETWORK_PROTOCOL);
    peer = check_endpoint(context, next_pe);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 0)
        send_all();
    else
        receive_all();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_context_destroy(context));
    return check_pass();
}
