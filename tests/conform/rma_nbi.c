/* Remote memory access, non-blocking: typed put_nbi and get_nbi, plain and on a context, for every RMA type.
 * They are complete after quiet on their context, not before, so buffers stay untouched until then; quiet completes
 * many at once; barrier_all completes those of the default context.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

enum { ROOM = 24, PIECE = 6 };
static shmem_ctx_t ctx;

#define KERNEL(NAME, TYPE)                                                         \
    static TYPE NAME##_global[ROOM];                                               \
    static void NAME##_puts(TYPE *at, const TYPE *mine, int on_ctx)                \
    {                                                                              \
        for (int i = 0; i < ROOM; i += PIECE) {                                    \
            if (on_ctx)                                                            \
                shmem_ctx_##NAME##_put_nbi(ctx, at + i, mine + i, PIECE, next_pe); \
            else                                                                   \
                shmem_##NAME##_put_nbi(at + i, mine + i, PIECE, next_pe);          \
        }                                                                          \
        if (on_ctx)                                                                \
            shmem_ctx_quiet(ctx);                                                  \
    }                                                                              \
    static void NAME##_gets(TYPE *back, const TYPE *at, int on_ctx)                \
    {                                                                              \
        for (int i = 0; i < ROOM; i += PIECE) {                                    \
            if (on_ctx)                                                            \
                shmem_ctx_##NAME##_get_nbi(ctx, back + i, at + i, PIECE, next_pe); \
            else                                                                   \
                shmem_##NAME##_get_nbi(back + i, at + i, PIECE, next_pe);          \
        }                                                                          \
        if (on_ctx)                                                                \
            shmem_ctx_quiet(ctx);                                                  \
        else                                                                       \
            shmem_quiet();                                                         \
    }                                                                              \
    static void NAME##_round(TYPE *at, int on_ctx)                                 \
    {                                                                              \
        TYPE mine[ROOM], back[ROOM];                                               \
        for (int i = 0; i < ROOM; i++) {                                           \
            at[i] = VALUE(TYPE, 60 + i);                                           \
            mine[i] = VALUE(TYPE, me * 7 + i);                                     \
            back[i] = VALUE(TYPE, 17);                                             \
        }                                                                          \
        shmem_barrier_all();                                                       \
        NAME##_puts(at, mine, on_ctx);                                             \
        shmem_barrier_all();                                                       \
        for (int i = 0; i < ROOM; i++)                                             \
            CHECK(at[i] == VALUE(TYPE, prev_pe * 7 + i));                          \
        NAME##_gets(back, at, on_ctx);                                             \
        for (int i = 0; i < ROOM; i++)                                             \
            CHECK(back[i] == mine[i]);                                             \
        shmem_##NAME##_put_nbi(at, mine, 0, next_pe);                              \
        shmem_##NAME##_get_nbi(back, at, 0, next_pe);                              \
        shmem_barrier_all();                                                       \
    }
RMA_TYPES(KERNEL)

/* After quiet the source is the program's again and the data are at the target. */
static void reuse_after_quiet(void)
{
    enum { ROUNDS = 20, WORDS = 4096 };
    long *to = check_alloc(ROUNDS * WORDS * sizeof(long)), *from = malloc(WORDS * sizeof(long));
    CHECK(from != NULL);
    for (long round = 0; round < ROUNDS; round++) {
        for (long i = 0; i < WORDS; i++)
            from[i] = round * WORDS + i;
        shmem_long_put_nbi(to + round * WORDS, from, WORDS, next_pe);
        shmem_quiet();
        CHECK_EQ(shmem_long_g(to + round * WORDS + WORDS - 1, next_pe), round * WORDS + WORDS - 1);
    }
    shmem_barrier_all();
    long wrong = 0;
    for (long i = 0; i < ROUNDS * WORDS; i++)
        wrong += to[i] != i;
    CHECK_EQ(wrong, 0);
    shmem_barrier_all();
    free(from);
    shmem_free(to);
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
    void *heap = check_alloc(ROOM * sizeof(long double));
#define RUN(NAME, TYPE)             \
    NAME##_round(NAME##_global, 0); \
    NAME##_round(heap, 1);
    RMA_TYPES(RUN)
    shmem_free(heap);
    reuse_after_quiet();
    shmem_ctx_destroy(ctx);
    return check_pass();
}
