/* Memory management: malloc, calloc, align, realloc, free, malloc_with_hints.
 * Calls with size zero or a null pointer do nothing and do not wait. Blocks are aligned for any type, symmetric,
 * disjoint and usable by peers at once; calloc zeroes; realloc keeps contents; an allocation that fails returns null.
 * prints: ^PASS$
 */
#include "check.h"
#include <stdalign.h>

/* PE 0 calls what does nothing while the others wait for its word: a barrier inside would never end. */
static void nothing_waits_for_nobody(void)
{
    static long told;
    if (me != 0)
        shmem_long_wait_until(&told, SHMEM_CMP_EQ, 1);
    CHECK(shmem_malloc(0) == NULL);
    CHECK(shmem_calloc(0, 8) == NULL);
    CHECK(shmem_calloc(8, 0) == NULL);
    CHECK(shmem_align(64, 0) == NULL);
    CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL);
    shmem_free(NULL);
    for (int pe = 1; me == 0 && pe < npes; pe++)
        shmem_long_atomic_set(&told, 1, pe);
    shmem_barrier_all();
    CHECK(shmem_realloc(NULL, 0) == NULL);
}

/* Blocks of many sizes: aligned, disjoint, each holds a mark that peers put there right after the call. */
static void many_blocks(void)
{
    enum { BLOCKS = 60 };
    unsigned char *at[BLOCKS];
    size_t size[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        size[i] = 1 + (size_t)i * i * 7 % 5000;
        at[i] = shmem_malloc(size[i]);
        CHECK(at[i] != NULL);
        CHECK((uintptr_t)at[i] % alignof(max_align_t) == 0);
        CHECK_EQ(shmem_addr_accessible(at[i], next_pe), 1);
        CHECK_EQ(shmem_addr_accessible(at[i] + size[i] - 1, next_pe), 1);
        shmem_uchar_p(at[i], (unsigned char)i, next_pe);
        shmem_uchar_p(at[i] + size[i] - 1, (unsigned char)i, next_pe);
    }
    shmem_barrier_all();
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(at[i][0] == i && at[i][size[i] - 1] == i);
        for (int k = 0; k < i; k++)
            CHECK(at[i] + size[i] <= at[k] || at[k] + size[k] <= at[i]);
    }
    for (int i = 0; i < BLOCKS; i += 2)
        shmem_free(at[i]);
    for (int i = 0; i < BLOCKS; i += 2)
        at[i] = shmem_malloc(size[i] + 100);
    for (int i = 1; i < BLOCKS; i += 2)
        CHECK(at[i][0] == i && at[i][size[i] - 1] == i);
    for (int i = 0; i < BLOCKS; i++)
        shmem_free(at[i]);
}

/* Zero on every PE when the call returns, and no later zeroing wipes out an early put. */
static void zeroed(void)
{
    for (int round = 0; round < 12; round++) {
        size_t count = 1000 + (size_t)round * 900;
        char *dirty = check_alloc(count * 4);
        memset(dirty, 0xff, count * 4);
        shmem_free(dirty);
        int *clean = shmem_calloc(count, sizeof(int));
        CHECK(clean != NULL && (uintptr_t)clean % alignof(max_align_t) == 0);
        shmem_int_p(&clean[count / 2], 7, next_pe);
        shmem_barrier_all();
        size_t wrong = 0;
        for (size_t i = 0; i < count; i++)
            wrong += clean[i] != (i == count / 2 ? 7 : 0);
        CHECK_EQ(wrong, 0);
        shmem_free(clean);
    }
    CHECK(shmem_calloc(SIZE_MAX / 2, 4) == NULL);
    CHECK(shmem_calloc(SIZE_MAX / 4 + 2, 4) == NULL); /* the product wraps to a small number */
}

/* Every power of two to two megabytes, on every PE. (Below the size of a pointer the standard promises nothing,
 * but programs that run elsewhere ask for it.) */
static void aligned(void)
{
    for (size_t alignment = 1; alignment <= (size_t)2 << 20; alignment *= 2) {
        char *odd = check_alloc(24), *at = shmem_align(alignment, 100);
        CHECK(at != NULL);
        CHECK_EQ((uintptr_t)at % alignment, 0);
        shmem_char_p(at + 99, (char)me, next_pe);
        shmem_barrier_all();
        CHECK_EQ(at[99], (char)prev_pe);
        shmem_free(odd);
        shmem_free(at);
    }
    char *block = shmem_align(4096, 64);
    memset(block, 'x', 64);
    block = shmem_realloc(block, 10000);
    CHECK(block != NULL);
    for (int i = 0; i < 64; i++)
        CHECK(block[i] == 'x');
    shmem_free(block);
}

/* Growing, shrinking, moving; contents kept; what peers put before they came is kept as well. */
static void reallocated(void)
{
    static const size_t sizes[] = {100, 200, 5000, 40000, 39000, 300, 1, 70000};
    unsigned char *at = shmem_realloc(NULL, sizes[0]);
    CHECK(at != NULL);
    memset(at, me + 1, sizes[0]);
    for (size_t i = 1; i < COUNT_OF(sizes); i++) {
        void *between = check_alloc(64); /* in the way of growing in place */
        size_t keep = sizes[i - 1] < sizes[i] ? sizes[i - 1] : sizes[i];
        memset(at, me + 1, sizes[i - 1]);
        shmem_barrier_all();
        shmem_uchar_p(at, (unsigned char)(100 + me), next_pe);
        at = shmem_realloc(at, sizes[i]);
        CHECK(at != NULL && (uintptr_t)at % alignof(max_align_t) == 0);
        shmem_barrier_all();
        CHECK_EQ(at[0], 100 + prev_pe);
        for (size_t k = 1; k < keep; k++)
            CHECK_EQ(at[k], me + 1);
        CHECK_EQ(shmem_uchar_g(at, next_pe), 100 + me);
        shmem_barrier_all();
        shmem_free(between);
    }
    CHECK(shmem_realloc(at, SIZE_MAX / 2) == NULL); /* the block stays as it was */
    CHECK_EQ(at[0], 100 + prev_pe);
    shmem_barrier_all();
    CHECK(shmem_realloc(at, 0) == NULL); /* frees */
}

/* A block that has no room to grow moves with every byte, and its successor keeps every byte. */
static void moved(void)
{
    enum { OLD = 4096, NEW = 3 * OLD };
    unsigned char *old = check_alloc(OLD), *successor = check_alloc(OLD), kept[OLD];
    for (int i = 0; i < OLD; i++) {
        old[i] = (unsigned char)(i * 7 + i / 256 + me);
        successor[i] = (unsigned char)~old[i];
    }
    memcpy(kept, old, OLD);
    unsigned char *at = shmem_realloc(old, NEW);
    CHECK(at != NULL && at != old);
    for (int i = 0; i < OLD; i++) {
        CHECK_EQ(at[i], kept[i]);
        CHECK_EQ(successor[i], (unsigned char)~kept[i]);
    }
    shmem_free(at);
    shmem_free(successor);
}

/* Small blocks at the address that each alignment asks for lie apart. */
static void aligned_small(void)
{
    enum { BLOCKS = 40 };
    unsigned char *at[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        at[i] = shmem_align(64, (size_t)i % 9 + 1);
        CHECK(at[i] != NULL);
        CHECK_EQ((uintptr_t)at[i] % 64, 0);
        memset(at[i], i, (size_t)i % 9 + 1);
    }
    for (int i = 0; i < BLOCKS; i++) {
        for (int k = 0; k < i % 9 + 1; k++)
            CHECK_EQ(at[i][k], i);
        shmem_free(at[i]);
    }
}

/* More than the heap holds is a null pointer everywhere, and the library goes on; freed memory comes back. */
static void exhausted(void)
{
    CHECK(shmem_malloc(SIZE_MAX) == NULL);
    CHECK(shmem_malloc(SIZE_MAX / 2 + 1) == NULL);
    CHECK(shmem_align(4096, SIZE_MAX - 100) == NULL);
    CHECK(shmem_malloc_with_hints(SIZE_MAX - 4096, SHMEM_MALLOC_SIGNAL_REMOTE) == NULL);
    for (int i = 0; i < 200; i++)
        shmem_free(check_alloc((size_t)1 << 20));
}

static void hinted(void)
{
    static const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                                 SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};
    for (size_t i = 0; i < COUNT_OF(hints); i++) {
        uint64_t *at = shmem_malloc_with_hints(3 * sizeof *at, hints[i]);
        CHECK(at != NULL && (uintptr_t)at % alignof(max_align_t) == 0);
        at[0] = at[1] = at[2] = 1;
        shmem_barrier_all();
        CHECK(shmem_uint64_atomic_fetch_inc(&at[1], next_pe) == 1);
        shmem_barrier_all();
        CHECK(at[0] == 1 && at[1] == 2 && at[2] == 1);
        at = shmem_realloc(at, 5000);
        CHECK(at != NULL && at[1] == 2);
        shmem_barrier_all();
        CHECK(shmem_uint64_atomic_fetch_add(&at[1], 5, next_pe) == 2);
        shmem_barrier_all();
        CHECK(at[1] == 7);
        shmem_free(at);
    }
}

int main(void)
{
    check_start();
    nothing_waits_for_nobody();
    many_blocks();
    zeroed();
    aligned();
    reallocated();
    moved();
    aligned_small();
    exhausted();
    hinted();
    return check_pass();
}
