/* Waits for several notifications at once: the one that holds is named and its data is there; all of them; with a time limit; a
 * request that fails, a counter that is shut, a handler that may not wait.
 * pes: 2
 */
#include "check.h"

enum { ROUNDS = 300, KINDS = 3, FAIL = 1 };

static uccs_context_t context;
static uccs_endpoint_t other;
static uccs_memory_t memory[2];
static uint64_t *words; /* [0]: the data; [1]: a signal */
static uccs_counter_t counters[2];
static int handler_status = 1;

static unsigned drawn(unsigned round)
{
    return (round * 2654435761u >> 20) % KINDS;
}

/* Puts the number of the round, and tells by the counter or the word of the kind. */
static void tell(unsigned kind, uint64_t round)
{
    const struct uccs_signal signal = {.memory = memory[1 - me], .offset = 8, .value = round, .how = UCCS_SIGNAL_SET};
    const struct uccs_op op = {.counter = kind < 2 ? counters[kind] : 0, .signal = kind < 2 ? 0 : &signal};
    OK(uccs_put(other, memory[1 - me], 0, &round, sizeof round, &op));
    OK(uccs_stream_flush(uccs_context_stream(context), 0, 0));
}

static void take(unsigned kind, uint64_t round)
{
    const struct uccs_condition all[KINDS] = {{.counter = counters[0], .at_least = 1},
                                              {.counter = counters[1], .at_least = 1},
                                              {.word = &words[1], .at_least = (int64_t)round}};
    size_t count = 0, indices[KINDS];
    OK(uccs_wait_conditions(all, KINDS, 1, UCCS_FOREVER, &count, indices));
    CHECK(count == 1 && indices[0] == kind);
    CHECK_EQ(words[0], round);
    CHECK_EQ(uccs_wait_conditions(all, KINDS, 2, 0, 0, 0), UCCS_IN_PROGRESS);
    if (kind < 2)
        OK(uccs_counter_consume(counters[kind], 1));
}

static void one_of_several(void)
{
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        if ((int)(round & 1) == me)
            tell(drawn((unsigned)round), round);
        else
            take(drawn((unsigned)round), round);
    }
    words[1] = 0;
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

static void all_of_them(void)
{
    const struct uccs_condition all[KINDS] = {{.counter = counters[0], .at_least = 2},
                                              {.counter = counters[1], .at_least = 1},
                                              {.word = &words[1], .at_least = 7}};
    size_t count = 0, indices[KINDS];
    CHECK_EQ(uccs_wait_conditions(all, KINDS, 1, 2000000, &count, indices), UCCS_IN_PROGRESS);
    CHECK_EQ(count, 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    tell(2, 7);
    tell(0, 7);
    tell(1, 7);
    tell(0, 7);
    OK(uccs_wait_conditions(all, KINDS, KINDS, UCCS_FOREVER, &count, indices));
    CHECK(count == KINDS && indices[0] == 0 && indices[1] == 1 && indices[2] == 2);
    OK(uccs_wait_conditions(all, KINDS, 0, 0, &count, 0)); /* a test of all */
    CHECK_EQ(count, KINDS);
    OK(uccs_wait_conditions(0, 0, 0, UCCS_FOREVER, &count, 0));
    CHECK_EQ(count, 0);
}

/* The word's request fails at the end of its counter, told once. */
static void failing(void)
{
    uccs_counter_t own;
    uccs_request_t request = UCCS_REQUEST_NULL, clean = UCCS_REQUEST_NULL;
    OK(uccs_counter_open_own(&own));
    OK(uccs_counter_wait_nb(own, 1, &request));
    struct uccs_condition both[2] = {{.request = &request}, {.request = &clean}};
    size_t count = 0, indices[2] = {9, 9};
    OK(uccs_wait_conditions(both, 2, 1, UCCS_FOREVER, &count, indices));
    CHECK(count == 1 && indices[0] == 1);
    CHECK_EQ(uccs_wait_conditions(both, 2, 2, 1000, 0, 0), UCCS_IN_PROGRESS);
    const struct uccs_condition stale = {.counter = own, .at_least = 1};
    OK(uccs_counter_shut_own(own));
    CHECK_EQ(uccs_wait_conditions(&stale, 1, 1, UCCS_FOREVER, 0, 0), UCCS_ERR_STALE);
    CHECK_EQ(uccs_wait_conditions(both, 2, 2, UCCS_FOREVER, &count, indices), UCCS_ERR_FAILED);
    CHECK(count == 2 && indices[0] == 0 && indices[1] == 1);
    OK(uccs_wait_conditions(both, 2, 2, UCCS_FOREVER, 0, 0));
    OK(uccs_request_release(&request));
    OK(uccs_request_release(&clean));
}

static void wrong(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    const struct uccs_condition none = {0}, two = {.request = &request, .word = words},
                                odd = {.word = (const uint64_t *)((const char *)words + 4)}, good = {.word = words};
    CHECK_EQ(uccs_wait_conditions(&none, 1, 1, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_wait_conditions(&two, 1, 1, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_wait_conditions(&odd, 1, 1, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_wait_conditions(&good, 1, 2, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_wait_conditions(0, 1, 1, 0, 0, 0), UCCS_ERR_INVALID);
}

static void handle(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const struct uccs_condition never = {.word = &words[1], .at_least = INT64_MAX};
    (void)token, (void)payload, (void)length, (void)argument;
    handler_status = uccs_wait_conditions(&never, 1, 1, UCCS_FOREVER, 0, 0);
}

static void in_a_handler(void)
{
    uccs_request_t done = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &done};
    const struct uccs_condition handled = {.request = &done};
    OK(uccs_am_register(context, FAIL, UCCS_AM_USER, handle, 0));
    OK(uccs_send(other, FAIL, UCCS_AM_USER, 0, 0, &op));
    OK(uccs_wait_conditions(&handled, 1, 1, UCCS_FOREVER, 0, 0));
    OK(uccs_request_release(&done));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    while (handler_status == 1)
        uccs_progress();
    CHECK_EQ(handler_status, UCCS_ERR_STATE);
}

int main(void)
{
    uccs_memory_t own;
    struct uccs_memory_attr attr;
    check_start();
    OK(uccs_context_create(0, &context));
    other = check_endpoint(context, 1 - me);
    OK(uccs_memory_allocate(context, 64, &own));
    OK(uccs_memory_query(own, &attr));
    words = attr.address;
    check_share(context, own, memory);
    OK(uccs_counter_open(&counters[0]));
    OK(uccs_counter_open(&counters[1]));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    one_of_several();
    all_of_them();
    failing();
    wrong();
    in_a_handler();
    OK(uccs_counter_shut(counters[1]));
    OK(uccs_counter_shut(counters[0]));
    return check_pass();
}
