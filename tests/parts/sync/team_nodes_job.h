/* Jobs of several nodes in this program, for team_nodes.c: each PE is a process, the nodes' group areas are memory that all share, and the
 * network stores there at once. A PE that comes late to a meeting sees whether another one has left before. */
#ifndef TESTS_TRUST_TEAM_NODES_JOB_H
#define TESTS_TRUST_TEAM_NODES_JOB_H

#include "uccs/core/bell.h"
#include "uccs/core/memory.h"
#include "uccs/core/wait.h"
#include "uccs/core/where.h"
#include "uccs/far/far.h"
#include "uccs/sync/post.h"
#include "uccs/sync/team.h"
#include "uccs/watch/fail.h"

#include "unit/check.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, SLOTS = 2, ROW = NODE_GROUP_LINES * CACHE_LINE };

static char *areas; /* MOST x SLOTS rows for each node */
static struct shared {
    uint32_t arrived, round; /* of the test's own barrier */
    uint32_t parcels;        /* that have come */
    uint32_t left;           /* PEs that have left the meeting under test */
    long flags[MOST][TEAM_ROUNDS];
} * shared;

static int npes, nodes, node_of[MOST], index_of[MOST], pes_of[MOST], me;
static bool far_on;

static void all_come(void)
{
    const uint32_t round = atomic_load_acquire(&shared->round);
    if (atomic_fetch_add_acqrel(&shared->arrived, 1) + 1 == (uint32_t)npes) {
        shared->arrived = 0;
        shared->left = 0;
        atomic_store_release(&shared->round, round + 1);
    }
    while (atomic_load_acquire(&shared->round) == round)
        usleep(20);
}

static char *area_of(int node)
{
    return areas + (size_t)node * MOST * SLOTS * ROW;
}

/* ---- the network ---- */

static int node_made_up(int pe)
{
    CHECK(pe >= 0 && pe < npes);
    return node_of[pe];
}

/* Returns where a place among the rows of a PE lies. */
static char *rows_of(int pe, uint64_t offset)
{
    const size_t slot = offset / ROW;
    CHECK(pe >= 0 && pe < npes && node_of[pe] != node_of[me] && slot < SLOTS);
    return area_of(node_of[pe]) + (slot * (size_t)pes_of[node_of[pe]] + (size_t)index_of[pe]) * ROW + offset % ROW;
}

static void flag_made_up(int pe, uint64_t offset, uint64_t value, bool watched)
{
    (void)watched;
    atomic_store_release((uint64_t *)rows_of(pe, offset), value);
}

static void parcel_made_up(int pe, const struct uccs_far_parcel *parcel, uint32_t *held)
{
    CHECK(parcel->to.segment == FAR_ROWS && parcel->with.place.segment == FAR_ROWS && *held == 0);
    CHECK(parcel->with.what == FAR_SIGNAL_SET && parcel->to.offset % ROW + parcel->bytes <= ROW);
    memcpy(rows_of(pe, parcel->to.offset), parcel->data, parcel->bytes);
    flag_made_up(pe, parcel->with.place.offset, parcel->with.value, true);
    (void)atomic_fetch_add_acqrel(&shared->parcels, 1);
}

/* Flags of other nodes are out of reach. */
static void *resolve_made_up(const void *address, int pe)
{
    const size_t at = (size_t)((const long *)address - shared->flags[me]);
    CHECK(at < TEAM_ROUNDS);
    return node_of[pe] == node_of[me] ? &shared->flags[pe][at] : 0;
}

static void amo_made_up(int pe, struct uccs_far_place place, uint64_t value)
{
    CHECK(node_of[pe] != node_of[me] && value == 1 && place.offset < TEAM_ROUNDS);
    (void)atomic_fetch_add_release(&shared->flags[pe][place.offset], 1);
}

static struct uccs_far_place place_made_up(const long *address)
{
    return (struct uccs_far_place){.offset = (uint64_t)(address - shared->flags[me])};
}

static int failures; /* an allocation fails after so many; 0: none does */

static bool fails(void)
{
    return failures > 0 && --failures == 0;
}

static void *malloc_made_up(size_t bytes)
{
    return fails() ? 0 : malloc(bytes);
}

static void *calloc_made_up(size_t count, size_t bytes)
{
    return fails() ? 0 : calloc(count, bytes);
}

#define uccs_node_of(pe) node_made_up(pe)
#define uccs_node_most() nodes
#define uccs_far_on far_on
#define uccs_far_flag(pe, offset, value, watched) flag_made_up(pe, offset, value, watched)
#define uccs_far_parcel(pe, parcel, held) parcel_made_up(pe, parcel, held)
#define uccs_memory_resolve(address, pe) resolve_made_up(address, pe)
#define uccs_far_place(address) place_made_up(address)
#define uccs_far_amo_post(on, pe, op, place, bytes, value, ...) amo_made_up(pe, place, value)
#define uccs_pause(wait) ((void)(wait), usleep(20))
#define uccs_bell_workers() ((void)0)
#define watch_fail(...) _exit(90)
#define malloc(bytes) malloc_made_up(bytes)
#define calloc(count, bytes) calloc_made_up(count, bytes)

/* ---- jobs ---- */

/* Becomes a PE of the job. */
static void be_pe(int pe)
{
    static uint32_t places[MOST];
    static int numbers[MOST];
    const int node = node_of[pe];
    uint32_t count = 0;
    bool scattered = false;
    me = pe;
    for (int other = 0; other < npes; other++) {
        places[other] = node_of[other] == node ? NODE_NEAR | count : (uint32_t)node_of[other] + 1;
        if (node_of[other] != node)
            continue;
        scattered |= count && numbers[count - 1] != other - 1;
        numbers[count++] = other;
    }
    uccs_core = (struct uccs_core){.first = (uint32_t)numbers[0], .me = pe, .npes = npes, .pes = count};
    uccs_core.index = (uint32_t)index_of[pe];
    uccs_core.places = scattered ? places : 0;
    uccs_core.numbers = scattered ? numbers : 0;
    uccs_core.groups = area_of(node);
    far_on = nodes > 1;
    for (int round = 0; round < TEAM_ROUNDS; round++)
        shared->flags[pe][round] = TEAM_FLAG_AT_REST;
}

static void run_pe(int pe, void (*body)(void))
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    within_limit = 0; /* a child has no timer of its parent */
    within_start();
    be_pe(pe);
    all_come();
    body();
    _exit(0);
}

/* A job whose PE i is on node of_pes[i] - '0'. */
static void job(const char *of_pes, void (*body)(void))
{
    int status;
    npes = (int)strlen(of_pes);
    nodes = 0;
    memset(pes_of, 0, sizeof pes_of);
    memset(shared, 0, sizeof *shared);
    CHECK(madvise(areas, (size_t)MOST * MOST * SLOTS * ROW, MADV_REMOVE) == 0); /* zeros again */
    for (int pe = 0; pe < npes; pe++) {
        node_of[pe] = of_pes[pe] - '0';
        index_of[pe] = pes_of[node_of[pe]]++;
        nodes = node_of[pe] + 1 > nodes ? node_of[pe] + 1 : nodes;
    }
    for (int pe = 0; pe < npes; pe++)
        if (fork() == 0)
            run_pe(pe, body);
    for (int pe = 0; pe < npes; pe++)
        CHECK(wait(&status) > 0 && status == 0);
}

static void open_areas(void)
{
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    areas = mmap(0, (size_t)MOST * MOST * SLOTS * ROW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED && areas != MAP_FAILED);
}

/* All meet, `late` last. No other one leaves before. */
static void meets(struct uccs_team *team, void (*meeting)(struct uccs_team *), int late)
{
    if (team->rank == late)
        for (int look = 0; look < 20; look++) {
            CHECK(atomic_load_acquire(&shared->left) == 0);
            usleep(50);
        }
    meeting(team);
    (void)atomic_fetch_add_acqrel(&shared->left, 1);
    all_come();
}

#endif
