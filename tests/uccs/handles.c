/* Each kind of handle, when it is null, was never made, or is made no more, gives the error that uccs.h promises, in every
 * function that takes it; a handler's id has one class; the resources name the network of the job.
 * pes: 2
 * case: node
 * case: tcp
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=tcp
 * args: tcp
 * case: sim
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=sim:tcp
 * args: sim
 */
#include "check.h"

#include <string.h>

#define INVALID(call) CHECK_EQ(call, UCCS_ERR_INVALID)
#define STALE(call) CHECK_EQ(call, UCCS_ERR_STALE)

static uccs_context_t context;
static uccs_endpoint_t peer;
static uccs_memory_t memory;
static char bytes[64];

static void counter_is_stale(uccs_counter_t counter)
{
    int64_t value = 77;
    uccs_request_t request = UCCS_REQUEST_NULL;
    STALE(uccs_counter_read(counter, &value));
    STALE(uccs_counter_test(counter, 0));
    STALE(uccs_counter_wait(counter, 1));
    STALE(uccs_counter_consume(counter, 1));
    STALE(uccs_counter_reset(counter, &value));
    STALE(uccs_counter_wait_nb(counter, 1, &request));
    STALE(uccs_counter_shut(counter));
    STALE(uccs_counter_shut_own(counter));
    STALE(uccs_counter_shut_group(UCCS_GROUP_WORLD, counter));
    CHECK(value == 77 && request == UCCS_REQUEST_NULL);
}

/* Values that nobody was given, small and of all bits, then counters that are shut. */
static void test_counters(void)
{
    uccs_counter_t made, own;
    for (uccs_counter_t value = 0; value < 200; value++)
        counter_is_stale(value);
    for (int bit = 0; bit < 64; bit++) {
        counter_is_stale(UINT64_C(1) << bit);
        counter_is_stale(~(UINT64_C(1) << bit));
    }
    OK(uccs_counter_open(&made));
    OK(uccs_counter_open_own(&own));
    int64_t value = 7;
    OK(uccs_counter_read(made, &value));
    CHECK_EQ(value, 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    INVALID(uccs_counter_shut_own(made));
    INVALID(uccs_counter_shut(own));
    OK(uccs_counter_shut(made));
    OK(uccs_counter_shut_own(own));
    counter_is_stale(made);
    counter_is_stale(own);
}

static void test_null(void)
{
    size_t count = 1;
    uccs_endpoint_t endpoint = 0;
    struct uccs_resource resource;
    struct uccs_memory_attr attr;
    uccs_request_t request = UCCS_REQUEST_NULL;
    INVALID(uccs_resource_query(0, &resource, &count));
    INVALID(uccs_resource_query(context, 0, &count));
    INVALID(uccs_resource_query(context, &resource, 0));
    INVALID(uccs_context_destroy(0));
    INVALID(uccs_flush(0));
    INVALID(uccs_fence(0));
    INVALID(uccs_endpoint_create(0, UCCS_GROUP_WORLD, 0, &endpoint));
    INVALID(uccs_endpoint_create(context, UCCS_GROUP_NULL, 0, &endpoint));
    INVALID(uccs_endpoint_create(context, UCCS_GROUP_WORLD, 2, &endpoint));
    INVALID(uccs_endpoint_create(context, UCCS_GROUP_WORLD, -1, &endpoint));
    INVALID(uccs_endpoint_release(0));
    CHECK_EQ(uccs_endpoint_world_rank(0), -1);
    CHECK(!endpoint && uccs_context_stream(0) == 0);
    INVALID(uccs_stream_release(0));
    INVALID(uccs_stream_flush(0, 0, 0));
    INVALID(uccs_stream_fence(0, 0, 0));
    INVALID(uccs_stream_endpoint(0, UCCS_GROUP_WORLD, 0, &endpoint));
    INVALID(uccs_group_release(UCCS_GROUP_NULL));
    CHECK_EQ(uccs_group_rank(UCCS_GROUP_NULL), -1);
    CHECK_EQ(uccs_group_size(UCCS_GROUP_NULL), -1);
    CHECK_EQ(uccs_group_world_rank(UCCS_GROUP_NULL, 0), -1);
    INVALID(uccs_barrier(UCCS_GROUP_NULL));
    INVALID(uccs_memory_release(0));
    INVALID(uccs_memory_query(0, &attr));
    INVALID(uccs_memory_register(context, 0, 8, &memory));
    INVALID(uccs_memory_register(context, bytes, 0, &memory));
    INVALID(uccs_memory_allocate(context, 0, &memory));
    INVALID(uccs_put(0, memory, 0, bytes, 8, 0));
    INVALID(uccs_put(peer, 0, 0, bytes, 8, 0));
    INVALID(uccs_get(0, memory, 0, bytes, 8, 0));
    INVALID(uccs_get(peer, 0, 0, bytes, 8, 0));
    INVALID(uccs_send(0, 1, UCCS_AM_USER, bytes, 8, 0));
    INVALID(uccs_queue_release(0));
    OK(uccs_wait(&request));
    INVALID(uccs_wait(0));
    INVALID(uccs_test(0));
}

static void note(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length;
    ++*(long *)argument;
}

static int place(uccs_am_token_t token, const void *header, size_t header_length, size_t length, void **where,
                 uccs_completion *done, void **argument, void *registered)
{
    (void)token, (void)header, (void)header_length, (void)length, (void)done, (void)argument, (void)registered;
    *where = 0;
    return UCCS_OK;
}

/* The first class stays, and a second handler of this class takes over. */
static void test_class(void)
{
    static long first, second;
    OK(uccs_am_register(context, 1, UCCS_AM_USER, note, &first));
    INVALID(uccs_am_register(context, 1, UCCS_AM_NETWORK_PROTOCOL, note, &first));
    OK(uccs_am_register(context, 1, UCCS_AM_USER, note, &second));
    OK(uccs_am_register_place(context, 1, UCCS_AM_NETWORK_PROTOCOL, place, 0));
    INVALID(uccs_am_register_place(context, 1, UCCS_AM_USER, place, 0));
    INVALID(uccs_am_register(0, 2, UCCS_AM_USER, note, &first));
    INVALID(uccs_am_register(context, UCCS_AM_HANDLERS, UCCS_AM_USER, note, &first));
    INVALID(uccs_am_register(context, 2, UCCS_AM_USER, 0, &first));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_am_short(context, peer, 1, UCCS_AM_USER, "x", 1, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK(first == 0 && second == 1);
}

static void test_network(const char *network)
{
    struct uccs_resource resources[4];
    size_t count = 4, none = 0;
    OK(uccs_resource_query(context, resources, &count));
    OK(uccs_resource_query(context, 0, &none));
    CHECK(none == count && count == 2 + (network != 0));
    CHECK(strcmp(resources[0].transport, "shm") == 0);
    if (network)
        CHECK(strcmp(resources[2].transport, network) == 0);
}

int main(int argc, char **argv)
{
    OK(uccs_init());
    OK(uccs_context_create(0, &context));
    OK(uccs_endpoint_create(context, UCCS_GROUP_WORLD, 1 - uccs_group_rank(UCCS_GROUP_WORLD), &peer));
    OK(uccs_memory_allocate(context, sizeof bytes, &memory));
    test_null();
    test_counters();
    test_class();
    test_network(argc > 1 ? argv[1] : 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_memory_release(memory));
    OK(uccs_context_destroy(context));
    OK(uccs_finalize());
    return 0;
}
