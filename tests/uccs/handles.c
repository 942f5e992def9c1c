/* A counter that was never made, or is made no more, gives the error that uccs.h promises in every function that takes it, and in
 * every operation that names it; so do signals; a handler's id has one class; the resources name the network of the job.
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
static uccs_memory_t memory, theirs;
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

/* Every operation that carries options, on 8 bytes of the peer's memory; they all look at the same options. */
static void operations_give(const struct uccs_op *op, int status)
{
    const struct uccs_stride stride = {.block = 4, .count = 2, .remote_stride = 4, .local_stride = 4};
    const struct uccs_piece piece = {0, bytes, 8};
    const double one = 1;
    double old;
    CHECK_EQ(uccs_put(peer, theirs, 0, bytes, 8, op), status);
    CHECK_EQ(uccs_put(peer, theirs, 0, bytes, 0, op), status);
    CHECK_EQ(uccs_get(peer, theirs, 0, bytes, 8, op), status);
    CHECK_EQ(uccs_put_blocks(peer, theirs, 0, bytes, &stride, op), status);
    CHECK_EQ(uccs_get_blocks(peer, theirs, 0, bytes, &stride, op), status);
    CHECK_EQ(uccs_put_pieces(peer, theirs, &piece, 1, op), status);
    CHECK_EQ(uccs_get_pieces(peer, theirs, &piece, 1, op), status);
    CHECK_EQ(uccs_put_short_contiguous(context, peer, theirs, 0, bytes, 8, op), status);
    CHECK_EQ(uccs_put_medium_contiguous(context, peer, theirs, 0, bytes, 8, op), status);
    CHECK_EQ(uccs_put_large_contiguous(context, peer, theirs, 0, bytes, 8, op), status);
    CHECK_EQ(uccs_get_short_contiguous(context, peer, theirs, 0, bytes, 8, op), status);
    CHECK_EQ(uccs_get_medium_contiguous(context, peer, theirs, 0, bytes, 8, op), status);
    CHECK_EQ(uccs_get_large_contiguous(context, peer, theirs, 0, bytes, 8, op), status);
    CHECK_EQ(uccs_put_strided(context, peer, theirs, 0, bytes, &stride, op), status);
    CHECK_EQ(uccs_get_strided(context, peer, theirs, 0, bytes, &stride, op), status);
    CHECK_EQ(uccs_put_vector(context, peer, theirs, &piece, 1, op), status);
    CHECK_EQ(uccs_get_vector(context, peer, theirs, &piece, 1, op), status);
    CHECK_EQ(uccs_atomic32(context, peer, theirs, 0, UCCS_ATOMIC_ADD, 1, 0, 0, op), status);
    CHECK_EQ(uccs_atomic64(context, peer, theirs, 0, UCCS_ATOMIC_ADD, 1, 0, 0, op), status);
    CHECK_EQ(uccs_atomic(peer, theirs, 0, 8, UCCS_ATOMIC_SWAP, 1, 0, &old, op), status);
    CHECK_EQ(uccs_accumulate(peer, theirs, 0, &one, 0, 1, UCCS_DOUBLE, UCCS_SUM, op), status);
    CHECK_EQ(uccs_accumulate(peer, theirs, 0, &one, &old, 1, UCCS_DOUBLE, UCCS_SUM, op), status);
    CHECK_EQ(uccs_compare_and_swap(peer, theirs, 0, 8, &one, &one, 0, op), status);
}

static void messages_give(const struct uccs_op *op, int status)
{
    CHECK_EQ(uccs_send(peer, 1, UCCS_AM_USER, bytes, 8, op), status);
    CHECK_EQ(uccs_am_short(context, peer, 1, UCCS_AM_USER, bytes, 8, op), status);
    CHECK_EQ(uccs_am_medium(context, peer, 1, UCCS_AM_USER, bytes, 8, op), status);
    CHECK_EQ(uccs_am_large(context, peer, 1, UCCS_AM_USER, bytes, 8, op), status);
    CHECK_EQ(uccs_send_place(peer, 1, UCCS_AM_USER, bytes, 8, bytes, 8, op), status);
}

/* No operation is done, neither whole nor in part: the owner's bytes stay. */
static void all_give(struct uccs_op op, int status)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    memset(bytes, 7, sizeof bytes);
    for (op.nonblocking = 0; op.nonblocking < 2; op.nonblocking++) {
        op.request = op.nonblocking ? &request : 0;
        operations_give(&op, status);
        if (op.counter)
            messages_give(&op, status);
    }
    CHECK(request == UCCS_REQUEST_NULL);
}

/* What an operation names beside its own memory: a counter of the job, or a word of its target. */
static void test_options(uccs_counter_t shut)
{
    struct uccs_signal signal = {.memory = 0, .value = 5};
    const struct uccs_op tells = {.signal = &signal};
    all_give((struct uccs_op){.counter = shut}, UCCS_ERR_STALE);
    all_give((struct uccs_op){.counter = 7}, UCCS_ERR_STALE);
    all_give((struct uccs_op){.counter = UINT64_MAX}, UCCS_ERR_STALE);
    all_give(tells, UCCS_ERR_INVALID);
    signal.memory = memory; /* of another process than the target */
    all_give(tells, UCCS_ERR_INVALID);
    signal.memory = theirs;
    signal.offset = 4;
    all_give(tells, UCCS_ERR_INVALID);
    signal.offset = sizeof bytes;
    all_give(tells, UCCS_ERR_BOUNDS);
    signal.offset = 8;
    signal.how = (enum uccs_signal_how)7;
    all_give(tells, UCCS_ERR_INVALID);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    struct uccs_memory_attr attr;
    OK(uccs_memory_query(memory, &attr));
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK_EQ(((char *)attr.address)[i], 0);
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
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (check_near(next_pe)) /* of another node it is the target that knows its own counters */
        all_give((struct uccs_op){.counter = own}, UCCS_ERR_STALE);
    test_options(made);
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
    uccs_memory_t all[2];
    check_start();
    OK(uccs_context_create(0, &context));
    peer = check_endpoint(context, next_pe);
    OK(uccs_memory_allocate(context, sizeof bytes, &memory));
    check_share(context, memory, all);
    theirs = all[next_pe];
    test_counters();
    test_class();
    test_network(argc > 1 ? argv[1] : 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int rank = 0; rank < 2; rank++)
        OK(uccs_memory_release(all[rank]));
    OK(uccs_memory_release(memory));
    OK(uccs_context_destroy(context));
    return check_pass();
}
