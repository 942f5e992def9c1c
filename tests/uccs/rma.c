/* One-sided operations on every kind of memory, with every option; errors change nothing.
 * pes: 1 2 3
 * case: kernel
 * case: target
 * env: LATERAL_WIRE=messages
 */
#include "check.h"

#include <stdbool.h>

enum { BYTES = 300000, KINDS = 3 };

static uccs_context_t context, loose; /* in order, and without */
static uccs_endpoint_t next;
static unsigned char *out, *in, global[BYTES] __attribute__((aligned(64)));
static char *private_memory;
static uccs_memory_t own[KINDS], *all[KINDS];

static void fill(size_t length, int salt)
{
    for (size_t i = 0; i < length; i++)
        out[i] = (unsigned char)(i * 7 + (size_t)salt);
}

static void test_contiguous(uccs_memory_t memory)
{
    static const size_t lengths[] = {0, 1, 8, 128, 129, 8192, 8193, BYTES};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        size_t length = lengths[l], at = BYTES - length;
        uccs_request_t desc = UCCS_REQUEST_NULL;
        fill(length, (int)l);
        int small = length <= UCCS_SHORT_MAX ? UCCS_OK : UCCS_ERR_TOO_LARGE;
        int medium = length <= UCCS_MEDIUM_MAX ? UCCS_OK : UCCS_ERR_TOO_LARGE;
        CHECK_EQ(uccs_put_short_contiguous(context, next, memory, at, out, length, 0), small);
        CHECK_EQ(uccs_put_medium_contiguous(context, next, memory, at, out, length, 0), medium);
        memset(in, 0, BYTES);
        if (small == UCCS_OK) {
            OK(uccs_get_short_contiguous(context, next, memory, at, in, length, 0));
            CHECK(memcmp(in, out, length) == 0);
        }
        fill(length, (int)l + 1);
        OK(uccs_put_large_contiguous(context, next, memory, at, out, length, 0));
        memset(in, 0, BYTES);
        CHECK_EQ(uccs_get_short_contiguous(context, next, memory, at, in, length, 0), small);
        CHECK_EQ(uccs_get_medium_contiguous(context, next, memory, at, in, length, 0), medium);
        OK(uccs_get_large_contiguous(context, next, memory, at, in, length, 0));
        CHECK(memcmp(in, out, length) == 0);
        fill(length, (int)l + 2);
        OK(uccs_put_large_contiguous_nb(context, next, memory, at, out, length, &desc));
        OK(uccs_wait(&desc));
        memset(in, 0, BYTES);
        OK(uccs_get_large_contiguous_nb(context, next, memory, at, in, length, &desc));
        OK(uccs_wait(&desc));
        CHECK(memcmp(in, out, length) == 0);
        OK(uccs_request_release(&desc));
    }
}

static void test_shapes(uccs_memory_t memory)
{
    struct uccs_stride stride = {.block = 24, .count = 10, .remote_stride = 64, .local_stride = 32};
    fill(BYTES, 5);
    OK(uccs_put_strided(context, next, memory, 100, out, &stride, 0));
    memset(in, 0, BYTES);
    OK(uccs_get_strided(context, next, memory, 100, in, &stride, 0));
    for (size_t i = 0; i < stride.count; i++)
        CHECK(memcmp(in + i * 32, out + i * 32, 24) == 0);
    stride.remote_stride = -64; /* the same blocks from behind */
    OK(uccs_get_strided(context, next, memory, 100 + 9 * 64, in, &stride, 0));
    for (size_t i = 0; i < stride.count; i++)
        CHECK(memcmp(in + i * 32, out + (9 - i) * 32, 24) == 0);
    CHECK_EQ(uccs_get_strided(context, next, memory, 9 * 64 - 1, in, &stride, 0), UCCS_ERR_BOUNDS);
    stride.remote_stride = PTRDIFF_MAX / 4;
    CHECK_EQ(uccs_put_strided(context, next, memory, 0, out, &stride, 0), UCCS_ERR_BOUNDS);
    stride = (struct uccs_stride){.block = SIZE_MAX, .count = 2, .remote_stride = 8};
    CHECK_EQ(uccs_put_strided(context, next, memory, 0, out, &stride, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_put_strided(context, next, memory, 0, out, 0, 0), UCCS_ERR_INVALID);

    struct uccs_piece pieces[] = {{10, out + 1, 5}, {5000, out + 100, 200}, {BYTES - 1, out + 7, 1}, {BYTES, 0, 0}};
    OK(uccs_put_vector(context, next, memory, pieces, 4, 0));
    for (int i = 0; i < 3; i++)
        pieces[i].local = in + ((unsigned char *)pieces[i].local - out);
    memset(in, 0, BYTES);
    OK(uccs_get_vector(context, next, memory, pieces, 4, 0));
    CHECK(memcmp(in + 1, out + 1, 5) == 0 && memcmp(in + 100, out + 100, 200) == 0 && in[7] == out[7]);
    pieces[3].length = 1;
    CHECK_EQ(uccs_get_vector(context, next, memory, pieces, 4, 0), UCCS_ERR_INVALID); /* nowhere to put it */
    pieces[3].local = in;
    CHECK_EQ(uccs_put_vector(context, next, memory, pieces, 4, 0), UCCS_ERR_BOUNDS);
}

#define ATOMIC_TEST(bits)                                                                                           \
    static uint##bits##_t do##bits(uccs_memory_t memory, enum uccs_atomic what, uint##bits##_t a, uint##bits##_t b) \
    {                                                                                                               \
        uint##bits##_t old = 77;                                                                                    \
        OK(uccs_atomic##bits(context, next, memory, 64, what, a, b, &old, 0));                                      \
        return old;                                                                                                 \
    }                                                                                                               \
    static void test_atomic##bits(uccs_memory_t memory)                                                             \
    {                                                                                                               \
        OK(uccs_atomic##bits(context, next, memory, 64, UCCS_ATOMIC_SET, 5, 0, 0, 0));                              \
        CHECK_EQ(do##bits(memory, UCCS_ATOMIC_FETCH, 0, 0), 5);                                                     \
        CHECK_EQ(do##bits(memory, UCCS_ATOMIC_ADD, 7, 0), 5);                                                       \
        CHECK_EQ(do##bits(memory, UCCS_ATOMIC_AND, 6, 0), 12);                                                      \
        CHECK_EQ(do##bits(memory, UCCS_ATOMIC_OR, 3, 0), 4);                                                        \
        CHECK_EQ(do##bits(memory, UCCS_ATOMIC_XOR, 1, 0), 7);                                                       \
        CHECK_EQ(do##bits(memory, UCCS_ATOMIC_SWAP, 40, 0), 6);                                                     \
        CHECK_EQ(do##bits(memory, UCCS_ATOMIC_CSWAP, 1, 39), 40);                                                   \
        CHECK_EQ(do##bits(memory, UCCS_ATOMIC_CSWAP, 41, 40), 40);                                                  \
        CHECK_EQ(do##bits(memory, UCCS_ATOMIC_FETCH, 0, 0), 41);                                                    \
        CHECK_EQ(uccs_atomic##bits(context, next, memory, 65, UCCS_ATOMIC_ADD, 1, 0, 0, 0), UCCS_ERR_INVALID);      \
        CHECK_EQ(uccs_atomic##bits(context, next, memory, 64, (enum uccs_atomic)99, 1, 0, 0, 0), UCCS_ERR_INVALID); \
        CHECK_EQ(uccs_atomic##bits(context, next, memory, BYTES, UCCS_ATOMIC_ADD, 1, 0, 0, 0), UCCS_ERR_BOUNDS);    \
    }
ATOMIC_TEST(32)
ATOMIC_TEST(64)

/* Everybody adds to one word of everybody: none is lost, the owner's own through the same domain. */
static void test_contended(uccs_memory_t *memory)
{
    enum { ROUNDS = 200 };
    uint64_t zero = 0, sum = 0;
    OK(uccs_atomic64(context, next, memory[next_pe], 128, UCCS_ATOMIC_SET, zero, 0, 0, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int pe = 0; pe < npes; pe++) {
        uccs_endpoint_t endpoint = check_endpoint(context, pe);
        for (int i = 0; i < ROUNDS; i++)
            OK(uccs_atomic64(context, endpoint, memory[pe], 128, UCCS_ATOMIC_ADD, 1, 0, 0, 0));
        OK(uccs_endpoint_release(endpoint));
    }
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_atomic64(context, next, memory[next_pe], 128, UCCS_ATOMIC_FETCH, 0, 0, &sum, 0));
    CHECK_EQ(sum, ROUNDS * npes);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

/* Request, counter, weight and order on each operation. */
static void test_carried(uccs_memory_t memory)
{
    uccs_counter_t counter;
    uccs_request_t request = UCCS_REQUEST_NULL;
    struct uccs_op op = {.request = &request, .weight = 3, .ordered = 1};
    struct uccs_stride stride = {.block = 8, .count = 2, .remote_stride = 16, .local_stride = 8};
    struct uccs_piece piece = {0, out, 8};
    int64_t value;
    OK(uccs_counter_open(&counter));
    op.counter = counter;
    OK(uccs_put_short_contiguous(context, next, memory, 0, out, 8, &op));
    OK(uccs_put_medium_contiguous(context, next, memory, 0, out, 800, &op));
    OK(uccs_put_large_contiguous(context, next, memory, 0, out, 9000, &op));
    OK(uccs_get_short_contiguous(context, next, memory, 0, in, 8, &op));
    OK(uccs_get_medium_contiguous(context, next, memory, 0, in, 800, &op));
    OK(uccs_get_large_contiguous(context, next, memory, 0, in, 9000, &op));
    OK(uccs_put_strided(context, next, memory, 0, out, &stride, &op));
    OK(uccs_get_strided(context, next, memory, 0, in, &stride, &op));
    OK(uccs_put_vector(context, next, memory, &piece, 1, &op));
    OK(uccs_get_vector(context, next, memory, &piece, 1, &op));
    OK(uccs_atomic32(context, next, memory, 0, UCCS_ATOMIC_ADD, 1, 0, 0, &op));
    op.weight = 0;
    OK(uccs_atomic64(context, next, memory, 0, UCCS_ATOMIC_ADD, 1, 0, 0, &op));
    OK(uccs_wait(&request));
    OK(uccs_counter_wait(counter, 34));
    OK(uccs_counter_read(counter, &value));
    CHECK_EQ(value, 34);
    OK(uccs_counter_consume(counter, 30));
    OK(uccs_counter_consume(counter, 0));
    CHECK_EQ(uccs_counter_consume(counter, -1), UCCS_ERR_INVALID);
    OK(uccs_counter_read(counter, &value));
    CHECK_EQ(value, 4);
    OK(uccs_counter_shut(counter));
    CHECK_EQ(uccs_counter_read(counter, &value), UCCS_ERR_STALE);
    CHECK_EQ(uccs_counter_wait(counter, 0), UCCS_ERR_STALE);
    CHECK_EQ(uccs_counter_consume(counter, 0), UCCS_ERR_STALE);
    CHECK_EQ(uccs_counter_shut(counter), UCCS_ERR_STALE);
    unsigned char before[8], after[8];
    OK(uccs_get_short_contiguous(context, next, memory, 0, before, 8, 0));
    CHECK_EQ(uccs_put_short_contiguous(context, next, memory, 0, "changed", 8, &op), UCCS_ERR_STALE);
    OK(uccs_get_short_contiguous(context, next, memory, 0, after, 8, 0));
    CHECK(memcmp(before, after, 8) == 0);
    OK(uccs_request_release(&request));
}

enum { CONTEXT_FORMS = 14, FORMS = 21 };

/* One of the calls that move 8 bytes, by its number; the first ones name a context. */
static int call_form(int form, uccs_context_t of, uccs_endpoint_t to, uccs_memory_t memory, const struct uccs_op *op)
{
    static const struct uccs_stride stride = {.block = 4, .count = 2, .remote_stride = 4, .local_stride = 4};
    struct uccs_piece piece = {0, in, 8};
    uint64_t old;
    switch (form) {
    case 0: return uccs_put_short_contiguous(of, to, memory, 0, in, 8, op);
    case 1: return uccs_put_medium_contiguous(of, to, memory, 0, in, 8, op);
    case 2: return uccs_put_large_contiguous(of, to, memory, 0, in, 8, op);
    case 3: return uccs_get_short_contiguous(of, to, memory, 0, in, 8, op);
    case 4: return uccs_get_medium_contiguous(of, to, memory, 0, in, 8, op);
    case 5: return uccs_get_large_contiguous(of, to, memory, 0, in, 8, op);
    case 6: return uccs_put_strided(of, to, memory, 0, in, &stride, op);
    case 7: return uccs_get_strided(of, to, memory, 0, in, &stride, op);
    case 8: return uccs_put_vector(of, to, memory, &piece, 1, op);
    case 9: return uccs_get_vector(of, to, memory, &piece, 1, op);
    case 10: return uccs_atomic32(of, to, memory, 0, UCCS_ATOMIC_SET, 1, 0, 0, op);
    case 11: return uccs_atomic64(of, to, memory, 0, UCCS_ATOMIC_SWAP, 1, 0, &old, op);
    case 12: return uccs_put_large_contiguous_nb(of, to, memory, 0, in, 8, op ? op->request : 0);
    case 13: return uccs_get_large_contiguous_nb(of, to, memory, 0, in, 8, op ? op->request : 0);
    case 14: return uccs_put(to, memory, 0, in, 8, op);
    case 15: return uccs_get(to, memory, 0, in, 8, op);
    case 16: return uccs_put_blocks(to, memory, 0, in, &stride, op);
    case 17: return uccs_get_blocks(to, memory, 0, in, &stride, op);
    case 18: return uccs_put_pieces(to, memory, &piece, 1, op);
    case 19: return uccs_get_pieces(to, memory, &piece, 1, op);
    default: return uccs_atomic(to, memory, 0, 8, UCCS_ATOMIC_ADD, 1, 0, 0, op);
    }
}

/* Each call with one wrong argument is refused, and its request stays as it is. */
static void test_forms(uccs_memory_t memory, uccs_memory_t mine)
{
    uint64_t before, after;
    OK(uccs_get(next, memory, 0, &before, 8, 0));
    memcpy(in, &(uint64_t){~before}, 8);
    uccs_endpoint_t near = check_endpoint(loose, next_pe);
    for (int form = 0; form < FORMS; form++) {
        uccs_request_t request = UCCS_REQUEST_NULL;
        const struct uccs_signal nowhere = {.memory = 0};
        const struct uccs_op op = {.request = &request}, odd = {.request = &request, .signal = &nowhere};
        const bool bare = form == 12 || form == 13; /* their only option is the request */
        if (form < CONTEXT_FORMS) {
            CHECK_EQ(call_form(form, 0, next, memory, &op), UCCS_ERR_INVALID);
            CHECK_EQ(call_form(form, loose, next, memory, &op), UCCS_ERR_INVALID);
            CHECK_EQ(call_form(form, context, near, memory, &op), UCCS_ERR_INVALID);
        }
        CHECK_EQ(call_form(form, context, 0, memory, &op), UCCS_ERR_INVALID);
        CHECK_EQ(call_form(form, context, next, 0, &op), UCCS_ERR_INVALID);
        CHECK_EQ(call_form(form, context, 0, memory, 0), UCCS_ERR_INVALID);
        CHECK_EQ(call_form(form, context, next, 0, 0), UCCS_ERR_INVALID);
        if (next_pe != me)
            CHECK_EQ(call_form(form, context, next, mine, &op), UCCS_ERR_INVALID);
        if (bare)
            CHECK_EQ(call_form(form, context, next, memory, 0), UCCS_ERR_INVALID);
        else
            CHECK_EQ(call_form(form, context, next, memory, &odd), UCCS_ERR_INVALID);
        CHECK(request == UCCS_REQUEST_NULL);
    }
    CHECK_EQ(uccs_put_blocks(next, memory, 0, in, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_get_blocks(next, memory, 0, in, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_put_pieces(next, memory, 0, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_get_pieces(next, memory, 0, 1, 0), UCCS_ERR_INVALID);
    OK(uccs_get_pieces(next, memory, 0, 0, 0));
    CHECK_EQ(uccs_atomic(next, memory, 0, 2, UCCS_ATOMIC_ADD, 1, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_atomic(next, memory, 4, 8, UCCS_ATOMIC_ADD, 1, 0, 0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_atomic(next, memory, 0, 8, (enum uccs_atomic)(UCCS_ATOMIC_XOR + 1), 1, 0, 0, 0), UCCS_ERR_INVALID);
    OK(uccs_get(next, memory, 0, &after, 8, 0));
    CHECK(after == before);
    OK(uccs_endpoint_release(near));
}

static void test_errors(uccs_memory_t memory)
{
    uccs_endpoint_t other = check_endpoint(context, prev_pe);
    CHECK_EQ(uccs_put_large_contiguous(context, next, memory, BYTES - 7, out, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_put_large_contiguous(context, next, memory, SIZE_MAX, out, 8, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_get_large_contiguous(context, next, memory, 8, in, SIZE_MAX - 4, 0), UCCS_ERR_BOUNDS);
    CHECK_EQ(uccs_put_large_contiguous(context, next, memory, 0, 0, 8, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_put_large_contiguous(0, next, memory, 0, out, 8, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_put_large_contiguous(context, 0, memory, 0, out, 8, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_put_large_contiguous(context, next, 0, 0, out, 8, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_put_large_contiguous_nb(context, next, memory, 0, out, 8, 0), UCCS_ERR_INVALID);
    for (int i = 0; i < 4; i++) { /* memory of another PE than the endpoint's */
        uccs_context_t of = i % 2 ? loose : context;
        uccs_endpoint_t wrong = check_endpoint(of, i / 2 ? prev_pe : me);
        if (uccs_endpoint_world_rank(wrong) == next_pe)
            continue;
        CHECK_EQ(uccs_put_large_contiguous(of, wrong, memory, 0, out, 8, 0), UCCS_ERR_INVALID);
        CHECK_EQ(uccs_put_short_contiguous(of, wrong, memory, 0, out, 8, 0), UCCS_ERR_INVALID);
        CHECK_EQ(uccs_get_short_contiguous(of, wrong, memory, 0, in, 8, 0), UCCS_ERR_INVALID);
        CHECK_EQ(uccs_put(wrong, memory, 0, out, 8, 0), UCCS_ERR_INVALID);
        CHECK_EQ(uccs_get(wrong, memory, 0, in, 8, 0), UCCS_ERR_INVALID);
    }
    OK(uccs_endpoint_release(other));
}

/* A put with a signal that cannot be: nothing moves. */
static void test_signal_errors(uccs_memory_t memory, uccs_memory_t mine)
{
    static const struct {
        size_t offset;
        int how, status, whose; /* whose: 0 the target's, 1 nobody's, 2 this PE's */
    } tries[] = {{8, UCCS_SIGNAL_SET, UCCS_OK, 0},
                 {8, UCCS_SIGNAL_ADD + 1, UCCS_ERR_INVALID, 0},
                 {8, -1, UCCS_ERR_INVALID, 0},
                 {12, UCCS_SIGNAL_SET, UCCS_ERR_INVALID, 0},
                 {BYTES / 8 * 8, UCCS_SIGNAL_SET, UCCS_ERR_BOUNDS, 0},
                 {BYTES / 8 * 8 - 8, UCCS_SIGNAL_SET, UCCS_OK, 0},
                 {8, UCCS_SIGNAL_SET, UCCS_ERR_INVALID, 1},
                 {8, UCCS_SIGNAL_SET, UCCS_ERR_INVALID, 2}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        const struct uccs_signal signal = {.memory = tries[i].whose == 0   ? memory
                                                     : tries[i].whose == 1 ? 0
                                                                           : mine,
                                           .offset = tries[i].offset,
                                           .value = i + 1,
                                           .how = (enum uccs_signal_how)tries[i].how};
        const struct uccs_op op = {.signal = &signal};
        uint64_t word = 77, there;
        if (tries[i].whose == 2 && next_pe == me)
            continue;
        OK(uccs_put(next, memory, 64, &word, 8, 0));
        OK(uccs_flush(context));
        word = 78;
        CHECK_EQ(uccs_put(next, memory, 64, &word, 8, &op), tries[i].status);
        OK(uccs_flush(context));
        OK(uccs_get(next, memory, 64, &there, 8, 0));
        CHECK_EQ(there, tries[i].status == UCCS_OK ? 78 : 77);
    }
}

/* Handles: another's job, cut, changed, of memory that is gone. */
static void test_handles(void)
{
    char handle[UCCS_MEMORY_HANDLE_MAX], bad[UCCS_MEMORY_HANDLE_MAX], theirs[UCCS_MEMORY_HANDLE_MAX * 8];
    size_t length = 3;
    uccs_memory_t memory = 0, first, second, imported;
    CHECK_EQ(uccs_memory_export(own[0], handle, &length), UCCS_ERR_INVALID);
    length = sizeof handle;
    OK(uccs_memory_export(own[0], handle, &length));
    for (size_t i = 0; i < length; i++) {
        memcpy(bad, handle, length);
        bad[i] ^= 1;
        CHECK_EQ(uccs_memory_import(context, bad, length, &memory), UCCS_ERR_FORGED);
    }
    CHECK_EQ(uccs_memory_import(context, handle, length - 1, &memory), UCCS_ERR_FORGED);
    CHECK(!memory);
    OK(uccs_memory_allocate(context, 64, &first));
    memset(handle, 0, sizeof handle);
    length = sizeof handle;
    OK(uccs_memory_export(first, handle, &length));
    OK(uccs_allgather(UCCS_GROUP_WORLD, handle, theirs, sizeof handle));
    OK(uccs_memory_import(context, theirs + (size_t)next_pe * sizeof handle, length, &imported));
    CHECK_EQ(uccs_memory_export(imported, bad, &(size_t){sizeof bad}), UCCS_ERR_INVALID);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_memory_release(first));
    OK(uccs_memory_allocate(context, 64, &second)); /* perhaps in the same place, under the same number */
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(uccs_put_short_contiguous(context, next, imported, 0, out, 8, 0), UCCS_ERR_STALE);
    CHECK_EQ(uccs_memory_import(context, theirs + (size_t)next_pe * sizeof handle, length, &memory), UCCS_ERR_STALE);
    OK(uccs_memory_release(imported));
    OK(uccs_memory_release(second));
    CHECK_EQ(uccs_memory_allocate(context, 0, &memory), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_allocate(context, (size_t)1 << 50, &memory), UCCS_ERR_NO_MEMORY);
    CHECK_EQ(uccs_memory_register(context, 0, 8, &memory), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_register(context, out, SIZE_MAX, &memory), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_release(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_memory_query(own[0], 0), UCCS_ERR_INVALID);
}

static void make_memories(void)
{
    private_memory = malloc(BYTES + 64);
    OK(uccs_memory_allocate(context, BYTES, &own[0]));
    OK(uccs_memory_register(context, global, BYTES, &own[1]));
    OK(uccs_memory_register(context, (void *)(((uintptr_t)private_memory + 63) & ~(uintptr_t)63), BYTES, &own[2]));
    for (int kind = 0; kind < KINDS; kind++) {
        all[kind] = calloc((size_t)npes, sizeof **all);
        check_share(context, own[kind], all[kind]);
        struct uccs_memory_attr attr;
        OK(uccs_memory_query(all[kind][next_pe], &attr));
        CHECK(attr.length == BYTES && attr.owner == next_pe);
        CHECK_EQ(attr.domain, kind == 2 ? UCCS_DOMAIN_LOCKED : UCCS_DOMAIN_CPU);
        CHECK((attr.address != 0) == (check_near(next_pe) && (kind != 2 || npes == 1)));
    }
}

int main(void)
{
    check_start();
    out = malloc(BYTES);
    in = malloc(BYTES);
    OK(uccs_context_create(&(struct uccs_context_attr){.id = 3, .ordered = 1}, &context));
    OK(uccs_context_create(&(struct uccs_context_attr){.id = 4}, &loose));
    next = check_endpoint(context, next_pe);
    make_memories();
    for (int kind = 0; kind < KINDS; kind++) {
        uccs_memory_t memory = all[kind][next_pe];
        test_contiguous(memory);
        test_shapes(memory);
        test_atomic32(memory);
        test_atomic64(memory);
        test_contended(all[kind]);
        test_carried(memory);
        test_errors(memory);
        test_forms(memory, all[kind][me]);
        test_signal_errors(memory, all[kind][me]);
        OK(uccs_barrier(UCCS_GROUP_WORLD));
    }
    test_handles();
    /* Without order, what the target executes goes on after the call. */
    uccs_endpoint_t endpoint = check_endpoint(loose, next_pe);
    uccs_request_t desc = UCCS_REQUEST_NULL;
    fill(BYTES, 9);
    OK(uccs_put_large_contiguous_nb(loose, endpoint, all[2][next_pe], 0, out, BYTES, &desc));
    memset(out, 0, 8);
    OK(uccs_flush(loose));
    OK(uccs_test(&desc));
    OK(uccs_get_large_contiguous_nb(loose, endpoint, all[2][next_pe], 8, in, BYTES - 8, &desc));
    OK(uccs_wait(&desc));
    CHECK(memcmp(in, out + 8, BYTES - 8) == 0);
    OK(uccs_request_release(&desc));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int kind = 0; kind < KINDS; kind++) {
        for (int pe = 0; pe < npes; pe++)
            OK(uccs_memory_release(all[kind][pe]));
        OK(uccs_memory_release(own[kind]));
        free(all[kind]);
    }
    OK(uccs_context_destroy(loose));
    OK(uccs_context_destroy(context));
    free(private_memory);
    free(out);
    free(in);
    return check_pass();
}
