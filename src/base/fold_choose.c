#include "base/fold.h"

fold_kernel *fold_kernel_of(enum kind kind, enum fold_op op)
{
#if defined(__x86_64__)
    /* Processors from before VBMI2 lower their clock for vectors of 512 bits. That table lacks complex numbers and pairs, and
     * both lack what has no vectors. */
    if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512dq") && fold_kernels_avx512[kind][op])
        return fold_kernels_avx512[kind][op];
    if (__builtin_cpu_supports("avx2") && fold_kernels_avx2[kind][op])
        return fold_kernels_avx2[kind][op];
#endif
    return fold_kernels[kind][op];
}

/* Bytes of a pair, with C's padding. */
#define PAIR(value, index) \
    sizeof(struct {        \
        value v;           \
        index i;           \
    })

const unsigned char kind_sizes[KIND_KINDS] = {
    [KIND_I8] = 1,
    [KIND_U8] = 1,
    [KIND_I16] = 2,
    [KIND_U16] = 2,
    [KIND_I32] = 4,
    [KIND_U32] = 4,
    [KIND_I64] = 8,
    [KIND_U64] = 8,
    [KIND_FLOAT] = 4,
    [KIND_DOUBLE] = 8,
    [KIND_LONGDOUBLE] = sizeof(long double),
    [KIND_COMPLEXF] = 8,
    [KIND_COMPLEXD] = 16,
    [KIND_COMPLEXL] = 2 * sizeof(long double),
    [KIND_FLOAT_INT] = PAIR(float, int),
    [KIND_DOUBLE_INT] = PAIR(double, int),
    [KIND_LONG_INT] = PAIR(long, int),
    [KIND_SHORT_INT] = PAIR(short, int),
    [KIND_2INT] = PAIR(int, int),
    [KIND_LONGDOUBLE_INT] = PAIR(long double, int),
    [KIND_2FLOAT] = PAIR(float, float),
    [KIND_2DOUBLE] = PAIR(double, double),
    [KIND_BFLOAT] = 2,
#ifdef KIND_HALF_TYPE
    [KIND_HALF] = sizeof(KIND_HALF_TYPE),
    [KIND_COMPLEXH] = 2 * sizeof(KIND_HALF_TYPE),
#endif
#ifdef KIND_QUAD_TYPE
    [KIND_QUAD] = sizeof(KIND_QUAD_TYPE),
    [KIND_COMPLEXQ] = 2 * sizeof(KIND_QUAD_TYPE),
#endif
#ifdef KIND_I128_TYPE
    [KIND_I128] = 16,
#endif
};
