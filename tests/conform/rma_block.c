/* Remote memory access, block-strided: typed ibput and ibget, plain and on a context, for every RMA type.
 * Blocks of bsize elements, their starts dst and sst elements apart (at least bsize); a block size of 1 is
 * iput; a stride of bsize is a contiguous transfer; no blocks is no transfer.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

enum { ROOM = 48 };
static const struct shape {
    ptrdiff_t dst, sst;
    size_t block, count;
} shapes[] = {
    {3, 3, 3, 5}, {5, 3, 3, 4}, {2, 7, 2, 6}, {4, 9, 1, 5}, {8, 6, 5, 6}, {40, 44, 4, 1}, {4, 4, 4, 0}, {24, 16, 16, 2},
};
static shmem_ctx_t ctx;

/* Place i of a side belongs to which block and which element of it? Returns 0 when to none. */
static int place(int i, ptrdiff_t stride, struct shape s, int *block, int *element)
{
    *block = (int)(i / stride);
    *element = (int)(i % stride);
    return (size_t)*block < s.count && (size_t)*element < s.block;
}

#define KERNEL(NAME, TYPE)                                                                                        \
    static TYPE NAME##_global[ROOM];                                                                              \
    static void NAME##_round(TYPE *at, struct shape s, int on_ctx)                                                \
    {                                                                                                             \
        TYPE mine[ROOM], back[ROOM];                                                                              \
        int block, element;                                                                                       \
        for (int i = 0; i < ROOM; i++) {                                                                          \
            at[i] = VALUE(TYPE, 60 + i);                                                                          \
            mine[i] = VALUE(TYPE, me * 7 + i);                                                                    \
            back[i] = VALUE(TYPE, 17);                                                                            \
        }                                                                                                         \
        shmem_barrier_all();                                                                                      \
        if (on_ctx) {                                                                                             \
            shmem_ctx_##NAME##_ibput(ctx, at, mine, s.dst, s.sst, s.block, s.count, next_pe);                     \
            shmem_ctx_quiet(ctx);                                                                                 \
        } else                                                                                                    \
            shmem_##NAME##_ibput(at, mine, s.dst, s.sst, s.block, s.count, next_pe);                              \
        shmem_barrier_all();                                                                                      \
        for (int i = 0; i < ROOM; i++) {                                                                          \
            int in = place(i, s.dst, s, &block, &element);                                                        \
            CHECK(at[i] == (in ? VALUE(TYPE, prev_pe * 7 + block * (int)s.sst + element) : VALUE(TYPE, 60 + i))); \
        }                                                                                                         \
        if (on_ctx)                                                                                               \
            shmem_ctx_##NAME##_ibget(ctx, back, at, s.sst, s.dst, s.block, s.count, next_pe);                     \
        else                                                                                                      \
            shmem_##NAME##_ibget(back, at, s.sst, s.dst, s.block, s.count, next_pe);                              \
        for (int i = 0; i < ROOM; i++)                                                                            \
            CHECK(back[i] == (place(i, s.sst, s, &block, &element) ? mine[i] : VALUE(TYPE, 17)));                 \
        shmem_barrier_all();                                                                                      \
    }                                                                                                             \
    static void NAME##_test(void *heap)                                                                           \
    {                                                                                                             \
        for (size_t i = 0; i < COUNT_OF(shapes); i++)                                                             \
            NAME##_round(i & 2 ? heap : NAME##_global, shapes[i], i & 1);                                         \
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
