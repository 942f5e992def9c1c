/* Signaling: put_signal and put_signal_nbi, typed for every RMA type, sized and mem, plain and on a context, with SET and ADD.
 * When a PE sees the signal, the data is there. A put of no elements still sends the signal. Signal and data may lie in
 * different segments.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

enum { ROOM = 12 };
static shmem_ctx_t ctx;
static uint64_t flag;       /* rises by one for each message; ADD 1 and SET to the next both do that */
static uint64_t sent, seen; /* what I raised there; what I waited for here */

/* Wait for the next signal; the answer to it is the barrier, which also ends the sender's non-blocking put. */
static void arrival(void)
{
    seen++;
    CHECK(shmem_signal_wait_until(&flag, SHMEM_CMP_GE, seen) == seen);
}

static void settle(void)
{
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

#define KERNEL(NAME, TYPE)                                                                                          \
    static TYPE NAME##_global[ROOM];                                                                                \
    static void NAME##_send(TYPE *at, const TYPE *mine, size_t count)                                               \
    {                                                                                                               \
        switch (sent++ % 4) {                                                                                       \
        case 0: shmem_##NAME##_put_signal(at, mine, count, &flag, 1, SHMEM_SIGNAL_ADD, next_pe); break;             \
        case 1: shmem_ctx_##NAME##_put_signal(ctx, at, mine, count, &flag, sent, SHMEM_SIGNAL_SET, next_pe); break; \
        case 2: shmem_##NAME##_put_signal_nbi(at, mine, count, &flag, sent, SHMEM_SIGNAL_SET, next_pe); break;      \
        default: shmem_ctx_##NAME##_put_signal_nbi(ctx, at, mine, count, &flag, 1, SHMEM_SIGNAL_ADD, next_pe);      \
        }                                                                                                           \
    }                                                                                                               \
    static void NAME##_round(TYPE *at, size_t count)                                                                \
    {                                                                                                               \
        TYPE mine[ROOM];                                                                                            \
        for (int i = 0; i < ROOM; i++) {                                                                            \
            at[i] = VALUE(TYPE, 60 + i);                                                                            \
            mine[i] = VALUE(TYPE, me * 7 + i);                                                                      \
        }                                                                                                           \
        shmem_barrier_all();                                                                                        \
        NAME##_send(at, mine, count);                                                                               \
        arrival();                                                                                                  \
        for (int i = 0; i < ROOM; i++)                                                                              \
            CHECK(at[i] == (i < (int)count ? VALUE(TYPE, prev_pe * 7 + i) : VALUE(TYPE, 60 + i)));                  \
        settle();                                                                                                   \
    }
RMA_TYPES(KERNEL)

/* The sized and mem forms: bytes per element, and a call for each of the four forms. */
typedef void signal_call(void *, const void *, size_t, uint64_t *, uint64_t, int, int);
typedef void ctx_signal_call(shmem_ctx_t, void *, const void *, size_t, uint64_t *, uint64_t, int, int);
static const struct width {
    size_t bytes;
    signal_call *put, *nbi;
    ctx_signal_call *ctx_put, *ctx_nbi;
} widths[] = {
#define WIDTH(S)                                                                            \
    {                                                                                       \
        S / 8, shmem_put##S##_signal, shmem_put##S##_signal_nbi, shmem_ctx_put##S##_signal, \
            shmem_ctx_put##S##_signal_nbi                                                   \
    }
    WIDTH(8),   WIDTH(16),
    WIDTH(32),  WIDTH(64),
    WIDTH(128), {1, shmem_putmem_signal, shmem_putmem_signal_nbi, shmem_ctx_putmem_signal, shmem_ctx_putmem_signal_nbi},
};

static void sized(const struct width *w, int form, unsigned char *at)
{
    _Alignas(16) unsigned char mine[ROOM * 16];
    size_t count = ROOM - 1, size = count * w->bytes;
    for (int i = 0; i < ROOM * 16; i++) {
        mine[i] = (unsigned char)(me * 16 + i);
        at[i] = 0xee;
    }
    shmem_barrier_all();
    sent++;
    switch (form) {
    case 0: w->put(at, mine, count, &flag, sent, SHMEM_SIGNAL_SET, next_pe); break;
    case 1: w->nbi(at, mine, count, &flag, 1, SHMEM_SIGNAL_ADD, next_pe); break;
    case 2: w->ctx_put(ctx, at, mine, count, &flag, 1, SHMEM_SIGNAL_ADD, next_pe); break;
    default: w->ctx_nbi(ctx, at, mine, count, &flag, sent, SHMEM_SIGNAL_SET, next_pe);
    }
    arrival();
    for (size_t i = 0; i < ROOM * 16; i++)
        CHECK_EQ(at[i], i < size ? (unsigned char)(prev_pe * 16 + (int)i) : 0xee);
    settle();
}

/* No data, null pointers: the signal alone. */
static void nothing(void)
{
    for (int form = 0; form < 4; form++) {
        int_send(NULL, NULL, 0);
        arrival();
        settle();
    }
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        sent++;
        widths[i].put(NULL, NULL, 0, &flag, sent, SHMEM_SIGNAL_SET, next_pe);
        arrival();
        settle();
    }
}

/* A megabyte and its signal: whoever sees the signal sees the last byte. */
static void large(void)
{
    size_t count = (size_t)1 << 17;
    long *to = check_alloc(count * sizeof(long)), *from = malloc(count * sizeof(long));
    CHECK(from != NULL);
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < count; i++)
            from[i] = (long)i * (round + 1) + me;
        long_send(to, from, count);
        arrival();
        size_t wrong = 0;
        for (size_t i = 0; i < count; i++)
            wrong += to[i] != (long)i * (round + 1) + prev_pe;
        CHECK_EQ(wrong, 0);
        settle();
    }
    free(from);
    shmem_free(to);
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    void *heap = check_alloc(ROOM * 16);
    static _Alignas(16) unsigned char global[ROOM * 16];
#define RUN(NAME, TYPE)                    \
    NAME##_round(NAME##_global, ROOM - 1); \
    NAME##_round(heap, 3);
    RMA_TYPES(RUN)
    for (size_t i = 0; i < COUNT_OF(widths); i++)
        for (int form = 0; form < 4; form++)
            sized(&widths[i], form, form & 1 ? global : heap);
    nothing();
    large();
    shmem_free(heap);
    shmem_ctx_destroy(ctx);
    return check_pass();
}
