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

/* --- Split-phase on a node: who has come, and who is done */

static uint64_t reached_by(const struct uccs_coll *c, int rank, int line)
{
    const uint64_t *theirs = uccs_team_line(c->memory.team, rank, line);
    return atomic_load_acquire(theirs); /* release: tell_reached */
}

static bool has_root(const struct uccs_coll *c)
{
    return c->kind == UCCS_COLL_BROADCAST;
}

/* Returns the first member from `rank` on that must come, or be done, and whose line has not reached the collective; `size`: none. */
static int first_missing(const struct uccs_coll *c, int line, int rank)
{
    if (line == TEAM_POSTED && has_root(c))
        return reached_by(c, c->root, line) < c->memory.number ? c->root : c->size;
    while (rank < c->size && reached_by(c, rank, line) >= c->memory.number)
        rank++;
    return rank;
}

/* Goes on where the last look stopped. Returns true when none is missing. */
static bool all_reached(struct uccs_coll *c, int line)
{
    c->memory.looked = first_missing(c, line, c->memory.looked);
    if (c->memory.looked < c->size)
        return false;
    c->memory.looked = 0;
    return true;
}

static bool all_ready(struct uccs_coll *c)
{
    return all_reached(c, TEAM_POSTED);
}

/* Returns true when members may wait for what I have just stored in this line: I am the last one. */
static bool ends_wait(const struct uccs_coll *c, int line)
{
    return first_missing(c, line, 0) == c->size && (line == TEAM_COPIED || !has_root(c) || c->root == c->rank);
}

/* Stores the collective's number in my line, and wakes the progress threads of members that wait for it. Nobody is woken
 * for a brief one: with the fence, the last member to post sees the posts of all. */
static void tell_reached(const struct uccs_coll *c, int line)
{
    uint64_t *mine = uccs_team_line(c->memory.team, c->rank, line);
    atomic_store_release(mine, c->memory.number); /* acquire: reached_by */
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

static bool claim_brief(const struct uccs_coll *c)
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
    if (!m->nothing && claim_brief(c))
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

/* --- Steps */

/* Where split-phase ones meet over nodes. */
static bool meet_later(struct uccs_by_memory *m)
{
    if (!m->meeting.team)
        uccs_nodes_meet_begin(&m->meeting, m->team);
    if (!uccs_nodes_meet(&m->meeting))
        return false;
    m->meeting.team = 0;
    return true;
}

bool uccs_coll_come(struct uccs_coll *c)
{
    if (c->memory.later)
        return meet_later(&c->memory);
    uccs_coll_enter(c->memory.team);
    return true;
}

bool uccs_coll_leave(struct uccs_coll *c)
{
    if (c->memory.later)
        return c->memory.nothing || meet_later(&c->memory);
    uccs_team_sync(c->memory.team);
    return true;
}

/* Where each node has one member nobody reads another one's memory. */
bool uccs_coll_meet_near(struct uccs_coll *c)
{
    if (c->memory.later)
        return c->memory.team->nodes->widest == 1 || meet_later(&c->memory);
    uccs_team_sync(&c->memory.team->nodes->near);
    return true;
}

bool uccs_coll_run_part(struct uccs_coll *c, void (*part)(struct uccs_task *task))
{
    if (c->memory.later)
        c->task.step = part;
    else
        part(&c->task);
    return !c->memory.later;
}

static void share_part(struct uccs_task *task)
{
    struct uccs_coll *c = (struct uccs_coll *)task;
    uccs_share_do(c, c->rank);
    c->step++;
}

static bool do_share(struct uccs_coll *c)
{
    return c->memory.nothing || uccs_coll_run_part(c, share_part);
}

bool uccs_coll_pass_turn(struct uccs_coll *c)
{
    if (c->memory.later)
        c->memory.team->copied = c->memory.number;
    return true;
}

/* A split-phase one does its share when those before have done theirs; over nodes, after what it has to flush. */
bool uccs_coll_await_turn(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    if (m->later && m->team->copied + 1 != m->number)
        return false;
    if (m->team->far && m->quiet)
        (void)proto_flush(0, 0, 0, &m->under_way);
    return true;
}

static bool tell_copied(struct uccs_coll *c)
{
    c->memory.copied = true;
    c->memory.team->copied = c->memory.number;
    tell_reached(c, TEAM_COPIED);
    return true;
}

/* A broadcast is over at its receiver when the data is there, a barrier when all members have come. */
static bool all_copied(struct uccs_coll *c)
{
    return c->memory.nothing || (has_root(c) && c->root != c->rank) || all_reached(c, TEAM_COPIED);
}

static uccs_coll_step *const *steps_of(const struct uccs_coll *c)
{
    static uccs_coll_step *const now[] = {uccs_coll_come, do_share, uccs_coll_leave, 0};
    static uccs_coll_step *const later[] = {uccs_coll_await_turn, all_ready, do_share, tell_copied, all_copied, 0};
    static uccs_coll_step *const brief[] = {advance_brief, 0};
    static uccs_coll_step *const far[] = {uccs_coll_await_turn, uccs_coll_settled, uccs_coll_come,      do_share,
                                          uccs_coll_settled,    uccs_coll_leave,   uccs_coll_pass_turn, 0};
    static uccs_coll_step *const far_fold[] = {uccs_coll_come, uccs_share_fold_far, 0};
    if (c->memory.team->far)
        return c->fold ? far_fold : far;
    return c->memory.brief ? brief : c->memory.later ? later : now;
}

static void begin_memory(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    m->looked = 0;
    m->brief = m->copied = false;
    m->meeting.team = 0;
    if (m->team->far)
        m->under_way = (struct uccs_request){0};
    m->under_way.pending = 1; /* no one's child, and with an owner: nobody frees it */
    m->held = 0;
    if (m->later) {
        m->number = ++m->team->posted;
        m->brief = is_brief(c);
        m->turn = m->brief && !m->nothing ? ++m->team->brief : 0;
    }
    if (!c->step)
        c->step = steps_of(c);
    if (m->later && !m->team->far)
        tell_reached(c, TEAM_POSTED);
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

/* On one node a split-phase one waits for the members that have not come, then for those that are not done. */
static void reason_memory(const struct uccs_coll *c, struct uccs_reason *reason)
{
    const int rank = c->memory.team->far ? c->size : first_missing(c, c->memory.copied ? TEAM_COPIED : TEAM_POSTED, 0);
    if (rank < c->size)
        reason->on = uccs_reason_pe(uccs_team_pe(c->memory.team, rank));
}

const struct uccs_coll_family uccs_coll_by_memory = {.begin = begin_memory,
                                                     .pause = pause_memory,
                                                     .hold = hold_team,
                                                     .release = release_team,
                                                     .reason = reason_memory};
