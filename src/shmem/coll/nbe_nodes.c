/* Split-phase collectives on groups whose members are on several nodes.
 *
 * Data flow of one: all have come (a dissemination that never waits: each look sends what can be sent and goes on
 * where it stopped); my share is gets from the others' sources, and of a reduction puts to their dests; when those
 * are complete, all are done (a second dissemination).
 *
 * Invariants: a group's operations run one after the other, so the flags of operation k hold 2k - 1 for its first and
 * 2k for its second dissemination, and only count up. Under the progress list's lock. */
#include "shmem/coll/nbe_nodes.h"

#include "shmem/coll/kernels.h"
#include "shmem/far.h"
#include "shmem/rma.h"
#include "shmem/state.h"

#include <stdlib.h>

enum phase { WAITS, FLUSHES, COMES, SHARES, GIVES, LEAVES };

static void take(struct operation *op, void *to, const void *source, int rank, size_t bytes)
{
    int pe = uccs_group_pe(&op->team->group, rank);
    uccs_request_handle handle = &op->under_way;
    if (uccs_far_pe(pe))
        uccs_far_get_nb(0, pe, lat_far_place(op->call, "source", source, pe), to, bytes, 0, &handle);
    else
        memmove(to, lat_resolve(op->call, "source", source, pe), bytes);
}

static void give(struct operation *op, void *dest, const void *from, int rank, size_t bytes)
{
    int pe = uccs_group_pe(&op->team->group, rank);
    uccs_request_handle handle = &op->under_way;
    if (uccs_far_pe(pe))
        uccs_far_put_nb(0, pe, lat_far_place(op->call, "dest", dest, pe), from, bytes, 0, &handle);
    else
        memcpy(lat_resolve(op->call, "dest", dest, pe), from, bytes);
}

/* True when all have arrived. Round 2r has sent the flag of r, round 2r + 1 waits for mine. */
static bool meet(struct operation *op, uint64_t epoch)
{
    const struct uccs_group *group = &op->team->group;
    for (; 1 << op->round / 2 < group->size; op->round++) {
        int step = op->round / 2;
        if (op->round % 2 == 0)
            uccs_group_tell(group, (group->rank + (1 << step)) % group->size, GROUP_SPLIT + step, epoch);
        else if (atomic_load_acquire((const uint64_t *)uccs_group_line(group, group->rank, GROUP_SPLIT + step)) < epoch)
            return false; /* release: uccs_group_tell of the partner */
    }
    op->round = 0;
    return true;
}

static void my_part(const struct operation *op, size_t *from, size_t *n)
{
    size_t members = (size_t)op->team->size, rank = (size_t)op->team->rank;
    *from = op->n * rank / members;
    *n = op->n * (rank + 1) / members - *from;
}

static void take_parts(struct operation *op)
{
    size_t from, n, size = lat_kind_size(op->kind);
    my_part(op, &from, &n);
    op->room = malloc(n * size * (size_t)op->team->size);
    if (n && !op->room)
        lat_fail(op->call, "no memory for %zu bytes of the others' vectors", n * size * (size_t)op->team->size);
    for (int rank = 0; n && rank < op->team->size; rank++)
        take(op, op->room + (size_t)rank * n * size, (const char *)op->source + from * size, rank, n * size);
}

static void give_parts(struct operation *op)
{
    size_t from, n, size = lat_kind_size(op->kind);
    my_part(op, &from, &n);
    lat_kernel *kernel = lat_kernel_of(op->kind, op->op);
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

/* One step; false when it has to be looked at again later. */
static bool go_on(struct operation *op)
{
    struct uccs_group *group = &op->team->group;
    switch ((enum phase)op->phase) {
    case WAITS:
        op->under_way.pending = 1;
        if (group->copied + 1 != op->number)
            return false;
        if (op->quiet)
            uccs_far_flush(0, &op->under_way);
        return true;
    case FLUSHES: return settled(op);
    case COMES:
        if (!meet(op, 2 * op->number - 1))
            return false;
        if (op->share)
            share(op);
        return true;
    case SHARES:
        if (!settled(op))
            return false;
        if (op->share && op->what == NBE_REDUCE)
            give_parts(op);
        return true;
    case GIVES: return settled(op);
    case LEAVES: return !op->share || meet(op, 2 * op->number);
    }
    return true;
}

bool lat_nbe_advance_nodes(struct uccs_work *work)
{
    struct operation *op = (struct operation *)work;
    for (; op->phase <= LEAVES; op->phase++)
        if (!go_on(op))
            return false;
    free(op->room);
    op->team->group.copied = op->number;
    lat_nbe_complete(op);
    return true;
}
