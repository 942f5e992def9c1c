/* Remote memory access, strided: typed iput and iget, plain and on a context, for every RMA type.
 * Element i of one side moves to element i of the other, each side with a stride of its own of at least one;
 * elements between them are not touched; no elements is no transfer.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

enum { ROOM = 40 };
static const struct shape {
    ptrdiff_t dst, sst;
    size_t count;
} shapes[] = {
    {1, 1, 9},   {3, 1, 11}, {1, 3, 11}, {2, 5, 8},
    {39, 39, 2}, {7, 4, 1},  {2, 2, 0},  {PTRDIFF_MAX, PTRDIFF_MAX, 1}, /* no step is taken */
};
static shmem_ctx_t ctx;

/* Which element of a transfer lies at place i of a side with this stride, or -1 when none does. */
static int element_at(int i, ptrdiff_t stride, size_t count)
{
    return i % stride == 0 && (size_t)(i / stride) < count ? (int)(i / stride) : -1;
}

#define KERNEL(NAME, TYPE)                                                                                         \
    static TYPE NAME##_global[ROOM];                                                                               \
    static void NAME##_round(TYPE *at, struct shape s, int on_ctx)                                                 \
    {                                                                                                              \
        TYPE mine[ROOM], back[ROOM];                                                                               \
        for (int i = 0; i < ROOM; i++) {                                                                           \
            at[i] = VALUE(TYPE, 60 + i);                                                                           \
            mine[i] = VALUE(TYPE, me * 7 + i);                                                                     \
            back[i] = VALUE(TYPE, 17);                                                                             \
        }                                                                                                          \
        shmem_barrier_all();                                                                                       \
        if (on_ctx) {                                                                                              \
            shmem_ctx_##NAME##_iput(ctx, at, mine, s.dst, s.sst, s.count, next_pe);                                \
            shmem_ctx_quiet(ctx);                                                                                  \
        } else                                                                                                     \
            shmem_##NAME##_iput(at, mine, s.dst, s.sst, s.count, next_pe);                                         \
        shmem_barrier_all();                                                                                       \
        for (int i = 0; i < ROOM; i++) {                                                                           \
            int element = element_at(i, s.dst, s.count);                                                           \
            CHECK(at[i] == (element < 0 ? VALUE(TYPE, 60 + i) : VALUE(TYPE, prev_pe * 7 + element * (int)s.sst))); \
        }                                                                                                          \
        if (on_ctx)                                                                                                \
            shmem_ctx_##NAME##_iget(ctx, back, at, s.sst, s.dst, s.count, next_pe);                                \
        else                                                                                                       \
            shmem_##NAME##_iget(back, at, s.sst, s.dst, s.count, next_pe);                                         \
        for (int i = 0; i < ROOM; i++)                                                                             \
            CHECK(back[i] == (element_at(i, s.sst, s.count) < 0 ? VALUE(TYPE, 17) : mine[i]));                     \
        shmem_barrier_all();                                                                                       \
    }                                                                                                              \
    static void NAME##_test(void *heap)                                                                            \
    {                                                                                                              \
        for (size_t i = 0; i < COUNT_OF(shapes); i++)                                                              \
            NAME##_round(i & 2 ? heap : NAME##_global, shapes[i], i & 1);                                          \
    }
RMA_TYPES(KERNEL)

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    void *heap = check_alloc(ROOM * sizeof(long double));
#define RUN(NAME, TYPE) NAME##_test(heap);
    RMA_TYPES(RUN)
    shmem_free(heap);
    shmem_ctx_destroy(ctx);
    return check_pass();
}
