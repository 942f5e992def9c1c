/* Which PEs are taken for a node: those of the machine, or of nodes that are pretended by size, by a deal, or for a transport. */
#include "base/env.h"
#include "base/log.h"

#include "unit/check.h"

static const char *deal = "", *transports = "auto";
static int64_t node_size;
static int lines; /* that have been said */

static const char *told_text(enum env_id name)
{
    return name == ENV_NODE_DEAL ? deal : name == ENV_TRANSPORTS ? transports : "?";
}

static int64_t told_number(enum env_id name)
{
    return name == ENV_NODE_SIZE ? node_size : -99;
}

#define env_text told_text
#define env_number told_number
#undef log_line
#define log_line(...) (void)(lines++)
#define malloc(bytes) calloc(2, bytes) /* what nobody has written is PE 0, also behind the last one */
#include "uccs/core/where.c"
#undef malloc

enum { PES = 6 };

static struct {
    struct node head;
    struct node_pe pe[PES];
} node;

int rte_node_of(int pe)
{
    return 100 + pe;
}

static void forget(void)
{
    free(pretence.deal);
    free(pretence.slots);
    pretence = (typeof(pretence)){0};
}

static void forget_where(struct uccs_where *where)
{
    free((void *)where->numbers);
    *where = (struct uccs_where){0};
}

/* This process is a PE of so many on one machine. */
static void be(int pe, int npes)
{
    forget();
    rte.pe = rte.node_index = pe;
    rte.npes = rte.node_size = npes;
    rte.node_first = 0;
    rte.nodes = 1;
    rte.node = &node.head;
    rte.places = 0;
    node.head.size = (uint32_t)npes;
    node.head.first = node.head.scattered = 0;
}

static void say(const char *dealt, int64_t size, const char *over)
{
    deal = dealt;
    node_size = size;
    transports = over;
}

/* PE `pe` finds itself on the node that `of` gives for each PE. */
static void check_node(const int *of, int nodes)
{
    struct uccs_where where = {0};
    int members[PES], pes = 0, mine = -1;
    CHECK(uccs_where_find(&where) == 0 && lines == 0);
    CHECK(uccs_node_most() == nodes);
    for (int pe = 0; pe < rte.npes; pe++) {
        CHECK(uccs_node_of(pe) == of[pe]);
        if (of[pe] != of[rte.pe])
            continue;
        mine = pe == rte.pe ? pes : mine;
        members[pes++] = pe;
    }
    CHECK(where.first == members[0] && where.pes == (uint32_t)pes && where.index == (uint32_t)mine);
    const bool row = members[pes - 1] - members[0] == pes - 1;
    CHECK(!where.numbers == row && !where.places == row);
    for (int i = 0; i < pes; i++) {
        CHECK(uccs_where_slot((uint32_t)members[i]) == where.slot + (uint32_t)i);
        CHECK(row || where.numbers[i] == members[i]);
    }
    for (int pe = 0; pe < rte.npes && !row; pe++)
        if (of[pe] != of[rte.pe])
            CHECK(where.places[pe] == (uint32_t)of[pe] + 1);
    for (int i = 0; i < pes && !row; i++)
        CHECK(where.places[members[i]] == (NODE_NEAR | (uint32_t)i));
    free((void *)where.places);
    forget_where(&where);
}

/* Every slot is one PE's, and lower nodes have lower ones. */
static void check_slots(const int *of)
{
    for (int pe = 0; pe < rte.npes; pe++) {
        uint32_t below = 0;
        for (int other = 0; other < rte.npes; other++)
            below += of[other] < of[pe] || (of[other] == of[pe] && other < pe);
        CHECK(uccs_where_slot((uint32_t)pe) == below);
    }
}

static void check_all(const int *of, int nodes)
{
    for (int pe = 0; pe < PES; pe++) {
        be(pe, PES);
        check_node(of, nodes);
        check_slots(of);
    }
}

static void deals(void)
{
    say("0,1,2", 0, "tcp");
    check_all((const int[]){0, 1, 2, 0, 1, 2}, 3);
    say("0,0,1", 2, "ucx"); /* a deal comes first */
    check_all((const int[]){0, 0, 1, 0, 0, 1}, 2);
    say("1,0", 0, "tcp");
    check_all((const int[]){1, 0, 1, 0, 1, 0}, 2);
    say("0", 0, "tcp");
    check_all((const int[]){0, 0, 0, 0, 0, 0}, 1);
    say("0,5", 0, "tcp"); /* the last number that there may be */
    check_all((const int[]){0, 5, 0, 5, 0, 5}, 6);
    say("0,0,0,0,1,1,2", 0, "tcp"); /* more than there are PEs */
    check_all((const int[]){0, 0, 0, 0, 1, 1}, 2);
}

static void wrong_deals(void)
{
    static const char *const wrong[] = {"x", "0,", "0,x", ",0", "0;1", "6", "0,6", "-1", "0,-1", "0,,1", "1x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct uccs_where where;
        be(1, PES);
        say(wrong[i], 0, "tcp");
        lines = 0;
        CHECK(uccs_where_find(&where) == -1 && lines == 1);
    }
    lines = 0;
}

static void sizes(void)
{
    static const int none[] = {100, 101, 102, 103, 104, 105};
    static const int one[] = {0, 1, 2, 3, 4, 5};
    say("", 1, "tcp");
    check_all(one, 6);
    say("", 2, "tcp");
    check_all((const int[]){0, 0, 1, 1, 2, 2}, 3);
    say("", 4, "fault:ucx"); /* a size comes before what the transport's colon says */
    check_all((const int[]){0, 0, 0, 0, 1, 1}, 2);
    say("", 5, "tcp");
    check_all((const int[]){0, 0, 0, 0, 0, 1}, 2);
    say("", 4, "ucx");
    check_all(one, 6);
    say("", 0, "ucx");
    check_all(one, 6);
    say("", 0, "sim:tcp");
    check_all(one, 6);
    say("", -1, "sim:tcp");
    check_all(one, 6);
    static const int64_t no_sizes[] = {(INT64_C(1) << 32) + 2, PES, PES + 1, 100, 0, -1};
    for (int i = 0; i < 6; i++) {
        say("", no_sizes[i], "tcp");
        for (int pe = 0; pe < PES; pe++) {
            struct uccs_where where = {0};
            be(pe, PES);
            CHECK(uccs_where_find(&where) == 0 && uccs_node_most() == 1 && uccs_node_of(3) == none[3]);
            CHECK(where.first == 0 && where.pes == PES && where.index == (uint32_t)pe && where.slot == 0);
            CHECK(!where.numbers && !where.places && uccs_where_slot(4) == 4);
        }
    }
}

/* Nothing is pretended with real nodes, nor for one PE. */
static void real_nodes(void)
{
    struct uccs_where where = {0};
    static const uint32_t places[] = {1, NODE_NEAR, 1, NODE_NEAR | 1};
    say("0,1", 1, "ucx");
    be(0, 1);
    CHECK(uccs_where_find(&where) == 0 && where.pes == 1 && !where.numbers && uccs_node_most() == 1);
    be(1, 2);
    rte.nodes = 2;
    rte.node_first = 4;
    node.head.first = 4;
    CHECK(uccs_where_find(&where) == 0 && uccs_node_most() == 2 && uccs_node_of(1) == 101);
    CHECK(where.first == 4 && where.pes == 2 && where.index == 1 && where.slot == 0 && !where.numbers);
    be(1, 2); /* PEs 1 and 3 of 4 are here */
    rte.nodes = 2;
    rte.npes = 4;
    rte.node_first = 1;
    rte.places = places;
    node.head.scattered = 1;
    node.head.pe[0].number = 1;
    node.head.pe[1].number = 3;
    node.head.pe[2].number = 7;
    CHECK(uccs_where_find(&where) == 0 && where.first == 1 && where.pes == 2 && where.index == 1);
    CHECK(where.places == places && where.numbers[0] == 1 && where.numbers[1] == 3 && where.numbers[2] == 0);
    forget_where(&where);
    rte.places = 0; /* there was no memory for them */
    CHECK(uccs_where_find(&where) == -1 && lines == 1);
}

int main(void)
{
    deals();
    wrong_deals();
    sizes();
    real_nodes();
    forget();
    return 0;
}
