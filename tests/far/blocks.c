/* Blocks a stride apart in memory of another node: ranges with gaps, where each block lies in a range of its own, and one
 * range that holds all. Where one block lies in a gap, a get brings nothing, a put's request fails, and nobody is told.
 * pes: 2
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self UCX_MEM_EVENTS=no
 */
#include "../uccs/check.h"

#include <stdbool.h>

enum { RANGES = 10, RANGE = 64, STEP = 128, BYTES = RANGES * STEP };

static char area[BYTES] __attribute__((aligned(64))), model[BYTES];
static uint64_t word[2];
static size_t base; /* of the other's area */
static uccs_context_t context;
static uccs_endpoint_t other;
static uccs_memory_t mine, memory, words; /* mine; the others are of the other process */
static uccs_counter_t counter;

static size_t block_at(const struct uccs_stride *stride, size_t first, size_t number)
{
    return first + number * (size_t)stride->remote_stride;
}

/* Puts blocks; the other has them, and nothing else has changed. */
static void check_put(size_t first, const struct uccs_stride *stride, int salt, const struct uccs_op *op)
{
    char source[1024];
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (char)(salt + 3 * (int)i);
    OK(uccs_put_blocks(other, memory, base + first, source, stride, op));
    OK(uccs_flush(context));
    for (size_t number = 0; number < stride->count; number++)
        memcpy(model + block_at(stride, first, number), source + number * (size_t)stride->local_stride, stride->block);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK(memcmp(area, model, BYTES) == 0); /* both put the same */
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

static void check_get(size_t first, const struct uccs_stride *stride, bool later)
{
    char dest[1024], wanted[1024];
    uccs_request_t request = UCCS_REQUEST_NULL;
    memset(dest, 'd', sizeof dest);
    memset(wanted, 'd', sizeof wanted);
    for (size_t number = 0; number < stride->count; number++)
        memcpy(wanted + number * (size_t)stride->local_stride, model + block_at(stride, first, number), stride->block);
    const struct uccs_op op = {.request = &request, .nonblocking = 1};
    OK(uccs_get_blocks(other, memory, base + first, dest, stride, later ? &op : 0));
    OK(uccs_wait(&request));
    CHECK(memcmp(dest, wanted, sizeof dest) == 0);
    OK(uccs_request_release(&request));
}

static void test_shapes(void)
{
    static const size_t blocks[] = {1, 8, 24, 64};
    int salt = 0;
    int64_t told = 0, value;
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        for (size_t count = 1; count <= RANGES; count += 3)
            for (int back = 0; back < 2; back++, salt++) {
                const struct uccs_stride stride = {blocks[b], count, back ? -STEP : STEP, (ptrdiff_t)blocks[b] + back};
                const struct uccs_signal signal = {words, 0, 5, UCCS_SIGNAL_ADD};
                const struct uccs_op op = {.counter = counter, .weight = 2, .signal = &signal};
                const size_t first = (back ? (count - 1) * STEP : 0) + (blocks[b] < RANGE ? 7 : 0);
                check_put(first, &stride, salt, salt % 2 ? &op : 0);
                told += salt % 2;
                check_get(first, &stride, count % 2);
            }
    OK(uccs_counter_wait(counter, 2 * told));
    OK(uccs_counter_read(counter, &value));
    CHECK_EQ(value, 2 * told);
    CHECK_EQ(__atomic_load_n(&word[0], __ATOMIC_ACQUIRE), 5 * told);
}

/* One of the blocks does not lie in a range. */
static void refuse(size_t first, size_t block, size_t count, ptrdiff_t distance)
{
    char bytes[1024];
    uccs_request_t put = UCCS_REQUEST_NULL, get = UCCS_REQUEST_NULL, good = UCCS_REQUEST_NULL;
    const struct uccs_stride stride = {block, count, distance, (ptrdiff_t)block};
    const struct uccs_signal signal = {words, 0, 5, UCCS_SIGNAL_ADD};
    const struct uccs_op op = {.request = &put, .counter = counter, .signal = &signal};
    memset(bytes, 'r', sizeof bytes);
    CHECK_EQ(uccs_get_blocks(other, memory, base + first, bytes, &stride, 0), UCCS_ERR_BOUNDS);
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK(bytes[i] == 'r');
    OK(uccs_get_blocks(other, memory, base + first, bytes, &stride,
                       &(struct uccs_op){.request = &get, .nonblocking = 1}));
    CHECK_EQ(uccs_wait(&get), UCCS_ERR_FAILED);
    OK(uccs_put_blocks(other, memory, base + first, bytes, &stride, &op));
    OK(uccs_put(other, words, 8, bytes, 1, &(struct uccs_op){.request = &good, .nonblocking = 1}));
    CHECK_EQ(uccs_wait(&put), UCCS_ERR_FAILED);
    OK(uccs_wait(&good));
    OK(uccs_request_release(&put));
    OK(uccs_request_release(&get));
    OK(uccs_request_release(&good));
}

static void test_gaps(void)
{
    int64_t before, after;
    const uint64_t signalled = __atomic_load_n(&word[0], __ATOMIC_ACQUIRE);
    OK(uccs_counter_read(counter, &before));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    refuse(0, 64, 2, 64);                 /* the last one, right behind a range */
    refuse(64, 8, 2, 64);                 /* the first one */
    refuse(1, 64, 3, STEP);               /* each one, by its last byte */
    refuse(0, 1, RANGES + 1, STEP);       /* one too many */
    refuse(0, 65, 2, STEP);               /* too long */
    refuse(STEP, 8, 3, -STEP);            /* before the first range */
    refuse(5 * STEP, 16, 3, -(STEP / 2)); /* the middle one */
    refuse(0, 8, 3, 2 * STEP + STEP / 2); /* the middle one, on the way up */
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_counter_read(counter, &after));
    CHECK_EQ(after, before);
    CHECK_EQ(__atomic_load_n(&word[0], __ATOMIC_ACQUIRE), signalled);
}

static void attach(bool whole)
{
    uint64_t own = (uintptr_t)area, all[2];
    for (size_t i = 0; i < (whole ? 1 : RANGES); i++)
        OK(uccs_memory_attach(mine, area + i * STEP, whole ? BYTES : RANGE));
    OK(uccs_allgather(UCCS_GROUP_WORLD, &own, all, sizeof own));
    base = all[next_pe];
}

static void detach(bool whole)
{
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (size_t i = 0; i < (whole ? 1 : RANGES); i++)
        OK(uccs_memory_detach(mine, area + i * STEP));
}

/* Of a put that was refused some blocks may have landed. */
static void start_again(void)
{
    memset(area, 0, sizeof area);
    memset(model, 0, sizeof model);
    word[0] = 0;
    OK(uccs_counter_reset(counter, 0));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

int main(void)
{
    uccs_memory_t own, all[2], ranges[2];
    check_start();
    OK(uccs_context_create(0, &context));
    other = check_endpoint(context, next_pe);
    OK(uccs_memory_register(context, word, sizeof word, &own));
    check_share(context, own, all);
    OK(uccs_memory_dynamic(context, &mine));
    check_share(context, mine, ranges);
    words = all[next_pe];
    memory = ranges[next_pe];
    OK(uccs_counter_open(&counter));
    for (int whole = 0; whole < 2; whole++) {
        start_again();
        attach(whole);
        test_shapes();
        if (!whole)
            test_gaps();
        detach(whole);
    }
    for (int pe = 0; pe < 2; pe++) {
        OK(uccs_memory_release(all[pe]));
        OK(uccs_memory_release(ranges[pe]));
    }
    OK(uccs_memory_release(own));
    OK(uccs_memory_release(mine));
    OK(uccs_context_destroy(context));
    return check_pass();
}
