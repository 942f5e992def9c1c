/* MPI_Fetch_and_op and MPI_Compare_and_swap. An aligned integer in mapped memory is one instruction of the processor
 * where the substrate says that its accumulates are the same; all else is an accumulate of one element. */
#include "mpi/core/real.h"
#include "mpi/datatype/type.h"
#include "mpi/ops/operation.h"
#include "mpi/window/completion.h"
#include "mpi/window/window.h"

#include <stdint.h>

/* The address of an integer of 4 or 8 bytes on which the processor's atomics may work, or null. */
static inline void *plain_word(struct lmpi_window *window, const struct lmpi_type *type, int rank, MPI_Aint disp)
{
    size_t at;
    if (__builtin_expect(!type || type->kind > LMPI_UNSIGNED || !type->predefined ||
                             (type->size != 8 && type->size != 4),
                         0))
        return 0;
    lmpi_order_issue(window);
    const struct lmpi_target *target = lmpi_plain_target(window, rank, disp, type->size, &at);
    if (__builtin_expect(!target, 0))
        return 0;
    bool direct = target->direct;
    char *word = direct                            ? target->near + at
                 : target->ranged && !target->near ? lmpi_view(target, at, type->size, &direct)
                                                   : 0;
    return __builtin_expect(direct && !((uintptr_t)word & (type->size - 1)), 1) ? word : 0;
}

/* The order is that of the substrate's accumulates. */
#define FETCH(bits)                                                                                                 \
    static bool fetch##bits(uint##bits##_t *word, const uint##bits##_t *operand, uint##bits##_t *result, MPI_Op op) \
    {                                                                                                               \
        if (op == MPI_SUM)                                                                                          \
            *result = __atomic_fetch_add(word, *operand, __ATOMIC_ACQ_REL);                                         \
        else if (op == MPI_NO_OP)                                                                                   \
            *result = __atomic_load_n(word, __ATOMIC_ACQUIRE);                                                      \
        else if (op == MPI_REPLACE)                                                                                 \
            *result = __atomic_exchange_n(word, *operand, __ATOMIC_ACQ_REL);                                        \
        else                                                                                                        \
            return false;                                                                                           \
        return true;                                                                                                \
    }
FETCH(32)
FETCH(64)

LMPI_EXPORT int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                                 MPI_Op op, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (__builtin_expect(!window, 0))
        return lmpi_real.Fetch_and_op(origin, result, type, rank, disp, op, win);
    const struct lmpi_type *known = lmpi_type(type);
    void *word = plain_word(window, known, rank, disp);
    if (word && result && (origin || op == MPI_NO_OP) &&
        (known->size == 8 ? fetch64(word, origin, result, op) : fetch32(word, origin, result, op)))
        return MPI_SUCCESS;
    const int status =
        known && !known->predefined ? MPI_ERR_TYPE : lmpi_call(window, LMPI_ELEMENT(GET_ACCUMULATE, .op = op));
    return lmpi_end(window, status, __func__);
}
LMPI_NAME(Fetch_and_op);

int lmpi_swap(struct lmpi_window *window, struct lmpi_operation *swap)
{
    const struct lmpi_type *known = lmpi_type(swap->type);
    const struct lmpi_target *target = &window->target[swap->rank];
    const size_t size = known ? lmpi_op_swaps(known) : 0;
    struct uccs_op storage;
    MPI_Aint at;
    if (!size)
        return MPI_ERR_TYPE;
    if (!swap->origin.address || !swap->compare || !swap->result.address)
        return MPI_ERR_BUFFER;
    const int status = lmpi_check_range(window, swap, known, &at);
    if (status != MPI_SUCCESS)
        return status;
    const struct lmpi_op op = lmpi_op_like_swap(size);
    if (__builtin_expect(window->promised, 0) && !lmpi_promise_kept(window, swap->rank, at, &op, 1))
        return MPI_ERR_ASSERT;
    const struct uccs_op *options = lmpi_issue(window, swap, swap->later, true, &storage);
    return lmpi_class_of(uccs_compare_and_swap(target->endpoint, target->memory, target->offset + (size_t)at, size,
                                               swap->origin.address, swap->compare, swap->result.address, options));
}

static void swap_near(void *word, size_t size, const void *origin, const void *compare, void *result)
{
    if (size == 8) {
        uint64_t expected = *(const uint64_t *)compare;
        __atomic_compare_exchange_n((uint64_t *)word, &expected, *(const uint64_t *)origin, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE);
        *(uint64_t *)result = expected;
        return;
    }
    uint32_t expected = *(const uint32_t *)compare;
    __atomic_compare_exchange_n((uint32_t *)word, &expected, *(const uint32_t *)origin, 0, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    *(uint32_t *)result = expected;
}

LMPI_EXPORT int MPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type, int rank,
                                     MPI_Aint disp, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (__builtin_expect(!window, 0))
        return lmpi_real.Compare_and_swap(origin, compare, result, type, rank, disp, win);
    const struct lmpi_type *known = lmpi_type(type);
    void *word = plain_word(window, known, rank, disp);
    if (__builtin_expect(word && origin && compare && result, 1)) {
        swap_near(word, known->size, origin, compare, result);
        return MPI_SUCCESS;
    }
    return lmpi_end(window, lmpi_call(window, LMPI_ELEMENT(SWAP, .compare = compare)), __func__);
}
LMPI_NAME(Compare_and_swap);
