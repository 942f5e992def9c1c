/* Active messages: lengths, replies, requests and counters, the threads that run handlers, separate contexts, targets
 * that are late or slow.
 * pes: 1 2 3
 * timeout: 120
 * case: poll
 * case: thread
 * env: LATERAL_PROGRESS=thread
 * case: little_room
 * env: LATERAL_MEMORY=512k
 */
#include "check.h"

#include <sched.h>
#include <time.h>

enum { TAKE = 1, ASK = 2, ANSWER = 3, COUNT = 4, LATE = 5, TRY = 6, SEQUENCE = 7, LARGEST = 100000 };

static uccs_context_t context, other;
static uccs_endpoint_t next, first;
static long bytes, takes, answers, counts[2], late, tries, wrong_order, sequences;
static char payload[LARGEST];

static long get(long *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void until(long *word, long value)
{
    while (get(word) < value)
        uccs_poll();
    CHECK_EQ(get(word), value);
}

static void take(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    const char *at = data;
    CHECK(uccs_am_source(token) == prev_pe && uccs_am_context(token) == context && argument == &bytes);
    for (size_t i = 0; i < length; i++)
        if (at[i] != (char)(i % 127))
            CHECK_EQ(at[i], i % 127);
    __atomic_fetch_add(&bytes, (long)length, __ATOMIC_RELEASE);
    __atomic_fetch_add(&takes, 1, __ATOMIC_RELEASE);
}

static void ask(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)argument;
    OK(uccs_am_reply(token, ANSWER, UCCS_AM_USER, data, length));
    CHECK_EQ(uccs_am_reply(token, ANSWER, UCCS_AM_USER, data, length), UCCS_ERR_STATE); /* once */
}

static void answer(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)data, (void)argument;
    CHECK_EQ(uccs_am_source(token), next_pe);
    CHECK_EQ(uccs_am_reply(token, ANSWER, UCCS_AM_USER, 0, 0), UCCS_ERR_STATE); /* a reply ends it */
    __atomic_fetch_add(&answers, (long)length, __ATOMIC_RELEASE);
}

/* What must not be done from inside. */
static void try_everything(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    uccs_request_t request;
    (void)token, (void)data, (void)length, (void)argument;
    CHECK_EQ(uccs_am_short(context, next, COUNT, UCCS_AM_USER, 0, 0, 0), UCCS_ERR_STATE);
    CHECK_EQ(uccs_progress(), 0);
    CHECK_EQ(uccs_barrier(UCCS_GROUP_WORLD), UCCS_ERR_STATE);
    CHECK_EQ(uccs_context_destroy(context), UCCS_ERR_STATE);
    CHECK_EQ(uccs_finalize(), UCCS_ERR_STATE);
    OK(uccs_request_create(&request));
    OK(uccs_wait(&request)); /* nothing to wait for */
    OK(uccs_request_release(&request));
    __atomic_fetch_add(&tries, 1, __ATOMIC_RELEASE);
}

static void in_sequence(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    static long last[64];
    long number;
    (void)length, (void)argument;
    memcpy(&number, data, sizeof number);
    int from = uccs_am_source(token);
    wrong_order += number != last[from] + 1;
    last[from] = number;
    __atomic_fetch_add(&sequences, 1, __ATOMIC_RELEASE);
}

static void test_lengths(void)
{
    static const size_t lengths[] = {0, 1, 128, 129, 8192, 8193, LARGEST};
    long sum = 0, sent = 0;
    for (size_t i = 0; i < LARGEST; i++)
        payload[i] = (char)(i % 127);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        size_t length = lengths[l];
        int small = length <= UCCS_SHORT_MAX ? UCCS_OK : UCCS_ERR_TOO_LARGE;
        int medium = length <= UCCS_MEDIUM_MAX ? UCCS_OK : UCCS_ERR_TOO_LARGE;
        CHECK_EQ(uccs_am_short(context, next, TAKE, UCCS_AM_USER, payload, length, 0), small);
        CHECK_EQ(uccs_am_medium(context, next, TAKE, UCCS_AM_USER, payload, length, 0), medium);
        OK(uccs_am_large(context, next, TAKE, UCCS_AM_USER, payload, length, 0));
        sum += (long)length * (1 + (small == UCCS_OK) + (medium == UCCS_OK));
        sent += 1 + (small == UCCS_OK) + (medium == UCCS_OK);
    }
    until(&takes, sent);
    CHECK_EQ(get(&bytes), sum);
    CHECK_EQ(uccs_am_large(context, next, TAKE, UCCS_AM_USER, payload, (size_t)1 << 40, 0), UCCS_ERR_TOO_LARGE);
    CHECK_EQ(uccs_am_short(context, next, -1, UCCS_AM_USER, payload, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_short(context, next, UCCS_AM_HANDLERS, UCCS_AM_USER, payload, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_short(context, next, TAKE, (enum uccs_am_class)7, payload, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_short(context, next, TAKE, UCCS_AM_USER, 0, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_short(other, next, TAKE, UCCS_AM_USER, payload, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_register(context, 1, UCCS_AM_USER, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_register(0, 1, UCCS_AM_USER, take, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_register(context, -1, UCCS_AM_USER, take, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_register(context, UCCS_AM_HANDLERS, UCCS_AM_USER, take, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_register(context, 1, (enum uccs_am_class)(UCCS_AM_USER + 1), take, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_reply(0, ANSWER, UCCS_AM_USER, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_am_source(0), -1);
    CHECK(!uccs_am_context(0));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

/* A flush means handled, with or without a request; so does the request. */
static void test_completion(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    uccs_counter_t counter;
    int64_t value;
    OK(uccs_counter_open(&counter));
    OK(uccs_am_short(context, next, ASK, UCCS_AM_NETWORK_PROTOCOL, "abc", 3, 0));
    struct uccs_op op = {.request = &request, .counter = counter, .weight = 5};
    OK(uccs_am_short(context, next, ASK, UCCS_AM_NETWORK_PROTOCOL, "abcd", 4, &op));
    OK(uccs_am_medium(context, next, ASK, UCCS_AM_NETWORK_PROTOCOL, payload, 5000, &op));
    OK(uccs_wait(&request));
    OK(uccs_flush(context));
    OK(uccs_flush_local(context, &next, 1));
    until(&answers, 5007);
    OK(uccs_counter_wait(counter, 10));
    OK(uccs_counter_read(counter, &value));
    CHECK_EQ(value, 10);
    OK(uccs_counter_shut(counter));
    CHECK_EQ(uccs_am_short(context, next, ASK, UCCS_AM_NETWORK_PROTOCOL, "abcd", 4, &op), UCCS_ERR_STALE);
    OK(uccs_request_release(&request));
    OK(uccs_am_short(context, next, TRY, UCCS_AM_USER, 0, 0, 0));
    until(&tries, 1);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

/* The same id in two contexts. */
static void test_isolation(void)
{
    uccs_endpoint_t there = check_endpoint(other, next_pe);
    for (int i = 0; i < 50; i++)
        OK(uccs_am_short(context, next, COUNT, UCCS_AM_USER, 0, 0, 0));
    for (int i = 0; i < 20; i++)
        OK(uccs_am_short(other, there, COUNT, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0));
    OK(uccs_flush(context));
    OK(uccs_flush(other));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    until(&counts[0], 50);
    until(&counts[1], 20);
    OK(uccs_endpoint_release(there));
}

/* Sent before the target has the context, then before it has the handler. */
static void test_late(void)
{
    uccs_context_t made;
    static const struct uccs_context_attr attr = {.id = 7};
    if (me == 0) {
        OK(uccs_context_create(&attr, &made));
        OK(uccs_am_register(made, LATE, UCCS_AM_NETWORK_PROTOCOL, count_message, &late));
        for (int pe = 0; pe < npes; pe++) {
            uccs_endpoint_t endpoint = check_endpoint(made, pe);
            for (int i = 0; i < 100; i++)
                OK(uccs_am_short(made, endpoint, LATE, UCCS_AM_NETWORK_PROTOCOL, &i, sizeof i, 0));
        }
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me != 0) {
        OK(uccs_context_create(&attr, &made));
        for (int i = 0; i < 1000; i++)
            uccs_progress();
        CHECK_EQ(get(&late), 0);
        OK(uccs_am_register(made, LATE, UCCS_AM_NETWORK_PROTOCOL, count_message, &late));
    }
    until(&late, 100);
    OK(uccs_flush(made));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_context_destroy(made));
}

/* All send to PE 0 and to their neighbour far more than fits, and PE 0 is slow; everybody's order holds. */
static void test_flow(void)
{
    enum { MANY = 6000 };
    for (long i = 1; i <= MANY; i++) {
        OK(uccs_am_medium(context, first, SEQUENCE, UCCS_AM_USER, (memcpy(payload, &i, sizeof i), payload),
                          i % 3 ? 16 : 3000, 0));
        if (i % 8 == 0)
            OK(uccs_am_short(context, next, ASK, UCCS_AM_NETWORK_PROTOCOL, payload, 8, 0));
        if (me == 0 && i % 1000 == 0)
            nanosleep(&(struct timespec){0, 3000000}, 0);
    }
    if (me == 0)
        until(&sequences, (long)MANY * npes);
    until(&answers, 5007 + MANY / 8 * 8);
    CHECK_EQ(wrong_order, 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

int main(void)
{
    check_start();
    OK(uccs_context_create(&(struct uccs_context_attr){.id = 1}, &context));
    OK(uccs_context_create(&(struct uccs_context_attr){.id = 2}, &other));
    CHECK_EQ(uccs_context_create(&(struct uccs_context_attr){.id = 2}, &other), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_context_create(&(struct uccs_context_attr){.id = UCCS_CONTEXTS}, &other), UCCS_ERR_INVALID);
    OK(uccs_am_register(context, TAKE, UCCS_AM_USER, take, &bytes));
    OK(uccs_am_register(context, ASK, UCCS_AM_NETWORK_PROTOCOL, ask, 0));
    OK(uccs_am_register(context, ANSWER, UCCS_AM_USER, answer, 0));
    OK(uccs_am_register(context, COUNT, UCCS_AM_USER, count_message, &counts[0]));
    OK(uccs_am_register(context, TRY, UCCS_AM_USER, try_everything, 0));
    OK(uccs_am_register(context, SEQUENCE, UCCS_AM_USER, in_sequence, 0));
    OK(uccs_am_register(other, COUNT, UCCS_AM_NETWORK_PROTOCOL, count_message, &counts[1]));
    next = check_endpoint(context, next_pe);
    first = check_endpoint(context, 0);
    test_lengths();
    test_completion();
    test_isolation();
    test_late();
    test_flow();
    OK(uccs_context_destroy(other));
    OK(uccs_context_destroy(context));
    return check_pass();
}
