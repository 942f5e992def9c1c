/* Active sets in collectives.c: which are allowed, which are the same, and the slots that they have. One PE, alone. */
#ifndef TESTS_TRUST_COLLECTIVES_SETS_H
#define TESTS_TRUST_COLLECTIVES_SETS_H

#include "collectives_stub.h"

static int require_calls, their_slot;
static bool is_far, no_span;
static struct uccs_nodes *far_nodes;

static void test_require(const char *call)
{
    CHECK(call != 0);
    require_calls++;
}

int test_span(struct uccs_team *team)
{
    if (no_span)
        return -1;
    team->far = is_far;
    team->nodes = is_far ? far_nodes : 0;
    return 0;
}

bool test_far_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t count,
                  uccs_counter counter)
{
    const long slot = their_slot;
    CHECK(!on && !counter && pe == first_of[1] && from.segment == FAR_HEAP && count == sizeof slot);
    memcpy(dest, &slot, sizeof slot);
    return true;
}

static long *psync_at(size_t word)
{
    return (long *)(void *)heap_of(now) + word;
}

static struct uccs_team *group_of(int start, int logstride, int members, long *psync)
{
    struct uccs_team *team = lat_set_group("set", start, logstride, members, psync);
    CHECK(!owned_held);
    return team;
}

static void test_allowed(void)
{
    uccs_core.npes = 6, now = 2;
    uccs_core.me = 2;
    check("set", 0, 0, 6, psync_at(0)), check("set", 2, 0, 1, 0), check("set", 0, 1, 3, psync_at(0));
    check("set", 0, 1, 2, psync_at(0)), check("set", 2, 30, 1, 0), check("set", 1, 0, 2, psync_at(0));
    CHECK(require_calls == 6);
    OWNED_FAILS(check("set", 0, -1, 2, psync_at(0)), "logPE_stride -1 is out of range");
    OWNED_FAILS(check("set", 0, 31, 2, psync_at(0)), "logPE_stride 31 is out of range");
    OWNED_FAILS(check("set", 0, 0, 0, psync_at(0)), "PE_size 0 reach beyond");
    OWNED_FAILS(check("set", -1, 0, 4, psync_at(0)), "PE_start -1");
    OWNED_FAILS(check("set", 0, 0, 7, psync_at(0)), "reach beyond the job's PEs 0 to 5");
    OWNED_FAILS(check("set", 0, 1, 4, psync_at(0)), "reach beyond");
    OWNED_FAILS(check("set", 0, 30, 5, psync_at(0)), "reach beyond");
    OWNED_FAILS(check("set", 3, 0, 2, psync_at(0)), "this PE is not in the active set PE_start 3");
    OWNED_FAILS(check("set", 1, 1, 2, psync_at(0)), "not in the active set");
    OWNED_FAILS(check("set", 0, 0, 2, psync_at(0)), "not in the active set");
    OWNED_FAILS(check("set", 0, 1, 1, psync_at(0)), "not in the active set");
    OWNED_FAILS(check("set", 0, 0, 6, 0), "pSync is null");
    OWNED_FAILS(lat_set_broadcast("cast", 0, 0, 0, -1, 2, 0, 1, 0), "PE_root -1 is out of range");
    OWNED_FAILS(lat_set_broadcast("cast", 0, 0, 0, 1, 2, 0, 1, 0), "counts within the active set of 1 PEs");
}

/* The same four words name the same group, others another one, whatever bucket they lie in. */
static void test_same(void)
{
    enum { SETS = 3 * BUCKETS };
    static struct uccs_team *made[SETS];
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < SETS; i++) {
            const int start = i % 3 == 1 ? 1 : 0, logstride = i % 3 == 2,
                      members = i % 3 == 2 ? 2 + (int)(i / 3 % 2) : 3;
            struct uccs_team *team = group_of(start, logstride, members, psync_at(100 + i / 6));
            CHECK(turn == 0 || team == made[i]);
            CHECK(team->size == members && team->flags == psync_at(100 + i / 6));
            CHECK(team->stride == 1 << logstride && team->rank == (2 - start) >> logstride);
            CHECK(team->start == start - (int)uccs_core.first);
            for (size_t k = 0; k < i && turn == 0; k++)
                CHECK((team == made[k]) == (i % 3 != 2 && k % 3 == i % 3 && k / 6 == i / 6));
            made[i] = team;
        }
}

static void finish_claim(void)
{
    if (pauses == 3)
        rte.node->sets[0].state = SET_VALID;
}

/* Sets of a node have slots in the order in which they come; a peer may have made this one. */
static void test_slots(void)
{
    memset(rte.node->sets, 0, sizeof rte.node->sets);
    for (int i = 0; i < NODE_SETS; i++) {
        CHECK(slot_of("set", 0, 1, 3, psync_at((size_t)i)) == NODE_TEAM_SLOTS + i);
        CHECK(rte.node->sets[i].state == SET_VALID && rte.node->sets[i].where[1] == 8 * (size_t)i);
    }
    CHECK(slot_of("set", 0, 1, 3, psync_at(NODE_SETS)) == -1); /* there are too many */
    CHECK(slot_of("set", 0, 1, 3, psync_at(5)) == NODE_TEAM_SLOTS + 5);
    CHECK(slot_of("set", 0, 1, 2, psync_at(5)) == -1 && slot_of("set", 1, 1, 3, psync_at(5)) == -1);
    CHECK(slot_of("set", 0, 2, 3, psync_at(5)) == -1);
    rte.node->sets[0].state = SET_CLAIMED; /* its maker is just writing */
    pauses = 0;
    while_paused = finish_claim;
    CHECK(slot_of("set", 0, 1, 3, psync_at(0)) == NODE_TEAM_SLOTS && pauses == 3);
    while_paused = 0;
    static long private_word;
    OWNED_FAILS((void)slot_of("set", 0, 1, 3, &private_word), "set: an address of pSync");
}

static void test_made(void)
{
    owned_left = 0;
    OWNED_FAILS((void)make("set", 0, 1, 3, psync_at(0)), "no memory for an active set");
    no_span = true;
    OWNED_FAILS((void)make("set", 0, 1, 3, psync_at(0)), "no memory for an active set");
    no_span = false;
    memset(rte.node->sets, 0, sizeof rte.node->sets);
    CHECK(make("set", 2, 1, 1, 0)->group.slot == -1 && rte.node->sets[0].state == SET_FREE); /* of one PE */
    CHECK(make("set", 0, 1, 3, psync_at(9))->group.slot == NODE_TEAM_SLOTS);
}

/* Over nodes a set has a slot where all nodes have one. */
static void test_nodes_agree(void)
{
    is_far = true;
    far_nodes = pes[now].nodes;
    for (int i = 0; i < 2; i++) {
        their_slot = i ? -1 : 77;
        syncs = 0;
        psync_at(9)[TEAM_ROUNDS] = 5;
        memset(rte.node->sets, 0, sizeof rte.node->sets);
        const struct uccs_team *group = &make("set", 0, 1, 3, psync_at(9))->group;
        CHECK(syncs == 2 && group->slot == (i ? -1 : NODE_TEAM_SLOTS) && far_nodes->near.slot == group->slot);
        CHECK(far_nodes->leads[far_nodes->mine].slot == NODE_TEAM_SLOTS && far_nodes->leads[1].slot == their_slot);
        CHECK(psync_at(9)[TEAM_ROUNDS] == TEAM_FLAG_AT_REST);
    }
    is_far = false;
}

static void test_sets(void)
{
    static struct node node;
    struct node *before = rte.node;
    rte.node = &node;
    make_job("42", 0, SLOT);
    become(2);
    alone = true;
    test_allowed();
    test_same();
    test_slots();
    test_made();
    test_nodes_agree();
    alone = false;
    rte.node = before;
    while (owned_count)
        free(owned_all[0].start); /* sets last as long as the process */
}

#endif
