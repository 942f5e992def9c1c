/* Remote memory access, one element: typed p and g, plain and on a context, for every RMA type.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

static shmem_ctx_t ctx;

#define KERNEL(NAME, TYPE)                                                         \
    static TYPE NAME##_global[4];                                                  \
    static void NAME##_round(TYPE *at)                                             \
    {                                                                              \
        for (int i = 0; i < 4; i++)                                                \
            at[i] = VALUE(TYPE, 100 + i);                                          \
        shmem_barrier_all();                                                       \
        shmem_##NAME##_p(&at[1], VALUE(TYPE, me), next_pe);                        \
        shmem_ctx_##NAME##_p(ctx, &at[2], VALUE(TYPE, me + 20), next_pe);          \
        shmem_ctx_quiet(ctx);                                                      \
        shmem_barrier_all();                                                       \
        CHECK(at[0] == VALUE(TYPE, 100));                                          \
        CHECK(at[1] == VALUE(TYPE, prev_pe));                                      \
        CHECK(at[2] == VALUE(TYPE, prev_pe + 20));                                 \
        CHECK(at[3] == VALUE(TYPE, 103));                                          \
        CHECK(shmem_##NAME##_g(&at[1], next_pe) == VALUE(TYPE, me));               \
        CHECK(shmem_ctx_##NAME##_g(ctx, &at[2], next_pe) == VALUE(TYPE, me + 20)); \
        CHECK(shmem_##NAME##_g(&at[3], me) == VALUE(TYPE, 103));                   \
        shmem_barrier_all();                                                       \
    }
RMA_TYPES(KERNEL)

/* Values at the edges of their types come back bit by bit. */
static void edges(void)
{
    static int64_t wide;
    static uint8_t byte;
    static signed char tiny;
    static unsigned short half;
    shmem_int64_p(&wide, INT64_MIN, next_pe);
    shmem_uint8_p(&byte, UINT8_MAX, next_pe);
    shmem_schar_p(&tiny, -128, next_pe);
    shmem_ushort_p(&half, 0xfffe, next_pe);
    shmem_barrier_all();
    CHECK(wide == INT64_MIN && byte == UINT8_MAX && tiny == -128 && half == 0xfffe);
    CHECK(shmem_int64_g(&wide, next_pe) == INT64_MIN);
    CHECK(shmem_uint8_g(&byte, next_pe) == UINT8_MAX);
    CHECK(shmem_schar_g(&tiny, next_pe) == -128);
    CHECK(shmem_ushort_g(&half, next_pe) == 0xfffe);
}

/* A negative zero keeps its sign. */
static void negative_zero(void)
{
    static double zero = 1;
    uint64_t bits;
    shmem_double_p(&zero, -0.0, next_pe);
    shmem_barrier_all();
    double got = shmem_double_g(&zero, next_pe);
    memcpy(&bits, &got, sizeof bits);
    CHECK(bits == (uint64_t)1 << 63);
}

/* Neighbouring elements written by different PEs do not disturb each other. */
static void neighbours(void)
{
    char *bytes = check_alloc(64);
    memset(bytes, 0, 64);
    shmem_barrier_all();
    for (int round = 0; round < 50; round++)
        for (int pe = 0; pe < npes; pe++)
            shmem_char_p(&bytes[me], (char)(me + 1), pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(bytes[pe], pe + 1);
    CHECK_EQ(bytes[npes], 0);
    shmem_free(bytes);
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0);
    void *heap = check_alloc(4 * sizeof(long double));
#define RUN(NAME, TYPE)          \
    NAME##_round(NAME##_global); \
    NAME##_round(heap);
    RMA_TYPES(RUN)
    shmem_free(heap);
    edges();
    negative_zero();
    neighbours();
    shmem_ctx_destroy(ctx);
    return check_pass();
}
