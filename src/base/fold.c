/* The build compiles this file once for every processor of the architecture, and again (fold_avx2.c, fold_avx512.c) for wider vectors
 * under another table name, without the kinds that have no vectors. fold_kernel_of looks at the processor. No version fuses
 * multiplications and additions, so all give the same bits (cmake/LateralFold.cmake says how they are compiled). */
#include "base/kind.h"

#include <stdint.h>
#include <string.h>

#ifndef TABLE
#define TABLE fold_kernels
#define SOFT_KINDS
#endif

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Defines an element type, and the same element as it lies in memory: at any address, in objects of any type. */
#define TYPE(name, of) \
    typedef of name;   \
    typedef of __attribute__((aligned(1), may_alias)) name##_at;

TYPE(u8, uint8_t)
TYPE(u16, uint16_t)
TYPE(u32, uint32_t)
TYPE(u64, uint64_t)
TYPE(i8, int8_t)
TYPE(i16, int16_t)
TYPE(i32, int32_t)
TYPE(i64, int64_t)
TYPE(f, float)
TYPE(d, double)
TYPE(ld, long double)

/* Complex numbers by their parts. The product skips the library's search for infinities. */
typedef struct {
    float re, im;
} __attribute__((packed, may_alias)) cf, cf_at;
typedef struct {
    double re, im;
} __attribute__((packed, may_alias)) cd, cd_at;
typedef struct {
    long double re, im;
} __attribute__((packed, may_alias)) cl, cl_at;

/* Pairs of a value and an index, laid out as C does. */
#define PAIR(name, value, index)       \
    typedef struct {                   \
        value v;                       \
        index i;                       \
    } __attribute__((may_alias)) name; \
    typedef name __attribute__((aligned(1))) name##_at;

PAIR(fi, float, int)
PAIR(di, double, int)
PAIR(li, long, int)
PAIR(si, short, int)
PAIR(ii, int, int)
PAIR(ldi, long double, int)
PAIR(ff, float, float)
PAIR(dd, double, double)

#define KERNEL(type, op, ...)                                                     \
    static void type##_##op(void *out_, const void *a_, const void *b_, size_t n) \
    {                                                                             \
        type##_at *out = out_;                                                    \
        const type##_at *a = a_, *b = b_;                                         \
        INDEPENDENT                                                               \
        for (size_t i = 0; i < n; i++) {                                          \
            const type x = a[i], y = b[i];                                        \
            out[i] = (type)__VA_ARGS__;                                           \
        }                                                                         \
    }

/* Sums and products of signed integers wrap. They equal those of unsigned integers bit for bit, so one kernel serves
 * both. `1u *` keeps narrow integers from becoming int, whose product could overflow. */
#define BITWISE(type)                \
    KERNEL(type, and, (x & y))       \
    KERNEL(type, or, (x | y))        \
    KERNEL(type, xor, (x ^ y))       \
    KERNEL(type, sum, (1u * x + y))  \
    KERNEL(type, prod, (1u * x * y)) \
    KERNEL(type, land, (x && y))     \
    KERNEL(type, lor, (x || y))      \
    KERNEL(type, lxor, (!x != !y))
#define ORDERED(type)                  \
    KERNEL(type, min, (y < x ? y : x)) \
    KERNEL(type, max, (y > x ? y : x))
#define REAL(type)             \
    ORDERED(type)              \
    KERNEL(type, sum, (x + y)) \
    KERNEL(type, prod, (x * y))
#define COMPLEX(type)                             \
    KERNEL(type, sum, {x.re + y.re, x.im + y.im}) \
    KERNEL(type, prod, {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re})
/* `y` wins when its value does, or when the values are equal and its index is smaller. */
#define WINS(better) (y.v better x.v || (y.v == x.v && y.i < x.i))
#define PAIRS(type)                                               \
    KERNEL(type, min, {WINS(<) ? y.v : x.v, WINS(<) ? y.i : x.i}) \
    KERNEL(type, max, {WINS(>) ? y.v : x.v, WINS(>) ? y.i : x.i})

BITWISE(u8)
BITWISE(u16)
BITWISE(u32)
BITWISE(u64)
ORDERED(i8)
ORDERED(u8)
ORDERED(i16)
ORDERED(u16)
ORDERED(i32)
ORDERED(u32)
ORDERED(i64)
ORDERED(u64)
REAL(f)
REAL(d)
REAL(ld)

#ifdef SOFT_KINDS
#ifdef KIND_QUAD_TYPE
TYPE(q, KIND_QUAD_TYPE)
typedef struct {
    KIND_QUAD_TYPE re, im;
} __attribute__((packed, may_alias)) cq, cq_at;
REAL(q)
COMPLEX(cq)
#endif
#ifdef KIND_HALF_TYPE
/* Float holds a sum or product of two halves exactly, so the result is rounded once, by the conversion back. */
TYPE(h, KIND_HALF_TYPE)
typedef struct {
    KIND_HALF_TYPE re, im;
} __attribute__((packed, may_alias)) ch, ch_at;
ORDERED(h)
KERNEL(h, sum, ((float)x + (float)y))
KERNEL(h, prod, ((float)x * (float)y))
#define HALVES(real, imaginary)                             \
    {                                                       \
        (KIND_HALF_TYPE)(real), (KIND_HALF_TYPE)(imaginary) \
    }
#define RE(z) (float)(z).re
#define IM(z) (float)(z).im
KERNEL(ch, sum, HALVES(RE(x) + RE(y), IM(x) + IM(y)))
KERNEL(ch, prod, HALVES(RE(x) * RE(y) - IM(x) * IM(y), RE(x) * IM(y) + IM(x) * RE(y)))
#endif
#ifdef KIND_I128_TYPE
TYPE(u128, KIND_U128_TYPE)
TYPE(i128, KIND_I128_TYPE)
BITWISE(u128)
ORDERED(i128)
#endif

/* The upper half of a float, rounded to the nearest, of two as near to the even one. */
typedef struct {
    uint16_t bits;
} __attribute__((packed, may_alias)) bf, bf_at;

static inline float bf_value(bf number)
{
    const uint32_t bits = (uint32_t)number.bits << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint16_t bf_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40); /* a quiet NaN */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

KERNEL(bf, min, {bf_value(y) < bf_value(x) ? y.bits : x.bits})
KERNEL(bf, max, {bf_value(y) > bf_value(x) ? y.bits : x.bits})
KERNEL(bf, sum, {bf_bits(bf_value(x) + bf_value(y))})
KERNEL(bf, prod, {bf_bits(bf_value(x) * bf_value(y))})
#endif

#ifndef PLAIN_KINDS
COMPLEX(cf)
COMPLEX(cd)
COMPLEX(cl)
PAIRS(fi)
PAIRS(di)
PAIRS(li)
PAIRS(si)
PAIRS(ii)
PAIRS(ldi)
PAIRS(ff)
PAIRS(dd)
#endif

#define INTEGER_ROW(bits, order)                                                                           \
    {                                                                                                      \
        [FOLD_AND] = bits##_and, [FOLD_OR] = bits##_or, [FOLD_XOR] = bits##_xor, [FOLD_SUM] = bits##_sum,  \
        [FOLD_PROD] = bits##_prod, [FOLD_MIN] = order##_min, [FOLD_MAX] = order##_max,                     \
        [FOLD_LOGICAL_AND] = bits##_land, [FOLD_LOGICAL_OR] = bits##_lor, [FOLD_LOGICAL_XOR] = bits##_lxor \
    }
#define REAL_ROW(name)                                                                                       \
    {                                                                                                        \
        [FOLD_SUM] = name##_sum, [FOLD_PROD] = name##_prod, [FOLD_MIN] = name##_min, [FOLD_MAX] = name##_max \
    }
#define COMPLEX_ROW(name)                                  \
    {                                                      \
        [FOLD_SUM] = name##_sum, [FOLD_PROD] = name##_prod \
    }
#define PAIR_ROW(name)                                   \
    {                                                    \
        [FOLD_MIN] = name##_min, [FOLD_MAX] = name##_max \
    }

fold_kernel *const TABLE[KIND_KINDS][FOLD_OPS] = {
    [KIND_I8] = INTEGER_ROW(u8, i8),
    [KIND_U8] = INTEGER_ROW(u8, u8),
    [KIND_I16] = INTEGER_ROW(u16, i16),
    [KIND_U16] = INTEGER_ROW(u16, u16),
    [KIND_I32] = INTEGER_ROW(u32, i32),
    [KIND_U32] = INTEGER_ROW(u32, u32),
    [KIND_I64] = INTEGER_ROW(u64, i64),
    [KIND_U64] = INTEGER_ROW(u64, u64),
    [KIND_FLOAT] = REAL_ROW(f),
    [KIND_DOUBLE] = REAL_ROW(d),
    [KIND_LONGDOUBLE] = REAL_ROW(ld),
#ifndef PLAIN_KINDS
    [KIND_COMPLEXF] = COMPLEX_ROW(cf),
    [KIND_COMPLEXD] = COMPLEX_ROW(cd),
    [KIND_COMPLEXL] = COMPLEX_ROW(cl),
    [KIND_FLOAT_INT] = PAIR_ROW(fi),
    [KIND_DOUBLE_INT] = PAIR_ROW(di),
    [KIND_LONG_INT] = PAIR_ROW(li),
    [KIND_SHORT_INT] = PAIR_ROW(si),
    [KIND_2INT] = PAIR_ROW(ii),
    [KIND_LONGDOUBLE_INT] = PAIR_ROW(ldi),
    [KIND_2FLOAT] = PAIR_ROW(ff),
    [KIND_2DOUBLE] = PAIR_ROW(dd),
#endif
#ifdef SOFT_KINDS
    [KIND_BFLOAT] = REAL_ROW(bf),
#ifdef KIND_HALF_TYPE
    [KIND_HALF] = REAL_ROW(h),
    [KIND_COMPLEXH] = COMPLEX_ROW(ch),
#endif
#ifdef KIND_QUAD_TYPE
    [KIND_QUAD] = REAL_ROW(q),
    [KIND_COMPLEXQ] = COMPLEX_ROW(cq),
#endif
#ifdef KIND_I128_TYPE
    [KIND_I128] = INTEGER_ROW(u128, i128),
#endif
#endif
};

#ifdef SOFT_KINDS /* once */

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

#define SIZE_ROW(name, bytes) bytes,
const unsigned char kind_sizes[KIND_KINDS] = {KIND_LIST(SIZE_ROW)};

#endif
