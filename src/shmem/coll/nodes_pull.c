/* Collectives on groups over several nodes, the plain way: for groups without a area, and when LATERAL_COLL asks
 * for it.
 *
 * Every operation has three steps: a sync; every member takes what it needs from the others' sources, by copies on
 * its node and by gets from others, all under way at once; a sync. Near or far is decided per member, so members of
 * a node never use the network among themselves. Combining is a left fold in the order of the ranks, as on one node.
 *
 * Rules and threads: inner.h. */
#include "shmem/coll/nodes.h"

#include "base/fold.h"
#include "shmem/place.h"
#include "shmem/strided.h"
#include "shmem/state.h"
#include "uccs/proto/initiator.h"

#include <stdlib.h>

#define GATHER_MOST (1u << 16) /* bytes of a vector that every member folds by itself */
#define ROOM (4u << 20)        /* bytes that one step of a longer one gathers */

/* A thread has one at a time. `under_way` has no parent and keeps an owner, so nobody frees it. */
struct step {
    const char *call;
    struct uccs_team *group;
    struct uccs_request *under_way;
};

/* Takes bytes of member `rank`; a far one's are there after settle. */
static void take(struct step *step, void *to, const void *source, int rank, size_t bytes)
{
    int pe = uccs_team_pe(step->group, rank);
    if (rank == step->group->rank)
        memmove(to, source, bytes);
    else if (uccs_far_pe(pe))
        (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_GET,
                                                  .nonblocking = true,
                                                  .pe = pe,
                                                  .at = lat_remote_address(step->call, "source", source, pe),
                                                  .dest = to,
                                                  .bytes = bytes,
                                                  .request = &step->under_way});
    else
        memcpy(to, lat_coll_peer(step->call, "source", step->group, source, rank), bytes);
}

static void give(struct step *step, void *dest, const void *from, int rank, size_t bytes)
{
    int pe = uccs_team_pe(step->group, rank);
    if (uccs_far_pe(pe))
        (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_PUT,
                                                  .nonblocking = true,
                                                  .pe = pe,
                                                  .at = lat_remote_address(step->call, "dest", dest, pe),
                                                  .source = from,
                                                  .bytes = bytes,
                                                  .request = &step->under_way});
    else
        memmove(lat_coll_peer(step->call, "dest", step->group, dest, rank), from, bytes);
}

/* Waits until the gets have brought their data here and the puts theirs there. */
static void settle(const struct step *step)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(&step->under_way->pending) != 1) /* acqrel: uccs_request_finish */
        uccs_pause(&wait);
}

void lat_pull_broadcast(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes,
                        int root, bool at_root)
{
    struct step step = {call, group, &(struct uccs_request){.pending = 1}};
    uccs_team_sync(group);
    if (group->rank != root) {
        take(&step, dest, source, root, bytes);
        settle(&step);
    } else if (at_root && dest != source) {
        memcpy(dest, source, bytes);
    }
    uccs_team_sync(group);
}

void lat_pull_fcollect(const char *call, struct uccs_team *group, char *dest, const void *source, size_t bytes)
{
    struct step step = {call, group, &(struct uccs_request){.pending = 1}};
    uccs_team_sync(group);
    for (int i = 1; i <= group->size; i++) {
        int rank = (group->rank + i) % group->size;
        take(&step, dest + (size_t)rank * bytes, source, rank, bytes);
    }
    settle(&step);
    uccs_team_sync(group);
}

void lat_pull_alltoall(const char *call, struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    struct step step = {call, group, &(struct uccs_request){.pending = 1}};
    const char *mine = source + (size_t)group->rank * bytes; /* in everybody's source */
    uccs_team_sync(group);
    for (int i = 1; i <= group->size; i++) {
        int rank = (group->rank + i) % group->size;
        take(&step, dest + (size_t)rank * bytes, mine, rank, bytes);
    }
    settle(&step);
    uccs_team_sync(group);
}

void lat_pull_alltoalls(const char *call, struct uccs_team *group, char *dest, const char *source, ptrdiff_t dst,
                        ptrdiff_t sst, size_t nelems, size_t size)
{
    ptrdiff_t tblock = dst * (ptrdiff_t)(nelems * size), fblock = sst * (ptrdiff_t)(nelems * size);
    const char *mine = source + group->rank * fblock;
    struct step step = {call, group, &(struct uccs_request){.pending = 1}};
    uccs_team_sync(group);
    for (int i = 1; i <= group->size; i++) {
        int rank = (group->rank + i) % group->size;
        lat_iget_carry(call, LAT_CTX_DEFAULT, dest + rank * tblock, mine, dst, sst, nelems, size,
                       uccs_team_pe(group, rank), &step.under_way);
    }
    settle(&step);
    uccs_team_sync(group);
}

/* What a member of a collect tells the others. */
struct block {
    uint64_t bytes;
    uint64_t segment, offset; /* of its source; members with an empty block may have no address of it */
};

static struct block block_of(const char *call, const struct uccs_team *group, const void *source, size_t bytes)
{
    struct proto_address place = {0};
    if (bytes)
        place = proto_address(source);
    if (bytes && place.segment == PROTO_NOWHERE)
        lat_coll_peer(call, "source", group, source, group->rank); /* names the mistake */
    return (struct block){bytes, place.segment, place.offset};
}

/* Members of an active set exchange it in their pSync, behind the flags. */
static void tell_block(struct uccs_team *group, const struct block *mine)
{
    if (group->area >= 0) {
        uccs_team_exchange(group, mine, sizeof *mine);
        return;
    }
    memcpy(&group->flags[TEAM_ROUNDS], mine, sizeof *mine);
    uccs_team_sync(group);
}

static struct block block_from(struct step *step, int rank)
{
    struct block room;
    struct uccs_team *group = step->group;
    if (group->area >= 0)
        return *(const struct block *)uccs_team_given(group, rank, sizeof room);
    take(step, &room, &group->flags[TEAM_ROUNDS], rank, sizeof room);
    settle(step);
    return room;
}

void lat_pull_collect(const char *call, struct uccs_team *group, char *dest, const void *source, size_t bytes)
{
    struct step step = {call, group, &(struct uccs_request){.pending = 1}};
    struct block mine = block_of(call, group, source, bytes);
    tell_block(group, &mine);
    for (int rank = 0; rank < group->size; rank++) {
        struct block block = block_from(&step, rank);
        if (block.bytes == 0)
            continue;
        const void *start =
            proto_local_address((struct proto_address){.segment = (uint32_t)block.segment, .offset = block.offset});
        take(&step, dest, start, rank, block.bytes);
        dest += block.bytes;
    }
    settle(&step);
    uccs_team_sync(group);
    for (size_t word = 0; group->area < 0 && word < sizeof mine / sizeof(long); word++)
        group->flags[TEAM_ROUNDS + word] = TEAM_FLAG_AT_REST;
}

static void *room_for(const char *call, size_t bytes)
{
    void *room = malloc(bytes);
    if (!room)
        lat_fail(call, "no memory for %zu bytes of the others' vectors", bytes);
    return room;
}

/* sum = fold of the sources of members 0 .. last at `source`; `room` takes last + 1 pieces. */
static void fold(struct step *step, fold_kernel *combine, char *sum, char *room, const char *source, size_t bytes,
                 size_t n, int last)
{
    for (int rank = 0; rank <= last; rank++)
        take(step, room + (size_t)rank * bytes, source, rank, bytes);
    settle(step);
    memcpy(sum, room, bytes);
    for (int rank = 1; rank <= last; rank++)
        combine(sum, sum, room + (size_t)rank * bytes, n);
}

/* Short: each folds everything; nobody stores before all have taken. Also the scans: members 0 .. last. */
static void fold_all(struct step *step, fold_kernel *combine, void *dest, const char *source, size_t n, size_t size,
                     int last)
{
    size_t bytes = n * size, most = ROOM / ((size_t)step->group->size * size) + 1;
    char *sum = room_for(step->call, bytes);
    char *room = room_for(step->call, (most < n ? most : n) * size * (size_t)step->group->size);
    uccs_team_sync(step->group);
    memset(sum, 0, bytes);
    for (size_t at = 0, piece; last >= 0 && at < n; at += piece) {
        piece = n - at < most ? n - at : most;
        fold(step, combine, sum + at * size, room, source + at * size, piece * size, piece, last);
    }
    uccs_team_sync(step->group);
    memcpy(dest, sum, bytes);
    free(room);
    free(sum);
}

/* Long: each folds its share of the elements, and gives it to all. Only a share's owner touches it. */
static void fold_share(struct step *step, fold_kernel *combine, char *dest, const char *source, size_t n, size_t size)
{
    size_t members = (size_t)step->group->size, rank = (size_t)step->group->rank;
    size_t at = n * rank / members, end = n * (rank + 1) / members, most = ROOM / (members * size) + 1;
    char *room = room_for(step->call, most * size * (members + 1));
    uccs_team_sync(step->group);
    for (size_t piece; at < end; at += piece) {
        piece = end - at < most ? end - at : most;
        char *sum = room + most * size * members;
        fold(step, combine, sum, room, source + at * size, piece * size, piece, step->group->size - 1);
        for (int i = 1; i <= step->group->size; i++)
            give(step, dest + at * size, sum, (step->group->rank + i) % step->group->size, piece * size);
        settle(step);
    }
    uccs_team_sync(step->group);
    free(room);
}

void lat_pull_reduce(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n,
                     enum kind kind, enum fold_op op)
{
    struct step step = {call, group, &(struct uccs_request){.pending = 1}};
    size_t size = kind_size(kind);
    if (n * size <= GATHER_MOST)
        fold_all(&step, fold_kernel_of(kind, op), dest, source, n, size, group->size - 1);
    else
        fold_share(&step, fold_kernel_of(kind, op), dest, source, n, size);
}

void lat_pull_scan(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n, enum kind kind,
                   bool inclusive)
{
    struct step step = {call, group, &(struct uccs_request){.pending = 1}};
    fold_all(&step, fold_kernel_of(kind, FOLD_SUM), dest, source, n, kind_size(kind), group->rank - !inclusive);
}
