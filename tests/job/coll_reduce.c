/* Every reduction on every type it is defined for, and the scans, against a serial fold in the order
 * of the ranks; in place or not, back to back with changing contents; and equal bits on every PE.
 *
 * flags: -O0 -ffp-contract=off -fcx-limited-range
 * pes: 2 4 7
 * case: chosen
 * pes: 1 2 3 4 7 16
 * case: slots
 * env: LATERAL_COLL=reduce:slots,scan:slots
 * case: leader
 * env: LATERAL_COLL=reduce:leader
 * case: share
 * env: LATERAL_COLL=reduce:share,scan:share
 */
#include "coll.h"

#include <complex.h>
#include <math.h>

enum { ROOM = 1 << 20 };

static void *source, *dest, *expected, *theirs;
static int me, npes, nodes;
static uint64_t step, seed = 3, own;

/* Small numbers: so that products of 16 PEs stay finite and other orders would still differ in the
 * last bits of reals. */
#define DRAW_INTEGER(type, random) ((type)(random))
#define DRAW_REAL(type, random) ((type)(0.75 + (double)((random) % 1000003) / 2000003))
#define DRAW_COMPLEX(type, random) \
    (DRAW_REAL(double, random) + DRAW_REAL(double, (random) >> 20) * (type)_Complex_I * (type)0.7)

static uint64_t random_of(int pe, size_t i)
{
    return mix(step * 7919 + (uint64_t)pe * 104729 + i * 0x9e3779b97f4a7c15u);
}

static void report(const char *name, size_t n, size_t i, bool in_place)
{
    REQUIRE(0, "step %lu: %s of %zu elements%s: wrong at %zu", (unsigned long)step, name, n,
            in_place ? " in place" : "", i);
}

/* The bits of long doubles that count: the rest of their 16 bytes is padding. Over nodes reals may be folded in another order. */
#define SAME(a, b) ((a) == (b) || ((a) != (a) && (b) != (b)) || (nodes && CLOSE(a, b)))
#define CLOSE(a, b) (SIZE((a) - (b)) <= 8 * npes * EPSILON(a) * SIZE(b))
#define SIZE(z) (fabsl((long double)__real__(z)) + fabsl((long double)__imag__(z)))
#define EPSILON(x) ((__typeof__(x))0.5 == 0 ? 0 : sizeof(__real__(x)) == 4 ? __FLT_EPSILON__ : __DBL_EPSILON__)

#define FILL(type, rule, at, pe, n) \
    for (size_t i = 0; i < n; i++)  \
    ((type *)(at))[i] = rule(type, random_of(pe, i))

#define REDUCTION(name, type, rule, op, expression)                                               \
    static void name##_##op(size_t n, bool in_place)                                              \
    {                                                                                             \
        type *to = dest, *from = in_place ? dest : source, *want = expected, *peer = theirs;      \
        step++;                                                                                   \
        FILL(type, rule, from, me, n);                                                            \
        FILL(type, rule, want, 0, n);                                                             \
        for (int pe = 1; pe < npes; pe++) {                                                       \
            FILL(type, rule, peer, pe, n);                                                        \
            for (size_t i = 0; i < n; i++) {                                                      \
                type x = want[i], y = peer[i];                                                    \
                want[i] = (type)(expression);                                                     \
            }                                                                                     \
        }                                                                                         \
        dawdle(&own);                                                                             \
        REQUIRE(shmem_##name##_##op##_reduce(SHMEM_TEAM_WORLD, to, from, n) == 0, #name " " #op); \
        memset(source, 9, n * sizeof(type));                                                      \
        for (size_t i = 0; i < n; i++)                                                            \
            if (!SAME(to[i], want[i]))                                                            \
                report(#name " " #op, n, i, in_place);                                            \
    }

#define SCAN(name, type, rule, which, inclusive)                                                   \
    static void name##_##which(size_t n, bool in_place)                                            \
    {                                                                                              \
        type *to = dest, *from = in_place ? dest : source, *want = expected, *peer = theirs;       \
        step++;                                                                                    \
        FILL(type, rule, from, me, n);                                                             \
        memset(want, 0, n * sizeof(type));                                                         \
        for (int pe = 0; pe < me + inclusive; pe++) {                                              \
            FILL(type, rule, peer, pe, n);                                                         \
            for (size_t i = 0; i < n; i++)                                                         \
                want[i] = (type)(WRAP(type, want[i]) + WRAP(type, peer[i]));                       \
        }                                                                                          \
        dawdle(&own);                                                                              \
        REQUIRE(shmem_##name##_sum_##which(SHMEM_TEAM_WORLD, to, from, n) == 0, #name " " #which); \
        memset(source, 9, n * sizeof(type));                                                       \
        for (size_t i = 0; i < n; i++)                                                             \
            if (!SAME(to[i], want[i]))                                                             \
                report(#name " " #which, n, i, in_place);                                          \
    }

/* Signed overflow wraps in the library; here it goes by way of unsigned. */
#define WRAP(type, x) \
    _Generic((x), int : (unsigned)(x), long : (unsigned long)(x), long long : (unsigned long long)(x), default : (x))
#define SUM(type) WRAP(type, x) + WRAP(type, y)
#define PROD(type) WRAP(type, 1u * WRAP(type, x)) * WRAP(type, y)
#define REALPROD(type) x *y

#define BITWISE(name, type)                        \
    REDUCTION(name, type, DRAW_INTEGER, and, x &y) \
    REDUCTION(name, type, DRAW_INTEGER, or, x | y) \
    REDUCTION(name, type, DRAW_INTEGER, xor, x ^ y)
#define ORDERED(name, type, rule)                   \
    REDUCTION(name, type, rule, min, y < x ? y : x) \
    REDUCTION(name, type, rule, max, y > x ? y : x)
#define ARITHMETIC(name, type, rule, prod_)        \
    REDUCTION(name, type, rule, sum, SUM(type))    \
    REDUCTION(name, type, rule, prod, prod_(type)) \
    SCAN(name, type, rule, inscan, 1)              \
    SCAN(name, type, rule, exscan, 0)

/* clang-format off */
#define EACH_BITWISE(X) \
    X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int) X(ulong, unsigned long) X(size, size_t) \
    X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) \
    X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t) X(uint64, uint64_t)
#define EACH_SIGNED(X) X(char, char) X(schar, signed char) X(short, short) X(int, int) X(long, long) \
    X(longlong, long long) X(ptrdiff, ptrdiff_t)
/* clang-format on */
#define EACH_REAL(X) X(float, float) X(double, double) X(longdouble, long double)
#define EACH_COMPLEX(X) X(complexf, float _Complex) X(complexd, double _Complex)

#define MAKE_INTEGER(name, type) ORDERED(name, type, DRAW_INTEGER) ARITHMETIC(name, type, DRAW_INTEGER, PROD)
#define MAKE_REAL(name, type) ORDERED(name, type, DRAW_REAL) ARITHMETIC(name, type, DRAW_REAL, REALPROD)
#define MAKE_COMPLEX(name, type) ARITHMETIC(name, type, DRAW_COMPLEX, REALPROD)
EACH_BITWISE(BITWISE)
EACH_BITWISE(MAKE_INTEGER)
EACH_SIGNED(MAKE_INTEGER)
EACH_REAL(MAKE_REAL)
EACH_COMPLEX(MAKE_COMPLEX)

struct entry {
    void (*run)(size_t n, bool in_place);
    size_t size;
};

#define LIST_BITWISE(name, type) {name##_and, sizeof(type)}, {name##_or, sizeof(type)}, {name##_xor, sizeof(type)},
#define LIST_ORDERED(name, type) {name##_min, sizeof(type)}, {name##_max, sizeof(type)},
#define LIST_ARITHMETIC(name, type)                                                         \
    {name##_sum, sizeof(type)}, {name##_prod, sizeof(type)}, {name##_inscan, sizeof(type)}, \
        {name##_exscan, sizeof(type)},

static const struct entry entries[] = {
    EACH_BITWISE(LIST_BITWISE) EACH_BITWISE(LIST_ORDERED) EACH_BITWISE(LIST_ARITHMETIC) EACH_SIGNED(LIST_ORDERED)
        EACH_SIGNED(LIST_ARITHMETIC) EACH_REAL(LIST_ORDERED) EACH_REAL(LIST_ARITHMETIC) EACH_COMPLEX(LIST_ARITHMETIC)};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* A sum of reals of very different sizes depends on its order: all PEs must have the same bits, in vectors of all lengths. */
static void test_same_bits(void)
{
    double *in = source, *out = dest, *all = expected;
    for (size_t n = 1; n <= 20000; n *= 11) {
        step++;
        for (size_t i = 0; i < n; i++)
            in[i] = (double)(int64_t)random_of(me, i) * (i % 3 ? 1e-30 : 1e30);
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, out, in, n);
        memcpy(all, out, n * sizeof *out);
        shmem_barrier_all();
        shmem_getmem(theirs, out, n * sizeof *out, (me + 1) % npes);
        REQUIRE(memcmp(all, theirs, n * sizeof *out) == 0, "%zu elements: other bits on PE %d", n, (me + 1) % npes);
        shmem_barrier_all();
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, out, in + n - 1, 1);
        REQUIRE(out[0] == all[n - 1], "element %zu: other bits alone", n - 1);
        shmem_barrier_all();
    }
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 2, 3, 7, 13, 100, 513, 1024, 4099};
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    nodes = getenv("LATERAL_NODE_SIZE") != 0;
    own = 5 + (uint64_t)me;
    source = shmem_align(64, ROOM);
    dest = shmem_align(64, ROOM);
    expected = malloc(ROOM);
    theirs = malloc(ROOM);
    for (int i = 0; i < ENTRIES; i++)
        for (int round = 0; round < 3; round++) {
            size_t n = sizes[draw(&seed) % 10];
            entries[i].run(n, round == 1);
        }
    for (int i = 0; i < 400; i++) {
        const struct entry *entry = &entries[draw(&seed) % ENTRIES];
        size_t bytes = draw_size(&seed, npes > 8 ? 40000 : ROOM);
        entry->run(bytes / entry->size, draw(&seed) % 2);
    }
    test_same_bits();
    REQUIRE(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, 0, 0, 0) == 0 &&
                shmem_int_sum_inscan(SHMEM_TEAM_WORLD, 0, 0, 0) == 0,
            "null and zero");
    free(expected);
    free(theirs);
    shmem_finalize();
    return 0;
}
