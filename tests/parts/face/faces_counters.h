/* Counters of faces.c: opening and shutting, and waits that end. */
#ifndef TESTS_TRUST_FACES_COUNTERS_H
#define TESTS_TRUST_FACES_COUNTERS_H

#include "faces_stub.h"

static void test_open_shut(void)
{
    uccs_counter_t counter = 0;
    CHECK(uccs_counter_open(&counter) == UCCS_OK && counter == 1 && uccs_counter_open(0) == UCCS_ERR_INVALID);
    CHECK(uccs_counter_open_own(&counter) == UCCS_OK && counter == 2 && uccs_counter_open_own(0) == UCCS_ERR_INVALID);
    no_counters = true;
    CHECK(uccs_counter_open(&counter) == UCCS_ERR_NO_MEMORY && uccs_counter_open_own(&counter) == UCCS_ERR_NO_MEMORY &&
          counter == 2);
    no_counters = false;
    trace[0] = 0;
    CHECK(uccs_counter_shut(1) == UCCS_OK && traced("meet clear1 meet release1"));
    CHECK(uccs_counter_shut(2) == UCCS_ERR_INVALID && uccs_counter_shut(3) == UCCS_ERR_STALE && traced(""));
    CHECK(uccs_counter_shut_own(2) == UCCS_OK && traced("clear2 release2"));
    CHECK(uccs_counter_shut_own(1) == UCCS_ERR_INVALID && uccs_counter_shut_own(3) == UCCS_ERR_STALE && traced(""));
    CHECK(uccs_counter_shut_group(UCCS_GROUP_WORLD, 2) == UCCS_OK && traced("quiet far-quiet barrier clear2 release2"));
    CHECK(uccs_counter_shut_group(UCCS_GROUP_WORLD, 1) == UCCS_ERR_INVALID);
    CHECK(uccs_counter_shut_group(UCCS_GROUP_WORLD, 3) == UCCS_ERR_STALE);
    CHECK(uccs_counter_shut_group(UCCS_GROUP_NULL, 2) == UCCS_ERR_INVALID && traced(""));
    barrier_status = UCCS_ERR_STATE;
    CHECK(uccs_counter_shut_group(UCCS_GROUP_WORLD, 2) == UCCS_ERR_STATE && traced("quiet far-quiet barrier"));
    barrier_status = UCCS_OK;
}

static void test_group(void)
{
    struct uccs_group_impl group = {.number = UINT64_C(9) << 32 | 77, .size = 1};
    uccs_counter_t counter = 0;
    CHECK(uccs_counter_open_group(&group, &counter) == UCCS_OK && counter == 77);
    allreduce_status = UCCS_ERR_FAILED;
    CHECK(uccs_counter_open_group(&group, &counter) == UCCS_ERR_FAILED);
    allreduce_status = UCCS_OK;
    CHECK(uccs_counter_open_group(UCCS_GROUP_NULL, &counter) == UCCS_ERR_INVALID);
    CHECK(uccs_counter_open_group(&group, 0) == UCCS_ERR_INVALID);
}

static void refuse_all(void)
{
    uccs_counter_t counter;
    CHECK(uccs_counter_open_group(UCCS_GROUP_WORLD, &counter) == UCCS_ERR_STATE);
    CHECK(uccs_counter_shut(1) == UCCS_ERR_STATE && uccs_counter_shut_own(2) == UCCS_ERR_STATE);
    CHECK(uccs_counter_shut_group(UCCS_GROUP_WORLD, 2) == UCCS_ERR_STATE && traced(""));
}

static void test_states(void)
{
    static _Alignas(8) char bytes[16];
    uccs_request_t request = UCCS_REQUEST_NULL;
    uccs_counter_t counter;
    const uint64_t *word = (const uint64_t *)(const void *)bytes, *odd = (const uint64_t *)(const void *)(bytes + 4);
    uccs_handlers_running = 1;
    refuse_all();
    uccs_handlers_running = uccs_users = 0;
    refuse_all();
    CHECK(uccs_counter_open(&counter) == UCCS_ERR_STATE && uccs_counter_open_own(&counter) == UCCS_ERR_STATE);
    CHECK(uccs_word_wait_nb(word, 7, &request) == UCCS_ERR_STATE);
    uccs_users = 1;
    CHECK(uccs_word_wait_nb(word, 7, &request) == UCCS_OK && request == &spare);
    CHECK(uccs_word_wait_nb(0, 7, &request) == UCCS_ERR_INVALID &&
          uccs_word_wait_nb(odd, 7, &request) == UCCS_ERR_INVALID);
    CHECK(uccs_word_wait_nb(word, 7, 0) == UCCS_ERR_INVALID && uccs_counter_wait_nb(1, 7, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_counter_wait_nb(1, 7, &request) == UCCS_OK && uccs_counter_wait_nb(3, 7, &request) == UCCS_ERR_STALE);
    no_counters = true;
    CHECK(uccs_counter_wait_nb(1, 7, &request) == UCCS_ERR_NO_MEMORY &&
          uccs_word_wait_nb(word, 7, &request) == UCCS_ERR_NO_MEMORY);
    no_counters = false;
    no_requests = true;
    CHECK(uccs_counter_wait_nb(1, 7, &request) == UCCS_ERR_NO_MEMORY &&
          uccs_word_wait_nb(word, 7, &request) == UCCS_ERR_NO_MEMORY);
    no_requests = false;
}

static void count_up(void)
{
    line.count++;
}

/* Values do not fit 32 bits. */
static const int64_t big = INT64_C(5) << 33;

static void test_values(void)
{
    int64_t value = 0;
    line.count = big;
    CHECK(uccs_counter_read(1, &value) == UCCS_OK && value == big && uccs_counter_read(3, &value) == UCCS_ERR_STALE);
    CHECK(uccs_counter_read(1, 0) == UCCS_ERR_INVALID);
    value = 0;
    CHECK(uccs_counter_reset(1, &value) == UCCS_OK && value == big && line.count == 0 &&
          uccs_counter_reset(1, 0) == UCCS_OK);
    CHECK(uccs_counter_reset(3, &value) == UCCS_ERR_STALE && value == big);
    on_progress = on_serve = 0;
    progresses = serves = 0;
    line.count = big;
    CHECK(uccs_counter_test(1, big) == UCCS_OK && progresses == 0);
    CHECK(uccs_counter_test(1, big + 1) == UCCS_IN_PROGRESS && progresses == 1 &&
          uccs_counter_test(3, 0) == UCCS_ERR_STALE);
    on_progress = on_serve = count_up;
    CHECK(uccs_counter_test(1, big + 1) == UCCS_OK && progresses == 2);
    CHECK(uccs_counter_wait(1, big + 1) == UCCS_OK && serves == 0);
    CHECK(uccs_counter_wait(1, big + 4) == UCCS_OK && serves == 3 && line.count == big + 4 &&
          served_for.about == UCCS_ABOUT_TOLD);
    const struct uccs_counter_wanted *wanted = (const struct uccs_counter_wanted *)(uintptr_t)served_for.object;
    CHECK(wanted != 0 && uccs_counter_wait(3, 0) == UCCS_ERR_STALE);
    serves = 0;
    CHECK(uccs_counter_consume(1, big) == UCCS_OK && line.count == 4 && serves == 0);
    CHECK(uccs_counter_consume(1, 4) == UCCS_OK && line.count == 0 && uccs_counter_consume(1, 0) == UCCS_OK &&
          serves == 0);
    CHECK(uccs_counter_consume(1, 2) == UCCS_OK && line.count == 0 && serves == 2);
    CHECK(uccs_counter_consume(1, -1) == UCCS_ERR_INVALID && uccs_counter_consume(3, 1) == UCCS_ERR_STALE);
    uccs_handlers_running = 1;
    CHECK(uccs_counter_wait(1, 1) == UCCS_ERR_STATE && uccs_counter_consume(1, 1) == UCCS_ERR_STATE && serves == 2);
    line.count = 3;
    CHECK(uccs_counter_wait(1, 3) == UCCS_OK && uccs_counter_consume(1, 3) == UCCS_OK && line.count == 0);
    uccs_handlers_running = 0;
}

static void test_counters(void)
{
    test_open_shut();
    test_group();
    test_states();
    test_values();
}

#endif
