/* Split-phase collectives: those of a group on one node, and what all of them share (nbe_nodes.c has the rest).
 *
 * Data flow of one: start posts "I have called it" in my line; once those that I need have posted, some
 * thread in progress does my share of the copying, straight from and to the peers' memory, and marks it
 * done in my other line; it is complete when those that use my memory have marked theirs.
 *
 * With progress threads a brief operation, whose copying takes less time than waking a thread, is different: the last
 * member to start it copies for all members, in its start. So nobody is woken, and the data is in place while all
 * compute. Two members may both find that all have started; one of them claims the operation, in a word that also says
 * which operation is done.
 *
 * Invariants, per group:
 * - Both lines only count up. Members start the same operations in the same order, so "posted >= k" means
 *   that its buffers of operation k are ready, and "copied >= k" that it has finished its share of k.
 * - A PE does its shares in order: operation k copies only after k-1 has (group->copied, under the
 *   progress list's lock). Completion may overtake.
 * - Posted and copied are release stores; the partners' looks at them are acquire loads.
 * - Brief operations are claimed in the order of their starts, each after the one before is done. */
#include "shmem/coll/nbe.h"

#include "base/fold.h"
#include "shmem/bytes.h"
#include "shmem/coll/coll.h"
#include "shmem/coll/nbe_nodes.h"
#include "shmem/place.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/core/wait_record.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/task.h"
#include "uccs/comp/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes read and written, by one processor in some 5 us: about what it costs to wake a thread of another one. */
#define BRIEF ((size_t)128 << 10)

static void *at_member(const struct operation *op, const char *argument, const void *addr, int rank)
{
    int pe = uccs_team_pe(&op->team->group, rank);
    void *near = uccs_near(addr, pe);
    return near ? near : lat_resolve(op->call, argument, addr, pe);
}

static void *dest_of(const struct operation *op, int rank)
{
    return rank == op->team->rank ? op->dest : at_member(op, "dest", op->dest, rank);
}

/* Each share_X does the share of one member. */
static void share_broadcast(struct operation *op, int rank)
{
    const void *from = at_member(op, "source", op->source, op->root);
    void *to = dest_of(op, rank);
    if (from != to)
        memcpy(to, from, op->bytes);
}

static void share_fcollect(struct operation *op, int rank)
{
    char *to = dest_of(op, rank);
    for (int other = 0; other < op->team->size; other++)
        memcpy(to + (size_t)other * op->bytes, at_member(op, "source", op->source, other), op->bytes);
}

static void share_alltoall(struct operation *op, int rank)
{
    const size_t at = (size_t)rank * op->bytes;
    char *to = dest_of(op, rank);
    for (int other = 0; other < op->team->size; other++)
        memcpy(to + (size_t)other * op->bytes, (const char *)at_member(op, "source", op->source, other) + at,
               op->bytes);
}

/* Nothing else reads and writes the share's elements, at any member, so in place is no special case. */
static void share_reduce(struct operation *op, int rank)
{
    size_t members = (size_t)op->team->size, size = kind_size(op->kind);
    size_t begin = op->n * (size_t)rank / members, end = op->n * ((size_t)rank + 1) / members;
    fold_kernel *kernel = fold_kernel_of(op->kind, op->op);
    for (size_t piece; begin < end; begin += piece) {
        _Alignas(64) char sum[4096];
        piece = end - begin < sizeof sum / size ? end - begin : sizeof sum / size;
        memcpy(sum, (const char *)at_member(op, "source", op->source, 0) + begin * size, piece * size);
        for (int other = 1; other < op->team->size; other++)
            kernel(sum, sum, (const char *)at_member(op, "source", op->source, other) + begin * size, piece);
        for (int other = 0; other < op->team->size; other++)
            memcpy((char *)at_member(op, "dest", op->dest, other) + begin * size, sum, piece * size);
    }
}

/* Goes on where the last look stopped. Returns true when all members' lines have reached the operation. */
static bool all_reached(struct operation *op, int line)
{
    const struct uccs_team *group = &op->team->group;
    for (; op->looked < group->size; op->looked++) {
        const uint64_t *theirs = uccs_team_line(group, op->looked, line);
        if (atomic_load_acquire(theirs) < op->number) /* release: start, do_share */
            return false;
    }
    return true;
}

static bool ready(struct operation *op)
{
    if (op->root < 0)
        return all_reached(op, TEAM_POSTED);
    const uint64_t *theirs = uccs_team_line(&op->team->group, op->root, TEAM_POSTED);
    return atomic_load_acquire(theirs) >= op->number;
}

/* Returns true when members may wait for what I have just stored in this line: I am the last one. */
static bool ends_wait(const struct operation *op, int line)
{
    const struct uccs_team *group = &op->team->group;
    if (line == TEAM_POSTED && op->root >= 0)
        return op->root == group->rank;
    for (int rank = 0; rank < group->size; rank++) {
        const uint64_t *theirs = uccs_team_line(group, rank, line);
        if (atomic_load_acquire(theirs) < op->number) /* release: start, do_share */
            return false;
    }
    return true;
}

/* Stores the operation's number in my line, and wakes the progress threads of members that wait for it. Nobody is woken
 * for a brief operation: with the fence, the last member to post sees the posts of all. */
static void reach(const struct operation *op, int line)
{
    const struct uccs_team *group = &op->team->group;
    uint64_t *mine = uccs_team_line(group, group->rank, line);
    atomic_store_release(mine, op->number); /* acquire: ready, all_reached, ends_wait */
    if (op->brief)
        atomic_fence_seqcst(); /* partner: its own, in another member */
    else if (!group->far && uccs_doorbell_peers_have_tasks() && ends_wait(op, line))
        uccs_doorbell_wake_peers_slow();
}

static void copy_share(struct uccs_task *task)
{
    struct operation *op = (struct operation *)task;
    op->share(op, op->team->rank);
    op->copied = true;
}

/* --- Brief operations */

/* Of member 0: twice the number of brief operations that are done; one more while the next one is claimed. */
static uint64_t *brief_word(const struct operation *op)
{
    return (uint64_t *)uccs_team_line(&op->team->group, 0, TEAM_BRIEF) + 1;
}

static bool claim(const struct operation *op)
{
    uint64_t before = 2 * (op->turn - 1);
    return atomic_cas_acqrel(brief_word(op), &before, before + 1); /* release: share_all; acquire: those who wait */
}

static void share_all(struct operation *op)
{
    for (int rank = 0; rank < op->team->size; rank++)
        op->share(op, rank);
    atomic_store_release(brief_word(op), 2 * op->turn); /* acquire: do_brief */
}

/* Returns true when the operation is done at all members. A member that finds the operation before this one claimed
 * leaves this one to the claimer, which looks at it after that one: the claimer has started it, too. */
static bool do_brief(struct operation *op)
{
    struct uccs_team *group = &op->team->group;
    atomic_fence_seqcst(); /* looks at the others' posts after what was done before, a post or an operation */
    if (group->copied + 1 != op->number || !ready(op))
        return false;
    if (op->share && claim(op))
        share_all(op);
    if (op->share && atomic_load_acquire(brief_word(op)) < 2 * op->turn) /* release: share_all */
        return false;
    group->copied = op->number;
    return true;
}

static bool do_share(struct operation *op)
{
    struct uccs_team *group = &op->team->group;
    if (group->copied + 1 != op->number || (!op->copied && !ready(op)))
        return false;
    if (op->share && !op->copied) {
        op->task.step = copy_share;
        return false;
    }
    group->copied = op->number;
    reach(op, TEAM_COPIED);
    op->looked = 0;
    op->shared = true;
    return true;
}

/* A barrier is over when all members have come, a broadcast at its receiver when the data is there. */
static bool over(struct operation *op)
{
    if (!op->share || (op->root >= 0 && op->root != op->team->rank))
        return true;
    return all_reached(op, TEAM_COPIED);
}

/* Completes the operation's request and frees it. */
static void nbe_complete(struct operation *op)
{
    struct uccs_request *request = op->request;
    struct uccs_team *group = &op->team->group;
    free(op);
    uccs_request_finish_use(request, false);
    (void)atomic_fetch_sub_acqrel(&group->pending, 1); /* acquire: lat_team_destroy; the team may be gone now */
}

static bool nbe_advance_near(struct uccs_task *task)
{
    struct operation *op = (struct operation *)task;
    if (op->brief ? !do_brief(op) : (!op->shared && !do_share(op)) || !over(op))
        return false;
    nbe_complete(op);
    return true;
}

static bool nbe_advance_nodes(struct uccs_task *task)
{
    struct operation *op = (struct operation *)task;
    if (!lat_nbe_go_on_nodes(op))
        return false;
    nbe_complete(op);
    return true;
}

/* Returns a member that this operation of a team on one node waits for, or -1 when there is none. */
static int missing(const struct operation *op)
{
    const struct uccs_team *group = &op->team->group;
    const int line = op->shared ? TEAM_COPIED : TEAM_POSTED;
    for (int rank = 0; rank < group->size; rank++) {
        const uint64_t *theirs = uccs_team_line(group, rank, line);
        if ((op->shared || op->root < 0 || op->root == rank) && atomic_load_acquire(theirs) < op->number)
            return rank; /* release: start, do_share */
    }
    return -1;
}

static bool nbe_reason(const struct uccs_task *task, const struct uccs_request *request, struct uccs_reason *reason)
{
    const struct operation *op = (const struct operation *)task;
    if (!uccs_request_counts(request, op->request))
        return false;
    const int rank = op->team->group.far ? -1 : missing(op);
    if (rank >= 0)
        reason->on = uccs_reason_pe(uccs_team_pe(&op->team->group, rank));
    snprintf(reason->text, sizeof reason->text, "%s", op->call);
    return true;
}

/* Returns true when the operation costs one member less than waking the others' threads, and there are such threads. All
 * members decide alike, since they ask about member 0. */
static bool is_brief(const struct operation *op)
{
    const struct uccs_team *group = &op->team->group;
    const size_t members = (size_t)group->size, each = op->n ? 2 * kind_size(op->kind) : members;
    if (group->far || op->root >= 0 ||
        !atomic_load_relaxed(&uccs_pe_shared_of(uccs_index(uccs_team_pe(group, 0)))->threaded))
        return false;
    return (op->n ? op->n : op->bytes) <= BRIEF / members / each;
}

/* Returns 0, or -1 for an invalid team. */
static int start(shmem_team_t handle, shmemx_request_t *req, const struct operation *what)
{
    lat_require(what->call);
    struct shmem_team_impl *team = lat_team_of(handle);
    if (!team)
        return -1;
    struct operation *op = malloc(sizeof *op);
    struct uccs_request *request = uccs_request_materialise(req);
    if (!op || !request)
        lat_fail(what->call, "no memory for a request");
    *op = *what;
    op->task.advance = team->group.far ? nbe_advance_nodes : nbe_advance_near;
    op->task.reason = nbe_reason;
    op->share = op->bytes || op->n ? op->share : 0; /* nothing to move: null pointers are legal */
    op->team = team;
    op->request = request;
    op->number = ++team->group.posted;
    op->brief = is_brief(op);
    op->turn = op->brief && op->share ? ++team->group.brief : 0;
    uccs_request_begin_use(request);
    (void)atomic_fetch_add_relaxed(&team->group.pending, 1); /* before the list's lock */
    reach(op, TEAM_POSTED);
    uccs_task_add(&op->task);
    return 0;
}

void lat_barrier_all_nbe(shmemx_request_t *req)
{
    start(SHMEM_TEAM_WORLD, req, &(struct operation){.call = "shmemx_barrier_all_nbe", .root = -1, .quiet = true});
}

int lat_team_sync_nbe(shmem_team_t team, shmemx_request_t *req)
{
    return start(team, req, &(struct operation){.call = "shmemx_team_sync_nbe", .root = -1});
}

int lat_broadcast_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes, int root,
                      shmemx_request_t *req)
{
    const struct shmem_team_impl *members = lat_team_of(team);
    if (members && (root < 0 || root >= members->size))
        lat_fail(call, "PE_root %d is out of range, the team has PEs 0 to %d", root, members->size - 1);
    return start(team, req,
                 &(struct operation){.call = call,
                                     .what = NBE_BROADCAST,
                                     .share = share_broadcast,
                                     .dest = dest,
                                     .source = source,
                                     .bytes = bytes,
                                     .root = root});
}

int lat_fcollect_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                     shmemx_request_t *req)
{
    return start(team, req,
                 &(struct operation){.call = call,
                                     .what = NBE_FCOLLECT,
                                     .share = share_fcollect,
                                     .dest = dest,
                                     .source = source,
                                     .bytes = bytes,
                                     .root = -1});
}

int lat_alltoall_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t bytes,
                     shmemx_request_t *req)
{
    return start(team, req,
                 &(struct operation){.call = call,
                                     .what = NBE_ALLTOALL,
                                     .share = share_alltoall,
                                     .dest = dest,
                                     .source = source,
                                     .bytes = bytes,
                                     .root = -1});
}

int lat_reduce_nbe(const char *call, shmem_team_t team, void *dest, const void *source, size_t n, enum kind kind,
                   enum fold_op op, shmemx_request_t *req)
{
    (void)lat_bytes(call, n, kind_size(kind));
    return start(team, req,
                 &(struct operation){.call = call,
                                     .what = NBE_REDUCE,
                                     .share = share_reduce,
                                     .dest = dest,
                                     .source = source,
                                     .n = n,
                                     .kind = kind,
                                     .op = op,
                                     .root = -1});
}
