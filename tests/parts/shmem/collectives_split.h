/* Split-phase collectives in collectives.c: each PE starts some, and moves them on in turns until they are complete. */
#ifndef TESTS_TRUST_COLLECTIVES_SPLIT_H
#define TESTS_TRUST_COLLECTIVES_SPLIT_H

#include "collectives_stub.h"

static int bells, flushes, come[256]; /* come: PEs, by number of the meeting */
static int started[8];                /* PEs that have started this one */

static struct shmem_team_impl *test_team_of(shmem_team_t handle)
{
    return (struct shmem_team_impl *)handle;
}

struct uccs_request *test_materialise(uccs_request_handle *handle)
{
    return *handle = &pes[now].request;
}

void test_finish(struct uccs_request *request, bool error)
{
    CHECK(request == &pes[now].request && !error && request->pending > 0);
    request->pending--;
    idle = 0;
}

void test_add(struct uccs_work *work)
{
    CHECK(pes[now].works_count < 4);
    pes[now].works[pes[now].works_count++] = work;
}

void test_bell(void)
{
    bells++;
}

void test_flush(struct uccs_far_lanes *on, struct uccs_request *request)
{
    CHECK(!on && request->pending == 1);
    flushes++;
}

void test_meet_begin(struct uccs_swap *swap, struct uccs_team *team)
{
    *swap = (struct uccs_swap){.team = team, .number = ++team->nodes->swaps[1]};
    CHECK(swap->number < 256);
    come[swap->number]++;
    idle = 0;
}

bool test_meet(struct uccs_swap *swap)
{
    return come[swap->number] == size;
}

/* Moves this PE's work on once, as a thread in progress does. */
static void advance_works(void)
{
    struct pe *me = &pes[now];
    for (int i = 0; i < me->works_count;) {
        struct uccs_work *work = me->works[i];
        if (work->labour) {
            void (*labour)(struct uccs_work *) = work->labour;
            work->labour = 0;
            labour(work);
        }
        if (!work->advance(work)) {
            i++;
            continue;
        }
        memmove(&me->works[i], &me->works[i + 1], (size_t)(--me->works_count - i) * sizeof *me->works);
    }
}

static shmem_team_t split_team(void)
{
    return (shmem_team_t)&pes[now].split;
}

/* Completes what this PE has started. */
static void finish_split(void)
{
    while (pes[now].request.pending) {
        advance_works();
        pass_turn();
    }
    CHECK(pes[now].works_count == 0 && pes[now].split.group.pending == 0);
    CHECK(pes[now].split.group.copied == pes[now].split.group.posted);
}

static void start_sync(int which)
{
    shmemx_request_t request = 0;
    CHECK(lat_team_sync_nbe(split_team(), &request) == 0);
    started[which]++;
}

/* No PE is through a sync before all have started it. */
static void syncs_of(struct uccs_team *team)
{
    (void)team;
    for (int which = 0; which < 3; which++) {
        while (next_random(&seed) % 4)
            pass_turn();
        start_sync(2 * which), start_sync(2 * which + 1);
        finish_split();
        CHECK(started[2 * which + 1] == size);
    }
}

static void test_split_syncs(bool threaded, int workers)
{
    memset(started, 0, sizeof started);
    bells = 0;
    for (int pe = 0; pe < size; pe++) {
        struct uccs_own *own = (struct uccs_own *)(void *)(owns + (size_t)pe * NODE_OWN_BYTES);
        own->threaded = threaded;
        own->workers = (uint32_t)workers;
    }
    run(syncs_of);
    const bool rings = nodes_count == 1 && workers && (!threaded);
    CHECK(rings ? bells >= 12 && bells <= 12 * size
                : bells == 0); /* the last one that starts or ends each of the six */
}

#endif
