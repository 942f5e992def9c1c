/* Compiled once for every processor of the architecture, and again (kernels_avx2.c) for wider vectors
 * under another name of the table; lat_kernel_of in kernels_choose.c looks at the processor. No fused
 * multiply-add in either, so that both give the same bits. */
#include "shmem/coll/kernels.h"

#include <stdint.h>

#ifndef TABLE
#define TABLE lat_kernels
#endif

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Complex numbers by their parts: the product without the library's search for infinities. */
struct complexf {
    float re, im;
};
struct complexd {
    double re, im;
};

#define KERNEL(name, type, ...)                                            \
    static void name(void *out_, const void *a_, const void *b_, size_t n) \
    {                                                                      \
        type *out = out_;                                                  \
        const type *a = a_, *b = b_;                                       \
        INDEPENDENT                                                        \
        for (size_t i = 0; i < n; i++) {                                   \
            const type x = a[i], y = b[i];                                 \
            out[i] = (type)__VA_ARGS__;                                    \
        }                                                                  \
    }

/* Sums and products of signed integers wrap: they are those of unsigned ones, bit for bit; `1u *`
 * keeps the narrow ones from becoming int, whose product could overflow. */
#define BITWISE(name, type)                \
    KERNEL(name##_and, type, (x & y))      \
    KERNEL(name##_or, type, (x | y))       \
    KERNEL(name##_xor, type, (x ^ y))      \
    KERNEL(name##_sum, type, (1u * x + y)) \
    KERNEL(name##_prod, type, (1u * x * y))
#define ORDERED(name, type)                   \
    KERNEL(name##_min, type, (y < x ? y : x)) \
    KERNEL(name##_max, type, (y > x ? y : x))
#define REAL(name, type)              \
    ORDERED(name, type)               \
    KERNEL(name##_sum, type, (x + y)) \
    KERNEL(name##_prod, type, (x * y))
#define COMPLEX(name, type)                              \
    KERNEL(name##_sum, type, {x.re + y.re, x.im + y.im}) \
    KERNEL(name##_prod, type, {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re})

BITWISE(u8, uint8_t)
BITWISE(u16, uint16_t)
BITWISE(u32, uint32_t)
BITWISE(u64, uint64_t)
ORDERED(i8, int8_t)
ORDERED(u8, uint8_t)
ORDERED(i16, int16_t)
ORDERED(u16, uint16_t)
ORDERED(i32, int32_t)
ORDERED(u32, uint32_t)
ORDERED(i64, int64_t)
ORDERED(u64, uint64_t)
REAL(f, float)
REAL(d, double)
REAL(ld, long double)
COMPLEX(cf, struct complexf)
COMPLEX(cd, struct complexd)

#define INTEGER_ROW(bits, order)                                                                      \
    {                                                                                                 \
        [LAT_AND] = bits##_and, [LAT_OR] = bits##_or, [LAT_XOR] = bits##_xor, [LAT_SUM] = bits##_sum, \
        [LAT_PROD] = bits##_prod, [LAT_MIN] = order##_min, [LAT_MAX] = order##_max                    \
    }
#define REAL_ROW(name)                                                                                   \
    {                                                                                                    \
        [LAT_SUM] = name##_sum, [LAT_PROD] = name##_prod, [LAT_MIN] = name##_min, [LAT_MAX] = name##_max \
    }
#define COMPLEX_ROW(name)                                \
    {                                                    \
        [LAT_SUM] = name##_sum, [LAT_PROD] = name##_prod \
    }

lat_kernel *const TABLE[LAT_KINDS][LAT_OPS] = {
    [LAT_I8] = INTEGER_ROW(u8, i8),    [LAT_U8] = INTEGER_ROW(u8, u8),    [LAT_I16] = INTEGER_ROW(u16, i16),
    [LAT_U16] = INTEGER_ROW(u16, u16), [LAT_I32] = INTEGER_ROW(u32, i32), [LAT_U32] = INTEGER_ROW(u32, u32),
    [LAT_I64] = INTEGER_ROW(u64, i64), [LAT_U64] = INTEGER_ROW(u64, u64), [LAT_FLOAT] = REAL_ROW(f),
    [LAT_DOUBLE] = REAL_ROW(d),        [LAT_LONGDOUBLE] = REAL_ROW(ld),   [LAT_COMPLEXF] = COMPLEX_ROW(cf),
    [LAT_COMPLEXD] = COMPLEX_ROW(cd),
};
