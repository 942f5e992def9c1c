/* Which way a collective goes, in collectives.c: by the tables, and by what the user has asked for; and what is refused. */
#ifndef TESTS_TRUST_COLLECTIVES_WAYS_H
#define TESTS_TRUST_COLLECTIVES_WAYS_H

#include "collectives_stub.h"

static const char *wanted[LAT_COLLS]; /* by the user */

const char *test_env(enum env_id id)
{
    for (int coll = 0; coll < LAT_COLLS; coll++)
        if (choices[coll].variable == id)
            return wanted[coll] ? wanted[coll] : "";
    CHECK(!id);
    return "";
}

/* On one node, by bytes, PEs and whether each has a core. */
static void test_table(void)
{
    static const struct {
        enum lat_coll coll;
        size_t bytes;
        int size, few;
        enum lat_algorithm how;
    } rows_of[] = {
        {LAT_COLL_BROADCAST, 2048, 9, 0, LAT_BY_POST},   {LAT_COLL_BROADCAST, 2049, 9, 0, LAT_BY_PULL},
        {LAT_COLL_BROADCAST, 4096, 9, 1, LAT_BY_POST},   {LAT_COLL_BROADCAST, 4097, 9, 1, LAT_BY_PULL},
        {LAT_COLL_COLLECT, SIZE_MAX, 9, 0, LAT_BY_POST}, {LAT_COLL_FCOLLECT, 2048, 9, 0, LAT_BY_POST},
        {LAT_COLL_FCOLLECT, 2049, 9, 0, LAT_BY_PULL},    {LAT_COLL_FCOLLECT, 2049, 9, 1, LAT_BY_POST},
        {LAT_COLL_ALLTOALL, 2048, 9, 0, LAT_BY_POST},    {LAT_COLL_ALLTOALL, 2049, 9, 0, LAT_BY_PULL},
        {LAT_COLL_ALLTOALL, 4096, 9, 1, LAT_BY_POST},    {LAT_COLL_ALLTOALL, 4097, 9, 1, LAT_BY_PULL},
        {LAT_COLL_ALLTOALLS, 1, 9, 1, LAT_BY_PULL},      {LAT_COLL_REDUCE, 2048, 2, 0, LAT_BY_POST},
        {LAT_COLL_REDUCE, 2049, 2, 0, LAT_BY_SHARE},     {LAT_COLL_REDUCE, 512, 16, 0, LAT_BY_POST},
        {LAT_COLL_REDUCE, 513, 16, 0, LAT_BY_SHARE},     {LAT_COLL_REDUCE, 513, 16, 1, LAT_BY_POST},
        {LAT_COLL_REDUCE, 56, 17, 0, LAT_BY_LEADER},     {LAT_COLL_REDUCE, 57, 17, 0, LAT_BY_SHARE},
        {LAT_COLL_REDUCE, 513, 3, 0, LAT_BY_SHARE},      {LAT_COLL_SCAN, 2048, 2, 0, LAT_BY_POST},
        {LAT_COLL_SCAN, 512, 16, 0, LAT_BY_POST},        {LAT_COLL_SCAN, 513, 16, 0, LAT_BY_SHARE},
        {LAT_COLL_SCAN, 4096, 16, 1, LAT_BY_POST},       {LAT_COLL_SCAN, 1, 17, 0, LAT_BY_SHARE},
    };
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++) {
        const struct uccs_team team = {.size = rows_of[i].size};
        uccs_core.oversubscribed = (uint32_t)rows_of[i].few;
        CHECK(lat_coll_choose(rows_of[i].coll, &team, rows_of[i].bytes) == rows_of[i].how);
    }
    uccs_core.oversubscribed = 0;
}

/* Over nodes, by what all boxes have to hold. */
static void test_far_table(void)
{
    struct uccs_nodes nodes = {.count = 4, .widest = 8};
    struct uccs_team team = {.size = 32, .far = true, .nodes = &nodes};
    static const struct {
        enum lat_coll coll;
        size_t most; /* bytes by mail */
    } rows_of[] = {{LAT_COLL_BROADCAST, 8192},
                   {LAT_COLL_FCOLLECT, NODES_BOX / 32},
                   {LAT_COLL_ALLTOALL, NODES_BOX / 1024},
                   {LAT_COLL_ALLTOALLS, NODES_BOX / 1024},
                   {LAT_COLL_REDUCE, NODES_BOX / 16}};
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++) {
        CHECK(lat_coll_choose_far(rows_of[i].coll, &team, rows_of[i].most) == LAT_BY_MAIL);
        CHECK(lat_coll_choose_far(rows_of[i].coll, &team, rows_of[i].most + 1) == LAT_BY_RAIL);
    }
    CHECK(lat_coll_choose_far(LAT_COLL_COLLECT, &team, SIZE_MAX) == LAT_BY_MAIL);
    CHECK(lat_coll_choose_far(LAT_COLL_SCAN, &team, SIZE_MAX) == LAT_BY_MAIL);
    team.slot = -1;
    CHECK(lat_coll_choose_far(LAT_COLL_REDUCE, &team, 1) == LAT_BY_PULL);
    team.slot = 0;
    wanted[LAT_COLL_ALLTOALL] = wanted[LAT_COLL_ALLTOALLS] = "mail";
    lat_coll_open();
    nodes.widest = 64, team.size = 512; /* a byte for each pair just fits, an element of alltoalls does not */
    CHECK(lat_coll_choose_far(LAT_COLL_ALLTOALL, &team, 9) == LAT_BY_MAIL);
    CHECK(lat_coll_choose_far(LAT_COLL_ALLTOALLS, &team, 9) == LAT_BY_RAIL);
    team.size = 513;
    CHECK(lat_coll_choose_far(LAT_COLL_ALLTOALL, &team, 9) == LAT_BY_RAIL);
    team.size = 32;
    CHECK(lat_coll_choose_far(LAT_COLL_ALLTOALLS, &team, 9) == LAT_BY_MAIL);
    wanted[LAT_COLL_ALLTOALL] = wanted[LAT_COLL_ALLTOALLS] = 0;
    lat_coll_open();
}

/* What the user asks for holds where there is such a way. */
static void test_forced(void)
{
    struct uccs_nodes nodes = {.count = 2, .widest = 2};
    const struct uccs_team near = {.size = 4}, far = {.size = 4, .far = true, .nodes = &nodes};
    for (int coll = LAT_COLL_SYNC + 1; coll < LAT_COLLS; coll++)
        for (int how = 0; how < LAT_ALGORITHMS; how++) {
            const enum lat_algorithm by_table = lat_coll_choose((enum lat_coll)coll, &near, 8);
            const enum lat_algorithm far_by_table = lat_coll_choose_far((enum lat_coll)coll, &far, 8);
            const bool is_near = choices[coll].near >> how & 1, is_far = choices[coll].far >> how & 1;
            wanted[coll] = names[how];
            lat_coll_open();
            CHECK(lat_coll_choose((enum lat_coll)coll, &near, 8) == (is_near ? (enum lat_algorithm)how : by_table));
            CHECK(lat_coll_choose_far((enum lat_coll)coll, &far, 8) ==
                  (is_far ? (enum lat_algorithm)how : far_by_table));
            wanted[coll] = 0;
            lat_coll_open();
        }
    for (int how = 0; how <= UCCS_SYNC_FLAT; how++) {
        wanted[LAT_COLL_SYNC] = sync_names[how];
        lat_coll_open();
        CHECK((int)uccs_sync_how == how);
    }
    wanted[LAT_COLL_SYNC] = "auto";
    lat_coll_open();
    wanted[LAT_COLL_SYNC] = 0;
}

/* A source that no peer knows, and memory that runs out, end the job. */
static void test_ends(void)
{
    static char private_bytes[8];
    size_t longest;
    const struct record records[2] = {{.bytes = 5}, {.bytes = 9}};
    make_job("21", 0, SLOT);
    become(0);
    struct uccs_team *team = &pes[0].team, *near = &team->nodes->near;
    OWNED_FAILS((void)place_of("collect", near, private_bytes), "collect: an address of source");
    OWNED_FAILS((void)block_of("collect", team, private_bytes, 5), "collect: an address of source");
    CHECK(place_of("collect", near, heap_of(0) + 40).offset == 40 &&
          block_of("collect", team, heap_of(0) + 40, 5).offset == 40);
    CHECK(block_of("collect", team, private_bytes, 0).bytes == 0); /* nobody asks for it */
    owned_left = 0;
    OWNED_FAILS((void)places_of("collect", records, 2, &longest), "no memory for the sizes of 2 blocks");
    size_t *at = places_of("collect", records, 2, &longest);
    CHECK(at[0] == 0 && at[1] == 5 && at[2] == 14 && longest == 9);
    free(at);
    owned_left = 0;
    OWNED_FAILS(lat_nodes_collect("collect", team, 0, 0, 0), "no memory for the sizes of 3 blocks");
    owned_left = 0;
    OWNED_FAILS((void)room_for("reduce", 100), "no memory for 100 bytes of the others' vectors");
    struct rail rail = {.call = "reduce", .group = team, .size = 8, .n = 10};
    owned_left = 0;
    OWNED_FAILS(open_rail(&rail), "no memory for the places of 3 PEs");
    owned_left = 0;
    OWNED_FAILS(open_room(&rail), "bytes of the others' vectors");
    CHECK(owned_count == 0);
}

static void test_ways(void)
{
    lat_coll_open();
    test_table();
    test_far_table();
    test_forced();
    far_way = LAT_BY_MAIL;
    test_ends();
}

#endif
