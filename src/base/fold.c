/* The build compiles this file once for every processor of the architecture, and again (fold_avx2.c, fold_avx512.c) for wider vectors
 * under another table name. fold_kernel_of in fold_choose.c looks at the processor. No version fuses
 * multiplications and additions, so all give the same bits (cmake/LateralFold.cmake says how they are compiled). */
#include "base/fold.h"

#include <stdint.h>

#ifndef TABLE
#define TABLE fold_kernels
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
    [KIND_I8] = INTEGER_ROW(u8, i8),    [KIND_U8] = INTEGER_ROW(u8, u8),    [KIND_I16] = INTEGER_ROW(u16, i16),
    [KIND_U16] = INTEGER_ROW(u16, u16), [KIND_I32] = INTEGER_ROW(u32, i32), [KIND_U32] = INTEGER_ROW(u32, u32),
    [KIND_I64] = INTEGER_ROW(u64, i64), [KIND_U64] = INTEGER_ROW(u64, u64), [KIND_FLOAT] = REAL_ROW(f),
    [KIND_DOUBLE] = REAL_ROW(d),        [KIND_LONGDOUBLE] = REAL_ROW(ld),
#ifndef PLAIN_KINDS
    [KIND_COMPLEXF] = COMPLEX_ROW(cf),  [KIND_COMPLEXD] = COMPLEX_ROW(cd),  [KIND_COMPLEXL] = COMPLEX_ROW(cl),
    [KIND_FLOAT_INT] = PAIR_ROW(fi),    [KIND_DOUBLE_INT] = PAIR_ROW(di),   [KIND_LONG_INT] = PAIR_ROW(li),
    [KIND_SHORT_INT] = PAIR_ROW(si),    [KIND_2INT] = PAIR_ROW(ii),         [KIND_LONGDOUBLE_INT] = PAIR_ROW(ldi),
    [KIND_2FLOAT] = PAIR_ROW(ff),       [KIND_2DOUBLE] = PAIR_ROW(dd),
#endif
};
