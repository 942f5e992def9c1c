/* Accumulate and compare-and-swap: every type with every operation against plain C, with and without fetch, at aligned and
 * odd offsets, on every kind of memory; many PEs on the same elements; what an operation carries; errors change
 * nothing.
 * pes: 1 2 4
 * case: kernel
 * case: target
 * env: LATERAL_WIRE=messages
 * pes: 2
 */
#include "accumulate_model.h"

enum { BYTES = 100000, KINDS = 3, FEW = 5, SOME = 45, MANY = 3000, MOST = MANY * 32 };

static uccs_context_t context;
static uccs_endpoint_t next, first;
static char *private_memory, heap[BYTES] __attribute__((aligned(64)));
static uccs_memory_t own[KINDS], *all[KINDS];
static char before[MOST], operand[MOST], result[MOST], expected[MOST];

static void expect(uccs_memory_t memory, size_t offset, enum uccs_type type, size_t n)
{
    memset(result, 1, n * size_of(type));
    OK(uccs_accumulate(next, memory, offset, 0, result, n, type, UCCS_NO_OP, 0));
    CHECK(equal(type, result, expected, n));
}

static void test_one(uccs_memory_t memory, size_t offset, enum uccs_type type, enum uccs_reduction how, size_t n)
{
    size_t size = size_of(type);
    fill(type, before, n);
    fill(type, operand, n);
    OK(uccs_accumulate(next, memory, offset, before, 0, n, type, UCCS_REPLACE, 0));
    memcpy(expected, before, n * size);
    for (size_t i = 0; i < n; i++)
        CHECK(model(type, how, expected + i * size, operand + i * size));
    memset(result, 1, n * size);
    OK(uccs_accumulate(next, memory, offset, operand, result, n, type, how, 0));
    CHECK(equal(type, result, before, n));
    expect(memory, offset, type, n);
    for (size_t i = 0; i < n; i++)
        model(type, how, expected + i * size, operand + i * size);
    OK(uccs_accumulate(next, memory, offset, operand, 0, n, type, how, 0));
    expect(memory, offset, type, n);
}

static void test_types(uccs_memory_t memory)
{
    for (enum uccs_type type = 0; type <= UCCS_INT128; type++) {
        CHECK_EQ(uccs_type_size(type), size_of(type));
        for (enum uccs_reduction how = 0; how <= UCCS_NO_OP; how++) {
            int defined = model(type, how, expected, operand);
            CHECK_EQ(uccs_type_takes(type, how), defined);
            if (defined) {
                test_one(memory, 64, type, how, FEW);
                test_one(memory, 64 + size_of(type), type, how, SOME); /* elements before and behind whole words */
                test_one(memory, 8192 - 13, type, how, FEW); /* odd, over the border of a stripe in some memory */
            } else {
                CHECK_EQ(uccs_accumulate(next, memory, 64, operand, 0, 1, type, how, 0), UCCS_ERR_INVALID);
            }
        }
        test_one(memory, 32, type, uccs_type_takes(type, UCCS_SUM) ? UCCS_SUM : UCCS_MAX, MANY);
    }
}

static void test_swap(uccs_memory_t memory, size_t size, size_t offset)
{
    unsigned char one[16], two[16], old[16], now[16];
    for (size_t i = 0; i < 16; i++)
        one[i] = (unsigned char)(i + size), two[i] = (unsigned char)(200 - i);
    OK(uccs_accumulate(next, memory, offset, one, 0, size, UCCS_UINT8, UCCS_REPLACE, 0));
    memcpy(now, one, 16);
    now[size - 1] ^= 1;
    OK(uccs_compare_and_swap(next, memory, offset, size, two, now, old, 0)); /* differs in the last byte */
    CHECK(memcmp(old, one, size) == 0);
    OK(uccs_compare_and_swap(next, memory, offset, size, two, one, old, 0));
    CHECK(memcmp(old, one, size) == 0);
    OK(uccs_compare_and_swap(next, memory, offset, size, one, two, 0, 0));
    OK(uccs_accumulate(next, memory, offset, 0, old, size, UCCS_UINT8, UCCS_NO_OP, 0));
    CHECK(memcmp(old, one, size) == 0);
}

static void test_swaps(uccs_memory_t memory)
{
    for (size_t size = 1; size <= 16; size *= 2)
        for (size_t offset = 64; offset < 67; offset++)
            test_swap(memory, size, offset);
    for (size_t size = 0; size < 40; size++)
        if (size == 0 || size > 16 || (size & (size - 1)))
            CHECK_EQ(uccs_compare_and_swap(next, memory, 0, size, operand, operand, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_compare_and_swap(next, memory, BYTES - 7, 8, operand, operand, 0, 0), UCCS_ERR_BOUNDS);
}

/* Request, counter, weight and order. */
static void test_carried(uccs_memory_t memory)
{
    uccs_counter_t counter;
    uccs_request_t request = UCCS_REQUEST_NULL;
    double one = 1, sum = 0, zero = 0;
    int64_t old = 0;
    OK(uccs_counter_open(&counter));
    struct uccs_op op = {.request = &request, .counter = counter, .weight = 3, .ordered = 1};
    OK(uccs_accumulate(next, memory, 64, &zero, 0, 1, UCCS_DOUBLE, UCCS_REPLACE, 0));
    OK(uccs_accumulate(next, memory, 64, &one, 0, 1, UCCS_DOUBLE, UCCS_SUM, &op));
    OK(uccs_accumulate(next, memory, 64, &one, &sum, 1, UCCS_DOUBLE, UCCS_SUM, &op));
    OK(uccs_compare_and_swap(next, memory, 128, 8, &one, &zero, &old, &op));
    OK(uccs_wait(&request));
    CHECK(sum == 1);
    OK(uccs_counter_wait(counter, 9));
    OK(uccs_counter_consume(counter, 9));
    OK(uccs_counter_shut(counter));
    CHECK_EQ(uccs_accumulate(next, memory, 64, &one, 0, 1, UCCS_DOUBLE, UCCS_SUM, &op), UCCS_ERR_STALE);
    OK(uccs_accumulate(next, memory, 64, 0, &sum, 1, UCCS_DOUBLE, UCCS_NO_OP, 0));
    CHECK(sum == 2);
    OK(uccs_request_release(&request));
}

static void count_end(void *argument, int status)
{
    CHECK_EQ(status, UCCS_OK);
    __atomic_fetch_add((int *)argument, 1, __ATOMIC_RELEASE);
}

static uint64_t word_at(uccs_memory_t memory, size_t offset)
{
    uint64_t word;
    OK(uccs_accumulate(next, memory, offset, 0, &word, 1, UCCS_UINT64, UCCS_NO_OP, 0));
    return word;
}

/* Without waiting: local completion, a signal, a function that is called at the end; with and without fetch. */
static void test_options(uccs_memory_t memory)
{
    enum { AT = 64, SIGNAL = 32768, LONG = 2000 };
    static double ones[LONG], old[LONG], zeros[LONG];
    struct uccs_signal signal = {memory, SIGNAL, 7, UCCS_SIGNAL_ADD};
    uccs_request_t request = UCCS_REQUEST_NULL, local = UCCS_REQUEST_NULL;
    int ended = 0, status;
    struct uccs_op op = {.request = &request,
                         .nonblocking = 1,
                         .local = &local,
                         .signal = &signal,
                         .complete = count_end,
                         .argument = &ended};
    for (int i = 0; i < LONG; i++)
        ones[i] = 1;
    OK(uccs_accumulate(next, memory, AT, zeros, 0, LONG, UCCS_DOUBLE, UCCS_REPLACE, 0));
    OK(uccs_accumulate(next, memory, SIGNAL, zeros, 0, 1, UCCS_UINT64, UCCS_REPLACE, 0));
    OK(uccs_accumulate(next, memory, AT, ones, 0, LONG, UCCS_DOUBLE, UCCS_SUM, &op));
    OK(uccs_wait(&local));
    OK(uccs_accumulate(next, memory, AT, ones, old, LONG, UCCS_DOUBLE, UCCS_SUM, &op));
    OK(uccs_wait(&local));
    CHECK(old[0] == 1 && old[LONG - 1] == 1);
    op.signal = 0;
    op.nowait = 1;
    while ((status = uccs_accumulate(next, memory, AT, ones, old, LONG, UCCS_DOUBLE, UCCS_SUM, &op)) == UCCS_AGAIN)
        uccs_progress();
    OK(status);
    OK(uccs_wait(&request));
    CHECK(old[0] == 2 && old[LONG - 1] == 2);
    while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < 3)
        uccs_progress();
    CHECK_EQ(word_at(memory, SIGNAL), 14);
    OK(uccs_request_release(&request));
    OK(uccs_request_release(&local));
}

/* Pieces of one to three elements, in no order, over the borders of stripes, at odd places too. What lies between stays. */
static void test_pieces(uccs_memory_t memory, enum uccs_type type)
{
    enum { N = 150, APART = 200 };
    const size_t size = size_of(type), bytes = N * APART;
    struct uccs_piece pieces[N];
    fill(type, before, bytes / size);
    fill(type, operand, 3 * N);
    OK(uccs_accumulate(next, memory, 0, before, 0, bytes, UCCS_UINT8, UCCS_REPLACE, 0));
    for (size_t i = 0; i < N; i++) {
        const size_t at = i * 7 % N * APART / size * size + 3 * (i % 10 == 9);
        pieces[i] = (struct uccs_piece){at, operand + 3 * i * size, (i % 3 + 1) * size};
        for (size_t k = 0; k <= i % 3; k++)
            model(type, UCCS_SUM, before + at + k * size, operand + (3 * i + k) * size);
    }
    OK(uccs_accumulate_pieces(next, memory, pieces, N, type, UCCS_SUM, 0));
    OK(uccs_flush(context));
    OK(uccs_accumulate(next, memory, 0, 0, result, bytes, UCCS_UINT8, UCCS_NO_OP, 0));
    CHECK(memcmp(result, before, bytes) == 0);
    pieces[0].length--;
    CHECK_EQ(uccs_accumulate_pieces(next, memory, pieces, 1, type, UCCS_SUM, 0), UCCS_ERR_INVALID);
    pieces[0] = (struct uccs_piece){BYTES - 1, operand, size};
    CHECK_EQ(uccs_accumulate_pieces(next, memory, pieces, 1, type, UCCS_SUM, 0), UCCS_ERR_BOUNDS);
}

static void test_errors(uccs_memory_t memory)
{
    const int64_t one = 1;
    int64_t old = 0;
    CHECK_EQ(uccs_type_size((enum uccs_type)99), 0);
    CHECK_EQ(uccs_type_takes((enum uccs_type)99, UCCS_REPLACE), 0);
    CHECK_EQ(uccs_type_takes(UCCS_INT32, (enum uccs_reduction)99), 0);
    CHECK_EQ(uccs_accumulate(next, memory, 0, &one, 0, 1, (enum uccs_type)99, UCCS_SUM, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_accumulate(next, memory, 0, &one, 0, 1, UCCS_INT64, (enum uccs_reduction)12, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_accumulate(next, memory, BYTES - 7, &one, 0, 1, UCCS_INT64, UCCS_SUM, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_accumulate(next, memory, SIZE_MAX - 7, &one, 0, 1, UCCS_INT64, UCCS_SUM, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_accumulate(next, memory, 0, &one, 0, SIZE_MAX / 8 + 2, UCCS_INT64, UCCS_SUM, 0), UCCS_ERR_BOUNDS);
    OK(uccs_accumulate(next, memory, 0, 0, 0, 0, UCCS_INT64, UCCS_SUM, 0));
    OK(uccs_accumulate(next, memory, BYTES, 0, &old, 0, UCCS_INT64, UCCS_SUM, 0));
    OK(uccs_accumulate(next, memory, 0, 0, 0, 1, UCCS_INT64, UCCS_NO_OP, 0));
    CHECK_EQ(uccs_accumulate_intrinsic(next, memory, UCCS_DOUBLE, UCCS_SUM), 0);
    CHECK_EQ(uccs_accumulate_intrinsic(next, memory, UCCS_INT64, UCCS_PROD),
             check_near(next_pe) && memory != all[2][next_pe]);
}

/* Reductions of groups take the same types. */
static void test_reductions(void)
{
    for (enum uccs_type type = 0; type <= UCCS_INT128; type++)
        for (enum uccs_reduction how = 0; how <= UCCS_NO_OP; how++) {
            fill(type, operand, FEW);
            if (how >= UCCS_REPLACE || !model(type, how, expected, operand)) {
                CHECK_EQ(uccs_allreduce(UCCS_GROUP_WORLD, operand, result, FEW, type, how), UCCS_ERR_INVALID);
                continue;
            }
            memcpy(expected, operand, FEW * size_of(type)); /* all processes draw the same numbers */
            for (int pe = 1; pe < npes; pe++)
                for (size_t i = 0; i < FEW; i++)
                    model(type, how, expected + i * size_of(type), operand + i * size_of(type));
            OK(uccs_allreduce(UCCS_GROUP_WORLD, operand, result, FEW, type, how));
            CHECK(equal(type, result, expected, FEW));
        }
}

/* All PEs add to the same elements, many at once and one by one: no sum may be lost, and nothing beside them may change. */
static void test_crowd(uccs_memory_t memory, enum uccs_type type, size_t size)
{
    enum { N = 61, ROUNDS = 200, AT = 64 };
    char ones[(N + 2) * sizeof(uint32_t)] = {0}, sums[(N + 2) * sizeof(uint32_t)];
    if (me == 0)
        OK(uccs_accumulate(first, memory, AT, ones, 0, N + 2, type, UCCS_REPLACE, 0)); /* its own memory: done */
    for (size_t i = 0; i < N; i++)
        ones[i * size] = 1;
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int round = 0; round < ROUNDS; round++) {
        OK(uccs_accumulate(first, memory, AT + size, ones, 0, N, type, UCCS_SUM, 0));
        OK(uccs_accumulate(first, memory, AT + (1 + (size_t)round % N) * size, ones, 0, 1, type, UCCS_SUM, 0));
    }
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_accumulate(first, memory, AT, 0, sums, N + 2, type, UCCS_NO_OP, 0));
    for (size_t i = 0; i < N + 2; i++) {
        uint32_t sum = 0, expected_sum = 0;
        memcpy(&sum, sums + i * size, size);
        for (int round = 0; round < ROUNDS && i >= 1 && i <= N; round++)
            expected_sum += (uint32_t)npes * (1 + ((size_t)round % N == i - 1));
        CHECK_EQ(sum, size == 4 ? expected_sum : expected_sum & ((1u << 8 * size) - 1));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

int main(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
    next = check_endpoint(context, next_pe);
    first = check_endpoint(context, 0);
    private_memory = malloc(BYTES + 64);
    OK(uccs_memory_allocate(context, BYTES, &own[0]));
    OK(uccs_memory_register(context, heap, BYTES, &own[1]));
    OK(uccs_memory_register(context, (void *)(((uintptr_t)private_memory + 63) & ~(uintptr_t)63), BYTES, &own[2]));
    for (int kind = 0; kind < KINDS; kind++) {
        all[kind] = calloc((size_t)npes, sizeof **all);
        check_share(context, own[kind], all[kind]);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        uccs_memory_t memory = all[kind][next_pe];
        test_types(memory);
        test_swaps(memory);
        test_carried(memory);
        test_options(memory);
        test_errors(memory);
        test_pieces(memory, UCCS_INT32);
        test_pieces(memory, UCCS_DOUBLE);
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        test_crowd(all[kind][0], UCCS_UINT8, 1);
        test_crowd(all[kind][0], UCCS_INT16, 2);
        test_crowd(all[kind][0], UCCS_UINT32, 4);
    }
    test_reductions();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int kind = 0; kind < KINDS; kind++) {
        for (int pe = 0; pe < npes; pe++)
            OK(uccs_memory_release(all[kind][pe]));
        OK(uccs_memory_release(own[kind]));
        free(all[kind]);
    }
    OK(uccs_context_destroy(context));
    free(private_memory);
    return check_pass();
}
