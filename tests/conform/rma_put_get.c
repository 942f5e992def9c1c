/* Remote memory access, contiguous: typed put and get, plain and on a context, for every RMA type.
 * To globals and to the heap; every length from none; nothing beyond the length is touched; the source is any
 * local memory and may be reused when put returns; get has delivered when it returns.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

enum { ROOM = 19 }; /* elements of each array; one guard in front of the transfer */
static const size_t lengths[] = {0, 1, 2, 7, ROOM - 1};
static shmem_ctx_t ctx;

#define KERNEL(NAME, TYPE)                                                                                         \
    static TYPE NAME##_global[ROOM];                                                                               \
    static void NAME##_send(TYPE *at, const TYPE *mine, size_t count, int on_ctx)                                  \
    {                                                                                                              \
        if (on_ctx) {                                                                                              \
            shmem_ctx_##NAME##_put(ctx, at + 1, mine, count, next_pe);                                             \
            shmem_ctx_quiet(ctx);                                                                                  \
        } else                                                                                                     \
            shmem_##NAME##_put(at + 1, mine, count, next_pe);                                                      \
    }                                                                                                              \
    static void NAME##_round(TYPE *at, size_t count, int on_ctx)                                                   \
    {                                                                                                              \
        TYPE mine[ROOM], back[ROOM];                                                                               \
        for (int i = 0; i < ROOM; i++) {                                                                           \
            at[i] = VALUE(TYPE, 90 + i);                                                                           \
            mine[i] = VALUE(TYPE, me * 10 + i);                                                                    \
            back[i] = VALUE(TYPE, 50);                                                                             \
        }                                                                                                          \
        shmem_barrier_all();                                                                                       \
        NAME##_send(at, mine, count, on_ctx);                                                                      \
        memset(mine, 0x7e, sizeof mine);                                                                           \
        shmem_barrier_all();                                                                                       \
        for (int i = 0; i < ROOM; i++)                                                                             \
            CHECK(at[i] == (i >= 1 && i <= (int)count ? VALUE(TYPE, prev_pe * 10 + i - 1) : VALUE(TYPE, 90 + i))); \
        if (on_ctx)                                                                                                \
            shmem_ctx_##NAME##_get(ctx, back, at + 1, count, next_pe);                                             \
        else                                                                                                       \
            shmem_##NAME##_get(back, at + 1, count, next_pe);                                                      \
        for (int i = 0; i < ROOM; i++)                                                                             \
            CHECK(back[i] == (i < (int)count ? VALUE(TYPE, me * 10 + i) : VALUE(TYPE, 50)));                       \
        shmem_barrier_all();                                                                                       \
    }                                                                                                              \
    static void NAME##_test(void *heap)                                                                            \
    {                                                                                                              \
        for (size_t i = 0; i < COUNT_OF(lengths); i++) {                                                           \
            NAME##_round(NAME##_global, lengths[i], i & 1);                                                        \
            NAME##_round(heap, lengths[i], !(i & 1));                                                              \
        }                                                                                                          \
    }
RMA_TYPES(KERNEL)

/* A put to oneself and to every other PE, each into a slot of its own. */
static void everyone_to_everyone(void)
{
    long *slots = check_alloc(sizeof(long) * npes);
    for (int pe = 0; pe < npes; pe++) {
        long word = me * 1000 + pe;
        shmem_long_put(&slots[me], &word, 1, pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        long word = -1;
        CHECK_EQ(slots[pe], pe * 1000 + me);
        shmem_long_get(&word, &slots[me], 1, pe);
        CHECK_EQ(word, me * 1000 + pe);
    }
    shmem_free(slots);
}

/* Sources that are read only, symmetric, or another object than the destination. */
static void sources(void)
{
    static const char letters[] = "symmetric";
    static char global[16];
    char *heap = check_alloc(16);
    shmem_char_put(heap, letters, sizeof letters, next_pe);
    shmem_barrier_all();
    CHECK(strcmp(heap, letters) == 0);
    shmem_char_put(global, heap, sizeof letters, next_pe); /* heap to global */
    shmem_barrier_all();
    CHECK(strcmp(global, letters) == 0);
    shmem_char_get(heap, global + 3, sizeof letters - 3, prev_pe);
    CHECK(strcmp(heap, letters + 3) == 0);
    shmem_barrier_all();
    shmem_free(heap);
}

/* Several megabytes, beyond every cache and every eager limit. */
static void large(void)
{
    size_t count = (size_t)1 << 18;
    int *to = check_alloc(count * sizeof(int)), *from = malloc(count * sizeof(int));
    CHECK(from != NULL);
    for (size_t i = 0; i < count; i++)
        from[i] = (int)(i * 2654435761u) + me;
    shmem_int_put(to, from, count, next_pe);
    shmem_barrier_all();
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += to[i] != (int)(i * 2654435761u) + prev_pe;
    CHECK_EQ(wrong, 0);
    memset(from, 0, count * sizeof(int));
    shmem_int_get(from, to, count, next_pe);
    for (size_t i = 0; i < count; i++)
        wrong += from[i] != (int)(i * 2654435761u) + me;
    CHECK_EQ(wrong, 0);
    shmem_barrier_all();
    free(from);
    shmem_free(to);
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    void *heap = check_alloc(ROOM * sizeof(long double));
#define RUN(NAME, TYPE) NAME##_test(heap);
    RMA_TYPES(RUN)
    shmem_free(heap);
    everyone_to_everyone();
    sources();
    large();
    shmem_ctx_destroy(ctx);
    return check_pass();
}
