/* Collectives over active sets that move data: broadcast, collect, fcollect, alltoall, alltoalls of 32 and 64 bits. The root of
 * a broadcast is a place in the set, and its own destination is left alone; work arrays are restored; globals and heap.
 * prints: ^PASS$
 */
#include "sets.h"

enum { BLOCK = 3, STRIDE = 4, ROOM = BLOCK * STRIDE * CHECK_MOST_PES };

/* The two widths as one table; all arrays are of 64-bit words, so they serve both. */
typedef void broadcast_call(void *, const void *, size_t, int, int, int, int, long *);
typedef void collect_call(void *, const void *, size_t, int, int, int, long *);
typedef void strided_call(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int, int, int, long *);
static const struct width {
    size_t bytes;
    broadcast_call *broadcast;
    collect_call *collect, *fcollect, *alltoall;
    strided_call *alltoalls;
} widths[] = {
    {4, shmem_broadcast32, shmem_collect32, shmem_fcollect32, shmem_alltoall32, shmem_alltoalls32},
    {8, shmem_broadcast64, shmem_collect64, shmem_fcollect64, shmem_alltoall64, shmem_alltoalls64},
};

static uint64_t global_dest[ROOM], global_source[ROOM];

static void put_at(void *array, size_t bytes, size_t i, uint32_t value)
{
    uint64_t wide = (uint64_t)value << 32 | value;
    memcpy((char *)array + i * bytes, &wide, bytes);
}

static uint32_t at(const void *array, size_t bytes, size_t i)
{
    uint32_t value;
    memcpy(&value, (const char *)array + i * bytes, sizeof value);
    return value;
}

static void clear(void *dest, const struct width *w)
{
    for (size_t i = 0; i < ROOM; i++)
        put_at(dest, w->bytes, i, 0xeeee);
}

static void broadcast(const struct width *w, const struct set *set, void *dest, void *source, int root, size_t count)
{
    int place = place_in(set);
    clear(dest, w);
    long *sync = set_ready(set);
    for (size_t i = 0; i < ROOM; i++)
        put_at(source, w->bytes, i, (uint32_t)(place * 1000 + (int)i));
    w->broadcast(dest, source, count, root, SET_ARGUMENTS(set), sync);
    set_restored(sync, SHMEM_BCAST_SYNC_SIZE);
    put_at(source, w->bytes, 0, 0xdead);
    for (size_t i = 0; i < ROOM; i++)
        CHECK_EQ(at(dest, w->bytes, i), place != root && i < count ? (uint32_t)(root * 1000 + (int)i) : 0xeeee);
}

static size_t share(int place)
{
    return (size_t)(place * 5 + 2) % 7;
} /* 2, 0, 5, 3, 1, 6, 4 */

static void collect(const struct width *w, const struct set *set, void *dest, void *source, int equal)
{
    int place = place_in(set);
    size_t position = 0;
    clear(dest, w);
    long *sync = set_ready(set);
    for (size_t i = 0; i < 8; i++)
        put_at(source, w->bytes, i, (uint32_t)(place * 100 + (int)i));
    if (equal)
        w->fcollect(dest, source, 6, SET_ARGUMENTS(set), sync);
    else
        w->collect(dest, source, share(place), SET_ARGUMENTS(set), sync);
    set_restored(sync, SHMEM_COLLECT_SYNC_SIZE);
    put_at(source, w->bytes, 0, 0xdead);
    for (int p = 0; p < set->size; p++)
        for (size_t i = 0; i < (equal ? 6 : share(p)); i++)
            CHECK_EQ(at(dest, w->bytes, position++), p * 100 + (int)i);
    for (; position < ROOM; position++)
        CHECK_EQ(at(dest, w->bytes, position), 0xeeee);
}

static void alltoall(const struct width *w, const struct set *set, void *dest, void *source, ptrdiff_t dst,
                     ptrdiff_t sst)
{
    int place = place_in(set);
    clear(dest, w);
    long *sync = set_ready(set);
    for (int to = 0; to < set->size; to++)
        for (int i = 0; i < BLOCK; i++)
            put_at(source, w->bytes, (size_t)((to * BLOCK + i) * sst), (uint32_t)(place * 10000 + to * 100 + i));
    if (dst == 1 && sst == 1)
        w->alltoall(dest, source, BLOCK, SET_ARGUMENTS(set), sync);
    else
        w->alltoalls(dest, source, dst, sst, BLOCK, SET_ARGUMENTS(set), sync);
    set_restored(sync, dst == 1 && sst == 1 ? SHMEM_ALLTOALL_SYNC_SIZE : SHMEM_ALLTOALLS_SYNC_SIZE);
    for (int i = 0; i < ROOM; i++) {
        int element = i / (int)dst, in = i % dst == 0 && element < set->size * BLOCK;
        int want = element / BLOCK * 10000 + place * 100 + element % BLOCK;
        CHECK_EQ(at(dest, w->bytes, (size_t)i), in ? want : 0xeeee);
    }
}

static void everything(const struct width *w, void *dest, void *source)
{
    ON_EACH_SET(set)
    {
        for (int root = 0; root < set->size; root++)
            broadcast(w, set, dest, source, root, root % 2 ? 1 : ROOM - 1);
        broadcast(w, set, dest, source, 0, 0);
        collect(w, set, dest, source, 0);
        collect(w, set, dest, source, 1);
        alltoall(w, set, dest, source, 1, 1);
        alltoall(w, set, dest, source, 3, 2);
        alltoall(w, set, dest, source, 1, STRIDE);
        set_meet(set);
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    sets_create();
    uint64_t *dest = check_alloc(ROOM * 8), *source = check_alloc(ROOM * 8);
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        everything(&widths[i], global_dest, source);
        everything(&widths[i], dest, global_source);
    }
    shmem_free(source);
    shmem_free(dest);
    return check_pass();
}
