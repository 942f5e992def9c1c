/* Split-phase collectives on groups whose members are on several nodes.
 *
 * Data flow of an operation: the nodes meet, without waiting: each look goes on where the last one stopped. Then
 * this PE gets what it needs from the others' sources, and in a reduction puts its results to their dests. When
 * those are complete, the nodes meet again, and the operation is over.
 *
 * Invariants: a group's operations run one after the other, so their meetings do. Under the progress list's lock. */
#include "shmem/coll/nbe_nodes.h"

#include "base/fold.h"
#include "shmem/place.h"
#include "shmem/state.h"
#include "uccs/core/task.h"

#include <stdlib.h>
#include <string.h>

enum phase { WAITS, FLUSHES, COMES, SHARES, GIVES, LEAVES };

static void take(struct operation *op, void *to, const void *source, int rank, size_t bytes)
{
    int pe = uccs_team_pe(&op->team->group, rank);
    uccs_request_handle handle = &op->under_way;
    if (uccs_far_pe(pe))
        (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_GET,
                                                  .nonblocking = true,
                                                  .pe = pe,
                                                  .at = lat_remote_address(op->call, "source", source, pe),
                                                  .dest = to,
                                                  .bytes = bytes,
                                                  .request = &handle});
    else
        memmove(to, lat_resolve(op->call, "source", source, pe), bytes);
}

static void give(struct operation *op, void *dest, const void *from, int rank, size_t bytes)
{
    int pe = uccs_team_pe(&op->team->group, rank);
    uccs_request_handle handle = &op->under_way;
    if (uccs_far_pe(pe))
        (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_PUT,
                                                  .nonblocking = true,
                                                  .pe = pe,
                                                  .at = lat_remote_address(op->call, "dest", dest, pe),
                                                  .source = from,
                                                  .bytes = bytes,
                                                  .request = &handle});
    else
        memcpy(lat_resolve(op->call, "dest", dest, pe), from, bytes);
}

static void my_part(const struct operation *op, size_t *from, size_t *n)
{
    size_t members = (size_t)op->team->size, rank = (size_t)op->team->rank;
    *from = op->n * rank / members;
    *n = op->n * (rank + 1) / members - *from;
}

static void take_parts(struct operation *op)
{
    size_t from, n, size = kind_size(op->kind);
    my_part(op, &from, &n);
    op->room = malloc(n * size * (size_t)op->team->size);
    if (n && !op->room)
        lat_fail(op->call, "no memory for %zu bytes of the others' vectors", n * size * (size_t)op->team->size);
    for (int rank = 0; n && rank < op->team->size; rank++)
        take(op, op->room + (size_t)rank * n * size, (const char *)op->source + from * size, rank, n * size);
}

static void give_parts(struct operation *op)
{
    size_t from, n, size = kind_size(op->kind);
    my_part(op, &from, &n);
    fold_kernel *kernel = fold_kernel_of(op->kind, op->op);
    for (int rank = 1; n && rank < op->team->size; rank++)
        kernel(op->room, op->room, op->room + (size_t)rank * n * size, n);
    for (int rank = 0; n && rank < op->team->size; rank++)
        give(op, (char *)op->dest + from * size, op->room, rank, n * size);
}

static void share(struct operation *op)
{
    size_t mine = (size_t)op->team->rank * op->bytes;
    if (op->what == NBE_REDUCE)
        take_parts(op);
    else if (op->what == NBE_BROADCAST)
        take(op, op->dest, op->source, op->root, op->bytes);
    for (int rank = 0; rank < op->team->size && (op->what == NBE_FCOLLECT || op->what == NBE_ALLTOALL); rank++)
        take(op, (char *)op->dest + (size_t)rank * op->bytes,
             (const char *)op->source + (op->what == NBE_ALLTOALL ? mine : 0), rank, op->bytes);
}

static bool settled(struct operation *op)
{
    return atomic_load_acquire(&op->under_way.pending) == 1; /* acqrel: uccs_request_finish */
}

/* A phase that takes long is left to a step, which ends it. */
static void share_step(struct uccs_task *task)
{
    struct operation *op = (struct operation *)task;
    share(op);
    op->phase++;
}

static void give_step(struct uccs_task *task)
{
    struct operation *op = (struct operation *)task;
    give_parts(op);
    op->phase++;
}

static bool leave_to(struct operation *op, void (*step)(struct uccs_task *))
{
    op->task.step = step;
    return false;
}

/* Takes one step. Returns false when it has to look again later. */
static bool go_on(struct operation *op)
{
    struct uccs_team *group = &op->team->group;
    switch ((enum phase)op->phase) {
    case WAITS:
        op->under_way.pending = 1;
        if (group->copied + 1 != op->number)
            return false;
        if (op->quiet)
            proto_flush(0, &op->under_way);
        return true;
    case FLUSHES:
        if (!settled(op))
            return false;
        uccs_nodes_meet_begin(&op->meeting, &op->team->group);
        return true;
    case COMES:
        if (!uccs_nodes_meet(&op->meeting))
            return false;
        return !op->share || leave_to(op, share_step);
    case SHARES:
        if (!settled(op))
            return false;
        return !op->share || op->what != NBE_REDUCE || leave_to(op, give_step);
    case GIVES:
        if (!settled(op))
            return false;
        if (op->share)
            uccs_nodes_meet_begin(&op->meeting, &op->team->group);
        return true;
    case LEAVES: return !op->share || uccs_nodes_meet(&op->meeting);
    }
    return true;
}

bool lat_nbe_go_on_nodes(struct operation *op)
{
    for (; op->phase <= LEAVES; op->phase++)
        if (!go_on(op))
            return false;
    free(op->room);
    op->team->group.copied = op->number;
    return true;
}
