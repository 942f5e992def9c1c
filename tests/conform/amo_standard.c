/* Atomic memory operations, standard types: inc, add, fetch_inc, fetch_add, compare_swap, their fetching
 * non-blocking kin; extended types: fetch, set, swap. Each plain and on a context, on a global and on the heap.
 * Each word has one origin at a time here, so every value is known; amo_contend.c has the contention.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

static shmem_ctx_t ctx;

#define STANDARD(NAME, TYPE)                                                           \
    static TYPE NAME##_word;                                                           \
    static void NAME##_plain(TYPE *x)                                                  \
    {                                                                                  \
        TYPE got = 0;                                                                  \
        shmem_##NAME##_atomic_inc(x, next_pe);                                         \
        shmem_fence();                                                                 \
        CHECK(shmem_##NAME##_atomic_fetch_inc(x, next_pe) == 11);                      \
        shmem_##NAME##_atomic_add(x, 30, next_pe);                                     \
        shmem_fence();                                                                 \
        CHECK(shmem_##NAME##_atomic_fetch_add(x, 8, next_pe) == 42);                   \
        CHECK(shmem_##NAME##_atomic_compare_swap(x, 49, 1, next_pe) == 50);            \
        CHECK(shmem_##NAME##_atomic_compare_swap(x, 50, 7, next_pe) == 50);            \
        shmem_##NAME##_atomic_fetch_inc_nbi(&got, x, next_pe);                         \
        shmem_quiet();                                                                 \
        CHECK(got == 7);                                                               \
        shmem_##NAME##_atomic_fetch_add_nbi(&got, x, 5, next_pe);                      \
        shmem_quiet();                                                                 \
        CHECK(got == 8);                                                               \
        shmem_##NAME##_atomic_compare_swap_nbi(&got, x, 13, 100, next_pe);             \
        shmem_quiet();                                                                 \
        CHECK(got == 13);                                                              \
        shmem_##NAME##_atomic_compare_swap_nbi(&got, x, 13, 99, next_pe);              \
        shmem_quiet();                                                                 \
        CHECK(got == 100);                                                             \
    }                                                                                  \
    static void NAME##_on_ctx(TYPE *x)                                                 \
    {                                                                                  \
        TYPE a = 0, b = 0, c = 0;                                                      \
        shmem_ctx_##NAME##_atomic_inc(ctx, x, next_pe);                                \
        shmem_ctx_fence(ctx);                                                          \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_inc(ctx, x, next_pe) == 101);            \
        shmem_ctx_##NAME##_atomic_add(ctx, x, 3, next_pe);                             \
        shmem_ctx_fence(ctx);                                                          \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_add(ctx, x, 1, next_pe) == 105);         \
        CHECK(shmem_ctx_##NAME##_atomic_compare_swap(ctx, x, 106, 2, next_pe) == 106); \
        shmem_ctx_##NAME##_atomic_fetch_inc_nbi(ctx, &a, x, next_pe);                  \
        shmem_ctx_fence(ctx);                                                          \
        shmem_ctx_##NAME##_atomic_fetch_add_nbi(ctx, &b, x, 4, next_pe);               \
        shmem_ctx_fence(ctx);                                                          \
        shmem_ctx_##NAME##_atomic_compare_swap_nbi(ctx, &c, x, 7, 33, next_pe);        \
        shmem_ctx_quiet(ctx);                                                          \
        CHECK(a == 2 && b == 3 && c == 7);                                             \
    }                                                                                  \
    static void NAME##_test(TYPE *x)                                                   \
    {                                                                                  \
        *x = 10;                                                                       \
        shmem_barrier_all();                                                           \
        NAME##_plain(x);                                                               \
        NAME##_on_ctx(x);                                                              \
        shmem_barrier_all();                                                           \
        CHECK(*x == 33);                                                               \
        shmem_barrier_all();                                                           \
    }
STANDARD_AMO_TYPES(STANDARD)

#define EXTENDED(NAME, TYPE)                                                         \
    static TYPE NAME##_value;                                                        \
    static void NAME##_exchange(TYPE *x)                                             \
    {                                                                                \
        TYPE a = 0, b = 0;                                                           \
        *x = 10;                                                                     \
        shmem_barrier_all();                                                         \
        CHECK(shmem_##NAME##_atomic_fetch(x, next_pe) == 10);                        \
        shmem_##NAME##_atomic_set(x, 20, next_pe);                                   \
        shmem_fence();                                                               \
        CHECK(shmem_ctx_##NAME##_atomic_fetch(SHMEM_CTX_DEFAULT, x, next_pe) == 20); \
        CHECK(shmem_##NAME##_atomic_swap(x, 30, next_pe) == 20);                     \
        shmem_quiet();                                                               \
        shmem_ctx_##NAME##_atomic_set(ctx, x, 40, next_pe);                          \
        shmem_ctx_fence(ctx);                                                        \
        shmem_ctx_quiet(ctx);                                                        \
        CHECK(shmem_ctx_##NAME##_atomic_swap(ctx, x, 50, next_pe) == 40);            \
        shmem_##NAME##_atomic_fetch_nbi(&a, x, next_pe);                             \
        shmem_quiet();                                                               \
        shmem_##NAME##_atomic_swap_nbi(&b, x, 60, next_pe);                          \
        shmem_quiet();                                                               \
        CHECK(a == 50 && b == 50);                                                   \
        shmem_ctx_##NAME##_atomic_fetch_nbi(ctx, &a, x, next_pe);                    \
        shmem_ctx_quiet(ctx);                                                        \
        shmem_ctx_##NAME##_atomic_swap_nbi(ctx, &b, x, VALUE(TYPE, me), next_pe);    \
        shmem_ctx_quiet(ctx);                                                        \
        CHECK(a == 60 && b == 60);                                                   \
        shmem_barrier_all();                                                         \
        CHECK(*x == VALUE(TYPE, prev_pe));                                           \
        shmem_barrier_all();                                                         \
    }
EXTENDED_AMO_TYPES(EXTENDED)

/* Contents are carried bit by bit: the sign of zero, wide values, the ends of the ranges. */
static void contents(void)
{
    static double real;
    static float single;
    static int64_t wide;
    static uint64_t natural;
    uint64_t bits;
    shmem_double_atomic_set(&real, -0.0, next_pe);
    shmem_float_atomic_set(&single, 0x1.fffffep127f, next_pe);
    shmem_int64_atomic_set(&wide, INT64_MIN, next_pe);
    shmem_uint64_atomic_set(&natural, UINT64_MAX - 1, next_pe);
    shmem_quiet();
    double zero = shmem_double_atomic_swap(&real, 0x1p-1074, next_pe);
    memcpy(&bits, &zero, sizeof bits);
    CHECK(bits == (uint64_t)1 << 63);
    CHECK(shmem_double_atomic_fetch(&real, next_pe) == 0x1p-1074);
    CHECK(shmem_float_atomic_fetch(&single, next_pe) == 0x1.fffffep127f);
    CHECK(shmem_int64_atomic_fetch_add(&wide, INT64_MAX, next_pe) == INT64_MIN);
    CHECK(shmem_int64_atomic_compare_swap(&wide, -1, 5, next_pe) == -1);
    CHECK(shmem_uint64_atomic_fetch_inc(&natural, next_pe) == UINT64_MAX - 1);
    CHECK(shmem_uint64_atomic_fetch_inc(&natural, next_pe) == UINT64_MAX); /* unsigned: wraps to none */
    CHECK(shmem_uint64_atomic_fetch(&natural, next_pe) == 0);
    shmem_barrier_all();
}

/* Every bit of a condition and of a value counts: a condition that differs in one bit does not hold. */
#define EVERY_BIT(NAME, TYPE, BITS)                                                                        \
    static void NAME##_every_bit(void)                                                                     \
    {                                                                                                      \
        static TYPE word;                                                                                  \
        for (int bit = 0; bit < BITS; bit++) {                                                             \
            TYPE value = (TYPE)(UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(bit + 1)), one = (TYPE)1 << bit; \
            (void)shmem_##NAME##_atomic_swap(&word, value, next_pe);                                       \
            CHECK(shmem_##NAME##_atomic_compare_swap(&word, value ^ one, 1, next_pe) == value);            \
            CHECK(shmem_##NAME##_atomic_compare_swap(&word, value, (TYPE)~value, next_pe) == value);       \
            CHECK(shmem_##NAME##_atomic_fetch_add(&word, one, next_pe) == (TYPE)~value);                   \
            CHECK(shmem_##NAME##_atomic_fetch_xor(&word, one, next_pe) == (TYPE)((TYPE)~value + one));     \
            CHECK(shmem_##NAME##_atomic_fetch(&word, next_pe) == (TYPE)(((TYPE)~value + one) ^ one));      \
        }                                                                                                  \
        shmem_barrier_all();                                                                               \
    }
EVERY_BIT(uint32, uint32_t, 32)
EVERY_BIT(uint64, uint64_t, 64)

/* A 32-bit operation leaves its neighbour alone, also when it wraps. */
static void neighbours(void)
{
    static uint32_t pair[3] = {5, UINT32_MAX, 6};
    CHECK(shmem_uint32_atomic_fetch_add(&pair[1], 3, next_pe) == UINT32_MAX);
    shmem_barrier_all();
    CHECK(pair[0] == 5 && pair[1] == 2 && pair[2] == 6);
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    void *heap = check_alloc(16);
#define RUN(NAME, TYPE)        \
    NAME##_test(&NAME##_word); \
    NAME##_test(heap);
    STANDARD_AMO_TYPES(RUN)
#define RUN_EXTENDED(NAME, TYPE)    \
    NAME##_exchange(&NAME##_value); \
    NAME##_exchange(heap);
    EXTENDED_AMO_TYPES(RUN_EXTENDED)
    contents();
    uint32_every_bit();
    uint64_every_bit();
    neighbours();
    shmem_free(heap);
    shmem_ctx_destroy(ctx);
    return check_pass();
}
