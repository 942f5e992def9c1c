/* Small messages that leave together arrive whole, in order behind a fence, and without another call of the sender.
 *
 * pes: 3
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self LATERAL_LANES=2
 * prints: ^PASS$
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 3000, ROOM = 1 << 20, LARGEST = 20000 };

static unsigned char *box; /* symmetric: a part for each sender */
static long numbers[MANY], flags[MANY], total;
static uint64_t go_on;

static unsigned char byte_of(int sender, int round, size_t at)
{
    return (unsigned char)((size_t)sender * 31 + (size_t)round * 7 + at);
}

/* Sizes around what fits into a batch, one after the other, from a source that stays until the quiet. */
static void sizes(int round)
{
    static unsigned char *source;
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    source = source ? source : malloc(ROOM);
    for (size_t i = 0; i < ROOM; i++)
        source[i] = byte_of(me, round, i);
    size_t end = 0;
    unsigned size = 1;
    for (; end + size <= ROOM; end += size, size = size * 5 % LARGEST + 1)
        shmem_putmem_nbi(box + end, source + end, size, to);
    shmem_barrier_all();
    size_t wrong = 0;
    for (size_t i = 0; i < end; i++)
        wrong += box[i] != byte_of(from, round, i);
    CHECK_EQ(wrong, 0);
    shmem_barrier_all();
}

/* A number and behind a fence its flag, many at once: no flag is there before its number. */
static void order(int round)
{
    int to = (me + 1) % npes;
    for (int i = 0; i < MANY; i++) {
        static long value[MANY];
        value[i] = round * (long)MANY + i;
        shmem_long_put_nbi(&numbers[i], &value[i], 1, to);
        if (i % 3 == 0)
            shmem_fence();
        if (i % 3 == 2)
            shmem_long_p(&flags[i], value[i], to);
    }
    for (int i = 2; i < MANY; i += 3) {
        shmem_long_wait_until(&flags[i], SHMEM_CMP_EQ, round * (long)MANY + i);
        CHECK_EQ(*(volatile long *)&numbers[i - 2], round * (long)MANY + i - 2);
    }
    shmem_barrier_all();
}

#define WAIT_FOR(flag, value)                                     \
    while (__atomic_load_n(&(flag), __ATOMIC_ACQUIRE) != (value)) \
        (void)shmem_long_test(&numbers[1], SHMEM_CMP_EQ, -1); /* serves */

/* Flags of every width, alone and in pairs, each behind a fence behind its number. */
static void widths(int round)
{
    static struct {
        uint8_t one;
        uint16_t two, pair[2];
        uint32_t four, fours[3];
    } there;
    const uint8_t one = (uint8_t)round;
    const uint16_t two = (uint16_t)(round * 257), pair[2] = {two, two};
    const uint32_t four = (uint32_t)round * 65537, fours[3] = {four, four, four};
    long number = 0;
    shmem_barrier_all();
    for (int width = 0; width < 5; width++) {
        number = round * 10 + width;
        shmem_long_put(&numbers[0], &number, 1, next_pe);
        shmem_fence();
        switch (width) {
        case 0: shmem_uint8_put(&there.one, &one, 1, next_pe); break;
        case 1: shmem_uint16_put(&there.two, &two, 1, next_pe); break;
        case 2: shmem_uint16_put(there.pair, pair, 2, next_pe); break;
        case 3: shmem_uint32_put(&there.four, &four, 1, next_pe); break;
        default: shmem_uint32_put(there.fours, fours, 3, next_pe);
        }
        switch (width) {
        case 0: WAIT_FOR(there.one, one) break;
        case 1: WAIT_FOR(there.two, two) break;
        case 2: WAIT_FOR(there.pair[1], two) break;
        case 3: WAIT_FOR(there.four, four) break;
        default: WAIT_FOR(there.fours[2], four)
        }
        CHECK_EQ(*(volatile long *)&numbers[0], number);
        shmem_barrier_all();
    }
}

/* Gets, fetching atomics and puts mixed, to all. */
static void mixed(void)
{
    static long got[MANY], mine[MANY];
    total = 0;
    for (int i = 0; i < MANY; i++)
        numbers[i] = me * (long)MANY + i;
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++) {
        shmem_long_get_nbi(&got[i], &numbers[i], 1, (me + i) % npes);
        shmem_long_put_nbi(&flags[i], &numbers[i], 1, (me + 1) % npes);
        if (i % 100 == 0)
            shmem_long_atomic_add(&total, 1, 0);
        if (i % 500 == 0)
            CHECK(shmem_long_atomic_fetch_inc(&total, 0) >= i / 100);
    }
    shmem_quiet();
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(got[i], (me + i) % npes * (long)MANY + i);
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(flags[i], (me + npes - 1) % npes * (long)MANY + i);
    CHECK_EQ(me == 0 ? total : npes * (MANY / 100 + MANY / 500), npes * (MANY / 100 + MANY / 500));
    shmemx_request_t all = SHMEMX_REQUEST_NULL;
    for (int i = 0; i < MANY; i++)
        shmemx_long_get_nbe(&mine[i], &numbers[i], 1, (me + 1) % npes, &all);
    shmemx_request_wait(&all);
    shmemx_request_free(&all);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(mine[i], (me + 1) % npes * (long)MANY + i);
    shmem_barrier_all();
}

/* One small put, and then nothing but computing until its receiver has answered. */
static void unattended(shmem_ctx_t ctx, int round)
{
    static uint64_t value;
    if (me == 0) {
        value = (uint64_t)round;
        shmem_ctx_uint64_put_nbi(round % 2 ? ctx : SHMEM_CTX_DEFAULT, &go_on, &value, 1, 1);
        while (__atomic_load_n(&go_on, __ATOMIC_ACQUIRE) != (uint64_t)round)
            ;
    } else if (me == 1) {
        shmem_uint64_wait_until(&go_on, SHMEM_CMP_EQ, (uint64_t)round);
        shmem_uint64_p(&go_on, (uint64_t)round, 0);
    }
    shmem_barrier_all();
}

int main(void)
{
    shmem_ctx_t ctx;
    check_start();
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
    box = shmem_malloc(ROOM);
    for (int round = 1; round <= 3; round++) {
        sizes(round);
        order(round);
        unattended(ctx, round);
    }
    for (int round = 1; round <= 20; round++)
        widths(round);
    mixed();
    shmem_free(box);
    shmem_ctx_destroy(ctx);
    return check_pass();
}
