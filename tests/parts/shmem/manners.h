/* The group of manners.c and what stands in for posts, syncs and other nodes: each call is noted as text. */
#ifndef TESTS_TRUST_MANNERS_H
#define TESTS_TRUST_MANNERS_H

#include "noted.h"
#include "refused.h"

#include "uccs/core/memory.h"
#include "uccs/sync/post.h"

enum { SIZE = 3, ME = 1, BYTES = 65536 };

static _Alignas(64) char heap[SIZE][BYTES], own_posts[POST_LARGE], posted[SIZE][POST_LARGE];

static uint64_t begin_stub(struct uccs_team *group, size_t bytes)
{
    note("begin %zu; ", bytes);
    return ++group->exchange;
}

static const void *await_stub(const struct uccs_team *group, int rank, size_t bytes)
{
    CHECK(rank >= 0 && rank < group->size);
    note("await %d; ", rank);
    return bytes && rank == ME ? own_posts : posted[rank];
}

static void (*at_sync)(void); /* what members see when they meet */

static void sync_stub(struct uccs_team *group)
{
    note("sync; ");
    group->settled = group->exchange;
    if (at_sync)
        at_sync();
    at_sync = 0;
}

#define uccs_post_begin(group, bytes) begin_stub(group, bytes)
#define uccs_post_room(group, bytes) ((void)(group), (void)(bytes), (void *)own_posts)
#define uccs_post_publish(group, bytes) ((void)(group), note("publish %zu; ", (size_t)(bytes)))
#define uccs_post_await(group, rank, bytes) await_stub(group, rank, bytes)
#define uccs_post_data(group, rank, bytes) ((void)(group), (void)(bytes), (const void *)posted[rank])
#define uccs_team_sync(group) sync_stub(group)
#define uccs_memory_find(addr, offset) find_stub(addr, offset)

static enum uccs_segment find_stub(const void *addr, size_t *offset)
{
    *offset = (size_t)((const char *)addr - heap[ME]);
    return *offset < BYTES ? UCCS_HEAP : UCCS_NOWHERE;
}

#include "shmem/coll/inner.h"
#include "shmem/coll/nodes.h"

static enum lat_algorithm way;

enum lat_algorithm lat_coll_choose(enum lat_coll coll, const struct uccs_team *group, size_t bytes)
{
    (void)group;
    note("choose %d %zu; ", (int)coll, bytes);
    return way;
}

#define copy_elements alltoall_elements
#define by_post alltoall_post
#define by_pull alltoall_pull
#define by_push alltoall_push
#include "shmem/coll/alltoall.c"
#undef by_post
#undef by_pull
#undef by_push
#include "shmem/coll/broadcast.c"
#include "shmem/coll/collect.c"
#include "shmem/coll/reduce.c"

static struct uccs_team group = {.rank = ME, .size = SIZE, .stride = 1};
static char *const source = heap[ME], *const dest = heap[ME] + BYTES / 2;

void *lat_resolve(const char *call, const char *argument, const void *addr, int pe)
{
    (void)addr;
    lat_fail(call, "%s of %d", argument, pe);
}

#pragma GCC diagnostic ignored "-Wunused-parameter" /* of the ways over nodes, which only tell that they were called */
#define FAR_WAY(name, ...)                  \
    void lat_nodes_##name(__VA_ARGS__)      \
    {                                       \
        CHECK(call &&to &&from && of->far); \
        note("nodes " #name "; ");          \
    }
#define FAR_WHAT const char *call, struct uccs_team *of
FAR_WAY(broadcast, FAR_WHAT, void *to, const void *from, size_t bytes, int root, bool at_root)
FAR_WAY(collect, FAR_WHAT, char *to, const void *from, size_t bytes)
FAR_WAY(fcollect, FAR_WHAT, char *to, const void *from, size_t bytes)
FAR_WAY(alltoall, FAR_WHAT, char *to, const char *from, size_t bytes)
FAR_WAY(alltoalls, FAR_WHAT, char *to, const char *from, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size)
FAR_WAY(reduce, FAR_WHAT, void *to, const void *from, size_t n, enum kind kind, enum fold_op op)
FAR_WAY(scan, FAR_WHAT, void *to, const void *from, size_t n, enum kind kind, bool inclusive)

/* Member r's source holds 10 r + i / 4 % 4 in its word i; so does what it posts; dests hold 99. */
static void afresh(enum lat_algorithm chosen, int slot)
{
    for (int rank = 0; rank < SIZE; rank++)
        for (int i = 0; i < BYTES / 8; i++)
            ((int *)(void *)heap[rank])[i] = 10 * rank + i;
    for (int rank = 0; rank < SIZE; rank++) {
        memcpy(posted[rank], heap[rank], POST_LARGE);
        memset(heap[rank] + BYTES / 2, 99, BYTES / 2);
    }
    memset(own_posts, 98, sizeof own_posts);
    group.slot = slot;
    group.settled = 3;
    group.exchange = 10;
    way = chosen;
    noted[0] = 0;
}

static int word(int rank, int i)
{
    return ((const int *)(const void *)(heap[rank] + BYTES / 2))[i];
}

#define UNTOUCHED 0x63636363

/* My dest, and those of the others where the way stores there; the next word is as it was. */
static void holds(int rank, int a, int b, int c)
{
    CHECK(word(rank, 0) == a && word(rank, 1) == b && word(rank, 2) == c && word(rank, 3) == UNTOUCHED);
}

#endif
