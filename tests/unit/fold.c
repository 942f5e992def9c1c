/* The fold of reductions: every kernel against plain C, by the table of this processor and by the common one, in place and
 * at odd addresses. Both tables give the same bits. */
#include "check.h"

#include "base/kind.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 67, ROOM = 2400 };

#define PAIR(name, of, by) \
    struct name {          \
        of value;          \
        by index;          \
    };
PAIR(float_int, float, int)
PAIR(double_int, double, int)
PAIR(long_int, long, int)
PAIR(short_int, short, int)
PAIR(two_int, int, int)
PAIR(long_double_int, long double, int)
PAIR(two_float, float, float)
PAIR(two_double, double, double)

static unsigned char a[ROOM], b[ROOM], out[ROOM], want[ROOM];

#ifdef KIND_I128_TYPE
typedef KIND_I128_TYPE i128;
typedef KIND_U128_TYPE widest;
#else
typedef uint64_t widest;
#endif

static uint64_t next_bits(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* The upper half of a float. */
#define BFLOAT_AT (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 2 : 0)

static float bfloat_value(const void *at)
{
    float value = 0;
    memcpy((char *)&value + BFLOAT_AT, at, 2);
    return value;
}

/* Writes the nearest of the two neighbours of a value, or the even one in the middle between them. */
static void bfloat_round(void *to, float value)
{
    uint16_t low, high;
    memcpy(&low, (const char *)&value + BFLOAT_AT, 2);
    high = (uint16_t)(low + 1);
    const float below = fabsf(value - bfloat_value(&low)), above = fabsf(bfloat_value(&high) - value);
    memcpy(to, above < below || (above == below && low & 1) ? &high : &low, 2);
}

/* Small values of either sign, so that sums and products of reals are exact; all bits where bits count. */
static void fill(unsigned char *at, enum kind kind, size_t n)
{
    for (size_t i = 0; i < n * kind_size(kind); i++)
        at[i] = (unsigned char)next_bits();
#define REALS(type, count)                                                              \
    for (size_t i = 0; i < n * (count); i++) {                                          \
        type value = (type)((int)(next_bits() % 2000) - 1000) / 7; /* products round */ \
        memcpy(at + i * sizeof value, &value, sizeof value);                            \
    }
    if (kind == KIND_FLOAT || kind == KIND_COMPLEXF)
        REALS(float, kind == KIND_FLOAT ? 1u : 2u)
    if (kind == KIND_DOUBLE || kind == KIND_COMPLEXD)
        REALS(double, kind == KIND_DOUBLE ? 1u : 2u)
    if (kind == KIND_LONGDOUBLE) {
        memset(at, 0, n * sizeof(long double)); /* padding too */
        REALS(long double, 1u)
    }
    if (kind == KIND_COMPLEXL) {
        memset(at, 0, n * 2 * sizeof(long double));
        REALS(long double, 2u)
    }
#ifdef KIND_HALF_TYPE
    if (kind == KIND_HALF || kind == KIND_COMPLEXH)
        REALS(KIND_HALF_TYPE, kind == KIND_HALF ? 1u : 2u)
#endif
#ifdef KIND_QUAD_TYPE
    if (kind == KIND_QUAD || kind == KIND_COMPLEXQ)
        REALS(KIND_QUAD_TYPE, kind == KIND_QUAD ? 1u : 2u)
#endif
    if (kind == KIND_BFLOAT)
        for (size_t i = 0; i < n; i++) {
            const float value = (float)((int)(next_bits() % 2000) - 1000) / 7;
            memcpy(at + 2 * i, (const char *)&value + BFLOAT_AT, 2);
        }
#define PAIR_VALUES(type) /* equal values too */           \
    for (size_t i = 0; i < n; i++) {                       \
        type *pair = (type *)room;                         \
        memset(room, 0, sizeof room);                      \
        pair->value = (signed char)(next_bits() % 5) - 2;  \
        pair->index = (signed char)(next_bits() % 7) - 3;  \
        memcpy(at + i * sizeof *pair, pair, sizeof *pair); \
    }
    long double room[2];
    switch (kind) {
    case KIND_FLOAT_INT: PAIR_VALUES(struct float_int) break;
    case KIND_DOUBLE_INT: PAIR_VALUES(struct double_int) break;
    case KIND_LONG_INT: PAIR_VALUES(struct long_int) break;
    case KIND_SHORT_INT: PAIR_VALUES(struct short_int) break;
    case KIND_2INT: PAIR_VALUES(struct two_int) break;
    case KIND_LONGDOUBLE_INT: PAIR_VALUES(struct long_double_int) break;
    case KIND_2FLOAT: PAIR_VALUES(struct two_float) break;
    case KIND_2DOUBLE: PAIR_VALUES(struct two_double) break;
    default: break;
    }
}

/* One element in plain C; false when there is no such operation. */
#define EACH_INTEGER(type)                                       \
    {                                                            \
        type x, y, z;                                            \
        memcpy(&x, p, sizeof x);                                 \
        memcpy(&y, q, sizeof y);                                 \
        switch (op) {                                            \
        case FOLD_AND: z = (type)(x & y); break;                 \
        case FOLD_OR: z = (type)(x | y); break;                  \
        case FOLD_XOR: z = (type)(x ^ y); break;                 \
        case FOLD_MIN: z = x < y ? x : y; break;                 \
        case FOLD_MAX: z = x > y ? x : y; break;                 \
        case FOLD_SUM: z = (type)((widest)x + (widest)y); break; \
        case FOLD_LOGICAL_AND: z = x && y; break;                \
        case FOLD_LOGICAL_OR: z = x || y; break;                 \
        case FOLD_LOGICAL_XOR: z = (x != 0) != (y != 0); break;  \
        default: z = (type)((widest)x * (widest)y);              \
        }                                                        \
        memcpy(to, &z, sizeof z);                                \
        return true;                                             \
    }
#define EACH_REAL(type)                          \
    {                                            \
        type x, y, z;                            \
        memcpy(&x, p, sizeof x);                 \
        memcpy(&y, q, sizeof y);                 \
        switch (op) {                            \
        case FOLD_MIN: z = x < y ? x : y; break; \
        case FOLD_MAX: z = x > y ? x : y; break; \
        case FOLD_SUM: z = x + y; break;         \
        case FOLD_PROD: z = x * y; break;        \
        default: return false;                   \
        }                                        \
        memcpy(to, &z, sizeof z);                \
        return true;                             \
    }
#define EACH_COMPLEX(type)                                               \
    {                                                                    \
        type x[2], y[2], z[2];                                           \
        memcpy(x, p, sizeof x);                                          \
        memcpy(y, q, sizeof y);                                          \
        if (op != FOLD_SUM && op != FOLD_PROD)                           \
            return false;                                                \
        z[0] = op == FOLD_SUM ? x[0] + y[0] : x[0] * y[0] - x[1] * y[1]; \
        z[1] = op == FOLD_SUM ? x[1] + y[1] : x[0] * y[1] + x[1] * y[0]; \
        memcpy(to, z, sizeof z);                                         \
        return true;                                                     \
    }
#define EACH_PAIR(type)                                                      \
    {                                                                        \
        type x, y;                                                           \
        memcpy(&x, p, sizeof x);                                             \
        memcpy(&y, q, sizeof y);                                             \
        if (op != FOLD_MIN && op != FOLD_MAX)                                \
            return false;                                                    \
        bool other = op == FOLD_MIN ? y.value < x.value : y.value > x.value; \
        other = other || (x.value == y.value && y.index < x.index);          \
        memcpy(to, other ? q : p, sizeof x);                                 \
        return true;                                                         \
    }

static bool one_bfloat(enum fold_op op, void *to, const void *p, const void *q)
{
    const float x = bfloat_value(p), y = bfloat_value(q);
    switch (op) {
    case FOLD_MIN: memcpy(to, x < y ? p : q, 2); return true;
    case FOLD_MAX: memcpy(to, x > y ? p : q, 2); return true;
    case FOLD_SUM: bfloat_round(to, x + y); return true;
    case FOLD_PROD: bfloat_round(to, x * y); return true;
    default: return false;
    }
}

static bool one(enum kind kind, enum fold_op op, void *to, const void *p, const void *q)
{
    switch (kind) {
    case KIND_I8: EACH_INTEGER(int8_t)
    case KIND_U8: EACH_INTEGER(uint8_t)
    case KIND_I16: EACH_INTEGER(int16_t)
    case KIND_U16: EACH_INTEGER(uint16_t)
    case KIND_I32: EACH_INTEGER(int32_t)
    case KIND_U32: EACH_INTEGER(uint32_t)
    case KIND_I64: EACH_INTEGER(int64_t)
    case KIND_U64: EACH_INTEGER(uint64_t)
    case KIND_FLOAT: EACH_REAL(float)
    case KIND_DOUBLE: EACH_REAL(double)
    case KIND_LONGDOUBLE: EACH_REAL(long double)
    case KIND_COMPLEXF: EACH_COMPLEX(float)
    case KIND_COMPLEXD: EACH_COMPLEX(double)
    case KIND_COMPLEXL: EACH_COMPLEX(long double)
    case KIND_FLOAT_INT: EACH_PAIR(struct float_int)
    case KIND_DOUBLE_INT: EACH_PAIR(struct double_int)
    case KIND_LONG_INT: EACH_PAIR(struct long_int)
    case KIND_SHORT_INT: EACH_PAIR(struct short_int)
    case KIND_2INT: EACH_PAIR(struct two_int)
    case KIND_LONGDOUBLE_INT: EACH_PAIR(struct long_double_int)
    case KIND_2FLOAT: EACH_PAIR(struct two_float)
    case KIND_2DOUBLE: EACH_PAIR(struct two_double)
    case KIND_BFLOAT: return one_bfloat(op, to, p, q);
#ifdef KIND_HALF_TYPE
    case KIND_HALF: EACH_REAL(KIND_HALF_TYPE)
    case KIND_COMPLEXH: EACH_COMPLEX(KIND_HALF_TYPE)
#endif
#ifdef KIND_QUAD_TYPE
    case KIND_QUAD: EACH_REAL(KIND_QUAD_TYPE)
    case KIND_COMPLEXQ: EACH_COMPLEX(KIND_QUAD_TYPE)
#endif
#ifdef KIND_I128_TYPE
    case KIND_I128: EACH_INTEGER(i128)
#endif
    default: return false;
    }
}

/* Reals of the processor's extended format, and pairs, have padding that no kernel has to copy. */
static size_t used_of(enum kind kind, size_t *first)
{
    const size_t real = __LDBL_MANT_DIG__ == 64 ? 10 : sizeof(long double);
    *first = 0;
    switch (kind) {
    case KIND_LONGDOUBLE: return real;
    case KIND_COMPLEXL: *first = sizeof(long double); return real;
    case KIND_DOUBLE_INT:
    case KIND_LONG_INT: return 12;
    case KIND_SHORT_INT: *first = 4; return 2;
    case KIND_LONGDOUBLE_INT: *first = sizeof(long double); return real;
    default: return kind_size(kind);
    }
}

/* Compares the used bytes from an element's start, and as many or, of an index, 4 bytes from `second`. */
static void same(enum kind kind, const void *one_, const void *other_, size_t n)
{
    size_t size = kind_size(kind), second, used = used_of(kind, &second);
    size_t more = kind == KIND_COMPLEXL ? used : sizeof(int);
    for (size_t i = 0; i < n; i++) {
        const char *a_ = (const char *)one_ + i * size, *b_ = (const char *)other_ + i * size;
        CHECK(memcmp(a_, b_, used) == 0);
        CHECK(!second || memcmp(a_ + second, b_ + second, more) == 0);
    }
}

static void try_kernel(fold_kernel *kernel, enum kind kind, enum fold_op op, size_t n, size_t off)
{
    size_t size = kind_size(kind);
    fill(a + off, kind, n);
    fill(b + off, kind, n);
    for (size_t i = 0; i < n; i++)
        CHECK(one(kind, op, want + i * size, a + off + i * size, b + off + i * size));
    kernel(out + off, a + off, b + off, n);
    same(kind, out + off, want, n);
    memcpy(out, a, sizeof out);
    kernel(out + off, out + off, b + off, n);
    same(kind, out + off, want, n);
    memcpy(out, b, sizeof out);
    kernel(out + off, a + off, out + off, n);
    same(kind, out + off, want, n);
}

/* Returns the kernels for AVX2 where they can run: processors with wider vectors do not choose them. */
static fold_kernel *narrower(enum kind kind, enum fold_op op)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && fold_kernels_avx2[kind][op])
        return fold_kernels_avx2[kind][op];
#endif
    return fold_kernels[kind][op];
}

int main(void)
{
    int kernels = 0;
    const bool half = kind_size(KIND_HALF), quad = kind_size(KIND_QUAD), wide = kind_size(KIND_I128);
    for (enum kind kind = 0; kind < KIND_KINDS; kind++)
        for (enum fold_op op = 0; op < FOLD_OPS; op++) {
            fold_kernel *mine = fold_kernel_of(kind, op), *common = fold_kernels[kind][op];
            CHECK(!mine == !common);
            CHECK(!mine == !one(kind, op, want, a, b));
            for (size_t n = 0; mine && n <= MOST; n += n < 9 ? 1 : 29)
                for (size_t off = 0; off < 4; off++) {
                    try_kernel(mine, kind, op, n, off);
                    try_kernel(common, kind, op, n, off);
                    try_kernel(narrower(kind, op), kind, op, n, off);
                }
            kernels += mine != 0;
        }
    CHECK(kernels == 8 * 10 + 3 * 4 + 3 * 2 + 8 * 2 + 4 + 6 * half + 6 * quad + 10 * wide);
    return 0;
}
