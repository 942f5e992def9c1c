/* How member 1 of a group of three on one node does each collective, as the way is chosen: what it posts, whom it awaits and in which
 * order, where it syncs, and what its memory and that of the others hold then. */
#include "refused.h"

#include "uccs/core/memory.h"
#include "uccs/sync/post.h"

enum { SIZE = 3, ME = 1, BYTES = 65536 };

static _Alignas(64) char heap[SIZE][BYTES], own_posts[POST_LARGE], posted[SIZE][POST_LARGE];
static char noted[1000];

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    const size_t at = strlen(noted);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(noted + at, sizeof noted - at, format, arguments);
    va_end(arguments);
}

#define NOTED(text)                                                                                            \
    do {                                                                                                       \
        if (strcmp(noted, text) != 0) {                                                                        \
            fprintf(stderr, "%s:%d: not true: it does \"%s\", but \"%s\"\n", __FILE__, __LINE__, text, noted); \
            abort();                                                                                           \
        }                                                                                                      \
        noted[0] = 0;                                                                                          \
    } while (0)

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

static void sync_stub(struct uccs_team *group)
{
    note("sync; ");
    group->settled = group->exchange;
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
    group.settled = group.exchange = 10;
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

static void alltoalls_of_all_ways(void)
{
    afresh(LAT_BY_POST, 5);
    lat_group_alltoall("call", &group, dest, source, 4);
    NOTED("choose 4 12; begin 12; publish 12; await 2; await 0; ");
    holds(ME, 1, 11, 21);
    CHECK(memcmp(own_posts, source, 12) == 0 && own_posts[12] == 98 && group.settled == 10);
    afresh(LAT_BY_POST, 5);
    lat_group_alltoall("call", &group, dest, source, 2000);
    NOTED("choose 4 6000; begin 4095; publish 4095; await 2; await 0; begin 1905; publish 1905; await 2; await 0; ");
    afresh(LAT_BY_PULL, 5);
    lat_group_alltoall("call", &group, dest, source, 4);
    NOTED("choose 4 12; begin 0; publish 0; await 2; await 0; sync; ");
    holds(ME, 1, 11, 21);
    holds(0, UNTOUCHED, UNTOUCHED, UNTOUCHED);
    afresh(LAT_BY_PUSH, 5);
    lat_group_alltoall("call", &group, dest, source, 4);
    NOTED("choose 4 12; begin 0; publish 0; await 2; await 0; sync; ");
    holds(ME, UNTOUCHED, 11, UNTOUCHED);
    holds(0, UNTOUCHED, 10, UNTOUCHED);
    holds(2, UNTOUCHED, 12, UNTOUCHED);
    afresh(LAT_BY_POST, -1);
    lat_group_alltoall("call", &group, dest, source, 4);
    NOTED("choose 4 12; sync; sync; ");
    holds(ME, 1, 11, 21);
    lat_group_alltoall("call", &group, 0, 0, 0);
    lat_group_alltoalls("call", &group, 0, 0, 1, 1, 0, 4);
    NOTED("");
    for (int push = 0; push < 2; push++) {
        afresh(push ? LAT_BY_PUSH : LAT_BY_PULL, 5);
        lat_group_alltoalls("call", &group, dest, source, 2, 3, 2, 4);
        NOTED("choose 5 8; begin 0; publish 0; await 1; await 2; await 0; sync; ");
        CHECK(word(ME, 4) == 16 && word(ME, 5) == UNTOUCHED && word(ME, 6) == 19 && word(ME, 7) == UNTOUCHED);
        CHECK(word(ME, 0) == (push ? UNTOUCHED : 6) && word(ME, 10) == (push ? UNTOUCHED : 29));
        CHECK(word(0, 4) == (push ? 10 : UNTOUCHED) && word(2, 6) == (push ? 25 : UNTOUCHED));
    }
}

static void broadcasts(void)
{
    afresh(LAT_BY_POST, 5);
    lat_group_broadcast("call", &group, dest, source, 12, 2, true);
    NOTED("choose 1 12; begin 12; await 2; ");
    holds(ME, 20, 21, 22);
    for (int at_root = 0; at_root < 2; at_root++)
        for (int posts = 0; posts < 2; posts++) {
            afresh(posts ? LAT_BY_POST : LAT_BY_PULL, 5);
            lat_group_broadcast("call", &group, dest, source, 12, ME, at_root);
            NOTED(posts ? "choose 1 12; begin 12; publish 12; " : "choose 1 12; begin 0; publish 0; sync; ");
            if (at_root)
                holds(ME, 10, 11, 12);
            else
                holds(ME, UNTOUCHED, UNTOUCHED, UNTOUCHED);
        }
    afresh(LAT_BY_POST, 5);
    lat_group_broadcast("call", &group, dest, source, POST_LARGE + 4, 0, true);
    NOTED("choose 1 4100; begin 4096; await 0; begin 4; await 0; ");
    afresh(LAT_BY_PULL, 5);
    lat_group_broadcast("call", &group, dest, source, 12, 0, true);
    NOTED("choose 1 12; begin 0; publish 0; await 0; sync; ");
    holds(ME, 0, 1, 2);
    afresh(LAT_BY_POST, -1);
    lat_group_broadcast("call", &group, dest, source, 12, 2, true);
    NOTED("sync; sync; ");
    holds(ME, 20, 21, 22);
    lat_group_broadcast("call", &group, 0, 0, 0, 2, true);
    NOTED("");
}

static void collects(void)
{
    afresh(LAT_BY_POST, 5);
    lat_group_fcollect("call", &group, dest, source, 4);
    NOTED("choose 3 4; begin 4; publish 4; await 2; await 0; ");
    holds(ME, 0, 10, 20);
    afresh(LAT_BY_POST, 5);
    lat_group_fcollect("call", &group, dest, source, POST_LARGE + 8);
    NOTED("choose 3 4104; begin 4096; publish 4096; await 2; await 0; begin 8; publish 8; await 2; await 0; ");
    afresh(LAT_BY_PULL, 5);
    lat_group_fcollect("call", &group, dest, source, 4);
    NOTED("choose 3 4; begin 0; publish 0; await 2; await 0; sync; ");
    holds(ME, 0, 10, 20);
    afresh(LAT_BY_PUSH, 5);
    lat_group_fcollect("call", &group, dest, source, 4);
    NOTED("choose 3 4; begin 0; publish 0; await 2; await 0; sync; ");
    holds(ME, UNTOUCHED, 10, UNTOUCHED);
    holds(0, UNTOUCHED, 10, UNTOUCHED);
    holds(2, UNTOUCHED, 10, UNTOUCHED);
    afresh(LAT_BY_POST, -1);
    lat_group_fcollect("call", &group, dest, source, 4);
    NOTED("choose 3 4; sync; sync; ");
    lat_group_fcollect("call", &group, 0, 0, 0);
    NOTED("");
}

/* What the members post in a collect: sizes, and small data or the place of a large block. */
static void collects_of_sizes(void)
{
    static const size_t most = POST_SMALL - sizeof(uint64_t);
    for (int pulls = 0; pulls < 2; pulls++) {
        afresh(pulls ? LAT_BY_PULL : LAT_BY_POST, 5);
        struct block *theirs[SIZE];
        for (int rank = 0; rank < SIZE; rank++)
            theirs[rank] = (struct block *)(void *)posted[rank];
        theirs[0]->bytes = pulls ? 4 : most + 4;
        theirs[0]->place = (struct place){UCCS_HEAP, 8}; /* by post: a middling block lies in the large place */
        theirs[2]->bytes = 0;
        lat_group_collect("call", &group, dest, source, 4);
        NOTED(pulls ? "choose 2 0; begin 4096; publish 56; await 0; await 1; await 2; sync; "
                    : "choose 2 0; begin 4096; publish 56; await 0; await 1; await 2; ");
        const struct block *mine = (const struct block *)(const void *)own_posts;
        CHECK(mine->bytes == 4 && (pulls ? mine->place.segment == UCCS_HEAP && mine->place.offset == 0
                                         : memcmp(mine->data, source, 4) == 0));
        if (pulls)
            holds(ME, 2, 10, UNTOUCHED);
        else
            CHECK(word(ME, (int)most / 4 + 1) == 10 && word(ME, (int)most / 4 + 2) == UNTOUCHED && group.settled == 10);
    }
    struct uccs_team alone = {.size = 1};
    afresh(LAT_BY_POST, 5);
    lat_group_collect("call", &alone, dest, source, 4);
    holds(ME, 10, UNTOUCHED, UNTOUCHED);
    lat_group_collect("call", &alone, 0, 0, 0);
    NOTED("");
}

static void folds(void)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        char *from = in_place ? dest : source;
        afresh(LAT_BY_POST, 5);
        memcpy(dest, source, in_place ? 8 : 0);
        lat_group_reduce("call", &group, dest, from, 2, KIND_I32, FOLD_SUM);
        NOTED("choose 6 8; begin 8; publish 8; await 0; await 2; ");
        holds(ME, 30, 33, UNTOUCHED);
        CHECK(group.settled == 10);
        afresh(LAT_BY_LEADER, 5);
        lat_group_reduce("call", &group, dest, from, 2, KIND_I32, FOLD_SUM);
        NOTED("choose 6 8; begin 8; publish 8; begin 8; await 0; ");
        holds(ME, 0, 1, UNTOUCHED);
        CHECK(group.settled == 10 && group.exchange == 12);
    }
    afresh(LAT_BY_SHARE, 5);
    lat_group_reduce("call", &group, dest, source, 40, KIND_I32,
                     FOLD_SUM); /* the lines of 16 words 0, 1, 2 have an owner each */
    NOTED("choose 6 160; begin 0; publish 0; await 2; await 0; sync; ");
    for (int rank = 0; rank < SIZE; rank++)
        CHECK(word(rank, 15) == UNTOUCHED && word(rank, 16) == 78 && word(rank, 31) == 123 &&
              word(rank, 32) == UNTOUCHED);
    afresh(LAT_BY_POST, -1);
    lat_group_reduce("call", &group, dest, source, 40, KIND_I32, FOLD_SUM);
    NOTED("choose 6 160; sync; sync; ");
    CHECK(word(2, 16) == 78);
    lat_group_reduce("call", &group, 0, 0, 0, KIND_I32, FOLD_SUM);
    NOTED("");
}

static void scans(void)
{
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        afresh(LAT_BY_POST, 5);
        lat_group_scan("call", &group, dest, source, 2, KIND_I32, inclusive);
        NOTED(inclusive ? "choose 7 8; begin 8; publish 8; await 0; await 1; await 2; "
                        : "choose 7 8; begin 8; publish 8; await 0; await 1; await 2; ");
        holds(ME, inclusive ? 10 : 0, inclusive ? 12 : 1, UNTOUCHED);
        CHECK(group.settled == 10);
        afresh(LAT_BY_SHARE, 5);
        lat_group_scan("call", &group, dest, source, 40, KIND_I32, inclusive);
        NOTED("choose 7 160; begin 0; publish 0; await 2; await 0; sync; ");
        CHECK(word(0, 16) == (inclusive ? 16 : 0) && word(1, 16) == (inclusive ? 42 : 16));
        CHECK(word(2, 16) == (inclusive ? 78 : 42) && word(2, 15) == UNTOUCHED && word(2, 32) == UNTOUCHED);
        struct uccs_team alone = {.size = 1};
        afresh(LAT_BY_POST, 5);
        lat_group_scan("call", &alone, dest, source, 2, KIND_I32, inclusive);
        holds(ME, inclusive ? 10 : 0, inclusive ? 11 : 0, UNTOUCHED);
        lat_group_scan("call", &group, 0, 0, 0, KIND_I32, inclusive);
        NOTED("");
    }
    afresh(LAT_BY_POST, -1);
    lat_group_scan("call", &group, dest, source, 2, KIND_I32, true);
    NOTED("sync; sync; ");
}

static void over_nodes(void)
{
    afresh(LAT_BY_POST, 5);
    group.far = true;
    lat_group_broadcast("call", &group, dest, source, 4, 0, true);
    lat_group_collect("call", &group, dest, source, 4);
    lat_group_fcollect("call", &group, dest, source, 4);
    NOTED("nodes broadcast; nodes collect; nodes fcollect; ");
    lat_group_alltoall("call", &group, dest, source, 4);
    lat_group_alltoalls("call", &group, dest, source, 1, 1, 1, 4);
    lat_group_reduce("call", &group, dest, source, 1, KIND_I32, FOLD_SUM);
    lat_group_scan("call", &group, dest, source, 1, KIND_I32, true);
    NOTED("nodes alltoall; nodes alltoalls; nodes reduce; nodes scan; ");
    group.far = false;
}

int main(void)
{
    lat_state = LAT_RUNNING;
    uccs_core = (struct uccs_core){.npes = SIZE,
                                   .pes = SIZE,
                                   .size = SIZE,
                                   .me = ME,
                                   .index = ME,
                                   .heap_start = (uintptr_t)heap[ME],
                                   .heap_peers = (uintptr_t)heap[0],
                                   .heap_stride = BYTES,
                                   .heap_bytes = BYTES};
    alltoalls_of_all_ways();
    broadcasts();
    collects();
    collects_of_sizes();
    folds();
    scans();
    over_nodes();
    return 0;
}
