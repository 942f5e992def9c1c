/* The PEs of collectives.c, the files that it tests, and whose turn it is. */
#ifndef TESTS_TRUST_COLLECTIVES_PES_H
#define TESTS_TRUST_COLLECTIVES_PES_H

#include "parts/owned.h"

#include <sys/mman.h>
#include <ucontext.h>

#define lat_fail test_fail
#define lat_resolve test_resolve
#define lat_far_place test_far_place
#define lat_iget test_iget
#define lat_iget_carry test_iget_carry
#define lat_coll_choose test_choose
#define lat_coll_choose_far test_choose_far
#define uccs_memory_find test_find
#define uccs_far_place(address) test_place(address) /* there are types of these names, too */
#define uccs_far_address test_address
#define uccs_far_parcel(pe, parcel, held) test_parcel(pe, parcel, held)
#define uccs_far_open_room test_open_room
#define uccs_far_close_room test_close_room
#define uccs_far_get_nb test_get
#define uccs_far_put_nb test_put
#define uccs_far_put_blocks test_put_blocks
#define uccs_team_sync test_sync
#define uccs_team_exchange test_exchange
#define uccs_team_given test_given
#define uccs_nodes_sync test_nodes_sync
#define uccs_nodes_of test_node_of
#define uccs_nodes_lead_pe test_lead_pe
#define uccs_nodes_line test_line
#define uccs_nodes_settle test_settle
#define uccs_nodes_gather test_gather
#define uccs_nodes_cast test_cast
#define uccs_swap_begin test_swap_begin
#define uccs_swap_box test_swap_box
#define uccs_swap_run test_swap_run
#define uccs_index_in_table test_index
#define uccs_team_span test_span
#define uccs_far_get test_far_get
#define uccs_far_flush test_flush
#define uccs_nodes_meet_begin test_meet_begin
#define uccs_nodes_meet test_meet
#define uccs_work_add test_add
#define uccs_request_materialise test_materialise
#define uccs_request_finish_use test_finish
#define uccs_bell_workers_slow test_bell
#define env_text test_env
#include "uccs/core/wait.h" /* before its uccs_pause is the test's */
static void test_pause(struct uccs_wait *wait);
#define uccs_pause test_pause
#include "shmem/coll/nodes.c"
#define fold_all pull_all
#include "shmem/coll/nodes_pull.c"
#undef fold_all
#include "shmem/coll/nodes_rail.c"
#define fold near_fold
#define block near_block
#define by_post broadcast_by_post
#define by_pull broadcast_by_pull
#include "shmem/coll/broadcast.c"
#undef by_post
#undef by_pull
#define copy_elements copy_strided_elements
#include "shmem/coll/alltoall.c"
#include "shmem/coll/collect.c"
#include "shmem/coll/reduce.c"
#undef fold
#undef block

#undef lat_coll_choose
#undef lat_coll_choose_far
#include "shmem/coll/select.c"
static void test_require(const char *call);
#define lat_require test_require
#include "shmem/coll/set.c"
#include "shmem/team.h" /* before its lat_team_of is the test's */
static struct shmem_team_impl *test_team_of(shmem_team_t handle);
#define lat_team_of test_team_of
#define claim nbe_claim
#define start nbe_start
#define dest_of nbe_dest_of
#include "shmem/coll/nbe.c"
#undef claim
#undef start
#undef dest_of
#define take nbe_take
#define give nbe_give
#include "shmem/coll/nbe_nodes.c"
#undef take
#undef give

enum { MOST = 6, LATER = 256, STACK = 512 << 10, SLOT = 0 };
#define HEAP ((size_t)16 << 20) /* of a PE; the upper half is for dests */
#define ROWS ((size_t)NODE_GROUP_LINES * CACHE_LINE)

/* --- The PEs. Each place is a PE: those of a node have neighbouring numbers. */

static struct pe {
    ucontext_t context;
    struct uccs_team team;
    struct uccs_nodes *nodes;
    int rank, node, index;
    bool finished;
    long *flags;                  /* of a team without a slot */
    struct shmem_team_impl split; /* the same team, for what is split in two phases */
    struct uccs_work *works[4];
    int works_count;
    struct uccs_request request;
} pes[MOST];
static ucontext_t scheduler;
static int size, nodes_count, now; /* PEs, nodes, the PE that runs */
static int first_of[MOST + 1];     /* PE of each node */
static int place_of_rank[MOST], rank_of_place[MOST];
static bool scattered;
static char *heaps, *owns, *rows, *boxes[2][MOST];
static uint64_t seed = 1;
static int idle; /* switches since something has happened */
static enum lat_algorithm way, far_way;
static uint64_t exchanges_before; /* the run */
static void (*body)(struct uccs_team *team);

static char *heap_of(int pe)
{
    return heaps + (size_t)pe * HEAP;
}

static void become(int pe)
{
    const struct pe *me = &pes[pe];
    now = pe;
    uccs_core.me = pe;
    uccs_core.first = (uint32_t)first_of[me->node];
    uccs_core.pes = uccs_core.size = (uint32_t)(first_of[me->node + 1] - first_of[me->node]);
    uccs_core.index = (uint32_t)me->index;
    uccs_core.own = owns + (size_t)first_of[me->node] * NODE_OWN_BYTES;
    uccs_core.groups = rows + (size_t)first_of[me->node] * ROWS;
    uccs_core.heap_start = (uintptr_t)heap_of(pe);
    uccs_core.heap_bytes = HEAP;
    uccs_core.heap_peers = (uintptr_t)heap_of(first_of[me->node]);
    uccs_core.heap_stride = HEAP;
}

static void pass_turn(void)
{
    CHECK(++idle < 200000); /* it ends */
    swapcontext(&pes[now].context, &scheduler);
}

static void (*while_paused)(void); /* of a PE that is alone */
static int pauses;

static void test_pause(struct uccs_wait *wait)
{
    (void)wait;
    pauses++;
    if (while_paused)
        while_paused();
    else
        pass_turn();
}

uint32_t test_index(int pe)
{
    const uint32_t index = (uint32_t)pe - uccs_core.first;
    return index < uccs_core.pes ? index : uccs_core.pes + (uint32_t)pe;
}

_Noreturn void test_fail(const char *call, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    owned_fail("%s: %s", call, text);
}

void *test_resolve(const char *call, const char *argument, const void *addr, int pe)
{
    const size_t offset = (size_t)((const char *)addr - heap_of(now));
    if (offset < HEAP && pes[pe].node == pes[now].node)
        return heap_of(pe) + offset;
    test_fail(call, "an address of %s at PE %d", argument, pe);
}

enum lat_algorithm test_choose(enum lat_coll coll, const struct uccs_team *group, size_t bytes)
{
    CHECK(coll < LAT_COLLS && !group->far && bytes < HEAP);
    return way;
}

enum lat_algorithm test_choose_far(enum lat_coll coll, const struct uccs_team *group, size_t bytes)
{
    CHECK(coll < LAT_COLLS && group->far && bytes < HEAP);
    return far_way;
}

#endif
