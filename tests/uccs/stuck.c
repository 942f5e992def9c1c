/* A job that hangs in calls of uccs.h, and where oshrun says the PEs are at the time limit.
 * pes: 3
 * cores: 1
 * timeout: 60
 * oshrun: --timeout 1
 * patience: 3 9
 * status: 124
 * case: barrier
 * args: barrier
 * fails: PE 0,1 +uccs_barrier \(2 of 3 have come\) +[0-9.]+ s +stuck\.c:[0-9]+\n +PE 2 +uccs_counter_wait\(counter 0 >= 5, is 0\) +[0-9.]+ s +stuck\.c:[0-9]+\nPEs 0,1 wait for PE 2; PE 2 waits for a store that no PE is making
 * case: lock
 * args: lock
 * fails: PE 0 +uccs_lock \(a lock of PE 0; waits for PE 1\) +[0-9.]+ s +stuck\.c:[0-9]+\n(.|\n)*PE 0 waits for PE 1; PE 1 waits for PE 2; PE 2 waits for a store
 * case: shared
 * args: shared
 * fails: PE 0 +uccs_lock \(a lock of PE 0 that others share\) +[0-9.]+ s +stuck\.c:[0-9]+\n
 * case: message
 * args: message
 * fails: PE 0 +uccs_wait \(a message; waits for PE 1\) +[0-9.]+ s +stuck\.c:[0-9]+\n(.|\n)*PE 2 +uccs_stream_flush \(messages; waits for PE 1\) +[0-9.]+ s +stuck\.c:[0-9]+\n(.|\n)*PEs 0,2 wait for PE 1
 * case: requests
 * args: requests
 * fails: PE 0 +uccs_wait_all\(counter 0 >= 5, is 0\) +[0-9.]+ s +stuck\.c:[0-9]+\n +PE 1 +uccs_wait \(a lock of PE 0; waits for PE 0\) +[0-9.]+ s +stuck\.c:[0-9]+\n +PE 2 +uccs_wait_any \(a collective; waits for PE [01]\) +[0-9.]+ s +stuck\.c:[0-9]+
 * case: own
 * args: own
 * fails: PE 0,1 +uccs_waiting_begin \(a queue; 2 of 3 have come\) +[0-9.]+ s +stuck\.c:[0-9]+\n +PE 2 +is in no wait(.|\n)*PEs 0,1 wait for PE 2
 * case: group
 * args: group
 * fails: PE 0,1 +uccs_broadcast \(waits for PE 2\) +[0-9.]+ s +stuck\.c:[0-9]+\n(.|\n)*PE 2 +uccs_wait\(flag >= 7, is 3\) +[0-9.]+ s +stuck\.c:[0-9]+
 */
#include "check.h"

enum { HANDLER = 1 };

static uccs_context_t context;
static uccs_memory_t mine, memories[3];
static uccs_endpoint_t zero, one;
static uccs_counter_t counter;
static uint64_t flag = 3;
static int box;

static void handle(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
}

/* All may take a lock of PE 0. */
static void share_lock(void)
{
    OK(uccs_memory_allocate(context, UCCS_LOCK_BYTES, &mine));
    check_share(context, mine, memories);
}

static void hang_for_ever(void)
{
    OK(uccs_counter_wait(counter, 5));
}

/* A wait of a layer above; an ended record is not told. */
static void wait_by_myself(void)
{
    const struct uccs_waiting what =
        {.object = "a queue", .rank = 0, .ranks = 3, .stride = 1, .place = 7, .meeting = 1};
    int record = uccs_waiting_begin(&what, 0);
    CHECK(record > 0);
    uccs_waiting_end(record);
    uccs_waiting_end(0);
    if (me < 2)
        CHECK(uccs_waiting_begin(&what, 0.5) > 0);
    for (;;)
        usleep(1000);
}

static void run(const char *how)
{
    uccs_request_t requests[2] = {0}, request = 0;
    if (strcmp(how, "barrier") == 0) {
        if (me == 2)
            hang_for_ever();
        OK(uccs_barrier(UCCS_GROUP_WORLD));
    } else if (strcmp(how, "lock") == 0) {
        share_lock();
        if (me == 1)
            OK(uccs_lock(zero, *memories, 0, UCCS_LOCK_EXCLUSIVE));
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        if (me == 2)
            hang_for_ever();
        if (me == 0)
            OK(uccs_lock(zero, *memories, 0, UCCS_LOCK_EXCLUSIVE));
        OK(uccs_broadcast(UCCS_GROUP_WORLD, &box, sizeof box, 2));
    } else if (strcmp(how, "shared") == 0) {
        share_lock();
        if (me)
            OK(uccs_lock(zero, *memories, 0, UCCS_LOCK_SHARED));
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        if (me == 0)
            OK(uccs_lock(zero, *memories, 0, UCCS_LOCK_EXCLUSIVE));
        hang_for_ever();
    } else if (strcmp(how, "own") == 0) {
        wait_by_myself();
    } else if (strcmp(how, "message") == 0) {
        usleep(me == 1 ? 0 : 300000); /* PE 1 has left the barrier, and handles nothing any more */
        if (me == 0) {
            const struct uccs_op op = {.request = &request};
            OK(uccs_send(one, HANDLER, UCCS_AM_USER, &box, sizeof box, &op));
            OK(uccs_wait(&request));
        }
        if (me == 2) {
            OK(uccs_am_short(context, one, HANDLER, UCCS_AM_USER, 0, 0, 0));
            OK(uccs_flush(context));
        }
        for (;;)
            usleep(1000);
    } else if (strcmp(how, "requests") == 0) {
        share_lock();
        if (me == 0) {
            OK(uccs_lock(zero, *memories, 0, UCCS_LOCK_EXCLUSIVE));
            OK(uccs_barrier(UCCS_GROUP_WORLD));
            OK(uccs_counter_wait_nb(counter, 5, &requests[1]));
            OK(uccs_wait_all(requests, 2));
        }
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        if (me == 1) {
            OK(uccs_lock_nb(zero, *memories, 0, UCCS_LOCK_EXCLUSIVE, &requests[0]));
            OK(uccs_request_create(&request));
            OK(uccs_request_combine(&request, 1, requests));
            OK(uccs_wait(&request));
        }
        size_t index;
        OK(uccs_barrier_nb(UCCS_GROUP_WORLD, &requests[1]));
        OK(uccs_wait_any(&requests[1], 1, &index));
    } else {
        if (me == 2) {
            OK(uccs_word_wait_nb(&flag, 7, &request));
            OK(uccs_wait(&request));
        }
        OK(uccs_broadcast(UCCS_GROUP_WORLD, &box, sizeof box, 2));
        hang_for_ever();
    }
}

int main(int argc, char **argv)
{
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, HANDLER, UCCS_AM_USER, handle, 0));
    zero = check_endpoint(context, 0);
    one = check_endpoint(context, 1);
    OK(uccs_counter_open(&counter));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    run(argc > 1 ? argv[1] : "");
    return 0;
}
