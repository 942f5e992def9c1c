/* Calls of groups, contexts, collectives and tests with one wrong argument each, or at a wrong time. Each is refused, and
 * changes nothing: the collective that follows finds all members in step.
 * pes: 1 3
 */
#include "check.h"

#include <stdbool.h>
#include <uccs_rte.h>

enum { CALL = 1 };
#define REFUSED(call) CHECK_EQ(call, UCCS_ERR_INVALID)
#define TOO_EARLY(call) CHECK_EQ(call, UCCS_ERR_STATE)

static uccs_context_t context;
static char from[64], to[64];
static long called, polled;

/* Before the first init, after the last finalize, and in a handler. */
static void test_collectives_now(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    uccs_context_t made = 0;
    const uccs_group_t all = UCCS_GROUP_WORLD;
    TOO_EARLY(uccs_barrier(all));
    TOO_EARLY(uccs_barrier_nb(all, &request));
    TOO_EARLY(uccs_broadcast(all, to, 8, 0));
    TOO_EARLY(uccs_broadcast_nb(all, to, 8, 0, &request));
    TOO_EARLY(uccs_allgather(all, from, to, 1));
    TOO_EARLY(uccs_allgather_nb(all, from, to, 1, &request));
    TOO_EARLY(uccs_allreduce(all, from, to, 1, UCCS_INT64, UCCS_SUM));
    TOO_EARLY(uccs_allreduce_nb(all, from, to, 1, UCCS_INT64, UCCS_SUM, &request));
    TOO_EARLY(uccs_alltoall(all, from, to, 1));
    TOO_EARLY(uccs_alltoall_nb(all, from, to, 1, &request));
    TOO_EARLY(uccs_context_create_in(all, 0, &made));
    TOO_EARLY(uccs_finalize());
    CHECK(!made && request == UCCS_REQUEST_NULL);
    CHECK_EQ(uccs_rte_recv(0, 0, UCCS_RTE_ANYSOURCE, 5, all), UCCS_RTE_ERROR_BAD_INPUT);
}

static void test_outside(void)
{
    static const int ranks[] = {0};
    uccs_group_t group = UCCS_GROUP_NULL;
    uccs_context_t made = 0;
    test_collectives_now();
    TOO_EARLY(uccs_group_create(UCCS_GROUP_WORLD, 1, ranks, &group));
    TOO_EARLY(uccs_context_create(0, &made));
    CHECK_EQ(uccs_group_rank(UCCS_GROUP_WORLD), -1);
    CHECK_EQ(uccs_group_size(UCCS_GROUP_WORLD), -1);
    CHECK_EQ(uccs_group_world_rank(UCCS_GROUP_WORLD, 0), -1);
    CHECK(!group && !made);
}

static void test_groups(void)
{
    const int first[] = {0}, below[] = {-1}, above[] = {npes}, twice[] = {0, npes - 1, 0};
    int *more = calloc((size_t)npes + 1, sizeof *more);
    uccs_group_t group = UCCS_GROUP_NULL;
    for (int i = 0; i <= npes; i++)
        more[i] = i;
    REFUSED(uccs_group_create(UCCS_GROUP_NULL, 1, first, &group));
    REFUSED(uccs_group_create(UCCS_GROUP_WORLD, 1, first, 0));
    REFUSED(uccs_group_create(UCCS_GROUP_WORLD, 0, first, &group));
    REFUSED(uccs_group_create(UCCS_GROUP_WORLD, 1, 0, &group));
    REFUSED(uccs_group_create(UCCS_GROUP_WORLD, 1, below, &group));
    REFUSED(uccs_group_create(UCCS_GROUP_WORLD, 1, above, &group));
    REFUSED(uccs_group_create(UCCS_GROUP_WORLD, 3, twice, &group));
    REFUSED(uccs_group_create(UCCS_GROUP_WORLD, (size_t)npes + 1, more, &group));
    CHECK(group == UCCS_GROUP_NULL);
    REFUSED(uccs_group_release(UCCS_GROUP_NULL));
    REFUSED(uccs_group_release(UCCS_GROUP_WORLD));
    CHECK_EQ(uccs_group_rank(UCCS_GROUP_NULL), -1);
    CHECK_EQ(uccs_group_size(UCCS_GROUP_NULL), -1);
    CHECK_EQ(uccs_group_world_rank(UCCS_GROUP_NULL, 0), -1);
    CHECK_EQ(uccs_group_world_rank(UCCS_GROUP_WORLD, -1), -1);
    CHECK_EQ(uccs_group_world_rank(UCCS_GROUP_WORLD, npes), -1);
    CHECK_EQ(uccs_group_world_rank(UCCS_GROUP_WORLD, npes - 1), npes - 1);
    free(more);
}

static void test_contexts(void)
{
    uccs_context_t made = 0;
    REFUSED(uccs_context_create(0, 0));
    REFUSED(uccs_context_create(0, &made)); /* id 0 is in use */
    REFUSED(uccs_context_create(&(struct uccs_context_attr){.id = UCCS_CONTEXTS}, &made));
    REFUSED(uccs_context_create(&(struct uccs_context_attr){.id = UINT32_MAX}, &made));
    REFUSED(uccs_context_create(&(struct uccs_context_attr){.id = 1, .scope = (enum uccs_scope)2}, &made));
    REFUSED(uccs_context_create(&(struct uccs_context_attr){.id = 1, .threads = (enum uccs_thread_mode)2}, &made));
    REFUSED(uccs_context_create_in(UCCS_GROUP_NULL, 0, &made));
    REFUSED(uccs_context_create_in(UCCS_GROUP_WORLD, 0, 0));
    REFUSED(uccs_context_create_in(UCCS_GROUP_WORLD, &(struct uccs_context_attr){.scope = (enum uccs_scope)2}, &made));
    REFUSED(uccs_context_create_in(UCCS_GROUP_WORLD, &(struct uccs_context_attr){.threads = (enum uccs_thread_mode)2},
                                   &made));
    REFUSED(uccs_context_destroy(0));
    CHECK(!made);
    for (uint32_t id = 1; id < UCCS_CONTEXTS; id++) { /* each of them, and free again */
        OK(uccs_context_create(&(struct uccs_context_attr){.id = id}, &made));
        OK(uccs_context_destroy(made));
    }
}

static void test_resources(void)
{
    struct uccs_resource list[8];
    size_t none = 0, count = 8;
    REFUSED(uccs_resource_query(0, list, &count));
    REFUSED(uccs_resource_query(context, list, 0));
    REFUSED(uccs_resource_query(context, 0, &count));
    OK(uccs_resource_query(context, 0, &none));
    OK(uccs_resource_query(context, list, &count));
    CHECK(count == none && count >= 2);
    memset(list, 0x55, sizeof list);
    none = 1; /* fewer than there are */
    OK(uccs_resource_query(context, list, &none));
    CHECK(none == count && strcmp(list[0].transport, "shm") == 0 && list[1].transport[0] == 0x55);
}

static void test_collectives(void)
{
    const uccs_group_t all = UCCS_GROUP_WORLD;
    uccs_request_t request = UCCS_REQUEST_NULL;
    REFUSED(uccs_barrier(UCCS_GROUP_NULL));
    REFUSED(uccs_barrier_nb(UCCS_GROUP_NULL, &request));
    REFUSED(uccs_barrier_nb(all, 0));
    REFUSED(uccs_broadcast(UCCS_GROUP_NULL, to, 8, 0));
    REFUSED(uccs_broadcast(all, 0, 8, 0));
    REFUSED(uccs_broadcast(all, to, 8, -1));
    REFUSED(uccs_broadcast(all, to, 8, npes));
    REFUSED(uccs_broadcast_nb(all, to, 8, 0, 0));
    REFUSED(uccs_allgather(UCCS_GROUP_NULL, from, to, 8));
    REFUSED(uccs_allgather(all, 0, to, 8));
    REFUSED(uccs_allgather(all, from, 0, 8));
    REFUSED(uccs_allgather_nb(all, from, to, 8, 0));
    REFUSED(uccs_allreduce(UCCS_GROUP_NULL, from, to, 1, UCCS_INT64, UCCS_SUM));
    REFUSED(uccs_allreduce(all, 0, to, 1, UCCS_INT64, UCCS_SUM));
    REFUSED(uccs_allreduce(all, from, 0, 1, UCCS_INT64, UCCS_SUM));
    REFUSED(uccs_allreduce(all, from, to, SIZE_MAX / 8 + 1, UCCS_INT64, UCCS_SUM));
    REFUSED(uccs_allreduce(all, from, to, 1, UCCS_INT64, UCCS_REPLACE));
    REFUSED(uccs_allreduce(all, from, to, 1, UCCS_INT64, UCCS_NO_OP));
    REFUSED(uccs_allreduce(all, from, to, 1, UCCS_DOUBLE, UCCS_XOR));
    REFUSED(uccs_allreduce_nb(all, from, to, 1, UCCS_INT64, UCCS_SUM, 0));
    REFUSED(uccs_alltoall(UCCS_GROUP_NULL, from, to, 8));
    REFUSED(uccs_alltoall(all, 0, to, 8));
    REFUSED(uccs_alltoall(all, from, 0, 8));
    REFUSED(uccs_alltoall(all, to, to, 8));
    REFUSED(uccs_alltoall_nb(all, from, to, 8, 0));
    CHECK(request == UCCS_REQUEST_NULL);
    OK(uccs_broadcast(all, 0, 0, npes - 1)); /* nothing needs no buffer */
    OK(uccs_allgather(all, 0, 0, 0));
    OK(uccs_allreduce(all, 0, 0, 0, UCCS_INT64, UCCS_SUM));
    OK(uccs_alltoall(all, 0, 0, 0));
    int64_t mine = me + 1, sum = 0;
    OK(uccs_allreduce(all, &mine, &sum, 1, UCCS_INT64, UCCS_SUM));
    CHECK_EQ(sum, npes * (npes + 1) / 2);
}

static int poll_once(void *argument)
{
    (void)argument;
    polled++;
    return 0;
}

static bool looked_around(void)
{
    const bool did = polled > 0;
    polled = 0;
    return did;
}

/* One of three requests is complete, the others wait for a counter. */
static void test_one_of(uccs_counter_t counter, size_t done)
{
    uccs_request_t requests[3] = {0};
    size_t index = 9, count = 9, indices[3] = {9, 9, 9};
    for (size_t i = 0; i < 3; i++)
        if (i != done)
            OK(uccs_counter_wait_nb(counter, 1, &requests[i]));
    polled = 0;
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(uccs_test(&requests[i]), i == done ? UCCS_OK : UCCS_IN_PROGRESS);
        CHECK_EQ(looked_around(), i != done);
    }
    CHECK_EQ(uccs_test_all(requests, 3), UCCS_IN_PROGRESS);
    CHECK(looked_around());
    OK(uccs_test_any(requests, 3, &index));
    CHECK_EQ(index, done);
    OK(uccs_wait_any(requests, 3, &index));
    CHECK_EQ(index, done);
    OK(uccs_test_some(requests, 3, &count, indices));
    CHECK(count == 1 && indices[0] == done);
    indices[0] = 9;
    OK(uccs_wait_some(requests, 3, &count, indices));
    CHECK(count == 1 && indices[0] == done && !looked_around());
    const size_t other = done == 0;
    CHECK_EQ(uccs_test_any(&requests[other], 1, &index), UCCS_IN_PROGRESS);
    CHECK(looked_around());
    CHECK_EQ(uccs_test_some(&requests[other], 1, &count, indices), UCCS_IN_PROGRESS);
    CHECK(looked_around());
    for (size_t i = 0; i < 3; i++)
        OK(uccs_request_release(&requests[i]));
}

static void test_counter_shut(void)
{
    uccs_request_t requests[2] = {0};
    uccs_counter_t counter;
    size_t index = 9, count = 9, indices[2] = {9, 9};
    OK(uccs_counter_open_own(&counter));
    for (int i = 0; i < 2; i++)
        OK(uccs_counter_wait_nb(counter, 1, &requests[i]));
    CHECK_EQ(uccs_counter_test(counter, 1), UCCS_IN_PROGRESS);
    CHECK(looked_around());
    OK(uccs_counter_shut_own(counter));
    CHECK_EQ(uccs_wait_all(requests, 2), UCCS_ERR_FAILED);
    OK(uccs_wait_all(requests, 2)); /* a failure is told once */
    for (int turn = 0; turn < 3; turn++) {
        OK(uccs_counter_open_own(&counter));
        OK(uccs_counter_wait_nb(counter, 1, &requests[1]));
        OK(uccs_counter_shut_own(counter));
        const int status = turn == 0   ? uccs_wait_any(&requests[1], 1, &index)
                           : turn == 1 ? uccs_wait_some(requests, 2, &count, indices)
                                       : uccs_wait(&requests[1]);
        CHECK_EQ(status, UCCS_ERR_FAILED);
        OK(uccs_test_all(requests, 2));
    }
    CHECK(index == 0 && count == 2 && indices[0] == 0 && indices[1] == 1);
    for (int i = 0; i < 2; i++)
        OK(uccs_request_release(&requests[i]));
}

/* Each of three complete requests is found in three calls. */
static void test_turns(void)
{
    uccs_request_t requests[3] = {0};
    unsigned seen = 0;
    for (int i = 0; i < 3; i++) {
        size_t index = 9;
        OK(uccs_test_any(requests, 3, &index));
        CHECK(index < 3);
        seen |= 1U << index;
    }
    CHECK_EQ(seen, 7);
}

static void test_looks(void)
{
    uccs_counter_t counter;
    uccs_queue_t queue;
    struct uccs_entry entry;
    size_t count = 1;
    OK(uccs_poller_add(poll_once, 0));
    OK(uccs_counter_open_own(&counter));
    for (size_t done = 0; done < 3; done++)
        test_one_of(counter, done);
    OK(uccs_counter_shut_own(counter));
    test_counter_shut();
    test_turns();
    OK(uccs_queue_create(&queue));
    polled = 0;
    OK(uccs_queue_poll(queue, &entry, &count));
    CHECK(count == 0 && looked_around());
    OK(uccs_queue_release(queue));
    OK(uccs_poller_remove(poll_once, 0));
}

static void call(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    test_collectives_now();
    TOO_EARLY(uccs_context_destroy(context));
    __atomic_fetch_add(&called, 1, __ATOMIC_RELEASE);
}

static void test_handler(void)
{
    OK(uccs_am_register(context, CALL, UCCS_AM_USER, call, 0));
    OK(uccs_am_short(context, check_endpoint(context, next_pe), CALL, UCCS_AM_USER, 0, 0, 0));
    while (!__atomic_load_n(&called, __ATOMIC_ACQUIRE))
        uccs_progress();
    OK(uccs_flush(context));
}

int main(void)
{
    test_outside();
    check_start();
    OK(uccs_context_create(0, &context));
    test_groups();
    test_contexts();
    test_resources();
    test_collectives();
    test_looks();
    test_handler();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_context_destroy(context));
    const int status = check_pass();
    test_outside();
    return status;
}
