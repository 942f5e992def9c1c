/* Remote memory access by size: put8 to put128 and putmem, their get, strided, block-strided and non-blocking
 * kin, plain and on a context. The mem forms need no alignment. All work on bytes here, one table row per size.
 * prints: ^PASS$
 */
#include "check.h"

typedef void put_call(void *, const void *, size_t, int);
typedef void ctx_put_call(shmem_ctx_t, void *, const void *, size_t, int);
typedef void iput_call(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
typedef void ctx_iput_call(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
typedef void ibput_call(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int);
typedef void ctx_ibput_call(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int);

struct width {
    size_t bytes;
    put_call *put, *put_nbi, *get, *get_nbi;
    ctx_put_call *ctx_put, *ctx_put_nbi, *ctx_get, *ctx_get_nbi;
    iput_call *iput, *iget;
    ctx_iput_call *ctx_iput, *ctx_iget;
    ibput_call *ibput, *ibget;
    ctx_ibput_call *ctx_ibput, *ctx_ibget;
};

#define FLAT(S)                                                                                                   \
    shmem_put##S, shmem_put##S##_nbi, shmem_get##S, shmem_get##S##_nbi, shmem_ctx_put##S, shmem_ctx_put##S##_nbi, \
        shmem_ctx_get##S, shmem_ctx_get##S##_nbi
#define WIDTH(S)                                                                                            \
    {                                                                                                       \
        S / 8, FLAT(S), shmem_iput##S, shmem_iget##S, shmem_ctx_iput##S, shmem_ctx_iget##S, shmem_ibput##S, \
            shmem_ibget##S, shmem_ctx_ibput##S, shmem_ctx_ibget##S                                          \
    }
static const struct width widths[] = {
    WIDTH(8),
    WIDTH(16),
    WIDTH(32),
    WIDTH(64),
    WIDTH(128),
    {.bytes = 1,
     .put = shmem_putmem,
     .put_nbi = shmem_putmem_nbi,
     .get = shmem_getmem,
     .get_nbi = shmem_getmem_nbi,
     .ctx_put = shmem_ctx_putmem,
     .ctx_put_nbi = shmem_ctx_putmem_nbi,
     .ctx_get = shmem_ctx_getmem,
     .ctx_get_nbi = shmem_ctx_getmem_nbi},
};

enum { ELEMENTS = 30, ROOM = ELEMENTS * 16 };
static _Alignas(16) unsigned char global[ROOM], mine[ROOM], back[ROOM];
static shmem_ctx_t ctx;

static unsigned char mark(int pe, size_t i)
{
    return (unsigned char)(pe * 41 + (int)i * 3 + 1);
}

static void prepare(unsigned char *at)
{
    for (size_t i = 0; i < ROOM; i++) {
        at[i] = 0xee;
        back[i] = 0xdd;
        mine[i] = mark(me, i);
    }
    shmem_barrier_all();
}

/* Everything after a transfer of `count` blocks of `block` elements with these strides, in bytes. */
static void verify(const unsigned char *at, size_t step, size_t from_step, size_t block, size_t count, int pe,
                   unsigned char rest)
{
    for (size_t i = 0; i < ROOM; i++) {
        size_t in = i % step, k = i / step;
        unsigned char want = k < count && in < block ? mark(pe, k * from_step + in) : rest;
        CHECK_EQ(at[i], want);
    }
}

static void flat(const struct width *w, unsigned char *at, int on_ctx, int nbi)
{
    size_t n = ELEMENTS - 3, size = n * w->bytes;
    prepare(at);
    if (on_ctx)
        (nbi ? w->ctx_put_nbi : w->ctx_put)(ctx, at, mine, n, next_pe);
    else
        (nbi ? w->put_nbi : w->put)(at, mine, n, next_pe);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    verify(at, ROOM, 0, size, 1, prev_pe, 0xee);
    if (on_ctx)
        (nbi ? w->ctx_get_nbi : w->ctx_get)(ctx, back, at, n, next_pe);
    else
        (nbi ? w->get_nbi : w->get)(back, at, n, next_pe);
    if (nbi) {
        shmem_quiet();
        shmem_ctx_quiet(ctx);
    }
    verify(back, ROOM, 0, size, 1, me, 0xdd);
    shmem_barrier_all();
}

static void strided(const struct width *w, unsigned char *at, int on_ctx)
{
    size_t n = 6, b = w->bytes; /* there every 4th element, here every 3rd */
    prepare(at);
    if (on_ctx)
        w->ctx_iput(ctx, at, mine, 4, 3, n, next_pe);
    else
        w->iput(at, mine, 4, 3, n, next_pe);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    verify(at, 4 * b, 3 * b, b, n, prev_pe, 0xee);
    if (on_ctx)
        w->ctx_iget(ctx, back, at, 3, 4, n, next_pe);
    else
        w->iget(back, at, 3, 4, n, next_pe);
    verify(back, 3 * b, 3 * b, b, n, me, 0xdd);
    shmem_barrier_all();
}

static void blocks(const struct width *w, unsigned char *at, int on_ctx)
{
    size_t n = 4, b = w->bytes, block = 3; /* blocks of 3, every 7th there, every 5th here */
    prepare(at);
    if (on_ctx)
        w->ctx_ibput(ctx, at, mine, 7, 5, block, n, next_pe);
    else
        w->ibput(at, mine, 7, 5, block, n, next_pe);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    verify(at, 7 * b, 5 * b, block * b, n, prev_pe, 0xee);
    if (on_ctx)
        w->ctx_ibget(ctx, back, at, 5, 7, block, n, next_pe);
    else
        w->ibget(back, at, 5, 7, block, n, next_pe);
    verify(back, 5 * b, 5 * b, block * b, n, me, 0xdd);
    shmem_barrier_all();
}

/* putmem and getmem at odd addresses and odd lengths. */
static void unaligned(unsigned char *heap)
{
    for (size_t shift = 0; shift < 9; shift++)
        for (size_t size = 0; size < 40; size += 13) {
            prepare(heap);
            shmem_putmem(heap + shift, mine + 1, size, next_pe);
            shmem_barrier_all();
            for (size_t i = 0; i < 64; i++)
                CHECK_EQ(heap[i], i >= shift && i < shift + size ? mark(prev_pe, i - shift + 1) : 0xee);
            shmem_getmem(back + 3, heap + shift, size, next_pe);
            for (size_t i = 0; i < size; i++)
                CHECK_EQ(back[i + 3], mine[i + 1]);
            CHECK(back[2] == 0xdd && back[size + 3] == 0xdd);
            shmem_barrier_all();
        }
}

/* A length of zero goes with any pointers, also null ones. */
static void nothing(const struct width *w)
{
    w->put(NULL, NULL, 0, next_pe);
    w->put_nbi(NULL, NULL, 0, next_pe);
    w->get(NULL, NULL, 0, next_pe);
    w->get_nbi(NULL, NULL, 0, next_pe);
    w->ctx_put(ctx, NULL, NULL, 0, next_pe);
    w->ctx_get_nbi(ctx, NULL, NULL, 0, next_pe);
    if (w->iput == NULL)
        return;
    w->iput(NULL, NULL, 1, 1, 0, next_pe);
    w->iget(NULL, NULL, 2, 1, 0, next_pe);
    w->ibput(NULL, NULL, 2, 2, 2, 0, next_pe);
    w->ibget(NULL, NULL, 2, 2, 2, 0, next_pe);
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    unsigned char *heap = check_alloc(ROOM);
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        const struct width *w = &widths[i];
        for (int form = 0; form < 4; form++)
            flat(w, form & 1 ? heap : global, form & 1, form & 2);
        if (w->iput != NULL)
            for (int form = 0; form < 2; form++) {
                strided(w, form ? heap : global, form);
                blocks(w, form ? global : heap, form);
            }
        nothing(w);
    }
    unaligned(heap);
    shmem_free(heap);
    shmem_ctx_destroy(ctx);
    return check_pass();
}
