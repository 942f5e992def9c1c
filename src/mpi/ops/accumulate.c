/* MPI_Accumulate and get_accumulate. The substrate keeps one domain of atomicity for each
 * byte, whoever reaches it and by whatever window. */
#include "mpi/core/real.h"
#include "mpi/datatype/iterator.h"
#include "mpi/datatype/type.h"
#include "mpi/ops/operation.h"
#include "mpi/window/completion.h"
#include "mpi/window/window.h"

/* Bytes without a type change as elements of this size where they can: MPI asks for less, but both MPIs run a call as a
 * whole, and programs replace a pointer together with its rank. */
#define PAIR 16

/* Accumulates up to this size may be under way when the call returns: they leave in the order of their issue. */
#define LATER_BYTES 4096

/* Walks over both sides, and the result's where there is one, piece by piece. */
static int update_iov(struct lmpi_target *target, struct lmpi_operation *update, const struct lmpi_op *op,
                      struct lmpi_iterator *from, struct lmpi_iterator *old, struct lmpi_iterator *there, MPI_Aint at,
                      const struct uccs_op *options)
{
    int status = UCCS_OK;
    MPI_Aint source = 0, dest = 0, offset;
    size_t room;
    while (status == UCCS_OK && (room = lmpi_iterator_peek(there, &offset))) {
        size_t bytes = room, ready = from ? lmpi_iterator_peek(from, &source) : room;
        bytes = ready < bytes ? ready : bytes;
        ready = old ? lmpi_iterator_peek(old, &dest) : room;
        bytes = ready < bytes ? ready : bytes;
        bool pairs = op->is_copy && bytes % PAIR == 0;
        status = uccs_accumulate(target->endpoint, target->memory, target->offset + (size_t)(at + offset),
                                 from ? update->origin.address + source : 0, old ? update->result.address + dest : 0,
                                 bytes / (pairs ? PAIR : op->unit), pairs ? UCCS_DOUBLE_COMPLEX : op->type, op->how,
                                 options);
        lmpi_iterator_skip(there, bytes, 1);
        if (from)
            lmpi_iterator_skip(from, bytes, 1);
        if (old)
            lmpi_iterator_skip(old, bytes, 1);
    }
    return lmpi_class_of(status);
}

/* Accumulates without a result, many pieces with a call. */
static int update_pieces(struct lmpi_target *target, struct lmpi_operation *update, const struct lmpi_op *op,
                         struct lmpi_iterator *from, struct lmpi_iterator *there, MPI_Aint at,
                         const struct uccs_op *options)
{
    enum { MOST = 64 };
    struct uccs_piece pieces[MOST];
    int status = UCCS_OK;
    struct lmpi_iov next = {0};
    size_t n = 0;
    while (status == UCCS_OK && lmpi_iov_next(from, there, &next))
        for (size_t i = 0; i < next.count && status == UCCS_OK; i++) {
            if (n == MOST) {
                status =
                    uccs_accumulate_pieces(target->endpoint, target->memory, pieces, n, op->type, op->how, options);
                n = 0;
            }
            pieces[n++] =
                (struct uccs_piece){target->offset + (size_t)(at + next.there + (MPI_Aint)i * next.there_step),
                                    update->origin.address + next.here + (MPI_Aint)i * next.here_step, next.bytes};
        }
    if (status == UCCS_OK && n)
        status = uccs_accumulate_pieces(target->endpoint, target->memory, pieces, n, op->type, op->how, options);
    return lmpi_class_of(status);
}

/* A side consists of elements of the target's predefined type, and of as many. */
static int check_side(const struct lmpi_buffer *side, const struct lmpi_type *type, const struct lmpi_type *remote,
                      size_t bytes)
{
    if (side->count < 0)
        return MPI_ERR_COUNT;
    if (!type || (bytes && type->size && (type->kind != remote->kind || type->unit != remote->unit)))
        return MPI_ERR_TYPE;
    if (!side->address && type->predefined && side->count)
        return MPI_ERR_BUFFER; /* a derived type may hold absolute addresses */
    return (size_t)side->count * type->size == bytes ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

int lmpi_update(struct lmpi_window *window, struct lmpi_operation *update)
{
    const struct lmpi_type *remote = lmpi_type_filled(update->type), *local = 0, *result = 0;
    struct lmpi_iterator from, old, there;
    struct lmpi_op op;
    MPI_Aint at;
    const bool reads = update->op != MPI_NO_OP, fetches = update->what == LMPI_GET_ACCUMULATE;
    if (!reads && !fetches)
        return MPI_ERR_OP; /* an accumulate that does nothing */
    if (update->count < 0 || !remote)
        return remote ? MPI_ERR_COUNT : MPI_ERR_TYPE;
    size_t bytes = (size_t)update->count * remote->size;
    int status = lmpi_op_of(update->op, remote, bytes != 0, &op);
    if (status == MPI_SUCCESS && reads)
        status = check_side(&update->origin, local = lmpi_type_filled(update->origin.type), remote, bytes);
    if (status == MPI_SUCCESS && fetches)
        status = check_side(&update->result, result = lmpi_type_filled(update->result.type), remote, bytes);
    if (status == MPI_SUCCESS)
        status = lmpi_check_range(window, update, remote, &at);
    if (status != MPI_SUCCESS)
        return status;
    if (__builtin_expect(window->promised, 0) &&
        !lmpi_promise_kept(window, update->rank, at, &op, (size_t)bytes / op.unit))
        return MPI_ERR_ASSERT;
    struct lmpi_level levels[1 + remote->depth + (reads ? local->depth : 0) + (fetches ? result->depth : 0)];
    lmpi_iterator_begin(&there, remote, (size_t)update->count, levels);
    if (reads)
        lmpi_iterator_begin(&from, local, (size_t)update->origin.count, levels + remote->depth);
    if (fetches)
        lmpi_iterator_begin(&old, result, (size_t)update->result.count,
                            levels + remote->depth + (reads ? local->depth : 0));
    struct uccs_op storage;
    const struct uccs_op *options =
        lmpi_issue(window, update, update->later && bytes <= LATER_BYTES, fetches, &storage);
    if (!fetches && !op.is_copy)
        return update_pieces(&window->target[update->rank], update, &op, &from, &there, at, options);
    return update_iov(&window->target[update->rank], update, &op, reads ? &from : 0, fetches ? &old : 0, &there, at,
                      options);
}

/* What this thread's last accumulate without derived types did. */
static _Thread_local struct {
    MPI_Op op;
    MPI_Datatype type; /* predefined */
    struct lmpi_op found;
} found_last = {.type = MPI_DATATYPE_NULL};

/* Finds an operation on a predefined type. Returns false when it is none for that, or one of bytes without a type. */
static inline bool op_of(MPI_Op op, MPI_Datatype type, const struct lmpi_type *known, struct lmpi_op *found)
{
    if (__builtin_expect(found_last.op != op || found_last.type != type, 0)) {
        if (known != lmpi_last_type.known || op == MPI_NO_OP || lmpi_op_of(op, known, true, found) != MPI_SUCCESS ||
            found->is_copy)
            return false;
        found_last.op = op;
        found_last.type = type;
        found_last.found = *found;
    }
    *found = found_last.found;
    return true;
}

/* Combines elements of one predefined type that lie together on both sides, in memory of this node. Returns false, having done
 * nothing, when the general way is due. */
static inline bool run_plain(struct lmpi_window *window, const void *origin, int count, MPI_Datatype type, int rank,
                             MPI_Aint disp, MPI_Op op)
{
    const struct lmpi_type *known = lmpi_type(type);
    struct lmpi_op found;
    size_t at, bytes;
    if (__builtin_expect(count <= 0 || !known || !known->dense || known->lb || window->kind || window->promised, 0))
        return false;
    bytes = (size_t)count * known->size;
    const struct lmpi_target *target = lmpi_plain_target(window, rank, disp, bytes, &at);
    if (__builtin_expect(!target || !target->near || !op_of(op, type, known, &found), 0))
        return false;
    return uccs_accumulate(target->endpoint, target->memory, target->offset + at, origin, 0, bytes / found.unit,
                           found.type, found.how, 0) == UCCS_OK;
}

LMPI_EXPORT int MPI_Accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                               int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Accumulate(origin, origin_count, origin_type, rank, disp, target_count, target_type, op, win);
    if (__builtin_expect(origin_type == target_type && origin_count == target_count, 1) &&
        run_plain(window, origin, origin_count, origin_type, rank, disp, op))
        return MPI_SUCCESS;
    return lmpi_end(window, lmpi_call(window, LMPI_OPERATION(ACCUMULATE, .op = op)), __func__);
}
LMPI_NAME(Accumulate);
