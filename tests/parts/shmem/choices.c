/* Which way a collective goes: at the last size and the last number of members of each row of the tables and one beyond, with a core for
 * each PE and without, on one node and over several; and what LATERAL_COLL_* may force. */
#include "base/env.h"
#include "unit/check.h"

#include <string.h>

static const char *asked[ENV_COUNT];

static const char *text_stub(enum env_id id)
{
    return asked[id] ? asked[id] : "";
}

#define env_text(id) text_stub(id)
#include "shmem/coll/select.c"

enum { MORE = 1 << 20 };

/* The way of so many bytes in a team of so many, with enough cores and with few. */
static void is(enum lat_coll coll, int pes, size_t bytes, enum lat_algorithm enough, enum lat_algorithm few)
{
    const struct uccs_team group = {.size = pes};
    uccs_core.oversubscribed = 0;
    CHECK(lat_coll_choose(coll, &group, bytes) == enough);
    uccs_core.oversubscribed = 1;
    CHECK(lat_coll_choose(coll, &group, bytes) == few);
}

static void on_one_node(void)
{
    static const enum lat_coll moves[] = {LAT_COLL_BROADCAST, LAT_COLL_FCOLLECT, LAT_COLL_ALLTOALL};
    for (int i = 0; i < 3; i++)
        for (int pes = 2; pes <= 300; pes += 149) {
            is(moves[i], pes, 2048, LAT_BY_POST, LAT_BY_POST);
            is(moves[i], pes, 2049, LAT_BY_PULL, LAT_BY_POST);
            is(moves[i], pes, POST_LARGE, LAT_BY_PULL, LAT_BY_POST);
            is(moves[i], pes, POST_LARGE + 1, LAT_BY_PULL, LAT_BY_PULL);
            is(LAT_COLL_COLLECT, pes, MORE, LAT_BY_POST, LAT_BY_POST);
            is(LAT_COLL_ALLTOALLS, pes, 1, LAT_BY_PULL, LAT_BY_PULL);
        }
    for (enum lat_coll coll = LAT_COLL_REDUCE; coll <= LAT_COLL_SCAN; coll++) {
        const enum lat_algorithm small = coll == LAT_COLL_REDUCE ? LAT_BY_LEADER : LAT_BY_SHARE;
        is(coll, 2, 2048, LAT_BY_POST, LAT_BY_POST);
        is(coll, 2, 2049, LAT_BY_SHARE, LAT_BY_POST);
        for (int pes = 3; pes <= 16; pes += 13) {
            is(coll, pes, 512, LAT_BY_POST, LAT_BY_POST);
            is(coll, pes, 513, LAT_BY_SHARE, LAT_BY_POST);
            is(coll, pes, POST_LARGE, LAT_BY_SHARE, LAT_BY_POST);
            is(coll, pes, POST_LARGE + 1, LAT_BY_SHARE, LAT_BY_SHARE);
        }
        is(coll, 17, POST_SMALL, small, small);
        is(coll, 17, POST_SMALL + 1, LAT_BY_SHARE, LAT_BY_SHARE);
    }
}

static struct uccs_nodes nodes = {.count = 3, .widest = 4};

static enum lat_algorithm far_way(enum lat_coll coll, size_t bytes)
{
    const struct uccs_team group = {.size = 10, .nodes = &nodes};
    return lat_coll_choose_far(coll, &group, bytes);
}

/* `most` bytes of one PE go by mail, one more does not. */
static void mail_until(enum lat_coll coll, size_t most)
{
    CHECK(far_way(coll, most) == LAT_BY_MAIL && far_way(coll, most + 1) == LAT_BY_RAIL);
}

static void over_nodes(void)
{
    mail_until(LAT_COLL_BROADCAST, 2 * NODES_RING_BYTES);
    mail_until(LAT_COLL_FCOLLECT, NODES_BOX / (3 * 4));
    mail_until(LAT_COLL_ALLTOALL, NODES_BOX / (3 * 4 * 10));
    mail_until(LAT_COLL_ALLTOALLS, NODES_BOX / (3 * 4 * 10));
    mail_until(LAT_COLL_REDUCE, NODES_BOX / (4 * 2));
    CHECK(far_way(LAT_COLL_COLLECT, MORE) == LAT_BY_MAIL && far_way(LAT_COLL_SCAN, MORE) == LAT_BY_MAIL);
    const struct uccs_team set = {.size = 10, .nodes = &nodes, .slot = -1};
    for (enum lat_coll coll = LAT_COLL_BROADCAST; coll < LAT_COLLS; coll++)
        CHECK(lat_coll_choose_far(coll, &set, 1) == LAT_BY_PULL);
}

static void ask(const char *way)
{
    static const enum env_id ids[] = {ENV_COLL_BROADCAST, ENV_COLL_COLLECT, ENV_COLL_FCOLLECT, ENV_COLL_ALLTOALL,
                                      ENV_COLL_ALLTOALLS, ENV_COLL_REDUCE,  ENV_COLL_SCAN};
    for (int i = 0; i < 7; i++)
        asked[ids[i]] = way;
    lat_coll_open();
}

/* As many PEs as leave no room for an element of each pair in a box go by rail, even if mail is asked for. */
static void too_many_for_mail(void)
{
    const struct uccs_nodes wide = {.count = 16, .widest = 64};
    ask("mail");
    for (int pes = 128; pes <= 129; pes++) {
        const struct uccs_team group = {.size = pes, .nodes = (struct uccs_nodes *)(uintptr_t)&wide};
        CHECK(lat_coll_choose_far(LAT_COLL_ALLTOALL, &group, 8) == (pes == 128 ? LAT_BY_MAIL : LAT_BY_RAIL));
    }
    for (int pes = 8; pes <= 9; pes++) {
        const struct uccs_team group = {.size = pes, .nodes = (struct uccs_nodes *)(uintptr_t)&wide};
        CHECK(lat_coll_choose_far(LAT_COLL_ALLTOALLS, &group, 8) == (pes == 8 ? LAT_BY_MAIL : LAT_BY_RAIL));
    }
    const struct uccs_team group = {.size = 60000, .nodes = (struct uccs_nodes *)(uintptr_t)&wide};
    CHECK(lat_coll_choose_far(LAT_COLL_REDUCE, &group, MORE) == LAT_BY_MAIL);
}

/* Bits by enum lat_coll: which operations take this way when they are asked to, on one node and over several. */
static void forced_to(enum lat_algorithm way, unsigned near, unsigned far)
{
    const struct uccs_team group = {.size = 2};
    ask(names[way]);
    for (enum lat_coll coll = LAT_COLL_BROADCAST; coll < LAT_COLLS; coll++) {
        CHECK(forced[coll] == (near >> coll & 1 ? (int)way : -1));
        CHECK(forced_far[coll] == (far >> coll & 1 ? (int)way : -1));
        if (near >> coll & 1)
            CHECK(lat_coll_choose(coll, &group, MORE) == way && lat_coll_choose(coll, &group, 1) == way);
        if (far >> coll & 1)
            CHECK(far_way(coll, 1) == way);
    }
}

static void asked_for(void)
{
    forced_to(LAT_BY_POST, 0xde, 0);
    forced_to(LAT_BY_LEADER, 0x40, 0);
    forced_to(LAT_BY_PULL, 0x3e, 0xfe);
    forced_to(LAT_BY_PUSH, 0x38, 0);
    forced_to(LAT_BY_SHARE, 0xc0, 0);
    forced_to(LAT_BY_MAIL, 0, 0xfe);
    forced_to(LAT_BY_RAIL, 0, 0x7a);
    ask(0);
    static const char *const ways[] = {"auto", "disseminate", "count", "flat"};
    static const enum uccs_sync hows[] = {UCCS_SYNC_AUTO, UCCS_SYNC_DISSEMINATE, UCCS_SYNC_COUNT, UCCS_SYNC_FLAT};
    for (int i = 3; i >= 0; i--) {
        asked[ENV_COLL_SYNC] = ways[i];
        lat_coll_open();
        CHECK(uccs_sync_how == hows[i]);
    }
    for (int coll = 0; coll < LAT_COLLS; coll++)
        CHECK(forced[coll] == -1 && forced_far[coll] == -1);
}

int main(void)
{
    asked[ENV_COLL_SYNC] = "";
    lat_coll_open();
    on_one_node();
    over_nodes();
    too_many_for_mail();
    asked_for();
    return 0;
}
