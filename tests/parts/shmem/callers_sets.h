/* Active sets of callers.c, which includes this behind its stubs: their arguments at the edges, the slots that they take, and what they
 * pass on. */
#ifndef TESTS_TRUST_CALLERS_SETS_H
#define TESTS_TRUST_CALLERS_SETS_H

#include "shmem/coll/coll.h"
#include "shmem/coll/inner.h"
#include "uccs/sync/team.h"

static struct node node_file;
static bool spans, span_fails;
static int syncs, quiets_of_all, theirs_asked;
static long theirs_of[3]; /* what the leads of three nodes have written down */
static char passed_on[200];

static int span_stub(struct uccs_team *team)
{
    static struct {
        struct uccs_nodes nodes;
        char room[1024]; /* for its leads */
    } made;
    team->far = spans;
    if (spans) {
        made.nodes.count = 3;
        made.nodes.mine = 1;
        team->nodes = &made.nodes;
    }
    return span_fails ? -1 : 0;
}

static void sets_sync_stub(struct uccs_team *team)
{
    syncs += team != 0;
}

static bool far_get_stub(int pe, struct uccs_far_place from, void *dest, size_t bytes)
{
    CHECK(pe >= 0 && pe < 3 && pe != 1 && from.segment == FAR_HEAP && bytes == sizeof *theirs_of);
    memcpy(dest, &theirs_of[pe], bytes);
    theirs_asked++;
    return true;
}

#define uccs_team_span(team) span_stub(team)
#define uccs_team_sync(team) sets_sync_stub(team)
#define uccs_quiet_all() ((void)quiets_of_all++)
#define uccs_nodes_lead_pe(team, node) ((void)(team), (node))
#define uccs_far_get(on, pe, from, dest, bytes, counter) (void)far_get_stub(pe, from, dest, bytes)
#include "shmem/coll/set.c"

#define PASSED(text) CHECK(strcmp(passed_on, text) == 0 && !(passed_on[0] = 0))
#define PASS_ON(...) (CHECK(call && group && !passed_on[0]), (void)snprintf(passed_on, sizeof passed_on, __VA_ARGS__))

void lat_group_broadcast(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes,
                         int root, bool at_root)
{
    CHECK(dest && source);
    PASS_ON("broadcast %zu from %d %d", bytes, root, at_root);
}

void lat_group_collect(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes)
{
    CHECK(dest && source);
    PASS_ON("collect %zu", bytes);
}

void lat_group_fcollect(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes)
{
    CHECK(dest && source);
    PASS_ON("fcollect %zu", bytes);
}

void lat_group_alltoall(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes)
{
    CHECK(dest && source);
    PASS_ON("alltoall %zu", bytes);
}

void lat_group_alltoalls(const char *call, struct uccs_team *group, void *dest, const void *source, ptrdiff_t dst,
                         ptrdiff_t sst, size_t nelems, size_t size)
{
    CHECK(dest && source);
    PASS_ON("alltoalls %td %td %zu %zu", dst, sst, nelems, size);
}

void lat_group_reduce(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n,
                      enum kind kind, enum fold_op op)
{
    CHECK(dest && source);
    PASS_ON("reduce %zu %d %d", n, (int)kind, (int)op);
}

#define SET(start, log, size, psync) lat_set_group("call", start, log, size, psync)
#define BEYOND "reach beyond the job's PEs 0 to 3"
#define OUTSIDE "call: this PE is not in the active set PE_start "

/* This is PE 1 of four. */
static void arguments_of_sets(void)
{
    long *psync = (long *)(void *)heap[0];
    static const int good[][3] = {{0, 0, 2}, {0, 0, 4}, {1, 0, 1}, {1, 0, 3}, {1, 1, 2}, {1, 30, 1}, {1, 2, 1}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(SET(good[i][0], good[i][1], good[i][2], psync)->rank == 1 - good[i][0]);
    REFUSED(SET(0, -1, 2, psync), "call: logPE_stride -1 is out of range");
    REFUSED(SET(1, 31, 1, psync), "call: logPE_stride 31 is out of range");
    REFUSED(SET(1, 32, 1, psync), "call: logPE_stride 32 is out of range");
    REFUSED(SET(0, 0, 5, psync), "call: PE_start 0, logPE_stride 0, PE_size 5 " BEYOND);
    REFUSED(SET(1, 1, 3, psync), "call: PE_start 1, logPE_stride 1, PE_size 3 " BEYOND);
    REFUSED(SET(0, 2, 2, psync), "call: PE_start 0, logPE_stride 2, PE_size 2 " BEYOND);
    REFUSED(SET(1, 0, 0, psync), "call: PE_start 1, logPE_stride 0, PE_size 0 " BEYOND);
    REFUSED(SET(-1, 1, 2, psync), "call: PE_start -1, logPE_stride 1, PE_size 2 " BEYOND);
    REFUSED(SET(1, 30, 5, psync), "call: PE_start 1, logPE_stride 30, PE_size 5 " BEYOND);
    REFUSED(SET(0, 1, 2, psync), OUTSIDE "0, logPE_stride 1, PE_size 2");
    REFUSED(SET(2, 0, 2, psync), OUTSIDE "2, logPE_stride 0, PE_size 2");
    REFUSED(SET(3, 1, 1, psync), OUTSIDE "3, logPE_stride 1, PE_size 1");
    REFUSED(SET(0, 0, 1, psync), OUTSIDE "0, logPE_stride 0, PE_size 1");
    REFUSED(SET(0, 0, 2, 0), "call: pSync is null");
    CHECK(SET(1, 0, 1, 0)->size == 1);
    REFUSED(SET(0, 0, 2, (long *)(void *)elsewhere), text_of("call: pSync %p is not a symmetric address", elsewhere));
    lat_state = LAT_AFTER;
    REFUSED(SET(0, 0, 2, psync), "call: called after the last shmem_finalize");
    lat_state = LAT_RUNNING;
    span_fails = true;
    REFUSED(SET(1, 0, 2, psync), "call: no memory for an active set");
    span_fails = false;
    no_memory = true;
    REFUSED(SET(1, 0, 2, psync), "call: no memory for an active set");
    no_memory = false;
}

/* A set is found again by all that names it, and alone by that; each new one of several PEs takes the next slot. */
static void slots_of_sets(void)
{
    memset(&node_file, 0, sizeof node_file);
    long *psync = (long *)(void *)(heap[0] + 64);
    static const int shapes[][3] = {{0, 0, 2}, {0, 0, 3}, {1, 0, 2}, {1, 1, 2}, {0, 0, 4}, {1, 0, 3}};
    struct uccs_team *made[6];
    for (int i = 0; i < 6; i++) {
        made[i] = SET(shapes[i][0], shapes[i][1], shapes[i][2], psync);
        CHECK(made[i]->slot == NODE_TEAM_SLOTS + i && made[i]->flags == psync && made[i]->size == shapes[i][2]);
        CHECK(made[i]->start == shapes[i][0] && made[i]->stride == 1 << shapes[i][1]);
        CHECK(node_file.sets[i].state == SET_VALID && node_file.sets[i].where[1] == 64 && !node_file.sets[i + 1].state);
    }
    for (int i = 0; i < 6; i++)
        CHECK(SET(shapes[i][0], shapes[i][1], shapes[i][2], psync) == made[i]);
    CHECK(SET(0, 0, 2, psync + 1)->slot == NODE_TEAM_SLOTS + 6);
    CHECK(SET(1, 0, 1, psync)->slot == -1 && !node_file.sets[7].state);
    for (int i = 7; i < NODE_SETS; i++) /* others have the rest, one of them the very set that comes */
        node_file.sets[i] = (struct node_set){.state = SET_VALID,
                                              .start = i == 9 ? 0 : 7,
                                              .stride = 1,
                                              .size = 2,
                                              .where = {UCCS_HEAP, 80}};
    CHECK(SET(0, 0, 2, psync + 2)->slot == NODE_TEAM_SLOTS + 9);
    CHECK(SET(0, 0, 2, psync + 3)->slot == -1);
}

/* Sets that differ in one thing alone are not the same. */
static void sets_of_a_bucket(void)
{
    long *psync = (long *)(void *)heap[0];
    struct set one = {.start = 1, .stride = 2, .size = 3, .group.flags = psync}, *bucket = &one;
    CHECK(find(&bucket, 1, 2, 3, psync) == &one);
    CHECK(!find(&bucket, 0, 2, 3, psync) && !find(&bucket, 1, 4, 3, psync) && !find(&bucket, 1, 2, 4, psync));
    CHECK(!find(&bucket, 1, 2, 3, psync + 1));
}

/* Over nodes a set has a slot where each node has found one. */
static void sets_over_nodes(void)
{
    memset(&node_file, 0, sizeof node_file);
    spans = true;
    for (int without = 0; without <= 3; without++) {
        long *psync = (long *)(void *)(heap[0] + 128) + without;
        for (int node = 0; node < 3; node++)
            theirs_of[node] = node == without ? -1 : node == 0 ? 0 : NODE_TEAM_SLOTS + 7;
        if (without == 1) /* mine has none */
            for (int i = 0; i < NODE_SETS; i++)
                node_file.sets[i] = (struct node_set){.state = SET_VALID};
        syncs = theirs_asked = 0;
        const struct uccs_team *group = SET(0, 0, 3, psync);
        const int mine = without == 1 ? -1 : NODE_TEAM_SLOTS + (without ? without - 1 : 0);
        CHECK(syncs == 2 && theirs_asked == 2 && group->nodes->leads[1].slot == mine);
        CHECK(group->nodes->leads[0].slot == (int)theirs_of[0] && group->nodes->leads[2].slot == (int)theirs_of[2]);
        CHECK(group->slot == (without == 3 ? mine : -1) && group->nodes->near.slot == group->slot);
        CHECK(psync[TEAM_ROUNDS] == TEAM_FLAG_AT_REST);
        memset(&node_file, 0, sizeof node_file);
        for (int i = 0; i < without; i++)
            node_file.sets[i].state = SET_VALID;
    }
    spans = false;
}

static void passed_by_sets(void)
{
    long *psync = (long *)(void *)(heap[0] + 64);
    char data[8];
    lat_set_broadcast("call", data, data, 12, 1, 0, 0, 2, psync);
    PASSED("broadcast 12 from 1 0");
    REFUSED(lat_set_broadcast("call", data, data, 12, 2, 0, 0, 2, psync),
            "call: PE_root 2 is out of range, it counts within the active set of 2 PEs");
    REFUSED(lat_set_broadcast("call", data, data, 12, -1, 0, 0, 2, psync),
            "call: PE_root -1 is out of range, it counts within the active set of 2 PEs");
    lat_set_collect("call", data, data, 13, 0, 0, 2, psync);
    PASSED("collect 13");
    lat_set_fcollect("call", data, data, 14, 0, 0, 2, psync);
    PASSED("fcollect 14");
    lat_set_alltoall("call", data, data, 15, 0, 0, 2, psync);
    PASSED("alltoall 15");
    lat_set_alltoalls("call", data, data, 2, 3, 4, 5, 0, 0, 2, psync);
    PASSED("alltoalls 2 3 4 5");
    lat_set_reduce("call", data, data, 6, KIND_U32, FOLD_MAX, 0, 0, 2, 0, psync);
    char wanted[40];
    snprintf(wanted, sizeof wanted, "reduce 6 %d %d", (int)KIND_U32, (int)FOLD_MAX);
    PASSED(wanted);
    syncs = quiets_of_all = 0;
    lat_sync(0, 0, 2, psync);
    CHECK(syncs == 1 && quiets_of_all == 0);
    lat_barrier(0, 0, 2, psync);
    CHECK(syncs == 2 && quiets_of_all == 1);
}

static void active_sets(void)
{
    rte.node = &node_file;
    arguments_of_sets();
    slots_of_sets();
    sets_of_a_bucket();
    passed_by_sets();
    sets_over_nodes();
}

#endif
