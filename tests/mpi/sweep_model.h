/* What sweep.c expects: predefined elements in memory, random ones, and what each operation makes of them, in plain C. */
#ifndef MPI_TEST_SWEEP_MODEL_H
#define MPI_TEST_SWEEP_MODEL_H
#include "check.h"

#include <stdbool.h>

#if __LDBL_MANT_DIG__ == 113 || !defined(__SIZEOF_FLOAT128__)
typedef long double wide;
#else
typedef __float128 wide;
#endif
typedef __int128 whole;

enum kind { INTEGER, REAL, COMPLEX, LOGICAL, RAW, PAIR };
/* What a number looks like. Integers tell their size by the type's. */
enum format { SIGNED, UNSIGNED, HALF, BRAIN, SINGLE, DOUBLE, LONG_DOUBLE, QUAD, SHORT, INT, LONG };
struct row {
    const char *name;
    MPI_Datatype type;
    enum kind kind;
    enum format format; /* of the number, of both parts of a complex number, or of the value of a pair */
    enum format index;  /* of a pair */
};

static unsigned seed = 1;

static unsigned draw(void)
{
    return (seed = seed * 1103515245 + 12345) >> 16 & 0x7fff;
}

/* ---- numbers in memory ---- */

/* The bytes of a real, and of them those that are not padding. */
static size_t room_of(enum format format)
{
    const size_t room[] = {[HALF] = 2,
                           [BRAIN] = 2,
                           [SINGLE] = 4,
                           [DOUBLE] = 8,
                           [LONG_DOUBLE] = sizeof(long double),
                           [QUAD] = 16,
                           [SHORT] = sizeof(short),
                           [INT] = sizeof(int),
                           [LONG] = sizeof(long)};
    return room[format];
}

static size_t used_of(enum format format)
{
    return format == LONG_DOUBLE && __LDBL_MANT_DIG__ == 64 ? 10 : room_of(format);
}

#define NUMBERS(X)   \
    HALVES(X)        \
    X(SINGLE, float) \
    X(DOUBLE, double) X(LONG_DOUBLE, long double) X(QUAD, wide) X(SHORT, short) X(INT, int) X(LONG, long)
#if defined(__FLT16_MAX__)
#define HALVES(X) X(HALF, _Float16)
#else
#define HALVES(X)
#endif

static wide number_at(const unsigned char *from, enum format format)
{
    switch (format) {
#define READ(name, of)                        \
    case name: {                              \
        of number;                            \
        memcpy(&number, from, sizeof number); \
        return (wide)number;                  \
    }
        NUMBERS(READ)
    default: break;
    }
    float value = 0; /* BRAIN: its upper half */
    memcpy((char *)&value + 2, from, 2);
    return (wide)value;
}

/* Numbers of BRAIN are exact. */
static void put_number(unsigned char *to, enum format format, wide value)
{
    switch (format) {
#define WRITE(name, of)                     \
    case name: {                            \
        const of number = (of)value;        \
        memcpy(to, &number, used_of(name)); \
        return;                             \
    }
        NUMBERS(WRITE)
    default: break;
    }
    const float number = (float)value;
    memcpy(to, (const char *)&number + 2, 2);
}

static whole integer_at(const struct row *row, const unsigned char *from, size_t size)
{
    unsigned __int128 bits = 0;
    const int unused = 8 * (int)(sizeof bits - size);
    memcpy(&bits, from, size);
    return row->format == UNSIGNED ? (whole)bits : (whole)(bits << unused) >> unused;
}

/* ---- elements ---- */

/* A small number and, where its format has room for both and for the product of two, a fraction of it. */
static void fill_number(unsigned char *to, enum format format)
{
    const int fraction[] = {[HALF] = 0, [BRAIN] = 0, [SINGLE] = 4, [DOUBLE] = 20, [LONG_DOUBLE] = 24, [QUAD] = 80};
    wide small = (wide)((int)(draw() % 9) - 4), part = small;
    for (int i = 0; i < fraction[format]; i++)
        part /= 2;
    put_number(to, format, fraction[format] ? small + part : small);
}

/* Of a pair or a complex number: where the second number lies. */
static size_t second_of(const struct row *row)
{
    const size_t room = room_of(row->format), align = row->kind == PAIR ? room_of(row->index) : room;
    return (room + align - 1) / align * align;
}

/* Fills one element; its padding becomes zero. */
static void fill(unsigned char *to, const struct row *row, int size, MPI_Aint extent)
{
    memset(to, 0, (size_t)extent);
    switch (row->kind) {
    case INTEGER:
    case RAW:
        for (int i = 0; i < size; i++)
            to[i] = (unsigned char)draw();
        if (draw() % 4 == 0)
            memset(to, 0, (size_t)size);
        break;
    case LOGICAL: to[0] = draw() & 1; break;
    case COMPLEX: fill_number(to + second_of(row), row->format); /* fall through */
    case REAL: fill_number(to, row->format); break;
    case PAIR: /* equal values too */
        put_number(to, row->format, (wide)((int)(draw() % 3) - 1));
        put_number(to + second_of(row), row->index, (wide)(draw() % 5));
    }
}

/* Compares elements but for their padding. */
static bool same(const struct row *row, const unsigned char *a, const unsigned char *b, int size)
{
    if (row->kind != REAL && row->kind != COMPLEX && row->kind != PAIR)
        return memcmp(a, b, (size_t)size) == 0;
    if (memcmp(a, b, used_of(row->format)))
        return false;
    const size_t at = second_of(row);
    return row->kind == REAL || memcmp(a + at, b + at, used_of(row->kind == PAIR ? row->index : row->format)) == 0;
}

static void expect(const struct row *row, const char *op, const char *what, const unsigned char *got,
                   const unsigned char *wanted, int size, int i)
{
    if (same(row, got, wanted, size))
        return;
    fprintf(stderr, "rank %d: %s of %s, element %d of %s:", me, op, row->name, i, what);
    for (int k = 0; k < size; k++)
        fprintf(stderr, " %02x/%02x", got[k], wanted[k]);
    fprintf(stderr, " (got/wanted)\n");
    CHECK(!"an operation gives a wrong result");
}

/* ---- the model: target = target op origin ---- */

static void fold_integers(const struct row *row, MPI_Op op, const unsigned char *origin, unsigned char *target,
                          size_t size)
{
    const whole y = integer_at(row, origin, size), x = integer_at(row, target, size);
    const unsigned __int128 a = (unsigned __int128)x, b = (unsigned __int128)y;
    unsigned __int128 z = op == MPI_SUM    ? a + b
                          : op == MPI_PROD ? a * b
                          : op == MPI_BAND ? a & b
                          : op == MPI_BOR  ? a | b
                          : op == MPI_BXOR ? a ^ b
                          : op == MPI_LAND ? a && b
                          : op == MPI_LOR  ? a || b
                          : op == MPI_LXOR ? !a != !b
                          : op == MPI_MAX  ? (y > x ? b : a)
                                           : (y < x ? b : a);
    memcpy(target, &z, size);
}

static void fold_reals(const struct row *row, MPI_Op op, const unsigned char *origin, unsigned char *target)
{
    const wide y = number_at(origin, row->format), x = number_at(target, row->format);
    put_number(target, row->format,
               op == MPI_SUM    ? x + y
               : op == MPI_PROD ? x * y
               : op == MPI_MAX  ? (y > x ? y : x)
                                : (y < x ? y : x));
}

static void fold_complexes(const struct row *row, MPI_Op op, const unsigned char *origin, unsigned char *target)
{
    const size_t at = second_of(row);
    const wide y = number_at(origin, row->format), x = number_at(target, row->format),
               iy = number_at(origin + at, row->format), ix = number_at(target + at, row->format);
    put_number(target, row->format, op == MPI_SUM ? x + y : x * y - ix * iy);
    put_number(target + at, row->format, op == MPI_SUM ? ix + iy : x * iy + ix * y);
}

static void fold_pairs(const struct row *row, MPI_Op op, const unsigned char *origin, unsigned char *target,
                       size_t extent)
{
    const size_t at = second_of(row);
    const wide y = number_at(origin, row->format), x = number_at(target, row->format);
    const bool first = number_at(origin + at, row->index) < number_at(target + at, row->index);
    if ((op == MPI_MAXLOC ? y > x : y < x) || (x == y && first))
        memcpy(target, origin, extent);
}

static void answer(const struct row *row, MPI_Op op, const unsigned char *origin, unsigned char *target, int size,
                   MPI_Aint extent)
{
    if (op == MPI_NO_OP)
        return;
    if (op == MPI_REPLACE) {
        memcpy(target, origin, (size_t)extent);
        return;
    }
    switch (row->kind) {
    case REAL: fold_reals(row, op, origin, target); break;
    case COMPLEX: fold_complexes(row, op, origin, target); break;
    case PAIR: fold_pairs(row, op, origin, target, (size_t)extent); break;
    default: fold_integers(row, op, origin, target, (size_t)size);
    }
}

#endif
