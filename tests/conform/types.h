/* The type tables of the standard, as lists X(NAME, TYPE) for test kernels. */
#ifndef CONFORM_TYPES_H
#define CONFORM_TYPES_H
#include <complex.h>
#include <stddef.h>
#include <stdint.h>

/* A value of any arithmetic type that is exact in all of them and differs for neighbouring seeds. */
#define VALUE(TYPE, seed) ((TYPE)((seed) % 113 + 1))

/* clang-format off */
#define STANDARD_AMO_TYPES(X)                                                                                          \
    X(int, int)                                                                                                        \
    X(long, long)                                                                                                      \
    X(longlong, long long)                                                                                             \
    X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) \
        X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)

#define EXTENDED_AMO_TYPES(X) X(float, float) X(double, double) STANDARD_AMO_TYPES(X)

#define BITWISE_AMO_TYPES(X) \
    X(uint, unsigned int)    \
    X(ulong, unsigned long)  \
    X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)

#define RMA_TYPES(X)                                                                                               \
    X(float, float)                                                                                                \
    X(double, double)                                                                                              \
    X(longdouble, long double)                                                                                     \
    X(char, char) X(schar, signed char) X(short, short) X(int, int) X(long, long) X(longlong, long long)           \
        X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int) X(ulong, unsigned long)            \
            X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) \
                X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t)      \
                    X(ptrdiff, ptrdiff_t)

/* Point-to-point types: the standard AMO types and the two deprecated short ones. */
#define WAIT_TYPES(X) X(short, short) X(ushort, unsigned short) STANDARD_AMO_TYPES(X)

/* Reductions by teams: all 24 take min and max; 14 take and, or, xor; all and complex take sum and prod. */
#define REDUCE_BIT_TYPES(X)                                                                                      \
    X(uchar, unsigned char)                                                                                      \
    X(ushort, unsigned short)                                                                                    \
    X(uint, unsigned int)                                                                                        \
    X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) \
        X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t) X(uint64, uint64_t)          \
            X(size, size_t)
#define REDUCE_ORDER_TYPES(X) RMA_TYPES(X)
#define COMPLEX_TYPES(X) X(complexd, double _Complex) X(complexf, float _Complex)
#define REDUCE_SUM_TYPES(X) RMA_TYPES(X) COMPLEX_TYPES(X)

/* Reductions by active sets. */
#define SET_BIT_TYPES(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
#define SET_ORDER_TYPES(X) SET_BIT_TYPES(X) X(float, float) X(double, double) X(longdouble, long double)
#define SET_SUM_TYPES(X) SET_ORDER_TYPES(X) COMPLEX_TYPES(X)

/* clang-format on */

/* What PE number p of a team contributes to a reduction as element i; small enough for 8 bits over 8 PEs where sums could overflow. */
#define ARG_sum(TYPE, p, i) ((TYPE)(((p) + (i)) % 6))
#define ARG_prod(TYPE, p, i) ((TYPE)((p) < 5 && ((p) + (i)) % 2 ? 2 : 1))
#define ARG_min(TYPE, p, i) ((TYPE)((((p)*5 + (i)*3) % 11) - 5))
#define ARG_max(TYPE, p, i) ((TYPE)((((p)*7 + (i)*2) % 13) - 6))
#define ARG_and(TYPE, p, i) ((TYPE) ~((uint64_t)1 << (((p)*3 + (i)) % (8 * sizeof(TYPE)))))
#define ARG_or(TYPE, p, i) ((TYPE)((uint64_t)1 << (((p)*5 + (i)) % (8 * sizeof(TYPE)))))
#define ARG_xor(TYPE, p, i) ((TYPE)(((p) + 1) * 0x35 + (i)*3))
#define STEP_sum(a, b) ((a) + (b))
#define STEP_prod(a, b) ((a) * (b))
#define STEP_min(a, b) ((b) < (a) ? (b) : (a))
#define STEP_max(a, b) ((b) > (a) ? (b) : (a))
#define STEP_and(a, b) ((a) & (b))
#define STEP_or(a, b) ((a) | (b))
#define STEP_xor(a, b) ((a) ^ (b))

/* The operations of each kind of type; a test defines KERNEL(NAME, TYPE, OP). */
#define BIT_KERNELS(NAME, TYPE) KERNEL(NAME, TYPE, and) KERNEL(NAME, TYPE, or) KERNEL(NAME, TYPE, xor)
#define ORDER_KERNELS(NAME, TYPE) KERNEL(NAME, TYPE, min) KERNEL(NAME, TYPE, max)
#define SUM_KERNELS(NAME, TYPE) KERNEL(NAME, TYPE, sum) KERNEL(NAME, TYPE, prod)

#endif
