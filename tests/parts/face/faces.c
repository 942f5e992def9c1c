/* Public calls that complete things: requests one by one and in sets, queues, counters, records of waits; and the beginning and end of
 * uccs.h, step by step. What lies under them is the test's. */
#include "faces_stub.h"
#include "faces_counters.h"
#include "faces_life.h"

static uccs_request_t requests[N];
static int complete_at; /* after so many rounds the request `complete_which` is complete */
static int complete_which;

static void complete_one(void)
{
    if (progresses + serves == complete_at)
        objects[complete_which].pending = 0;
}

/* All are pending again; this one is complete after so many rounds. */
static void again(int which, int rounds)
{
    for (int i = 0; i < N; i++) {
        objects[i] = (struct uccs_request){.pending = 1};
        requests[i] = &objects[i];
    }
    progresses = serves = 0;
    complete_which = which;
    complete_at = rounds;
    on_progress = on_serve = complete_one;
}

static void finish(int which, bool error)
{
    objects[which].pending = 0;
    objects[which].error = error;
}

static void test_one(void)
{
    again(0, 0);
    CHECK(uccs_test(&requests[0]) == UCCS_IN_PROGRESS && progresses == 1);
    again(0, 1);
    CHECK(uccs_test(&requests[0]) == UCCS_OK && progresses == 1 && uccs_test(&requests[0]) == UCCS_OK &&
          progresses == 1);
    objects[0].error = 2;
    CHECK(uccs_test(&requests[0]) == UCCS_ERR_FAILED && uccs_test(&requests[0]) == UCCS_OK); /* it tells once */
    again(0, 3);
    CHECK(uccs_wait(&requests[0]) == UCCS_OK && serves == 3 && progresses == 0 && served_for.about == UCCS_ABOUT_TOLD);
    requests[0] = UCCS_REQUEST_NULL;
    CHECK(uccs_wait(&requests[0]) == UCCS_OK && uccs_test(&requests[0]) == UCCS_OK);
    CHECK(uccs_wait(0) == UCCS_ERR_INVALID && uccs_test(0) == UCCS_ERR_INVALID);
    again(0, 1);
    uccs_handlers_running = 1;
    CHECK(uccs_wait(&requests[0]) == UCCS_ERR_STATE && serves == 0);
    finish(0, true);
    CHECK(uccs_wait(&requests[0]) == UCCS_ERR_FAILED);
    uccs_handlers_running = 0;
    uccs_request_t made = &objects[1];
    CHECK(uccs_request_create(&made) == UCCS_OK && made == &spare && uccs_request_create(0) == UCCS_ERR_INVALID);
    no_requests = true;
    CHECK(uccs_request_create(&made) == UCCS_ERR_NO_MEMORY && made == UCCS_REQUEST_NULL);
    no_requests = false;
    trace[0] = 0;
    CHECK(uccs_request_release(0) == UCCS_ERR_INVALID && traced("") && uccs_request_release(&made) == UCCS_OK &&
          traced("free"));
    CHECK(uccs_request_combine(0, 0, requests) == UCCS_ERR_INVALID &&
          uccs_request_combine(&made, 1, 0) == UCCS_ERR_INVALID);
    CHECK(traced("") && uccs_request_combine(&made, 0, 0) == UCCS_OK && traced("merge"));
    CHECK(uccs_request_combine(&made, N, requests) == UCCS_OK && traced("merge"));
}

static void test_all(void)
{
    again(0, 0);
    CHECK(uccs_test_all(0, 0) == UCCS_OK && uccs_wait_all(0, 0) == UCCS_OK && progresses == 0);
    CHECK(uccs_test_all(0, 1) == UCCS_ERR_INVALID && uccs_wait_all(0, 1) == UCCS_ERR_INVALID);
    for (int missing = 0; missing < N; missing++) {
        again(missing, 2);
        for (int i = 0; i < N; i++)
            if (i != missing)
                finish(i, false);
        CHECK(uccs_test_all(requests, N) == UCCS_IN_PROGRESS && progresses == 1);
        CHECK(uccs_wait_all(requests, N) == UCCS_OK && serves == 1);
        objects[missing].error = 1; /* one of them has failed */
        CHECK(uccs_test_all(requests, N) == UCCS_ERR_FAILED && uccs_test_all(requests, N) == UCCS_OK);
        again(missing, 1);
        for (int i = 0; i < N; i++)
            if (i != missing)
                finish(i, i == (missing + 1) % N);
        CHECK(uccs_test_all(requests, N) == UCCS_ERR_FAILED && progresses == 1 &&
              uccs_wait_all(requests, N) == UCCS_OK);
    }
    again(0, 0);
    uccs_handlers_running = 1;
    CHECK(uccs_wait_all(requests, N) == UCCS_ERR_STATE);
    uccs_handlers_running = 0;
}

static const struct uccs_tell_handles *waited_for(void)
{
    return (const struct uccs_tell_handles *)(uintptr_t)served_for.object;
}

static void check_told(void)
{
    CHECK(waited_for()->handles == requests && waited_for()->n == N && !waited_for()->left_out);
    finish(complete_which, false);
}

/* The search begins behind the one that was found last. */
static void test_any(void)
{
    size_t index = 99;
    again(0, 0);
    CHECK(uccs_test_any(0, 0, &index) == UCCS_OK && index == SIZE_MAX && uccs_wait_any(0, 0, &index) == UCCS_OK);
    CHECK(uccs_test_any(0, 1, &index) == UCCS_ERR_INVALID && uccs_test_any(requests, 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_wait_any(0, 1, &index) == UCCS_ERR_INVALID && uccs_wait_any(requests, 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_test_any(requests, N, &index) == UCCS_IN_PROGRESS && progresses == 1);
    for (int i = 0; i < N; i++)
        finish(i, false);
    CHECK(uccs_test_any(requests, N, &index) == UCCS_OK);
    const size_t first = index;
    for (size_t i = 1; i < 3 * N; i++)
        CHECK(uccs_test_any(requests, N, &index) == UCCS_OK && index == (first + i) % N);
    for (int i = 0; i < N; i++) {
        again(i, 1);
        CHECK(uccs_test_any(requests, N, &index) == UCCS_OK && index == (size_t)i && progresses == 1);
        again(i, 2);
        CHECK(uccs_wait_any(requests, N, &index) == UCCS_OK && index == (size_t)i && serves == 2);
        objects[i].error = 1;
        CHECK(uccs_wait_any(requests, N, &index) == UCCS_ERR_FAILED && index == (size_t)i &&
              uccs_wait_any(requests, N, &index) == UCCS_OK);
    }
    again(0, 0);
    uccs_handlers_running = 1;
    CHECK(uccs_wait_any(requests, N, &index) == UCCS_ERR_STATE);
    uccs_handlers_running = 0;
    on_serve = check_told;
    CHECK(uccs_wait_any(requests, N, &index) == UCCS_OK && serves == 1);
    again(2, 0);
    on_serve = check_told;
    size_t count, indices[N];
    CHECK(uccs_wait_some(requests, N, &count, indices) == UCCS_OK && serves == 1 && count == 1 && indices[0] == 2);
    again(1, 0);
    for (int i = 0; i < N; i++)
        finish(i, false);
    objects[1].pending = 1;
    on_serve = check_told;
    CHECK(uccs_wait_all(requests, N) == UCCS_OK && serves == 1);
}

static void test_some(void)
{
    size_t count = 99, indices[N];
    again(0, 0);
    CHECK(uccs_test_some(0, 0, &count, 0) == UCCS_OK && count == 0);
    count = 99;
    CHECK(uccs_wait_some(0, 0, &count, 0) == UCCS_OK && count == 0);
    CHECK(uccs_test_some(0, 1, &count, indices) == UCCS_ERR_INVALID &&
          uccs_wait_some(0, 1, &count, indices) == UCCS_ERR_INVALID);
    CHECK(uccs_test_some(requests, 1, 0, indices) == UCCS_ERR_INVALID &&
          uccs_wait_some(requests, 1, 0, indices) == UCCS_ERR_INVALID);
    CHECK(uccs_test_some(requests, 1, &count, 0) == UCCS_ERR_INVALID &&
          uccs_wait_some(requests, 1, &count, 0) == UCCS_ERR_INVALID);
    count = 99;
    CHECK(uccs_test_some(requests, N, &count, indices) == UCCS_IN_PROGRESS && progresses == 1 && count == 99);
    for (int i = 0; i < N; i++) {
        again(i, 1);
        CHECK(uccs_test_some(requests, N, &count, indices) == UCCS_OK && count == 1 && indices[0] == (size_t)i &&
              progresses == 1);
        again(i, 2);
        CHECK(uccs_wait_some(requests, N, &count, indices) == UCCS_OK && count == 1 && serves == 2);
        const int other = (i + 2) % N, low = i < other ? i : other;
        finish(other, true);
        CHECK(uccs_test_some(requests, N, &count, indices) == UCCS_ERR_FAILED && count == 2 && progresses == 0);
        CHECK(indices[0] == (size_t)low && indices[1] == (size_t)(i + other - low));
        CHECK(uccs_wait_some(requests, N, &count, indices) == UCCS_OK && count == 2);
    }
    again(0, 0);
    uccs_handlers_running = 1;
    CHECK(uccs_wait_some(requests, N, &count, indices) == UCCS_ERR_STATE);
    uccs_handlers_running = 0;
}

/* --- Queues */

static void two_come(void)
{
    if (progresses + serves == 2)
        entries_count = 2;
}

static void test_queues(void)
{
    uccs_queue_t queue = 0;
    struct uccs_entry entries[N];
    size_t count = 0, none = 0;
    CHECK(uccs_queue_create(0) == UCCS_ERR_INVALID && uccs_queue_create(&queue) == UCCS_OK &&
          queue == (uccs_queue_t)&spare);
    no_requests = true;
    CHECK(uccs_queue_create(&queue) == UCCS_ERR_NO_MEMORY);
    no_requests = false;
    for (int i = 0; i < N; i++)
        entries_there[i].tag = &objects[i];
    progresses = serves = 0;
    on_progress = on_serve = two_come;
    CHECK(uccs_queue_poll(0, entries, &count) == UCCS_ERR_INVALID &&
          uccs_queue_wait(0, entries, &count) == UCCS_ERR_INVALID);
    count = 1;
    CHECK(uccs_queue_poll(0, entries, &count) == UCCS_ERR_INVALID &&
          uccs_queue_wait(0, entries, &count) == UCCS_ERR_INVALID);
    CHECK(uccs_queue_poll(queue, 0, &count) == UCCS_ERR_INVALID &&
          uccs_queue_wait(queue, 0, &count) == UCCS_ERR_INVALID);
    CHECK(uccs_queue_poll(queue, entries, 0) == UCCS_ERR_INVALID &&
          uccs_queue_wait(queue, entries, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_queue_poll(queue, entries, &none) == UCCS_ERR_INVALID &&
          uccs_queue_wait(queue, entries, &none) == UCCS_ERR_INVALID);
    CHECK(uccs_queue_poll(queue, entries, &count) == UCCS_OK && count == 0 && progresses == 1);
    count = N;
    CHECK(uccs_queue_poll(queue, entries, &count) == UCCS_OK && count == 2 && progresses == 2 &&
          entries[1].tag == &objects[1]);
    entries_count = 3, count = 2;
    CHECK(uccs_queue_poll(queue, entries, &count) == UCCS_OK && count == 2 && progresses == 2);
    CHECK(uccs_queue_wait(queue, entries, &count) == UCCS_OK && count == 1 && serves == 0);
    progresses = 0;
    count = N;
    uccs_handlers_running = 1;
    CHECK(uccs_queue_wait(queue, entries, &count) == UCCS_ERR_STATE && count == N);
    uccs_handlers_running = 0;
    CHECK(uccs_queue_wait(queue, entries, &count) == UCCS_OK && count == 2 && serves == 2);
    trace[0] = 0;
    CHECK(uccs_queue_release(0) == UCCS_ERR_INVALID && traced("") && uccs_queue_release(queue) == UCCS_OK &&
          traced("abandon"));
}

/* --- Records of waits */

static void test_records(void)
{
    struct uccs_waiting what = {.object = "thing", .rank = 4, .ranks = 3, .stride = 2, .place = 8, .meeting = 9};
    stay_number = 70000;
    CHECK(uccs_waiting_begin(&what, 1.5) == 70000 && stay_since == 8500000000 && stay_on.about == NODE_ABOUT_PES);
    CHECK(stay_on.start == 4 && stay_on.size == 3 && stay_on.stride == 2 && stay_on.object == 8 && stay_on.number == 9);
    CHECK(stay_on.may_end == 1 && uccs_waiting_begin(&what, -3) == 70000 && stay_since == 10000000000);
    what.ranks = 1;
    CHECK(uccs_waiting_begin(&what, 0) == 70000 && stay_since == 10000000000 && stay_on.size == 1 &&
          stay_on.stride == 1);
    what.ranks = 2, what.rank = 0;
    CHECK(uccs_waiting_begin(&what, 0) == 70000 && stay_on.size == 2 && stay_on.stride == 2 &&
          stay_on.about == NODE_ABOUT_PES);
    what.rank = -1;
    CHECK(uccs_waiting_begin(&what, 0) == 70000 && stay_on.about == 0 && stay_on.may_end == 1 && stay_on.size == 0);
    CHECK(uccs_waiting_begin(0, 0) == 0);
    uccs_users = 0;
    CHECK(uccs_waiting_begin(&what, 0) == 0);
    uccs_users = 1;
    trace[0] = 0;
    uccs_waiting_end(0);
    uccs_waiting_end(-1);
    CHECK(traced(""));
    uccs_waiting_end(1);
    CHECK(traced("end") && stay_ended == 1);
    uccs_waiting_end(70000);
    CHECK(traced("end") && stay_ended == 70000);
}

int main(void)
{
    uccs_users = 1;
    uccs_core.npes = 3;
    uccs_ranks_open();
    test_one();
    test_all();
    test_any();
    test_some();
    test_queues();
    test_records();
    test_counters();
    test_life();
    return 0;
}
