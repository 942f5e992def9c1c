/* MPIX_Win_op_intrinsic, and what LATERAL_CHECK makes of its answer. */
#include "mpi/core/process.h"
#include "mpi/datatype/type.h"
#include "mpi/ops/operation.h"
#include "mpi/window/window.h"
#include "mpix_rma.h"

#include <string.h>

/* Elements up to which atomics are faster than a lock and a loop over all of them, where two ranks change the same words at once:
 * 40 to 60 ns against 80 to 90. For 5 and 6 both take as long. */
#define LMPI_INTRINSIC_MOST 4

/* Returns whether the accumulate is intrinsic at all ranks that have memory. */
static bool is_everywhere(struct lmpi_window *window, const struct lmpi_op *op)
{
    bool all = true;
    for (int i = 0; i < window->ranks && all; i++) {
        const struct lmpi_target *target = lmpi_target(window, i);
        all = !target->memory || uccs_accumulate_intrinsic(target->endpoint, target->memory, op->type, op->how);
    }
    return all;
}

bool lmpi_promise_kept(const struct lmpi_window *window, int rank, MPI_Aint at, const struct lmpi_op *op, size_t count)
{
    const struct lmpi_target *target = &window->target[rank];
    bool aligned = op->unit && (target->offset + (size_t)at) % op->unit == 0;
    if (aligned && count <= LMPI_INTRINSIC_MOST &&
        uccs_accumulate_intrinsic(target->endpoint, target->memory, op->type, op->how))
        return true;
    lmpi_log_mistake(
        "LATERAL_CHECK: an accumulate at rank %d breaks the promise of mpi_assert_accumulate_intrinsic: %s", rank,
        aligned ? "MPIX_Win_op_intrinsic gives 0 for its operation, datatype and count"
                : "its elements are not aligned");
    return false;
}

/* Clears *flag unless the operation of a word is intrinsic at all ranks. Returns an error class. */
static int judge_op(struct lmpi_window *window, const char *word, size_t length, const struct lmpi_type *type,
                    int *flag)
{
    struct lmpi_op op;
    const bool swaps = length == 3 && strncmp(word, "cas", length) == 0;
    const MPI_Op which = swaps ? MPI_OP_NULL : lmpi_op_named(word, length);
    if (!swaps && which == MPI_OP_NULL)
        return MPI_ERR_OP;
    if (swaps)
        op = lmpi_op_like_swap(lmpi_op_swaps(type));
    const bool defined = swaps ? op.unit != 0 : lmpi_op_of(which, type, true, &op) == MPI_SUCCESS;
    *flag &= defined && is_everywhere(window, &op);
    return MPI_SUCCESS;
}

static int judge_ops(struct lmpi_window *window, const char *ops, MPI_Aint max_count, const struct lmpi_type *type,
                     int *flag)
{
    int status = MPI_SUCCESS, all;
    if (max_count < 0 || !type)
        return type ? MPI_ERR_COUNT : MPI_ERR_TYPE;
    if (!ops || !flag)
        return ops ? MPI_ERR_ARG : MPI_ERR_OP;
    const size_t elements = type->unit ? type->size / type->unit : 0; /* of a predefined type */
    all = !max_count || elements <= LMPI_INTRINSIC_MOST / (size_t)max_count;
    for (const char *word = ops; status == MPI_SUCCESS; word++) {
        const size_t length = strcspn(word, ",");
        status = judge_op(window, word, length, type, &all);
        word += length;
        if (!*word)
            break;
    }
    if (status == MPI_SUCCESS)
        *flag = all;
    return status;
}
LMPI_OURS(Win_op_intrinsic, judge_ops(window, ops, max_count, lmpi_type(type), flag), const char *ops,
          MPI_Aint max_count, MPI_Datatype type, MPI_Win win, int *flag);
