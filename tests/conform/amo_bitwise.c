/* Atomic memory operations, bitwise types: and, or, xor, their fetching and fetching non-blocking kin, plain and
 * on a context, with the top bit of each type among the operands.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

static shmem_ctx_t ctx;

#define KERNEL(NAME, TYPE)                                                                    \
    static TYPE NAME##_word;                                                                  \
    static const TYPE NAME##_top = (TYPE)((uint64_t)1 << (sizeof(TYPE) * 8 - 1));             \
    static void NAME##_plain(TYPE *x, TYPE top)                                               \
    {                                                                                         \
        TYPE a = 0, b = 0, c = 0;                                                             \
        shmem_##NAME##_atomic_or(x, top, next_pe);                                            \
        shmem_fence();                                                                        \
        CHECK(shmem_##NAME##_atomic_fetch_or(x, 0x0f, next_pe) == (TYPE)(top | 0x5a0));       \
        shmem_##NAME##_atomic_and(x, (TYPE)(top | 0xff), next_pe);                            \
        shmem_fence();                                                                        \
        CHECK(shmem_##NAME##_atomic_fetch_and(x, (TYPE)~top, next_pe) == (TYPE)(top | 0xaf)); \
        shmem_##NAME##_atomic_xor(x, (TYPE)(top | 0xff), next_pe);                            \
        shmem_fence();                                                                        \
        CHECK(shmem_##NAME##_atomic_fetch_xor(x, top, next_pe) == (TYPE)(top | 0x50));        \
        shmem_##NAME##_atomic_fetch_or_nbi(&a, x, 1, next_pe);                                \
        shmem_quiet();                                                                        \
        shmem_##NAME##_atomic_fetch_and_nbi(&b, x, 0x41, next_pe);                            \
        shmem_quiet();                                                                        \
        shmem_##NAME##_atomic_fetch_xor_nbi(&c, x, (TYPE) ~(TYPE)0, next_pe);                 \
        shmem_quiet();                                                                        \
        CHECK(a == 0x50 && b == 0x51 && c == 0x41);                                           \
    }                                                                                         \
    static void NAME##_on_ctx(TYPE *x, TYPE top)                                              \
    {                                                                                         \
        TYPE a = 0, b = 0, c = 0;                                                             \
        shmem_ctx_##NAME##_atomic_and(ctx, x, 0x3f, next_pe);                                 \
        shmem_ctx_fence(ctx);                                                                 \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_and(ctx, x, 0x1f, next_pe) == 0x3e);            \
        shmem_ctx_##NAME##_atomic_or(ctx, x, top, next_pe);                                   \
        shmem_ctx_fence(ctx);                                                                 \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_or(ctx, x, 1, next_pe) == (TYPE)(top | 0x1e));  \
        shmem_ctx_##NAME##_atomic_xor(ctx, x, top, next_pe);                                  \
        shmem_ctx_fence(ctx);                                                                 \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_xor(ctx, x, 0x10, next_pe) == 0x1f);            \
        shmem_ctx_##NAME##_atomic_fetch_or_nbi(ctx, &a, x, 0x60, next_pe);                    \
        shmem_ctx_quiet(ctx);                                                                 \
        shmem_ctx_##NAME##_atomic_fetch_and_nbi(ctx, &b, x, 0x2f, next_pe);                   \
        shmem_ctx_quiet(ctx);                                                                 \
        shmem_ctx_##NAME##_atomic_fetch_xor_nbi(ctx, &c, x, 2, next_pe);                      \
        shmem_ctx_quiet(ctx);                                                                 \
        CHECK(a == 0x0f && b == 0x6f && c == 0x2f);                                           \
    }                                                                                         \
    static void NAME##_test(TYPE *x)                                                          \
    {                                                                                         \
        *x = 0x5a0;                                                                           \
        shmem_barrier_all();                                                                  \
        NAME##_plain(x, NAME##_top);                                                          \
        NAME##_on_ctx(x, NAME##_top);                                                         \
        shmem_barrier_all();                                                                  \
        CHECK(*x == 0x2d);                                                                    \
        shmem_barrier_all();                                                                  \
    }
BITWISE_AMO_TYPES(KERNEL)

/* Every PE sets, flips and clears bits of its own in one word: none is lost. */
static void contention(void)
{
    static uint64_t bits;
    uint64_t mine = (uint64_t)0x10001 << me, got = 0;
    for (int round = 0; round < 200; round++) {
        shmem_uint64_atomic_or(&bits, mine, 0);
        CHECK((shmem_uint64_atomic_fetch(&bits, 0) & mine) == mine);
        shmem_uint64_atomic_xor(&bits, mine, 0);
        CHECK((shmem_uint64_atomic_fetch_or(&bits, mine, 0) & mine) == 0);
        CHECK((shmem_uint64_atomic_fetch_and(&bits, ~mine, 0) & mine) == mine);
        shmem_uint64_atomic_fetch_xor_nbi(&got, &bits, mine, 0);
        shmem_quiet();
        CHECK((got & mine) == 0);
    }
    shmem_barrier_all();
    uint64_t all = 0;
    for (int pe = 0; pe < npes; pe++)
        all |= (uint64_t)0x10001 << pe;
    CHECK(shmem_uint64_g(&bits, 0) == all);
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    void *heap = check_alloc(16);
#define RUN(NAME, TYPE)        \
    NAME##_test(&NAME##_word); \
    NAME##_test(heap);
    BITWISE_AMO_TYPES(RUN)
    shmem_free(heap);
    contention();
    shmem_ctx_destroy(ctx);
    return check_pass();
}
