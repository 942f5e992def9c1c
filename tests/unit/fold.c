/* The fold of reductions: every kernel against plain C, by the table of this processor and by the common one, in place and
 * at odd addresses. Both tables give the same bits. */
#include "check.h"

#include "base/fold.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 67, ROOM = 2048 };

static unsigned char a[ROOM], b[ROOM], out[ROOM], want[ROOM];

static uint64_t next_bits(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Small values of either sign, so that sums and products of reals are exact; all bits where bits count. */
static void fill(unsigned char *at, enum kind kind, size_t n)
{
    for (size_t i = 0; i < n * kind_size(kind); i++)
        at[i] = (unsigned char)next_bits();
#define REALS(type, count)                                         \
    for (size_t i = 0; i < n * (count); i++) {                     \
        type value = (type)((int)(next_bits() % 2000) - 1000) / 8; \
        memcpy(at + i * sizeof value, &value, sizeof value);       \
    }
    if (kind == KIND_FLOAT || kind == KIND_COMPLEXF)
        REALS(float, kind == KIND_FLOAT ? 1u : 2u)
    if (kind == KIND_DOUBLE || kind == KIND_COMPLEXD)
        REALS(double, kind == KIND_DOUBLE ? 1u : 2u)
    if (kind == KIND_LONGDOUBLE) {
        memset(at, 0, n * sizeof(long double)); /* padding too */
        REALS(long double, 1u)
    }
}

/* One element in plain C; false when there is no such operation. */
#define EACH_INTEGER(type)                                           \
    {                                                                \
        type x, y, z;                                                \
        memcpy(&x, p, sizeof x);                                     \
        memcpy(&y, q, sizeof y);                                     \
        switch (op) {                                                \
        case FOLD_AND: z = (type)(x & y); break;                     \
        case FOLD_OR: z = (type)(x | y); break;                      \
        case FOLD_XOR: z = (type)(x ^ y); break;                     \
        case FOLD_MIN: z = x < y ? x : y; break;                     \
        case FOLD_MAX: z = x > y ? x : y; break;                     \
        case FOLD_SUM: z = (type)((uint64_t)x + (uint64_t)y); break; \
        default: z = (type)((uint64_t)x * (uint64_t)y);              \
        }                                                            \
        memcpy(to, &z, sizeof z);                                    \
        return true;                                                 \
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
    default: return false;
    }
}

/* A long double has padding that no kernel has to copy. */
static void same(enum kind kind, const void *one_, const void *other_, size_t n)
{
    size_t size = kind_size(kind),
           used = kind == KIND_LONGDOUBLE && sizeof(long double) == 16 && __LDBL_MANT_DIG__ == 64 ? 10 : size;
    for (size_t i = 0; i < n; i++)
        CHECK(memcmp((const char *)one_ + i * size, (const char *)other_ + i * size, used) == 0);
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

int main(void)
{
    int kernels = 0;
    for (enum kind kind = 0; kind < KIND_KINDS; kind++)
        for (enum fold_op op = 0; op < FOLD_OPS; op++) {
            fold_kernel *mine = fold_kernel_of(kind, op), *common = fold_kernels[kind][op];
            CHECK(!mine == !common);
            CHECK(!mine == !one(kind, op, want, a, b));
            for (size_t n = 0; mine && n <= MOST; n += n < 9 ? 1 : 29)
                for (size_t off = 0; off < 4; off++) {
                    try_kernel(mine, kind, op, n, off);
                    try_kernel(common, kind, op, n, off);
                }
            kernels += mine != 0;
        }
    CHECK(kernels == 8 * 7 + 3 * 4 + 2 * 2);
    return 0;
}
