/* Put and get. Contiguous bytes of mapped memory are a range check and a copy; all else goes the general way. */
#include "base/copy.h"
#include "mpi/core/real.h"
#include "mpi/datatype/iterator.h"
#include "mpi/datatype/type.h"
#include "mpi/ops/operation.h"
#include "mpi/window/completion.h"
#include "mpi/window/window.h"

#include <string.h>

/* Pieces that are longer go one by one to another node: to copy them together costs more than their headers. */
#define APART_MOST 1024

static int class_of_move(int status)
{
    return status == UCCS_ERR_STALE ? lmpi_class_of(status) : status == UCCS_OK ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

/* Pieces of one distance take a message of blocks; fewer ones take less room in a message with others. */
#define FEW 4

/* Moves `count` pieces of memory that is not mapped, or the first one alone. */
static int move_far(struct lmpi_target *target, char *local, MPI_Aint at, const struct lmpi_iov *iov, size_t count,
                    struct lmpi_operation *move)
{
    const struct uccs_stride stride = {iov->bytes, count, iov->there_step, iov->here_step};
    const size_t offset = target->offset + (size_t)at;
    const bool puts = move->what == LMPI_PUT;
    if (count == 1)
        return class_of_move(
            puts ? uccs_put(target->endpoint, target->memory, offset, local, iov->bytes, move->options)
                 : uccs_get(target->endpoint, target->memory, offset, local, iov->bytes, move->options));
    return class_of_move(
        puts ? uccs_put_blocks(target->endpoint, target->memory, offset, local, &stride, move->options)
             : uccs_get_blocks(target->endpoint, target->memory, offset, local, &stride, move->options));
}

static int move_far_iov(struct lmpi_target *target, struct lmpi_operation *move, MPI_Aint disp,
                        const struct lmpi_iov *iov)
{
    char *local = move->origin.address + iov->here;
    MPI_Aint at = disp + iov->there;
    int status = MPI_SUCCESS;
    if (iov->count > 1 && iov->bytes <= APART_MOST)
        return move_far(target, local, at, iov, iov->count, move);
    for (size_t i = 0; i < iov->count && status == MPI_SUCCESS; i++) {
        status = move_far(target, local, at, iov, 1, move);
        local += iov->here_step;
        at += iov->there_step;
    }
    return status;
}

/* Pieces of a put that have no common distance. */
struct gathered {
    size_t n;
    struct uccs_piece pieces[64];
};

static int put_gathered(struct lmpi_target *target, struct lmpi_operation *move, struct gathered *gathered)
{
    const struct uccs_piece *pieces = gathered->pieces;
    const size_t n = gathered->n;
    gathered->n = 0;
    return class_of_move(n == 1 ? uccs_put(target->endpoint, target->memory, pieces->offset, pieces->local,
                                           pieces->length, move->options)
                                : uccs_put_pieces(target->endpoint, target->memory, pieces, n, move->options));
}

static int gather(struct lmpi_target *target, struct lmpi_operation *move, MPI_Aint disp, const struct lmpi_iov *iov,
                  struct gathered *gathered)
{
    int status = MPI_SUCCESS;
    for (MPI_Aint i = 0; i < (MPI_Aint)iov->count && status == MPI_SUCCESS; i++) {
        gathered->pieces[gathered->n++] =
            (struct uccs_piece){target->offset + (size_t)(disp + iov->there + i * iov->there_step),
                                move->origin.address + iov->here + i * iov->here_step, iov->bytes};
        if (gathered->n == sizeof gathered->pieces / sizeof *gathered->pieces)
            status = put_gathered(target, move, gathered);
    }
    return status;
}

/* Most pieces are one word. */
static inline void copy_iov(char *to, MPI_Aint to_step, const char *from, MPI_Aint from_step,
                            const struct lmpi_iov *iov)
{
    if (iov->count == 1 && iov->bytes == 8)
        memcpy(to, from, 8);
    else
        copy_blocks(to, to_step, from, from_step, iov->bytes, iov->count);
}

/* Moves data between the pieces of two datatypes. */
static int move_iov(struct lmpi_target *target, struct lmpi_operation *move, struct lmpi_iterator *local, MPI_Aint disp,
                    struct lmpi_iterator *remote)
{
    struct lmpi_iov next = {0};
    struct gathered gathered; /* only n starts with a value */
    int status = MPI_SUCCESS;
    gathered.n = 0;
    while (status == MPI_SUCCESS && lmpi_iov_next(local, remote, &next)) {
        char *near = target->near ? target->near + disp + next.there : 0, *here = move->origin.address + next.here;
        if (!near && move->what == LMPI_PUT && next.count <= FEW)
            status = gather(target, move, disp, &next, &gathered);
        else if (!near)
            status = move_far_iov(target, move, disp, &next);
        else if (move->what == LMPI_PUT)
            copy_iov(near, next.there_step, here, next.here_step, &next);
        else
            copy_iov(here, next.here_step, near, next.there_step, &next);
    }
    if (gathered.n && status == MPI_SUCCESS)
        status = put_gathered(target, move, &gathered);
    return status;
}

int lmpi_move(struct lmpi_window *window, struct lmpi_operation *move)
{
    const struct lmpi_type *local = lmpi_type(move->origin.type), *remote = lmpi_type(move->type);
    struct lmpi_target *target = &window->target[move->rank];
    struct lmpi_iterator here, there;
    struct uccs_op storage;
    MPI_Aint at;
    if (move->origin.count < 0 || move->count < 0)
        return MPI_ERR_COUNT;
    if (!local || !remote)
        return MPI_ERR_TYPE;
    if ((size_t)move->origin.count * local->size != (size_t)move->count * remote->size)
        return MPI_ERR_TRUNCATE;
    if (!move->origin.address && local->predefined && move->origin.count)
        return MPI_ERR_BUFFER; /* a derived type may hold absolute addresses */
    const int status = lmpi_check_range(window, move, remote, &at);
    if (status != MPI_SUCCESS)
        return status;
    struct lmpi_level here_levels[local->depth + 1], there_levels[remote->depth + 1];
    lmpi_iterator_begin(&here, local, (size_t)move->origin.count, here_levels);
    lmpi_iterator_begin(&there, remote, (size_t)move->count, there_levels);
    move->options =
        lmpi_issue(window, move, move->later, move->what == LMPI_GET && target->far_ops == LMPI_FAR_ANSWERED, &storage);
    return move_iov(target, move, &here, at, &there);
}

/* Returns the target and the place there of dense data, or null when the general way is due. Looks at nothing but what this
 * thread and the window keep, so that its callers save no registers. */
static inline __attribute__((always_inline)) const struct lmpi_target *dense_target(
    const struct lmpi_window *window, const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
    int target_count, MPI_Datatype target_type, size_t *at, size_t *bytes)
{
    const struct lmpi_type *known = lmpi_last_type.known;
    if (__builtin_expect(!window || !origin || type != target_type || count != target_count ||
                             type != lmpi_last_type.type || !known || !known->dense || known->lb,
                         0))
        return 0;
    *bytes = (size_t)count * known->size; /* a negative count is more than any window has */
    return lmpi_plain_target(window, rank, disp, *bytes, at);
}

/* Returns the address of dense data in dynamic memory that this process has mapped, or null when the general way is due. */
static char *dense_ranged(const struct lmpi_window *window, const void *origin, int count, MPI_Datatype type, int rank,
                          MPI_Aint disp, int target_count, MPI_Datatype target_type, size_t *bytes)
{
    size_t at;
    bool unused;
    const struct lmpi_target *target =
        dense_target(window, origin, count, type, rank, disp, target_count, target_type, &at, bytes);
    char *address = target && target->ranged ? lmpi_view(target, at, *bytes, &unused) : 0;
    if (address)
        lmpi_order_issue(window);
    return address;
}

/* Words of one instruction go as such, so that another process never sees half of one. */
static __attribute__((noinline)) int copy_many(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 8: memcpy(to, from, 8); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, bytes);
    }
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int put_any(const void *origin, int origin_count, MPI_Datatype origin_type, int rank,
                                             MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Put(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    size_t bytes;
    char *to = dense_ranged(window, origin, origin_count, origin_type, rank, disp, target_count, target_type, &bytes);
    return to ? copy_many(to, origin, bytes) : lmpi_end(window, lmpi_call(window, LMPI_OPERATION(PUT)), "MPI_Put");
}

static __attribute__((noinline)) int get_any(void *origin, int origin_count, MPI_Datatype origin_type, int rank,
                                             MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Get(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    size_t bytes;
    char *from = dense_ranged(window, origin, origin_count, origin_type, rank, disp, target_count, target_type, &bytes);
    return from ? copy_many(origin, from, bytes) : lmpi_end(window, lmpi_call(window, LMPI_OPERATION(GET)), "MPI_Get");
}

/* In an ordered window a put comes behind what was issued before. */
LMPI_EXPORT int MPI_Put(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                        int target_count, MPI_Datatype target_type, MPI_Win win)
{
    size_t at, bytes;
    const struct lmpi_target *target = dense_target(lmpi_window_cached(win), origin, origin_count, origin_type, rank,
                                                    disp, target_count, target_type, &at, &bytes);
    if (__builtin_expect(!target || !target->near, 0))
        return put_any(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (__builtin_expect(bytes != 8, 0))
        return copy_many(target->near + at, origin, bytes);
    memcpy(target->near + at, origin, 8);
    return MPI_SUCCESS;
}
LMPI_NAME(Put);

LMPI_EXPORT int MPI_Get(void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                        int target_count, MPI_Datatype target_type, MPI_Win win)
{
    size_t at, bytes;
    const struct lmpi_window *window = lmpi_window_cached(win);
    const struct lmpi_target *target =
        dense_target(window, origin, origin_count, origin_type, rank, disp, target_count, target_type, &at, &bytes);
    if (__builtin_expect(!target || !target->near, 0))
        return get_any(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    lmpi_order_issue(window);
    if (__builtin_expect(bytes != 8, 0))
        return copy_many(origin, target->near + at, bytes);
    memcpy(origin, target->near + at, 8);
    return MPI_SUCCESS;
}
LMPI_NAME(Get);
