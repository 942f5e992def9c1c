/* The kinds of elements, and the operations that a reduction applies to two of them. Plain constants, no state; any
 * file may include it. api/table.py names them; a new kind or operation starts here and in fold.c. */
#ifndef BASE_KIND_H
#define BASE_KIND_H

#include <limits.h>
#include <stddef.h>

/* What the compiler calls reals of 2 and 16 bytes (IEEE 754 binary16 and binary128), and integers of 16. A type that it does not
 * know has no kernels and a size of 0. */
#if defined(__FLT16_MAX__)
#define KIND_HALF_TYPE _Float16
#define KIND_HALF_BYTES 2
#else
#define KIND_HALF_BYTES 0
#endif
#if __LDBL_MANT_DIG__ == 113
#define KIND_QUAD_TYPE long double
#define KIND_QUAD_BYTES 16
#elif defined(__SIZEOF_FLOAT128__)
#define KIND_QUAD_TYPE __float128
#define KIND_QUAD_BYTES 16
#else
#define KIND_QUAD_BYTES 0
#endif
#if defined(__SIZEOF_INT128__)
#define KIND_I128_TYPE __int128
#define KIND_U128_TYPE unsigned __int128
#define KIND_I128_BYTES 16
#else
#define KIND_I128_BYTES 0
#endif

/* Each kind and the bytes of an element. A PE waits for variables that are integers of 16 bits and more; reductions take all kinds.
 * A pair is a C struct of a value and an index, with C's padding. Those from HALF on have no instructions of every processor, nor
 * a place in every compiler. */
#define KIND_LIST(ROW)                               \
    ROW(I8, 1)                                       \
    ROW(U8, 1)                                       \
    ROW(I16, 2)                                      \
    ROW(U16, 2)                                      \
    ROW(I32, 4)                                      \
    ROW(U32, 4)                                      \
    ROW(I64, 8)                                      \
    ROW(U64, 8)                                      \
    ROW(FLOAT, 4)                                    \
    ROW(DOUBLE, 8)                                   \
    ROW(LONGDOUBLE, sizeof(long double))             \
    ROW(COMPLEXF, 8)                                 \
    ROW(COMPLEXD, 16)                                \
    ROW(COMPLEXL, 2 * sizeof(long double))           \
    ROW(FLOAT_INT, KIND_PAIR(float, int))            \
    ROW(DOUBLE_INT, KIND_PAIR(double, int))          \
    ROW(LONG_INT, KIND_PAIR(long, int))              \
    ROW(SHORT_INT, KIND_PAIR(short, int))            \
    ROW(2INT, KIND_PAIR(int, int))                   \
    ROW(LONGDOUBLE_INT, KIND_PAIR(long double, int)) \
    ROW(2FLOAT, KIND_PAIR(float, float))             \
    ROW(2DOUBLE, KIND_PAIR(double, double))          \
    ROW(HALF, KIND_HALF_BYTES)                       \
    ROW(BFLOAT, 2)                                   \
    ROW(QUAD, KIND_QUAD_BYTES)                       \
    ROW(COMPLEXH, 2 * KIND_HALF_BYTES)               \
    ROW(COMPLEXQ, 2 * KIND_QUAD_BYTES)               \
    ROW(I128, KIND_I128_BYTES)
#define KIND_PAIR(value, index) \
    sizeof(struct {             \
        value v;                \
        index i;                \
    })

#define KIND_ENUM_ROW(name, bytes) KIND_##name,
enum kind { KIND_LIST(KIND_ENUM_ROW) KIND_KINDS };

/* Plain char is signed on x86-64 and unsigned on aarch64. */
#define KIND_CHAR (CHAR_MIN < 0 ? KIND_I8 : KIND_U8)

/* The logical operations give 0 or 1. The minimum of two pairs is the one with the smaller value, and of equal values the
 * one with the smaller index; the maximum is the one with the larger value, or the smaller index. */
enum fold_op {
    FOLD_AND,
    FOLD_OR,
    FOLD_XOR,
    FOLD_MIN,
    FOLD_MAX,
    FOLD_SUM,
    FOLD_PROD,
    FOLD_LOGICAL_AND,
    FOLD_LOGICAL_OR,
    FOLD_LOGICAL_XOR,
    FOLD_OPS
};

/* The one fold of reductions: out[i] = a[i] op b[i], with a function for each kind of element and operation.
 *
 * Pure functions, any thread. `out` may be `a` or `b` itself; otherwise they must not overlap. Nothing need be aligned,
 * and the memory may be of any type. A caller that combines more than two vectors folds neighbours, the lower one
 * as `a`, in an order that does not depend on timing. */

typedef void fold_kernel(void *out, const void *a, const void *b, size_t n);

/* Tables by kind and operation, for fold_kernel_of. */
extern fold_kernel *const fold_kernels[KIND_KINDS][FOLD_OPS];
extern fold_kernel *const fold_kernels_avx2[KIND_KINDS][FOLD_OPS];
extern fold_kernel *const fold_kernels_avx512[KIND_KINDS][FOLD_OPS];

/* Returns the kernel for this processor, or null for an operation that does not exist (bits of reals, order of
 * complex, sums of pairs), or of a type that the compiler does not know. */
fold_kernel *fold_kernel_of(enum kind kind, enum fold_op op);

/* Returns the size of an element in bytes, a power of two, or 0 for a type that the compiler does not know. */
extern const unsigned char kind_sizes[KIND_KINDS];
static inline size_t kind_size(enum kind kind)
{
    return kind_sizes[kind];
}

#endif
