/* Types, operations and accumulates of uccs.h, which includes this file. */
#ifndef UCCS_H
#include <uccs.h>
#endif
#ifndef UCCS_ACCUMULATE_H
#define UCCS_ACCUMULATE_H

/* --- Accumulate: changes each of n consecutive elements at the target by an element of `operand`. As in MPI-3's
 * MPI_Accumulate, MPI_Get_accumulate and MPI_Compare_and_swap, each element changes atomically, the array does not.
 *
 * Atomicity: an element changes atomically with all accumulates of its type and all compare-and-swaps of its size, by
 * any thread of any process, the owner included, near and far. Integers are atomic with uccs_atomic32 and uccs_atomic64
 * of their size too. The processor's atomics change integers at multiples of their size in memory of UCCS_DOMAIN_CPU; a
 * lock of the owner's that covers some KiB guards all other elements. Plain loads, puts and gets take no lock.
 *
 * Order: accumulates of one thread on one stream (context) to one process change the same element in the order of the
 * calls, except after one that ran with op->nonblocking on memory that the target must serve. */
enum uccs_type { /* C's types; complex numbers are two reals; a pair is a C struct {value; int index} */
                 UCCS_INT32,
                 UCCS_UINT32,
                 UCCS_INT64,
                 UCCS_UINT64,
                 UCCS_FLOAT,
                 UCCS_DOUBLE,
                 UCCS_INT8,
                 UCCS_UINT8,
                 UCCS_INT16,
                 UCCS_UINT16,
                 UCCS_LONG_DOUBLE,
                 UCCS_FLOAT_COMPLEX,
                 UCCS_DOUBLE_COMPLEX,
                 UCCS_LONG_DOUBLE_COMPLEX,
                 UCCS_FLOAT_INT,
                 UCCS_DOUBLE_INT,
                 UCCS_LONG_INT,
                 UCCS_SHORT_INT,
                 UCCS_2INT,
                 UCCS_LONG_DOUBLE_INT,
                 UCCS_2FLOAT, /* {float value, index} and {double value, index}, for Fortran */
                 UCCS_2DOUBLE,
                 UCCS_FLOAT16,  /* of 2 bytes, IEEE 754 binary16 */
                 UCCS_BFLOAT16, /* of 2 bytes, the upper half of a float */
                 UCCS_FLOAT128, /* of 16 bytes, IEEE 754 binary128, for Fortran's real(16) */
                 UCCS_FLOAT16_COMPLEX,
                 UCCS_FLOAT128_COMPLEX,
                 UCCS_INT128,
};
enum uccs_reduction {
    UCCS_AND, /* bits of integers */
    UCCS_OR,
    UCCS_XOR,
    UCCS_MIN, /* of pairs the smaller value, of equal values the smaller index (MPI_MINLOC) */
    UCCS_MAX, /* of pairs the larger value, of equal values the smaller index (MPI_MAXLOC) */
    UCCS_SUM,
    UCCS_PROD,
    UCCS_LOGICAL_AND, /* of integers, gives 0 or 1 */
    UCCS_LOGICAL_OR,
    UCCS_LOGICAL_XOR,
    UCCS_REPLACE, /* accumulate alone: stores the operand */
    UCCS_NO_OP,   /* accumulate alone: changes nothing */
};
/* Returns the bytes of an element, padding included; 0 for a type that does not exist, or that the library's compiler did not
 * know (UCCS_FLOAT16, UCCS_FLOAT128, UCCS_INT128; GCC 12 knows them). */
size_t uccs_type_size(enum uccs_type type);
/* Returns 1 when the operation is defined for the type, else 0. Integers take all; reals take MIN, MAX, SUM, PROD;
 * complex numbers SUM, PROD; pairs MIN, MAX; all take REPLACE, NO_OP. */
int uccs_type_takes(enum uccs_type type, enum uccs_reduction how);
/* element = element `how` operand, for n elements from `offset`, which need not be aligned. `result` gets the old
 * values, unless it is null. `operand` may be null for UCCS_NO_OP. Both may be reused, and `result` holds the values,
 * when the call returns (with op->nonblocking: as op says). Neither may overlap the elements or the other. Returns
 * UCCS_ERR_INVALID for an operation that the type does not take, UCCS_ERR_BOUNDS when the elements are not inside of the
 * memory. */
int uccs_accumulate(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, const void *operand, void *result,
                    size_t n, enum uccs_type type, enum uccs_reduction how, const struct uccs_op *op);
/* Accumulates n pieces in one call, under few locks: each is elements of `type` that lie together at the target and, as operands, at
 * `local`. op holds for each piece, so a request completes with all of them, and a counter counts each. Returns what uccs_accumulate does;
 * UCCS_ERR_INVALID also for a length that is no multiple of the type's size. Pieces before a wrong one have changed.
 * (For MPI_Accumulate with derived datatypes.) */
int uccs_accumulate_pieces(uccs_endpoint_t endpoint, uccs_memory_t memory, const struct uccs_piece *pieces, size_t n,
                           enum uccs_type type, enum uccs_reduction how, const struct uccs_op *op);
/* Stores `operand` if the element of `size` bytes (1, 2, 4, 8 or 16, else UCCS_ERR_INVALID) equals `compare`, byte by
 * byte. `result` gets the old value, unless it is null. The element need not be aligned. Up to 8 bytes it counts as an
 * integer; with 16 bytes a lock guards it. */
int uccs_compare_and_swap(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, size_t size,
                          const void *operand, const void *compare, void *result, const struct uccs_op *op);
/* Returns 1 when this process runs the operation on aligned elements of that memory without a lock, by the processor's
 * atomics; else 0 (also when the target runs it, or for arguments that do not fit). */
int uccs_accumulate_intrinsic(uccs_endpoint_t endpoint, uccs_memory_t memory, enum uccs_type type,
                              enum uccs_reduction how);

#endif
