/* What accumulate.c expects: elements of every type, random ones, and what each operation makes of them, in plain C. */
#ifndef UCCS_TEST_ACCUMULATE_MODEL_H
#define UCCS_TEST_ACCUMULATE_MODEL_H
#include "check.h"

typedef struct {
    float re, im;
} cf;
typedef struct {
    double re, im;
} cd;
typedef struct {
    long double re, im;
} cl;

#if defined(__FLT16_MAX__)
typedef _Float16 f16;
typedef struct {
    f16 re, im;
} ch;
#define HALF(X, name, of) X(name, of)
#else
#define HALF(X, name, of)
#endif
#if __LDBL_MANT_DIG__ == 113
typedef long double f128;
#else
typedef __float128 f128;
#endif
typedef struct {
    f128 re, im;
} cq;
typedef __int128 i128;
typedef unsigned __int128 u128;
typedef struct {
    uint16_t bits; /* the upper half of a float */
} bf;

/* Of a value that a bf holds exactly. */
static bf bf_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    CHECK((bits & 0xffff) == 0);
    return (bf){(uint16_t)(bits >> 16)};
}

static float bf_value(bf number)
{
    const uint32_t bits = (uint32_t)number.bits << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
#define PAIR(name, value, index) \
    typedef struct {             \
        value v;                 \
        index i;                 \
    } name;
PAIR(fi, float, int)
PAIR(di, double, int)
PAIR(li, long, int)
PAIR(si, short, int)
PAIR(ii, int, int)
PAIR(ldi, long double, int)
PAIR(ff, float, float)
PAIR(dd, double, double)

#define INTEGERS(X)          \
    X(UCCS_INT8, int8_t)     \
    X(UCCS_UINT8, uint8_t)   \
    X(UCCS_INT16, int16_t)   \
    X(UCCS_UINT16, uint16_t) \
    X(UCCS_INT32, int32_t)   \
    X(UCCS_UINT32, uint32_t) \
    X(UCCS_INT64, int64_t)   \
    X(UCCS_UINT64, uint64_t) \
    X(UCCS_INT128, i128)
#define REALS(X)                     \
    X(UCCS_FLOAT, float)             \
    X(UCCS_DOUBLE, double)           \
    X(UCCS_LONG_DOUBLE, long double) \
    X(UCCS_FLOAT128, f128)           \
    HALF(X, UCCS_FLOAT16, f16)
#define COMPLEXES(X)                \
    X(UCCS_FLOAT_COMPLEX, cf)       \
    X(UCCS_DOUBLE_COMPLEX, cd)      \
    X(UCCS_LONG_DOUBLE_COMPLEX, cl) \
    X(UCCS_FLOAT128_COMPLEX, cq)    \
    HALF(X, UCCS_FLOAT16_COMPLEX, ch)
#define PAIRS(X)                 \
    X(UCCS_FLOAT_INT, fi)        \
    X(UCCS_DOUBLE_INT, di)       \
    X(UCCS_LONG_INT, li)         \
    X(UCCS_SHORT_INT, si)        \
    X(UCCS_2INT, ii)             \
    X(UCCS_LONG_DOUBLE_INT, ldi) \
    X(UCCS_2FLOAT, ff)           \
    X(UCCS_2DOUBLE, dd)

static unsigned next_number(void)
{
    static unsigned state = 12345;
    return (state = state * 1103515245 + 12345) >> 8;
}

static int small(void)
{
    return (int)(next_number() % 17) - 8;
}

/* Small values, so that sums and products of reals are exact, and values of pairs are often equal. */
static void fill(enum uccs_type type, void *at, size_t n)
{
    memset(at, 0, n * uccs_type_size(type));
    for (size_t i = 0; i < n; i++)
        switch (type) {
#define FILL(name, of) \
    case name: ((of *)at)[i] = (of)(next_number() % 3 ? (uint64_t)next_number() * 7777777777u : 0); break;
            INTEGERS(FILL)
#define FILL_REAL(name, of) \
    case name: ((of *)at)[i] = (of)small() / 4; break;
            REALS(FILL_REAL)
#define FILL_COMPLEX(name, of)             \
    case name:                             \
        ((of *)at)[i].re = (float)small(); \
        ((of *)at)[i].im = (float)small(); \
        break;
            COMPLEXES(FILL_COMPLEX)
#define FILL_PAIR(name, of)                     \
    case name:                                  \
        ((of *)at)[i].v = (short)(small() / 3); \
        ((of *)at)[i].i = (short)small();       \
        break;
            PAIRS(FILL_PAIR)
        case UCCS_BFLOAT16: ((bf *)at)[i] = bf_of((float)(next_number() % 5) - 1); break; /* powers are exact */
        }
}

static int equal(enum uccs_type type, const void *one, const void *other, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (type) {
#define EQUAL(name, of)                                     \
    case name:                                              \
        if (((const of *)one)[i] != ((const of *)other)[i]) \
            return 0;                                       \
        break;
            INTEGERS(EQUAL)
            REALS(EQUAL)
#define EQUAL_COMPLEX(name, of)                                     \
    case name:                                                      \
        if (((const of *)one)[i].re != ((const of *)other)[i].re || \
            ((const of *)one)[i].im != ((const of *)other)[i].im)   \
            return 0;                                               \
        break;
            COMPLEXES(EQUAL_COMPLEX)
#define EQUAL_PAIR(name, of)                                                                                          \
    case name:                                                                                                        \
        if (((const of *)one)[i].v != ((const of *)other)[i].v || ((const of *)one)[i].i != ((const of *)other)[i].i) \
            return 0;                                                                                                 \
        break;
            PAIRS(EQUAL_PAIR)
        case UCCS_BFLOAT16:
            if (((const bf *)one)[i].bits != ((const bf *)other)[i].bits)
                return 0;
            break;
        }
    return 1;
}

/* x = x how y, in plain C; false when the operation is not defined. */
static int model(enum uccs_type type, enum uccs_reduction how, void *x, const void *y)
{
    if (how == UCCS_NO_OP)
        return 1;
    if (how == UCCS_REPLACE) {
        memcpy(x, y, uccs_type_size(type));
        return 1;
    }
    switch (type) {
#define MODEL(name, of)                                         \
    case name: {                                                \
        of a = *(of *)x, b = *(const of *)y;                    \
        switch (how) {                                          \
        case UCCS_AND: a &= b; break;                           \
        case UCCS_OR: a |= b; break;                            \
        case UCCS_XOR: a ^= b; break;                           \
        case UCCS_MIN: a = a < b ? a : b; break;                \
        case UCCS_MAX: a = a > b ? a : b; break;                \
        case UCCS_SUM: a = (of)((u128)a + (u128)b); break;      \
        case UCCS_PROD: a = (of)((u128)a * (u128)b); break;     \
        case UCCS_LOGICAL_AND: a = a && b; break;               \
        case UCCS_LOGICAL_OR: a = a || b; break;                \
        case UCCS_LOGICAL_XOR: a = (a != 0) != (b != 0); break; \
        default: return 0;                                      \
        }                                                       \
        *(of *)x = a;                                           \
        return 1;                                               \
    }
        INTEGERS(MODEL)
#define MODEL_REAL(name, of)                     \
    case name: {                                 \
        of a = *(of *)x, b = *(const of *)y;     \
        switch (how) {                           \
        case UCCS_MIN: a = a < b ? a : b; break; \
        case UCCS_MAX: a = a > b ? a : b; break; \
        case UCCS_SUM: a += b; break;            \
        case UCCS_PROD: a *= b; break;           \
        default: return 0;                       \
        }                                        \
        *(of *)x = a;                            \
        return 1;                                \
    }
        REALS(MODEL_REAL)
#define MODEL_COMPLEX(name, of)                                              \
    case name: {                                                             \
        of a = *(of *)x, b = *(const of *)y, c = {a.re + b.re, a.im + b.im}; \
        if (how == UCCS_PROD)                                                \
            c = (of){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};  \
        else if (how != UCCS_SUM)                                            \
            return 0;                                                        \
        *(of *)x = c;                                                        \
        return 1;                                                            \
    }
        COMPLEXES(MODEL_COMPLEX)
#define MODEL_PAIR(name, of)                                                        \
    case name: {                                                                    \
        of a = *(of *)x, b = *(const of *)y;                                        \
        if (how != UCCS_MIN && how != UCCS_MAX)                                     \
            return 0;                                                               \
        if ((how == UCCS_MIN ? b.v < a.v : b.v > a.v) || (a.v == b.v && b.i < a.i)) \
            *(of *)x = b;                                                           \
        return 1;                                                                   \
    }
        PAIRS(MODEL_PAIR)
    case UCCS_BFLOAT16: {
        float a = bf_value(*(bf *)x), b = bf_value(*(const bf *)y);
        switch (how) {
        case UCCS_MIN: a = a < b ? a : b; break;
        case UCCS_MAX: a = a > b ? a : b; break;
        case UCCS_SUM: a += b; break;
        case UCCS_PROD: a *= b; break;
        default: return 0;
        }
        *(bf *)x = bf_of(a);
        return 1;
    }
    }
    return 0;
}

static size_t size_of(enum uccs_type type)
{
    switch (type) {
#define SIZE(name, of) \
    case name: return sizeof(of);
        INTEGERS(SIZE)
        REALS(SIZE)
        COMPLEXES(SIZE)
        PAIRS(SIZE)
    case UCCS_BFLOAT16: return 2;
    }
    return 0;
}

#endif
