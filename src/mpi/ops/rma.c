/* Put and get. Contiguous bytes of mapped memory are a range check and a copy; all else goes the general way. */
#include "mpi/core/real.h"
#include "mpi/datatype/flatten.h"
#include "mpi/datatype/iterator.h"
#include "mpi/datatype/type.h"
#include "mpi/ops/operation.h"
#include "mpi/window/completion.h"
#include "mpi/window/view.h"
#include "mpi/window/window.h"

#include <string.h>

/* Copies; words of one instruction as such, so that another process never sees half of one. */
static inline void copy_bytes(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 8: memcpy(to, from, 8); return;
    case 4: memcpy(to, from, 4); return;
    }
    memcpy(to, from, bytes);
}

/* Pieces that are longer go one by one to another node: to copy them together costs more than their headers. */
#define APART_MOST 1024

static int class_of_move(int status)
{
    return status == UCCS_ERR_STALE ? lmpi_class_of(status) : status == UCCS_OK ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

/* Moves bytes of memory that is not mapped. */
static int move_far(struct lmpi_target *target, char *local, MPI_Aint at, size_t bytes,
                    const struct lmpi_operation *move)
{
    size_t offset = target->offset + (size_t)at;
    return class_of_move(move->what == LMPI_PUT
                             ? uccs_put(target->endpoint, target->memory, offset, local, bytes, move->options)
                             : uccs_get(target->endpoint, target->memory, offset, local, bytes, move->options));
}

static int move_far_together(struct lmpi_target *target, char *local, MPI_Aint at, const struct lmpi_iov *iov,
                             const struct lmpi_operation *move)
{
    const struct uccs_stride stride = {iov->bytes, iov->count, iov->there_step, iov->here_step};
    size_t offset = target->offset + (size_t)at;
    return class_of_move(
        move->what == LMPI_PUT
            ? uccs_put_blocks(target->endpoint, target->memory, offset, local, &stride, move->options)
            : uccs_get_blocks(target->endpoint, target->memory, offset, local, &stride, move->options));
}

static int move_far_iov(struct lmpi_target *target, const struct lmpi_operation *move, MPI_Aint disp,
                        const struct lmpi_iov *iov)
{
    char *local = move->origin.address + iov->here;
    MPI_Aint at = disp + iov->there;
    int status = MPI_SUCCESS;
    if (iov->count > 1 && iov->bytes <= APART_MOST)
        return move_far_together(target, local, at, iov, move);
    for (size_t i = 0; i < iov->count && status == MPI_SUCCESS; i++) {
        status = move_far(target, local, at, iov->bytes, move);
        local += iov->here_step;
        at += iov->there_step;
    }
    return status;
}

/* Moves data between the pieces of two datatypes. */
static int move_iov(struct lmpi_target *target, const struct lmpi_operation *move, struct lmpi_iterator *local,
                    MPI_Aint disp, struct lmpi_iterator *remote)
{
    struct lmpi_iov next;
    int status = MPI_SUCCESS;
    while (status == MPI_SUCCESS && lmpi_iov_next(local, remote, &next)) {
        char *near = target->near ? target->near + disp + next.there : 0, *here = move->origin.address + next.here;
        if (!near)
            status = move_far_iov(target, move, disp, &next);
        else if (move->what == LMPI_PUT)
            lmpi_iov_copy(near, next.there_step, here, next.here_step, next.bytes, next.count);
        else
            lmpi_iov_copy(here, next.here_step, near, next.there_step, next.bytes, next.count);
    }
    return status;
}

int lmpi_move(struct lmpi_window *window, const struct lmpi_operation *move)
{
    const struct lmpi_type *local = lmpi_type(move->origin.type), *remote = lmpi_type(move->type);
    struct lmpi_iterator here, there;
    MPI_Aint at;
    if (move->rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int status = lmpi_check_target(window, move->rank);
    if (status != MPI_SUCCESS)
        return status;
    if (move->origin.count < 0 || move->count < 0)
        return MPI_ERR_COUNT;
    if (!local || !remote)
        return MPI_ERR_TYPE;
    if ((size_t)move->origin.count * local->size != (size_t)move->count * remote->size)
        return MPI_ERR_TRUNCATE;
    if (!move->origin.address && local->predefined && move->origin.count)
        return MPI_ERR_BUFFER; /* a derived type may hold absolute addresses */
    status = lmpi_check_range(window, move->rank, move->disp, (size_t)move->count, remote, &at);
    if (status != MPI_SUCCESS)
        return status;
    struct lmpi_level here_levels[local->depth + 1], there_levels[remote->depth + 1];
    lmpi_iterator_begin(&here, local, (size_t)move->origin.count, here_levels);
    lmpi_iterator_begin(&there, remote, (size_t)move->count, there_levels);
    struct lmpi_target *target = &window->target[move->rank];
    struct lmpi_operation run = *move;
    struct uccs_op storage;
    if (target->local)
        lmpi_order_issue(window);
    else
        lmpi_mark_far(window, target, move->what == LMPI_GET && target->far_ops == LMPI_FAR_ANSWERED);
    if (!move->options)
        run.options = lmpi_window_options(window, move->later && !target->local, &storage);
    return move_iov(target, &run, &here, at, &there);
}

/* The target, open, and the place there of dense data, or null when the general way is due. Looks at nothing but what this
 * thread and the window keep, so that its callers save no registers. A negative count or displacement is a place beyond the
 * end. */
static inline __attribute__((always_inline)) const struct lmpi_target *plain_target(
    const struct lmpi_window *window, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
    MPI_Datatype target_type, size_t *at, size_t *bytes)
{
    const struct lmpi_type *known = lmpi_last_type.known;
    if (__builtin_expect(!window || type != target_type || count != target_count || type != lmpi_last_type.type ||
                             !known || !known->dense || known->lb || (unsigned)rank >= (unsigned)window->ranks,
                         0))
        return 0;
    const struct lmpi_target *target = &window->target[rank];
    *bytes = (size_t)count * known->size;
    if (__builtin_expect(!(target->open | window->open) ||
                             __builtin_mul_overflow((size_t)disp, (size_t)target->unit, at) || *at > target->bytes ||
                             *bytes > target->bytes - *at,
                         0))
        return 0;
    return target;
}

/* The address of dense data in mapped memory, or null when the general way is due. */
static inline __attribute__((always_inline)) char *plain_address(const struct lmpi_window *window, int count,
                                                                 MPI_Datatype type, int rank, MPI_Aint disp,
                                                                 int target_count, MPI_Datatype target_type,
                                                                 size_t *bytes)
{
    size_t at;
    const struct lmpi_target *target =
        plain_target(window, count, type, rank, disp, target_count, target_type, &at, bytes);
    return __builtin_expect(target && target->near, 1) ? target->near + at : 0;
}

/* The same for dynamic memory that this process has mapped. */
static inline __attribute__((always_inline)) char *plain_ranged(const struct lmpi_window *window, int count,
                                                                MPI_Datatype type, int rank, MPI_Aint disp,
                                                                int target_count, MPI_Datatype target_type,
                                                                size_t *bytes)
{
    size_t at;
    bool unused;
    const struct lmpi_target *target =
        plain_target(window, count, type, rank, disp, target_count, target_type, &at, bytes);
    return target && target->ranged ? lmpi_view(target, at, *bytes, &unused) : 0;
}

static __attribute__((noinline)) int copy_many(void *to, const void *from, size_t bytes)
{
    copy_bytes(to, from, bytes);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int put_any(const void *origin, int origin_count, MPI_Datatype origin_type, int rank,
                                             MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Put(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    size_t bytes;
    char *there = plain_ranged(window, origin_count, origin_type, rank, disp, target_count, target_type, &bytes);
    if (there) {
        lmpi_order_issue(window);
        copy_bytes(there, origin, bytes);
        return MPI_SUCCESS;
    }
    const struct lmpi_operation *put = LMPI_OPERATION(PUT, "MPI_Put", .later = true);
    return lmpi_end(window, put, lmpi_move(window, put));
}

static __attribute__((noinline)) int get_any(void *origin, int origin_count, MPI_Datatype origin_type, int rank,
                                             MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Get(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    size_t bytes;
    char *there = plain_ranged(window, origin_count, origin_type, rank, disp, target_count, target_type, &bytes);
    if (there) {
        lmpi_order_issue(window);
        copy_bytes(origin, there, bytes);
        return MPI_SUCCESS;
    }
    const struct lmpi_operation *get = LMPI_OPERATION(GET, "MPI_Get", .later = true);
    return lmpi_end(window, get, lmpi_move(window, get));
}

/* In an ordered window a put comes behind what was issued before. */
LMPI_EXPORT int MPI_Put(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                        int target_count, MPI_Datatype target_type, MPI_Win win)
{
    size_t bytes;
    char *to = plain_address(lmpi_window_cached(win), origin_count, origin_type, rank, disp, target_count, target_type,
                             &bytes);
    if (__builtin_expect(!to, 0))
        return put_any(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (__builtin_expect(bytes != 8, 0))
        return copy_many(to, origin, bytes);
    memcpy(to, origin, 8);
    return MPI_SUCCESS;
}
LMPI_NAME(Put);

LMPI_EXPORT int MPI_Get(void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                        int target_count, MPI_Datatype target_type, MPI_Win win)
{
    size_t bytes;
    const struct lmpi_window *window = lmpi_window_cached(win);
    char *from = plain_address(window, origin_count, origin_type, rank, disp, target_count, target_type, &bytes);
    if (__builtin_expect(!from, 0))
        return get_any(origin, origin_count, origin_type, rank, disp, target_count, target_type, win);
    lmpi_order_issue(window);
    if (__builtin_expect(bytes != 8, 0))
        return copy_many(origin, from, bytes);
    memcpy(origin, from, 8);
    return MPI_SUCCESS;
}
LMPI_NAME(Get);
