/* A null handle, and any null where a function needs an object, is UCCS_ERR_INVALID everywhere; nothing else happens.
 * The rows name every function of uccs.h, uccs_am.h, uccs_accumulate.h and uccs_rte.h that takes a handle or gives one.
 * pes: 2
 * case: node
 * case: tcp
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=tcp
 */
#include "check.h"

#include <uccs_rte.h>

static uccs_context_t context;
static uccs_endpoint_t peer;
static uccs_memory_t theirs, own;
static uccs_queue_t queue;
static uccs_counter_t counter;
static uccs_group_t world = UCCS_GROUP_WORLD;
static char bytes[256];
static int wrong;

static void expect(long long got, long long want, const char *call)
{
    if (got == want)
        return;
    fprintf(stderr, "PE %d: %s gives %lld, not %lld\n", me, call, got, want);
    wrong++;
}

#define IS(call, value) (within_begins(__FILE__, __LINE__, #call), expect((long long)(call), (value), #call))
#define NO(call) IS(call, UCCS_ERR_INVALID)
#define BAD(call) IS(call, UCCS_RTE_ERROR_BAD_INPUT)

static void contexts_and_groups(void)
{
    uccs_context_t made = 0;
    uccs_group_t group = 0;
    uccs_endpoint_t endpoint = 0;
    uccs_stream_t stream = 0, mine = uccs_context_stream(context);
    uccs_request_t request = UCCS_REQUEST_NULL;
    struct uccs_resource resource;
    const uccs_endpoint_t none[1] = {0};
    const int ranks[1] = {0};
    size_t count = 1;
    NO(uccs_context_create(0, 0));
    NO(uccs_context_create_in(0, 0, &made));
    NO(uccs_context_create_in(world, 0, 0));
    NO(uccs_context_destroy(0));
    NO(uccs_resource_query(0, &resource, &count));
    NO(uccs_resource_query(context, 0, &count));
    NO(uccs_resource_query(context, &resource, 0));
    NO(uccs_group_create(0, 1, ranks, &group));
    NO(uccs_group_create(world, 1, 0, &group));
    NO(uccs_group_create(world, 0, ranks, &group));
    NO(uccs_group_create(world, 1, ranks, 0));
    NO(uccs_group_release(0));
    IS(uccs_group_rank(0), -1);
    IS(uccs_group_size(0), -1);
    IS(uccs_group_world_rank(0, 0), -1);
    NO(uccs_endpoint_create(0, world, 0, &endpoint));
    NO(uccs_endpoint_create(context, 0, 0, &endpoint));
    NO(uccs_endpoint_create(context, world, 0, 0));
    NO(uccs_endpoint_create(context, world, 2, &endpoint));
    NO(uccs_endpoint_create(context, world, -1, &endpoint));
    NO(uccs_endpoint_release(0));
    IS(uccs_endpoint_world_rank(0), -1);
    IS(uccs_endpoint_context(0) == 0, 1);
    IS(uccs_endpoint_context(peer) == context, 1);
    NO(uccs_stream_create(context, 0, 0));
    NO(uccs_stream_release(0));
    IS(uccs_context_stream(0) == 0, 1);
    NO(uccs_stream_endpoint(0, world, 0, &endpoint));
    NO(uccs_stream_endpoint(mine, 0, 0, &endpoint));
    NO(uccs_stream_endpoint(mine, world, 0, 0));
    NO(uccs_stream_flush(0, 0, 0));
    NO(uccs_stream_flush(mine, none, 1));
    NO(uccs_stream_flush(mine, 0, 1));
    NO(uccs_stream_flush_local(0, 0, 0));
    NO(uccs_stream_flush_local(mine, none, 1));
    NO(uccs_stream_flush_local(mine, 0, 1));
    NO(uccs_stream_flush_nb(0, 0, 0, &request));
    NO(uccs_stream_flush_nb(mine, none, 1, &request));
    NO(uccs_stream_flush_nb(mine, 0, 1, &request));
    NO(uccs_stream_flush_nb(mine, 0, 0, 0));
    NO(uccs_stream_fence(0, 0, 0));
    NO(uccs_stream_fence(mine, none, 1));
    NO(uccs_stream_fence(mine, 0, 1));
    IS(uccs_stream_progress(0), 0);
    NO(uccs_flush_local(0, 0, 0));
    NO(uccs_flush_local(context, none, 1));
    NO(uccs_flush_local(context, 0, 1));
    NO(uccs_flush(0));
    NO(uccs_fence(0));
    CHECK(!made && !group && !endpoint && !stream && request == UCCS_REQUEST_NULL);
}

static void requests_and_queues(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    struct uccs_entry entry;
    size_t count = 1, index = 5, nothing = 0;
    NO(uccs_request_create(0));
    NO(uccs_request_release(0));
    NO(uccs_request_combine(0, 1, &request));
    NO(uccs_request_combine(&request, 1, 0));
    NO(uccs_test(0));
    NO(uccs_test_all(0, 1));
    NO(uccs_test_any(0, 1, &index));
    NO(uccs_test_any(&request, 1, 0));
    NO(uccs_test_some(0, 1, &count, &index));
    NO(uccs_test_some(&request, 1, 0, &index));
    NO(uccs_test_some(&request, 1, &count, 0));
    NO(uccs_wait(0));
    NO(uccs_wait_all(0, 1));
    NO(uccs_wait_any(0, 1, &index));
    NO(uccs_wait_any(&request, 1, 0));
    NO(uccs_wait_some(0, 1, &count, &index));
    NO(uccs_wait_some(&request, 1, 0, &index));
    NO(uccs_wait_some(&request, 1, &count, 0));
    CHECK(index == 5 && count == 1);
    IS(uccs_wait(&request), UCCS_OK); /* a null request is no handle, but nothing to wait for */
    NO(uccs_queue_create(0));
    NO(uccs_queue_release(0));
    NO(uccs_queue_poll(0, &entry, &count));
    NO(uccs_queue_poll(queue, 0, &count));
    NO(uccs_queue_poll(queue, &entry, 0));
    NO(uccs_queue_poll(queue, &entry, &nothing));
    NO(uccs_queue_wait(0, &entry, &count));
    NO(uccs_queue_wait(queue, 0, &count));
    NO(uccs_queue_wait(queue, &entry, 0));
    NO(uccs_queue_wait(queue, &entry, &nothing));
    NO(uccs_counter_open(0));
    NO(uccs_counter_open_own(0));
    NO(uccs_counter_open_group(0, &counter));
    NO(uccs_counter_open_group(world, 0));
    NO(uccs_counter_shut_group(0, counter));
    NO(uccs_counter_read(counter, 0));
    NO(uccs_counter_wait_nb(counter, 1, 0));
    NO(uccs_word_wait_nb(0, 1, &request));
    NO(uccs_word_wait_nb((const uint64_t *)(bytes + 1), 1, &request));
    NO(uccs_word_wait_nb((const uint64_t *)bytes, 1, 0));
    NO(uccs_wait_conditions(0, 1, 1, 0, 0, 0));
    NO(uccs_event_descriptor(0));
    NO(uccs_poller_add(0, bytes));
    NO(uccs_poller_remove(0, bytes));
}

static void memory(void)
{
    uccs_memory_t made = 0, dynamic;
    struct uccs_memory_attr attr;
    struct uccs_view view;
    size_t length = sizeof bytes;
    NO(uccs_memory_allocate(context, 8, 0));
    NO(uccs_memory_allocate(context, 0, &made));
    NO(uccs_memory_register(context, 0, 8, &made));
    NO(uccs_memory_register(context, bytes, 0, &made));
    NO(uccs_memory_register(context, bytes, 8, 0));
    NO(uccs_memory_export(0, bytes, &length));
    NO(uccs_memory_export(own, 0, &length));
    NO(uccs_memory_export(own, bytes, 0));
    NO(uccs_memory_import(context, 0, 8, &made));
    NO(uccs_memory_import(context, bytes, 8, 0));
    NO(uccs_memory_release(0));
    NO(uccs_memory_dynamic(context, 0));
    OK(uccs_memory_dynamic(context, &dynamic));
    NO(uccs_memory_attach(0, bytes, 8));
    NO(uccs_memory_attach(own, bytes, 8));
    NO(uccs_memory_attach(dynamic, 0, 8));
    NO(uccs_memory_attach(dynamic, bytes, 0));
    NO(uccs_memory_detach(0, bytes));
    NO(uccs_memory_detach(own, bytes));
    NO(uccs_memory_detach(dynamic, 0));
    NO(uccs_memory_view(0, 0, &view));
    NO(uccs_memory_view(dynamic, 0, 0));
    NO(uccs_memory_query(0, &attr));
    NO(uccs_memory_query(own, 0));
    OK(uccs_memory_release(dynamic));
    CHECK(!made);
}

static void locks(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    NO(uccs_lock_admit_guests(0, 0));
    NO(uccs_lock(0, theirs, 0, UCCS_LOCK_SHARED));
    NO(uccs_lock(peer, 0, 0, UCCS_LOCK_SHARED));
    NO(uccs_lock_nb(0, theirs, 0, UCCS_LOCK_SHARED, &request));
    NO(uccs_lock_nb(peer, 0, 0, UCCS_LOCK_SHARED, &request));
    NO(uccs_lock_nb(peer, theirs, 0, UCCS_LOCK_SHARED, 0));
    NO(uccs_unlock(0, theirs, 0, UCCS_LOCK_SHARED));
    NO(uccs_unlock(peer, 0, 0, UCCS_LOCK_SHARED));
    NO(uccs_lock_mapped(0, bytes, UCCS_LOCK_SHARED));
    NO(uccs_unlock_mapped(0, bytes, UCCS_LOCK_SHARED));
    CHECK(request == UCCS_REQUEST_NULL);
}

/* The forms with a context: each of its handles is null in turn, then the buffer. */
#define FORM(call, ...)                                                                       \
    (NO(call(0, peer, theirs, 0, __VA_ARGS__)), NO(call(context, 0, theirs, 0, __VA_ARGS__)), \
     NO(call(context, peer, 0, 0, __VA_ARGS__)))
#define OF_ENDPOINT(call, ...) (NO(call(0, theirs, __VA_ARGS__)), NO(call(peer, 0, __VA_ARGS__)))

static void moving(void)
{
    const struct uccs_stride stride = {.block = 8, .count = 2, .remote_stride = 8, .local_stride = 8};
    const struct uccs_piece piece = {0, bytes, 8}, hole = {0, 0, 8};
    uccs_request_t desc = UCCS_REQUEST_NULL;
    FORM(uccs_put_short_contiguous, bytes, 8, 0);
    FORM(uccs_put_medium_contiguous, bytes, 8, 0);
    FORM(uccs_put_large_contiguous, bytes, 8, 0);
    FORM(uccs_put_large_contiguous_nb, bytes, 8, &desc);
    FORM(uccs_get_short_contiguous, bytes, 8, 0);
    FORM(uccs_get_medium_contiguous, bytes, 8, 0);
    FORM(uccs_get_large_contiguous, bytes, 8, 0);
    FORM(uccs_get_large_contiguous_nb, bytes, 8, &desc);
    NO(uccs_put_short_contiguous(context, peer, theirs, 0, 0, 8, 0));
    NO(uccs_put_large_contiguous_nb(context, peer, theirs, 0, bytes, 8, 0));
    NO(uccs_get_large_contiguous_nb(context, peer, theirs, 0, bytes, 8, 0));
    NO(uccs_get_large_contiguous(context, peer, theirs, 0, 0, 8, 0));
    FORM(uccs_put_strided, bytes, &stride, 0);
    FORM(uccs_get_strided, bytes, &stride, 0);
    NO(uccs_put_strided(context, peer, theirs, 0, bytes, 0, 0));
    NO(uccs_get_strided(context, peer, theirs, 0, 0, &stride, 0));
    NO(uccs_put_vector(0, peer, theirs, &piece, 1, 0));
    NO(uccs_put_vector(context, 0, theirs, &piece, 1, 0));
    NO(uccs_put_vector(context, peer, 0, &piece, 1, 0));
    NO(uccs_put_vector(context, peer, theirs, 0, 1, 0));
    NO(uccs_get_vector(0, peer, theirs, &piece, 1, 0));
    NO(uccs_get_vector(context, 0, theirs, &piece, 1, 0));
    NO(uccs_get_vector(context, peer, 0, &piece, 1, 0));
    NO(uccs_get_vector(context, peer, theirs, &hole, 1, 0));
    OF_ENDPOINT(uccs_put, 0, bytes, 8, 0);
    OF_ENDPOINT(uccs_get, 0, bytes, 8, 0);
    NO(uccs_put(peer, theirs, 0, 0, 8, 0));
    NO(uccs_get(peer, theirs, 0, 0, 8, 0));
    OF_ENDPOINT(uccs_put_blocks, 0, bytes, &stride, 0);
    OF_ENDPOINT(uccs_get_blocks, 0, bytes, &stride, 0);
    NO(uccs_put_blocks(peer, theirs, 0, bytes, 0, 0));
    NO(uccs_get_blocks(peer, theirs, 0, bytes, 0, 0));
    OF_ENDPOINT(uccs_put_pieces, &piece, 1, 0);
    OF_ENDPOINT(uccs_get_pieces, &piece, 1, 0);
    NO(uccs_put_pieces(peer, theirs, 0, 1, 0));
    NO(uccs_get_pieces(peer, theirs, 0, 1, 0));
    FORM(uccs_atomic32, UCCS_ATOMIC_ADD, 1, 0, 0, 0);
    FORM(uccs_atomic64, UCCS_ATOMIC_ADD, 1, 0, 0, 0);
    OF_ENDPOINT(uccs_atomic, 0, 8, UCCS_ATOMIC_ADD, 1, 0, 0, 0);
    OF_ENDPOINT(uccs_accumulate, 0, bytes, 0, 1, UCCS_INT64, UCCS_SUM, 0);
    OF_ENDPOINT(uccs_accumulate, 0, bytes, 0, 1, UCCS_DOUBLE, UCCS_SUM, 0);
    NO(uccs_accumulate(peer, theirs, 0, 0, 0, 1, UCCS_INT64, UCCS_SUM, 0));
    OF_ENDPOINT(uccs_accumulate_pieces, &piece, 1, UCCS_DOUBLE, UCCS_SUM, 0);
    NO(uccs_accumulate_pieces(peer, theirs, 0, 1, UCCS_DOUBLE, UCCS_SUM, 0));
    OF_ENDPOINT(uccs_compare_and_swap, 0, 8, bytes, bytes, 0, 0);
    NO(uccs_compare_and_swap(peer, theirs, 0, 8, 0, bytes, 0, 0));
    NO(uccs_compare_and_swap(peer, theirs, 0, 8, bytes, 0, 0, 0));
    IS(uccs_accumulate_intrinsic(0, theirs, UCCS_INT64, UCCS_SUM), 0);
    IS(uccs_accumulate_intrinsic(peer, 0, UCCS_INT64, UCCS_SUM), 0);
    CHECK(desc == UCCS_REQUEST_NULL);
}

static void handler(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    expect(1, 0, "a handler that nobody has sent to");
}

static int place(uccs_am_token_t token, const void *header, size_t header_length, size_t length, void **where,
                 uccs_completion *done, void **argument, void *registered)
{
    (void)token, (void)header, (void)header_length, (void)length, (void)where, (void)done, (void)argument,
        (void)registered;
    expect(1, 0, "a place handler that nobody has sent to");
    return UCCS_OK;
}

static void messages(void)
{
    uccs_payload_t payload;
    const struct uccs_signal signal = {.memory = theirs};
    const struct uccs_op tells = {.signal = &signal};
    NO(uccs_am_register(0, 1, UCCS_AM_USER, handler, 0));
    NO(uccs_am_register(context, 1, UCCS_AM_USER, 0, 0));
    OK(uccs_am_register(context, 1, UCCS_AM_USER, handler, 0));
    NO(uccs_am_register_place(0, 1, UCCS_AM_USER, place, 0));
    NO(uccs_am_register_place(context, 1, UCCS_AM_USER, 0, 0));
    OK(uccs_am_register_place(context, 1, UCCS_AM_USER, place, 0));
    NO(uccs_am_short(0, peer, 1, UCCS_AM_USER, bytes, 8, 0));
    NO(uccs_am_short(context, 0, 1, UCCS_AM_USER, bytes, 8, 0));
    NO(uccs_am_short(context, peer, 1, UCCS_AM_USER, 0, 8, 0));
    NO(uccs_am_medium(0, peer, 1, UCCS_AM_USER, bytes, 8, 0));
    NO(uccs_am_medium(context, 0, 1, UCCS_AM_USER, bytes, 8, 0));
    NO(uccs_am_medium(context, peer, 1, UCCS_AM_USER, 0, 8, 0));
    NO(uccs_am_unregister(0, 1));
    NO(uccs_am_unregister_place(0, 1));
    NO(uccs_send_vector(0, 1, UCCS_AM_USER, 0, 0, 0));
    NO(uccs_send_vector(peer, 1, UCCS_AM_USER, 0, 1, 0));
    NO(uccs_am_large(0, peer, 1, UCCS_AM_USER, bytes, 8, 0));
    NO(uccs_am_large(context, 0, 1, UCCS_AM_USER, bytes, 8, 0));
    NO(uccs_am_large(context, peer, 1, UCCS_AM_USER, 0, 8, 0));
    NO(uccs_send(0, 1, UCCS_AM_USER, bytes, 8, 0));
    NO(uccs_send(peer, 1, UCCS_AM_USER, 0, 8, 0));
    NO(uccs_send(peer, 1, UCCS_AM_USER, bytes, 8, &tells));
    NO(uccs_send_place(0, 1, UCCS_AM_USER, bytes, 8, bytes, 8, 0));
    NO(uccs_send_place(peer, 1, UCCS_AM_USER, 0, 8, bytes, 8, 0));
    NO(uccs_send_place(peer, 1, UCCS_AM_USER, bytes, 8, 0, 8, 0));
    NO(uccs_send_place(peer, 1, UCCS_AM_USER, bytes, 8, bytes, 8, &tells));
    NO(uccs_am_keep(0, &payload));
    NO(uccs_am_reply(0, 1, UCCS_AM_USER, bytes, 8));
    IS(uccs_am_source(0), -1);
    IS(uccs_am_context(0) == 0, 1);
    uccs_payload_done(0);
}

static void collectives(void)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    NO(uccs_barrier(0));
    NO(uccs_barrier_nb(0, &desc));
    NO(uccs_barrier_nb(world, 0));
    NO(uccs_broadcast(0, bytes, 8, 0));
    NO(uccs_broadcast(world, 0, 8, 0));
    NO(uccs_broadcast_nb(0, bytes, 8, 0, &desc));
    NO(uccs_broadcast_nb(world, 0, 8, 0, &desc));
    NO(uccs_broadcast_nb(world, bytes, 8, 0, 0));
    NO(uccs_allgather(0, bytes, bytes + 64, 8));
    NO(uccs_allgather(world, 0, bytes + 64, 8));
    NO(uccs_allgather(world, bytes, 0, 8));
    NO(uccs_allgather_nb(0, bytes, bytes + 64, 8, &desc));
    NO(uccs_allgather_nb(world, bytes, bytes + 64, 8, 0));
    NO(uccs_allreduce(0, bytes, bytes + 64, 1, UCCS_INT64, UCCS_SUM));
    NO(uccs_allreduce(world, 0, bytes + 64, 1, UCCS_INT64, UCCS_SUM));
    NO(uccs_allreduce(world, bytes, 0, 1, UCCS_INT64, UCCS_SUM));
    NO(uccs_allreduce_nb(0, bytes, bytes + 64, 1, UCCS_INT64, UCCS_SUM, &desc));
    NO(uccs_allreduce_nb(world, bytes, bytes + 64, 1, UCCS_INT64, UCCS_SUM, 0));
    NO(uccs_alltoall(0, bytes, bytes + 64, 8));
    NO(uccs_alltoall(world, 0, bytes + 64, 8));
    NO(uccs_alltoall(world, bytes, 0, 8));
    NO(uccs_alltoall_nb(0, bytes, bytes + 64, 8, &desc));
    NO(uccs_alltoall_nb(world, bytes, bytes + 64, 8, 0));
    CHECK(desc == UCCS_REQUEST_NULL);
}

static void callback(int status, uccs_rte_ec_t from, void *data, size_t length, int tag, void *argument)
{
    (void)status, (void)from, (void)data, (void)length, (void)tag, (void)argument;
    expect(1, 0, "a callback of a message that nobody has sent");
}

static void environment(void)
{
    uccs_rte_ec_t mine = uccs_rte_my_ec(), them = uccs_rte_group_index_to_ec(world, (uint32_t)(1 - me));
    struct uccs_rte_machine machine;
    struct uccs_rte_network network;
    uccs_rte_session_t session = 0;
    const struct uccs_rte_iovec some = {bytes, &uccs_rte_int4, 1}, untyped = {bytes, 0, 1},
                                hole = {0, &uccs_rte_int4, 1};
    const void *value;
    size_t count = 1;
    uint32_t offset = 0;
    IS(uccs_rte_group_index_to_ec(0, 0) == UCCS_RTE_EC_NULL, 1);
    IS(uccs_rte_group_size(0), -1);
    IS(uccs_rte_group_rank(0), -1);
    IS(uccs_rte_ec_index(0, mine), UINT32_MAX);
    IS(uccs_rte_ec_index(world, 0), UINT32_MAX);
    IS(uccs_rte_cmp_ec(0, 0), 0);
    IS(uccs_rte_ec_node_id(0), UINT32_MAX);
    IS(uccs_rte_ec_node_name(0) == 0, 1);
    IS(uccs_rte_ec_hostname(0) == 0, 1);
    IS(uccs_rte_ec_locality(0), UCCS_RTE_PROC_LOCALITY_UNKNOWN);
    BAD(uccs_rte_machine_query(0));
    BAD(uccs_rte_ec_machine(0, &machine));
    BAD(uccs_rte_ec_machine(mine, 0));
    BAD(uccs_rte_network_query(&network, 0));
    BAD(uccs_rte_network_query(0, &count));
    BAD(uccs_rte_ec_network(0, &network, &count));
    BAD(uccs_rte_ec_network(mine, 0, &count));
    BAD(uccs_rte_ec_network(mine, &network, 0));
    BAD(uccs_rte_io_query(0));
    BAD(uccs_rte_unpack(0, bytes, &offset));
    BAD(uccs_rte_unpack(&some, 0, &offset));
    BAD(uccs_rte_unpack(&some, bytes, 0));
    BAD(uccs_rte_unpack(&untyped, bytes, &offset));
    BAD(uccs_rte_unpack(&hole, bytes, &offset));
    BAD(uccs_rte_send(&some, 1, 0, 1, world));
    BAD(uccs_rte_send(&some, 1, them, 1, 0));
    BAD(uccs_rte_send(0, 1, them, 1, world));
    BAD(uccs_rte_send(&untyped, 1, them, 1, world));
    BAD(uccs_rte_send(&hole, 1, them, 1, world));
    BAD(uccs_rte_recv(&some, 1, 0, 1, world));
    BAD(uccs_rte_recv(&some, 1, them, 1, 0));
    BAD(uccs_rte_recv(0, 1, them, 1, world));
    BAD(uccs_rte_recv(&hole, 1, them, 1, world));
    BAD(uccs_rte_send_nbcb(&some, 1, 0, 1, world, callback, 0));
    BAD(uccs_rte_send_nbcb(&some, 1, them, 1, 0, callback, 0));
    BAD(uccs_rte_send_nbcb(0, 1, them, 1, world, callback, 0));
    BAD(uccs_rte_recv_nbcb(0, 1, 0, world, callback, 0));
    BAD(uccs_rte_recv_nbcb(them, 1, 0, 0, callback, 0));
    BAD(uccs_rte_recv_nbcb(them, 1, 0, world, 0, 0));
    IS(uccs_rte_cancel(0, 1), UCCS_RTE_ERROR_NOT_FOUND);
    BAD(uccs_rte_barrier(0));
    BAD(uccs_rte_session_create(0, 1, &session));
    BAD(uccs_rte_session_create(world, 1, 0));
    OK(uccs_rte_session_create(world, 1, &session));
    BAD(uccs_rte_session_set(0, "a", &some, 1));
    BAD(uccs_rte_session_set(session, 0, &some, 1));
    BAD(uccs_rte_session_set(session, "a", 0, 1));
    BAD(uccs_rte_session_set(session, "a", &untyped, 1));
    BAD(uccs_rte_session_set(session, "a", &hole, 1));
    BAD(uccs_rte_session_exchange(0));
    BAD(uccs_rte_session_get(0, mine, "a", &value, &count));
    BAD(uccs_rte_session_get(session, 0, "a", &value, &count));
    BAD(uccs_rte_session_get(session, mine, 0, &value, &count));
    BAD(uccs_rte_session_get(session, mine, "a", 0, &count));
    BAD(uccs_rte_session_get(session, mine, "a", &value, 0));
    BAD(uccs_rte_session_destroy(0));
    OK(uccs_rte_session_destroy(session));
}

int main(void)
{
    uccs_memory_t all[2];
    check_start();
    OK(uccs_rte_init(0));
    OK(uccs_context_create(0, &context));
    OK(uccs_queue_create(&queue));
    OK(uccs_counter_open(&counter));
    peer = check_endpoint(context, next_pe);
    OK(uccs_memory_allocate(context, sizeof bytes, &own));
    check_share(context, own, all);
    theirs = all[next_pe];
    contexts_and_groups();
    requests_and_queues();
    memory();
    locks();
    moving();
    messages();
    collectives();
    environment();
    CHECK_EQ(wrong, 0);
    OK(uccs_barrier(world));
    for (int rank = 0; rank < 2; rank++)
        OK(uccs_memory_release(all[rank]));
    OK(uccs_memory_release(own));
    OK(uccs_counter_shut(counter));
    OK(uccs_queue_release(queue));
    OK(uccs_context_destroy(context));
    OK(uccs_rte_finalize());
    return check_pass();
}
