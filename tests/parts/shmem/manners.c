/* How member 1 of a group of three on one node does each collective, as the way is chosen: what it posts, whom it awaits and in which
 * order, where it syncs, and what its memory and that of the others hold then. */
#include "manners.h"

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
    afresh(LAT_BY_POST, 5); /* the largest blocks that lie beside their size, and in a large place */
    for (int rank = 0; rank < SIZE; rank++)
        ((struct block *)(void *)posted[rank])->bytes = rank == 0 ? most : rank == 1 ? 0 : POST_LARGE;
    lat_group_collect("call", &group, dest, source, most);
    NOTED("choose 2 0; begin 4096; publish 56; await 0; await 1; await 2; ");
    CHECK(memcmp(own_posts + sizeof(uint64_t), source, most) == 0);
    CHECK(memcmp(dest, posted[0] + sizeof(uint64_t), most) == 0 && memcmp(dest + most, source, most) == 0);
    CHECK(memcmp(dest + 2 * most, posted[2], POST_LARGE) == 0 && dest[2 * most + POST_LARGE] == 99);
    afresh(LAT_BY_POST, 5);
    for (int rank = 0; rank < SIZE; rank++)
        ((struct block *)(void *)posted[rank])->bytes = 0;
    lat_group_collect("call", &group, dest, source, POST_LARGE + 4);
    NOTED("choose 2 0; begin 4096; publish 56; await 0; await 1; await 2; sync; ");
    CHECK(memcmp(dest, source, POST_LARGE + 4) == 0 && dest[POST_LARGE + 4] == 99);
    struct uccs_team alone = {.size = 1};
    afresh(LAT_BY_POST, 5);
    lat_group_collect("call", &alone, dest, source, 4);
    holds(ME, 10, UNTOUCHED, UNTOUCHED);
    lat_group_collect("call", &alone, 0, 0, 0);
    NOTED("");
}

/* A set without a slot: size and place lie behind the flags of pSync while all look. */
static void others_tell(void)
{
    const long *mine = &group.flags[TEAM_ROUNDS];
    CHECK(mine[0] == 4 && mine[1] == UCCS_HEAP && mine[2] == 8 && mine[3] == 77);
}

static void collects_by_flags(void)
{
    afresh(LAT_BY_POST, -1);
    group.flags = (long *)(void *)(heap[ME] + 16384);
    for (int rank = 0; rank < SIZE; rank++) {
        long *theirs = (long *)(void *)(heap[rank] + 16384) + TEAM_ROUNDS;
        memcpy(theirs, (long[]){rank == 0 ? 8 : 0, UCCS_HEAP, 12, 77}, 4 * sizeof(long));
    }
    at_sync = others_tell;
    lat_group_collect("call", &group, dest, source + 8, 4);
    NOTED("sync; sync; ");
    holds(ME, 3, 4, 12);
    const long *mine = &group.flags[TEAM_ROUNDS];
    CHECK(mine[0] == TEAM_FLAG_AT_REST && mine[1] == TEAM_FLAG_AT_REST && mine[2] == TEAM_FLAG_AT_REST);
    CHECK(mine[3] == 77 && !at_sync);
    char elsewhere[8];
    lat_group_collect("call", &group, dest, elsewhere, 0);
    NOTED("sync; sync; ");
    REFUSED(lat_group_collect("call", &group, dest, elsewhere, 4), "call: source of 1");
    noted[0] = 0;
    group.flags = 0;
}

/* The second piece of a long vector: mine comes from my source, the others' lie in their posts again. */
static void folds_of_pieces(void)
{
    enum { N = POST_LARGE / 4 + 6 };
    afresh(LAT_BY_POST, 5);
    lat_group_reduce("call", &group, dest, source, N, KIND_I32, FOLD_SUM);
    NOTED("choose 6 4120; begin 4096; publish 4096; await 0; await 2; begin 24; publish 24; await 0; await 2; ");
    for (int i = 0; i < N; i++)
        CHECK(word(ME, i) == 30 + i + 2 * (i % (POST_LARGE / 4)));
    CHECK(word(ME, N) == UNTOUCHED && memcmp(own_posts, source + POST_LARGE, 24) == 0 && group.settled == 11);
    afresh(LAT_BY_LEADER, 5);
    lat_group_reduce("call", &group, dest, source, N, KIND_I32, FOLD_SUM);
    for (int i = 0; i < N; i++)
        CHECK(word(ME, i) == i % (POST_LARGE / 4));
    CHECK(word(ME, N) == UNTOUCHED && memcmp(own_posts, source + POST_LARGE, 24) == 0 && group.settled == 12);
    afresh(LAT_BY_POST, 5);
    lat_group_scan("call", &group, dest, source, N, KIND_I32, false);
    for (int i = 0; i < N; i++)
        CHECK(word(ME, i) == i % (POST_LARGE / 4));
    CHECK(word(ME, N) == UNTOUCHED && memcmp(own_posts, source + POST_LARGE, 24) == 0 && group.settled == 11);
    struct uccs_team alone = {.size = 1};
    lat_group_reduce("call", &alone, dest, source, 2, KIND_I32, FOLD_SUM);
    CHECK(word(ME, 0) == 10 && word(ME, 1) == 11 && word(ME, 2) == 2);
    lat_group_reduce("call", &alone, source, source, 2, KIND_I32, FOLD_SUM);
    noted[0] = 0;
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
    collects_by_flags();
    folds();
    folds_of_pieces();
    scans();
    over_nodes();
    return 0;
}
