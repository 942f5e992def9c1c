/* Collectives on teams by memory: all members come, each does its share, all leave. See inner.h.
 *
 * Over nodes a member gets what it needs from the others' sources, and in a reduction puts its results to their dests: by
 * copies on its node, by operations to others, all under way at once.
 *
 * A blocking one enters by slots or a sync and leaves by a sync. A split-phase one says so in two lines of the member's own
 * row, which only count up: "posted >= k" means that its buffers of collective k are ready, "copied >= k" that it has
 * finished its share of k. Those over nodes meet without waiting, before and after.
 *
 * With progress threads a brief split-phase one, whose copying takes less time than waking a thread, is different: the last
 * member to start it copies for all members, in its start. So nobody is woken, and the data is in place while all compute.
 * Two members may both find that all have started; one of them claims the collective, in a word that also says which one is
 * done.
 *
 * Invariants, per team, of split-phase ones:
 * - Members start the same ones in the same order, and do their shares in it (team->copied, under the list's lock).
 *   Completion may overtake, on a node.
 * - Posted and copied are release stores; the partners' looks at them are acquire loads.
 * - Brief ones are claimed in the order of their starts, each after the one before is done. */
#include "uccs/coll/inner.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/pe_shared.h"

#include <stdlib.h>
#include <string.h>

/* Bytes read and written, by one processor in some 5 us: about what it costs to wake a thread of another one. */
#define BRIEF ((size_t)128 << 10)

enum phase { COMES, HERE, SHARES, MOVED, GIVES, GIVEN, LEAVES, LEFT };

/* What takes long is left to a step, which runs without the list's lock and ends the phase. */
static void share_step(struct uccs_task *task)
{
    struct uccs_coll *c = (struct uccs_coll *)task;
    uccs_share_do(c, c->rank);
    c->memory.phase++;
}

static void give_step(struct uccs_task *task)
{
    struct uccs_coll *c = (struct uccs_coll *)task;
    uccs_share_give(c);
    c->memory.phase++;
}

static bool run_step(struct uccs_coll *c, void (*step)(struct uccs_task *))
{
    if (c->memory.later) {
        c->task.step = step;
        return false;
    }
    step(&c->task);
    c->memory.phase--; /* the caller ends the phase */
    return true;
}

static bool settled(struct uccs_coll *c)
{
    return atomic_load_acquire(&c->memory.under_way.pending) == 1; /* acqrel: uccs_request_finish */
}

void uccs_coll_settle(struct uccs_coll *c)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (!settled(c))
        uccs_pause(&wait);
}

/* --- Split-phase on a node: who has come, and who is done */

static uint64_t reached(const struct uccs_coll *c, int rank, int line)
{
    const uint64_t *theirs = uccs_team_line(c->memory.team, rank, line);
    return atomic_load_acquire(theirs); /* release: reach */
}

/* Goes on where the last look stopped. Returns true when all members' lines have reached the collective. */
static bool all_reached(struct uccs_coll *c, int line)
{
    for (; c->memory.looked < c->size; c->memory.looked++)
        if (reached(c, c->memory.looked, line) < c->memory.number)
            return false;
    c->memory.looked = 0;
    return true;
}

static bool has_root(const struct uccs_coll *c)
{
    return c->kind == UCCS_COLL_BROADCAST;
}

static bool all_ready(struct uccs_coll *c)
{
    return has_root(c) ? reached(c, c->root, TEAM_POSTED) >= c->memory.number : all_reached(c, TEAM_POSTED);
}

/* Returns true when members may wait for what I have just stored in this line: I am the last one. */
static bool ends_wait(const struct uccs_coll *c, int line)
{
    if (line == TEAM_POSTED && has_root(c))
        return c->root == c->rank;
    for (int rank = 0; rank < c->size; rank++)
        if (reached(c, rank, line) < c->memory.number)
            return false;
    return true;
}

/* Stores the collective's number in my line, and wakes the progress threads of members that wait for it. Nobody is woken
 * for a brief one: with the fence, the last member to post sees the posts of all. */
static void reach(const struct uccs_coll *c, int line)
{
    uint64_t *mine = uccs_team_line(c->memory.team, c->rank, line);
    atomic_store_release(mine, c->memory.number); /* acquire: reached */
    if (c->memory.brief)
        atomic_fence_seqcst(); /* partner: its own, in another member */
    else if (uccs_doorbell_peers_have_tasks() && ends_wait(c, line))
        uccs_doorbell_wake_peers_slow();
}

/* Of member 0: twice the number of brief collectives that are done; one more while the next one is claimed. */
static uint64_t *brief_word(const struct uccs_coll *c)
{
    return (uint64_t *)uccs_team_line(c->memory.team, 0, TEAM_BRIEF) + 1;
}

static bool claim(const struct uccs_coll *c)
{
    uint64_t before = 2 * (c->memory.turn - 1);
    return atomic_cas_acqrel(brief_word(c), &before, before + 1); /* release: share_all; acquire: those who wait */
}

static void share_all(struct uccs_coll *c)
{
    for (int rank = 0; rank < c->size; rank++)
        uccs_share_do(c, rank);
    atomic_store_release(brief_word(c), 2 * c->memory.turn); /* acquire: advance_brief */
}

/* Returns true when the collective is done at all members. A member that finds the one before this one claimed leaves this one
 * to the claimer, which looks at it after that one: the claimer has started it, too. */
static bool advance_brief(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    atomic_fence_seqcst(); /* looks at the others' posts after what was done before, a post or a collective */
    if (m->team->copied + 1 != m->number || !all_ready(c))
        return false;
    if (!m->nothing && claim(c))
        share_all(c);
    if (!m->nothing && atomic_load_acquire(brief_word(c)) < 2 * m->turn) /* release: share_all */
        return false;
    m->team->copied = m->number;
    return true;
}

/* Returns true when the collective costs one member less than waking the others' threads, and there are such threads. All
 * members decide alike, since they ask about member 0. */
static bool is_brief(const struct uccs_coll *c)
{
    const struct uccs_team *team = c->memory.team;
    const size_t members = (size_t)c->size, each = c->fold ? 2 * c->element : members;
    if (team->far || has_root(c) ||
        !atomic_load_relaxed(&uccs_pe_shared_of(uccs_index(uccs_team_pe(team, 0)))->threaded))
        return false;
    return (c->fold ? c->n : c->bytes) <= BRIEF / members / each;
}

/* --- Coming and leaving */

static void begin_memory(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    m->under_way.pending = 1; /* no one's child, and with an owner: nobody frees it */
    if (!m->later)
        return;
    m->number = ++m->team->posted;
    m->brief = is_brief(c);
    m->turn = m->brief && !m->nothing ? ++m->team->brief : 0;
    if (!m->team->far)
        reach(c, TEAM_POSTED);
}

/* A split-phase one does its share when those before have done theirs; over nodes, after what it has to flush. */
static bool comes(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    if (!m->later) {
        uccs_coll_enter(m->team);
        return true;
    }
    if (m->team->copied + 1 != m->number)
        return false;
    if (m->team->far && m->quiet) {
        proto_flush(0, &m->under_way);
        m->quiet = false;
    }
    if (!settled(c))
        return false;
    if (m->team->far)
        uccs_nodes_meet_begin(&m->meeting, m->team);
    return true;
}

static bool all_here(struct uccs_coll *c)
{
    if (!c->memory.later)
        return true;
    return c->memory.team->far ? uccs_nodes_meet(&c->memory.meeting) : all_ready(c);
}

static void leaves(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    if (!m->later) {
        uccs_team_sync(m->team);
    } else if (!m->team->far) {
        m->team->copied = m->number;
        reach(c, TEAM_COPIED);
    } else if (!m->nothing) {
        uccs_nodes_meet_begin(&m->meeting, m->team);
    }
}

/* On a node a barrier is over when all members have come, a broadcast at its receiver when the data is there. */
static bool all_left(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    if (!m->later || m->nothing || (!m->team->far && has_root(c) && c->root != c->rank))
        return true;
    return m->team->far ? uccs_nodes_meet(&m->meeting) : all_reached(c, TEAM_COPIED);
}

/* Takes one step. Returns false when it has to look again later. */
static bool go_on(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    const bool pieces = c->fold && m->team->far;
    switch ((enum phase)m->phase) {
    case COMES: return comes(c);
    case HERE: return all_here(c);
    case SHARES: return m->nothing || run_step(c, share_step);
    case MOVED: return settled(c);
    case GIVES: return m->nothing || !pieces || run_step(c, give_step);
    case GIVEN:
        if (!settled(c))
            return false;
        if (pieces && m->at < m->end)
            m->phase = HERE; /* the next piece: goes on with SHARES */
        return true;
    case LEAVES: leaves(c); return true;
    case LEFT: return all_left(c);
    }
    return true;
}

static void finish(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    if (m->sums)
        memcpy(c->dest, m->sums, c->bytes);
    free(m->sums);
    free(m->room);
    if (m->later && m->team->far)
        m->team->copied = m->number;
}

static bool advance_memory(struct uccs_coll *c)
{
    if (c->memory.brief)
        return advance_brief(c);
    for (; c->memory.phase <= LEFT; c->memory.phase++)
        if (!go_on(c))
            return false;
    finish(c);
    return true;
}

static void pause_memory(const struct uccs_coll *c, struct uccs_wait *wait)
{
    (void)c;
    uccs_pause(wait);
}

static void hold_team(struct uccs_coll *c)
{
    (void)atomic_fetch_add_relaxed(&c->memory.team->pending, 1); /* before the list's lock */
}

static void release_team(struct uccs_coll *c)
{
    (void)atomic_fetch_sub_acqrel(&c->memory.team->pending,
                                  1); /* acquire: lat_team_destroy; the team may be gone now */
}

/* Returns a member that this split-phase collective of a team on one node waits for, or -1 when there is none. */
static int missing(const struct uccs_coll *c)
{
    const bool left = c->memory.phase > LEAVES;
    for (int rank = 0; rank < c->size; rank++)
        if ((left || !has_root(c) || c->root == rank) &&
            reached(c, rank, left ? TEAM_COPIED : TEAM_POSTED) < c->memory.number)
            return rank;
    return -1;
}

static void reason_memory(const struct uccs_coll *c, struct uccs_reason *reason)
{
    const int rank = c->memory.team->far ? -1 : missing(c);
    if (rank >= 0)
        reason->on = uccs_reason_pe(uccs_team_pe(c->memory.team, rank));
}

/* A blocking one waits only for operations under way; slots and syncs have reasons of their own. */
static void reason_blocking(const struct uccs_coll *c, struct uccs_reason *reason)
{
    (void)c, (void)reason;
}

const struct uccs_coll_way uccs_coll_by_memory = {.begin = begin_memory,
                                                  .advance = advance_memory,
                                                  .pause = pause_memory,
                                                  .hold = hold_team,
                                                  .release = release_team,
                                                  .reason = reason_memory,
                                                  .reason_all = reason_blocking};
