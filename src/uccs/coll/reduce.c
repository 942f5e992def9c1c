#include "uccs/coll/reduce.h"

#include <stdint.h>
#include <string.h>

/* Sums and products of signed integers wrap, as the hardware's do. */
#define KERNEL(name, type, expression)                               \
    static void name(void *to, const void *from, size_t n)           \
    {                                                                \
        for (size_t i = 0; i < n; i++) {                             \
            type a, b;                                               \
            memcpy(&a, (char *)to + i * sizeof a, sizeof a);         \
            memcpy(&b, (const char *)from + i * sizeof b, sizeof b); \
            a = (type)(expression);                                  \
            memcpy((char *)to + i * sizeof a, &a, sizeof a);         \
        }                                                            \
    }

#define ORDERED(name, type)                 \
    KERNEL(name##_min, type, b < a ? b : a) \
    KERNEL(name##_max, type, a < b ? b : a)
#define ARITHMETIC(name, type, wide)            \
    KERNEL(name##_sum, type, (wide)a + (wide)b) \
    KERNEL(name##_prod, type, (wide)a *(wide)b)
#define BITWISE(name, type)        \
    KERNEL(name##_and, type, a &b) \
    KERNEL(name##_or, type, a | b) \
    KERNEL(name##_xor, type, a ^ b)

ORDERED(int32, int32_t)
ORDERED(uint32, uint32_t)
ORDERED(int64, int64_t)
ORDERED(uint64, uint64_t)
ORDERED(float, float)
ORDERED(double, double)
ARITHMETIC(uint32, uint32_t, uint32_t)
ARITHMETIC(uint64, uint64_t, uint64_t)
ARITHMETIC(float, float, float)
ARITHMETIC(double, double, double)
BITWISE(uint32, uint32_t)
BITWISE(uint64, uint64_t)

/* In the order of enum uccs_reduction. */
#define BITS(name) name##_and, name##_or, name##_xor
#define NONE 0, 0, 0
#define LIMITS(name) name##_min, name##_max
#define SUMS(name) name##_sum, name##_prod

static uccs_reduce_kernel *const kernels[][UCCS_PROD + 1] = {
    [UCCS_INT32] = {BITS(uint32), LIMITS(int32), SUMS(uint32)},
    [UCCS_UINT32] = {BITS(uint32), LIMITS(uint32), SUMS(uint32)},
    [UCCS_INT64] = {BITS(uint64), LIMITS(int64), SUMS(uint64)},
    [UCCS_UINT64] = {BITS(uint64), LIMITS(uint64), SUMS(uint64)},
    [UCCS_FLOAT] = {NONE, LIMITS(float), SUMS(float)},
    [UCCS_DOUBLE] = {NONE, LIMITS(double), SUMS(double)},
};

uccs_reduce_kernel *uccs_reduce_of(enum uccs_type type, enum uccs_reduction how, size_t *element)
{
    if ((unsigned)type > UCCS_DOUBLE || (unsigned)how > UCCS_PROD)
        return 0;
    *element = type == UCCS_INT32 || type == UCCS_UINT32 || type == UCCS_FLOAT ? 4 : 8;
    return kernels[type][how];
}
