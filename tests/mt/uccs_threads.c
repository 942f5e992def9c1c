/* Eight threads of every process call every function of uccs.h at once: contexts, endpoints and memory that come and
 * go, RMA and atomics, messages with replies, requests of all kinds, shared requests and counters, groups of their
 * own.
 * pes: 1 2 3
 * timeout: 200
 * case: process
 * case: remote
 * env: LATERAL_WIRE=messages LATERAL_PROGRESS=thread
 */
#include "../uccs/check.h"

enum {
    THREADS = 8,
    ROUNDS = 60,
    TAKE = 1,
    ASK = 2,
    ANSWER = 3,
    CELL = 64,
    BLOCK = 9000,
    FAR_BYTES = THREADS * CELL + THREADS * BLOCK
};

static uccs_context_t context, scoped;
static uccs_endpoint_t next, scoped_next;
static uccs_memory_t own, far_own, *all, *far_all;
static uccs_group_t groups[THREADS];
static uccs_request_t shared;
static uccs_counter_t counter;
static long taken, answered;
static char *private_far;

static void ask(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)argument;
    OK(uccs_am_reply(token, ANSWER, UCCS_AM_NETWORK_PROTOCOL, data, length));
}

static void do_memory(long id, long round)
{
    static _Thread_local char out[BLOCK], in[BLOCK];
    uccs_memory_t memory = round % 2 ? all[next_pe] : far_all[next_pe];
    size_t mine = (size_t)id * CELL, block = THREADS * CELL + (size_t)id * BLOCK;
    uccs_request_t request = UCCS_REQUEST_NULL;
    memset(out, (int)(id + round), sizeof out);
    OK(uccs_put_short_contiguous(context, next, memory, block, out, 8, 0));
    OK(uccs_put_medium_contiguous(context, next, memory, block, out, 1000, 0));
    OK(uccs_put_large_contiguous_nb(context, next, memory, block, out, BLOCK, &request));
    OK(uccs_wait(&request));
    OK(uccs_get_large_contiguous_nb(context, next, memory, block, in, BLOCK, &request));
    OK(uccs_wait(&request));
    CHECK(memcmp(in, out, BLOCK) == 0);
    struct uccs_op op = {.request = &shared, .counter = counter, .ordered = 1};
    OK(uccs_atomic64(context, next, memory, mine, UCCS_ATOMIC_ADD, 1, 0, 0, &op));
    uint32_t old;
    OK(uccs_atomic32(context, next, memory, mine + 8, UCCS_ATOMIC_SWAP, (uint32_t)round, 0, &old, 0));
    struct uccs_stride stride = {.block = 8, .count = 3, .remote_stride = 16, .local_stride = 8};
    OK(uccs_put_strided(context, next, memory, block, out, &stride, 0));
    OK(uccs_get_strided(context, next, memory, block, in, &stride, 0));
    struct uccs_piece piece = {block, out, 16};
    OK(uccs_put_vector(context, next, memory, &piece, 1, 0));
    piece.local = in;
    OK(uccs_get_vector(context, next, memory, &piece, 1, 0));
    OK(uccs_fence(context));
    OK(uccs_request_release(&request));
}

static void do_messages(long id, long round)
{
    static _Thread_local char payload[20000];
    uccs_request_t requests[3] = {0};
    size_t index, count, indices[3];
    OK(uccs_am_short(context, next, TAKE, UCCS_AM_USER, payload, 8, &(struct uccs_op){.request = &requests[0]}));
    OK(uccs_am_medium(context, next, TAKE, UCCS_AM_USER, payload, 2000, &(struct uccs_op){.request = &requests[1]}));
    OK(uccs_am_large(context, next, TAKE, UCCS_AM_USER, payload, sizeof payload,
                     &(struct uccs_op){.request = &requests[2]}));
    OK(uccs_am_short(scoped, scoped_next, ASK, UCCS_AM_NETWORK_PROTOCOL, &id, sizeof id, 0));
    switch (round % 4) {
    case 0: OK(uccs_wait_all(requests, 3)); break;
    case 1: OK(uccs_wait_any(requests, 3, &index)); break;
    case 2: OK(uccs_wait_some(requests, 3, &count, indices)); break;
    default: OK(uccs_request_combine(&requests[0], 2, &requests[1])); OK(uccs_wait(&requests[0]));
    }
    (void)uccs_test_any(requests, 3, &index);
    (void)uccs_test_some(requests, 3, &count, indices);
    (void)uccs_test_all(requests, 3);
    (void)uccs_test(&shared);
    for (int i = 0; i < 3; i++)
        OK(uccs_request_release(&requests[i]));
    OK(uccs_flush(round % 2 ? scoped : context));
    OK(uccs_flush_local(context, &next, 1));
}

/* Each thread has a group of all processes. */
static void do_groups(long id, long round)
{
    int64_t one = round, sum = 0, gathered[16];
    uccs_request_t desc = UCCS_REQUEST_NULL;
    OK(uccs_allreduce_nb(groups[id], &one, &sum, 1, UCCS_INT64, UCCS_SUM, &desc));
    OK(uccs_barrier(groups[id]));
    OK(uccs_wait(&desc));
    CHECK_EQ(sum, round * npes);
    OK(uccs_allgather(groups[id], &one, gathered, 8));
    CHECK_EQ(gathered[npes - 1], round);
    one = me == 0 ? 99 : 0;
    OK(uccs_broadcast_nb(groups[id], &one, 8, 0, &desc));
    OK(uccs_wait(&desc));
    CHECK_EQ(one, 99);
    int64_t to[16], from[16];
    for (int i = 0; i < npes; i++)
        to[i] = me * 16 + i;
    OK(uccs_alltoall(groups[id], to, from, 8));
    CHECK_EQ(from[npes - 1], (npes - 1) * 16 + me);
    OK(uccs_request_release(&desc));
}

/* Contexts, memory and endpoints that live for a moment. */
static void do_objects(long id)
{
    uccs_context_t mine;
    uccs_memory_t memory, copy;
    struct uccs_memory_attr attr;
    char handle[UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof handle, count = 0;
    OK(uccs_context_create(&(struct uccs_context_attr){.id = 4 + (uint32_t)id}, &mine));
    OK(uccs_memory_allocate(mine, 100, &memory));
    OK(uccs_memory_export(memory, handle, &length));
    OK(uccs_memory_import(mine, handle, length, &copy));
    OK(uccs_memory_query(copy, &attr));
    CHECK(attr.length == 100 && attr.owner == me);
    uccs_endpoint_t self = check_endpoint(mine, me);
    long value = id, back = -1;
    OK(uccs_put_short_contiguous(mine, self, copy, 8, &value, 8, 0));
    OK(uccs_get_short_contiguous(mine, self, memory, 8, &back, 8, 0));
    CHECK_EQ(back, id);
    OK(uccs_am_register(mine, 5, UCCS_AM_USER, count_message, &taken));
    OK(uccs_am_short(mine, self, 5, UCCS_AM_USER, 0, 0, 0));
    OK(uccs_resource_query(mine, 0, &count));
    OK(uccs_memory_release(copy));
    OK(uccs_memory_release(memory));
    OK(uccs_endpoint_release(self));
    OK(uccs_context_destroy(mine));
}

static void *body(void *argument)
{
    long id = (long)argument;
    for (long round = 1; round <= ROUNDS; round++) {
        do_memory(id, round);
        do_messages(id, round);
        do_groups(id, round);
        do_objects(id);
        uccs_progress();
    }
    OK(uccs_wait(&shared));
    OK(uccs_counter_consume(counter, ROUNDS));
    return 0;
}

int main(void)
{
    check_start();
    OK(uccs_init()); /* counted */
    OK(uccs_context_create(0, &context));
    OK(uccs_context_create(&(struct uccs_context_attr){.id = 1, .scope = UCCS_SCOPE_THREAD, .ordered = 1}, &scoped));
    OK(uccs_am_register(context, TAKE, UCCS_AM_USER, count_message, &taken));
    OK(uccs_am_register(scoped, ASK, UCCS_AM_NETWORK_PROTOCOL, ask, 0));
    OK(uccs_am_register(scoped, ANSWER, UCCS_AM_NETWORK_PROTOCOL, count_message, &answered));
    next = check_endpoint(context, next_pe);
    scoped_next = check_endpoint(scoped, next_pe);
    private_far = aligned_alloc(64, FAR_BYTES);
    memset(private_far, 0, FAR_BYTES);
    all = calloc((size_t)npes, sizeof *all);
    far_all = calloc((size_t)npes, sizeof *far_all);
    OK(uccs_memory_allocate(context, FAR_BYTES, &own));
    OK(uccs_memory_register(context, private_far, FAR_BYTES, &far_own));
    check_share(context, own, all);
    check_share(context, far_own, far_all);
    OK(uccs_request_create(&shared));
    OK(uccs_counter_open(&counter));
    int ranks[16];
    for (int rank = 0; rank < npes; rank++)
        ranks[rank] = rank;
    for (int id = 0; id < THREADS; id++)
        OK(uccs_group_create(UCCS_GROUP_WORLD, (size_t)npes, ranks, &groups[id]));
    check_threads(THREADS, body);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    int64_t value;
    OK(uccs_counter_read(counter, &value));
    CHECK_EQ(value, 0);
    while (__atomic_load_n(&answered, __ATOMIC_RELAXED) < THREADS * ROUNDS)
        uccs_progress();
    CHECK_EQ(__atomic_load_n(&taken, __ATOMIC_RELAXED), THREADS * ROUNDS * 4);
    uint64_t sum = 0, word = 0;
    for (size_t id = 0; id < THREADS; id++)
        for (int kind = 0; kind < 2; kind++) {
            OK(uccs_atomic64(context, next, kind ? all[next_pe] : far_all[next_pe], id * CELL, UCCS_ATOMIC_FETCH, 0, 0,
                             &word, 0));
            sum += word;
        }
    CHECK_EQ(sum, THREADS * ROUNDS);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int id = 0; id < THREADS; id++)
        OK(uccs_group_release(groups[id]));
    for (int rank = 0; rank < npes; rank++) {
        OK(uccs_memory_release(all[rank]));
        OK(uccs_memory_release(far_all[rank]));
    }
    OK(uccs_memory_release(own));
    OK(uccs_memory_release(far_own));
    OK(uccs_counter_shut(counter));
    OK(uccs_request_release(&shared));
    OK(uccs_context_destroy(scoped));
    OK(uccs_context_destroy(context));
    free(all);
    free(far_all);
    free(private_far);
    OK(uccs_finalize());
    return check_pass();
}
