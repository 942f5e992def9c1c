/* Every predefined operation on every predefined type that the MPI reduces: accumulate, get_accumulate and fetch_and_op, with
 * elements that lie together and apart on either side; MPI_Reduce_local knows most answers. And compare_and_swap.
 * ranks: 2
 * ways: plain far */
#include "check.h"

#include <stdbool.h>

enum { N = 5, APART = 2, BYTES = 4096, ELEMENT = 32, UNSIGNED = 1 };

enum kind { INTEGER, REAL, COMPLEX, LOGICAL, RAW, PAIR };
struct row {
    MPI_Datatype type;
    enum kind kind;
    int more; /* of an integer: UNSIGNED; of a complex number: bytes of one part */
};

static MPI_Win win;
static unsigned char *memory;
static unsigned seed = 1;
static int tried;
static bool few; /* messages take longer */

static unsigned draw(void)
{
    return (seed = seed * 1103515245 + 12345) >> 16 & 0x7fff;
}

/* A small number, so that results are exact. */
static void put_real(unsigned char *to, int bytes)
{
    const int number = (int)(draw() % 9) - 4;
    const float f = (float)number;
    const double d = number;
    long double l = 0;
    memset(&l, 0, sizeof l);
    l = number;
    memcpy(to, bytes == 4 ? (const void *)&f : bytes == 8 ? (const void *)&d : (const void *)&l, (size_t)bytes);
}

/* Fills one element; its padding becomes zero. */
static void fill(unsigned char *to, const struct row *row, int size, MPI_Aint extent)
{
    memset(to, 0, (size_t)extent);
    if (row->kind == INTEGER || row->kind == RAW)
        for (int i = 0; i < size; i++)
            to[i] = (unsigned char)draw();
    if (row->kind == LOGICAL)
        to[0] = draw() & 1;
    if (row->kind == REAL)
        put_real(to, size);
    if (row->kind == COMPLEX)
        put_real(to, row->more), put_real(to + row->more, row->more);
    if (row->kind != PAIR)
        return;
    /* a pair: a number, and another behind it */
    const int number = (int)(draw() % 3), place = (int)(draw() % 5);
    if (row->type == MPI_FLOAT_INT)
        memcpy(to, &(struct {
                   float a;
                   int b;
               }){(float)number, place},
               8);
    else if (row->type == MPI_DOUBLE_INT)
        *(double *)to = number, *(int *)(to + 8) = place;
    else if (row->type == MPI_LONG_INT)
        *(long *)to = number, *(int *)(to + 8) = place;
    else if (row->type == MPI_SHORT_INT)
        *(short *)to = (short)number, *(int *)(to + 4) = place;
    else if (row->type == MPI_LONG_DOUBLE_INT)
        *(long double *)to = number, memset(to + 10, 0, 6), *(int *)(to + 16) = place;
    else if (row->type == MPI_2REAL)
        *(float *)to = (float)number, *(float *)(to + 4) = (float)place;
    else if (row->type == MPI_2DOUBLE_PRECISION)
        *(double *)to = number, *(double *)(to + 8) = place;
    else /* of two integers */
        *(int *)to = number, *(int *)(to + 4) = place;
}

/* Compares elements but for their padding. */
static bool same(const struct row *row, const unsigned char *a, const unsigned char *b, int size)
{
    if (row->type == MPI_SHORT_INT)
        return memcmp(a, b, 2) == 0 && memcmp(a + 4, b + 4, 4) == 0;
    if (row->type == MPI_LONG_DOUBLE_INT)
        return memcmp(a, b, 10) == 0 && memcmp(a + 16, b + 16, 4) == 0;
    if (row->kind == REAL && size == 16)
        return memcmp(a, b, 10) == 0;
    if (row->kind == COMPLEX && row->more == 16)
        return memcmp(a, b, 10) == 0 && memcmp(a + 16, b + 16, 10) == 0;
    return memcmp(a, b, (size_t)size) == 0;
}

static void name_of(MPI_Datatype type, char *name)
{
    int length;
    MPI_Type_get_name(type, name, &length);
}

static void expect(const struct row *row, const char *op, const char *what, const unsigned char *got,
                   const unsigned char *wanted, int size, int i)
{
    char name[MPI_MAX_OBJECT_NAME];
    if (same(row, got, wanted, size))
        return;
    name_of(row->type, name);
    fprintf(stderr, "rank %d: %s of %s, element %d of %s:", me, op, name, i, what);
    for (int k = 0; k < size; k++)
        fprintf(stderr, " %02x/%02x", got[k], wanted[k]);
    fprintf(stderr, " (got/wanted)\n");
    CHECK(!"an operation gives a wrong result");
}

static int64_t number_of(const struct row *row, const unsigned char *from, int size)
{
    uint64_t bits = 0;
    memcpy(&bits, from, (size_t)size);
    return row->more == UNSIGNED ? (int64_t)(bits ^ 1ull << 63) : (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
}

/* What the operation makes of a target's element. Open MPI 4.1 and MPICH 4.0 take some unsigned integers for signed ones in
 * MPI_Reduce_local's maximum and minimum. */
static void answer(const struct row *row, MPI_Op op, const unsigned char *origin, unsigned char *target, int size)
{
    if (op == MPI_NO_OP)
        return;
    if (row->kind == INTEGER && (op == MPI_MAX || op == MPI_MIN)) {
        if ((number_of(row, origin, size) > number_of(row, target, size)) == (op == MPI_MAX))
            memcpy(target, origin, (size_t)size);
    } else if (op == MPI_REPLACE) {
        memcpy(target, origin, (size_t)size);
    } else {
        OK(MPI_Reduce_local(origin, target, 1, row->type, op));
    }
}

struct layout { /* of N elements */
    MPI_Datatype type;
    int count;
    int step; /* from one element to the next */
};

/* Runs one operation with one layout of each side. */
static void run(const struct row *row, MPI_Op op, const char *op_name, const struct layout *from,
                const struct layout *to, bool fetch)
{
    unsigned char origin[BYTES], start[BYTES], old[BYTES], wanted[ELEMENT];
    int size;
    MPI_Aint lb, extent;
    MPI_Type_size(row->type, &size);
    MPI_Type_get_extent(row->type, &lb, &extent);
    memset(old, 0xee, sizeof old);
    memset(start, 0xdd, sizeof start);
    for (int i = 0; i < N; i++) {
        fill(origin + i * from->step * extent, row, size, extent);
        fill(start + i * to->step * extent, row, size, extent);
    }
    /* this rank changes its part of the next rank's memory, and reads it back */
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank, 0, win));
    OK(MPI_Put(start, BYTES, MPI_BYTE, next_rank, me * BYTES, BYTES, MPI_BYTE, win));
    OK(MPI_Win_flush(next_rank, win));
    if (fetch)
        OK(MPI_Get_accumulate(op == MPI_NO_OP ? 0 : origin, op == MPI_NO_OP ? 0 : from->count, from->type, old,
                              from->count, from->type, next_rank, me * BYTES, to->count, to->type, op, win));
    else
        OK(MPI_Accumulate(origin, from->count, from->type, next_rank, me * BYTES, to->count, to->type, op, win));
    OK(MPI_Win_unlock(next_rank, win));
    unsigned char now[BYTES];
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win));
    OK(MPI_Get(now, BYTES, MPI_BYTE, next_rank, me * BYTES, BYTES, MPI_BYTE, win));
    OK(MPI_Win_unlock(next_rank, win));
    for (int i = 0; i < N; i++) {
        const MPI_Aint at = i * to->step * extent, here = i * from->step * extent;
        memcpy(wanted, start + at, (size_t)extent);
        answer(row, op, origin + here, wanted, row->kind == PAIR ? (int)extent : size);
        expect(row, op_name, fetch ? "get_accumulate" : "accumulate", now + at, wanted, size, i);
        if (fetch)
            expect(row, op_name, "the result", old + here, start + at, size, i);
        for (MPI_Aint k = extent; k < to->step * extent; k++) /* between the elements */
            CHECK_EQ(now[at + k], 0xdd);
    }
    tried++;
}

static void fetch_one(const struct row *row, MPI_Op op, const char *op_name)
{
    unsigned char origin[ELEMENT], start[ELEMENT], old[ELEMENT], now[ELEMENT], wanted[ELEMENT];
    int size;
    MPI_Aint lb, extent;
    MPI_Type_size(row->type, &size);
    MPI_Type_get_extent(row->type, &lb, &extent);
    fill(origin, row, size, extent);
    fill(start, row, size, extent);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank, 0, win));
    OK(MPI_Put(start, (int)extent, MPI_BYTE, next_rank, me * BYTES, (int)extent, MPI_BYTE, win));
    OK(MPI_Win_flush(next_rank, win));
    OK(MPI_Fetch_and_op(origin, old, row->type, next_rank, me * BYTES, op, win));
    OK(MPI_Win_flush(next_rank, win));
    OK(MPI_Get(now, (int)extent, MPI_BYTE, next_rank, me * BYTES, (int)extent, MPI_BYTE, win));
    OK(MPI_Win_unlock(next_rank, win));
    memcpy(wanted, start, (size_t)extent);
    answer(row, op, origin, wanted, row->kind == PAIR ? (int)extent : size);
    expect(row, op_name, "fetch_and_op", now, wanted, size, 0);
    expect(row, op_name, "its result", old, start, size, 0);
}

/* With an equal and with another value to compare. */
static void swap_one(const struct row *row)
{
    unsigned char origin[ELEMENT], start[ELEMENT], other[ELEMENT], old[ELEMENT], now[ELEMENT];
    int size;
    MPI_Type_size(row->type, &size);
    for (int equal = 0; equal < 2; equal++) {
        fill(origin, row, size, size);
        fill(start, row, size, size);
        memcpy(other, start, (size_t)size);
        other[size - 1] ^= !equal;
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank, 0, win));
        OK(MPI_Put(start, size, MPI_BYTE, next_rank, me * BYTES, size, MPI_BYTE, win));
        OK(MPI_Win_flush(next_rank, win));
        OK(MPI_Compare_and_swap(origin, other, old, row->type, next_rank, me * BYTES, win));
        OK(MPI_Win_flush(next_rank, win));
        OK(MPI_Get(now, size, MPI_BYTE, next_rank, me * BYTES, size, MPI_BYTE, win));
        OK(MPI_Win_unlock(next_rank, win));
        expect(row, "compare_and_swap", "the result", old, start, size, 0);
        expect(row, "compare_and_swap", "the word", now, equal ? origin : start, size, 0);
    }
}

/* Tells whether the MPI reduces the type by the operation. */
static bool reduces(MPI_Datatype type, MPI_Op op)
{
    unsigned char a[ELEMENT] = {0}, b[ELEMENT] = {0};
    return op == MPI_REPLACE || op == MPI_NO_OP || MPI_Reduce_local(a, b, 1, type, op) == MPI_SUCCESS;
}

/* What the standard allows (MPI 4.1, 6.9.2); MPIs allow more. */
static bool is_allowed(enum kind kind, int op)
{
    const enum {
        SUM_PROD = 1 << INTEGER | 1 << REAL | 1 << COMPLEX,
        ORDER = 1 << INTEGER | 1 << REAL,
        LOGIC = 1 << INTEGER | 1 << LOGICAL,
        BITS = 1 << INTEGER | 1 << RAW,
        PLACE = 1 << PAIR
    } row[] = {SUM_PROD, SUM_PROD, ORDER, ORDER, LOGIC, LOGIC, LOGIC, BITS, BITS, BITS, PLACE, PLACE};
    return op >= 12 || row[op] >> kind & 1;
}

static void sweep(const struct row *row)
{
    const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX,  MPI_MIN,    MPI_LAND,   MPI_LOR,     MPI_LXOR,
                          MPI_BAND, MPI_BOR,  MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
    const char *const names[] = {"SUM",  "PROD", "MAX",  "MIN",    "LAND",   "LOR",     "LXOR",
                                 "BAND", "BOR",  "BXOR", "MAXLOC", "MINLOC", "REPLACE", "NO_OP"};
    struct layout together = {row->type, N, 1}, apart = {.count = 1, .step = APART};
    int size = 0, bytes[N], places[N];
    if (row->type == MPI_DATATYPE_NULL || MPI_Type_size(row->type, &size) != MPI_SUCCESS || size == 0)
        return; /* this MPI has no such type */
    for (int i = 0; i < N; i++)
        bytes[i] = 1, places[i] = i * APART;
    MPI_Type_indexed(N, bytes, places, row->type, &apart.type);
    MPI_Type_commit(&apart.type);
    for (int o = 0; o < 14; o++) {
        if (!is_allowed(row->kind, o) || !reduces(row->type, ops[o]))
            continue;
        for (int i = 0; i < 8; i++)
            if ((ops[o] != MPI_NO_OP || i & 4) && (!few || i == 3 || i == 4))
                run(row, ops[o], names[o], i & 1 ? &apart : &together, i & 2 ? &apart : &together, i & 4);
        fetch_one(row, ops[o], names[o]);
    }
    if (row->kind == INTEGER || row->kind == LOGICAL || row->kind == RAW)
        swap_one(row);
    MPI_Type_free(&apart.type);
}

int main(int argc, char **argv)
{
    check_start(MPI_THREAD_SINGLE);
    few = argc > 1 && strcmp(argv[1], "far") == 0;
    const struct row rows[] = {
        {MPI_SIGNED_CHAR, INTEGER, 0},
        {MPI_UNSIGNED_CHAR, INTEGER, UNSIGNED},
        {MPI_SHORT, INTEGER, 0},
        {MPI_UNSIGNED_SHORT, INTEGER, UNSIGNED},
        {MPI_INT, INTEGER, 0},
        {MPI_UNSIGNED, INTEGER, UNSIGNED},
        {MPI_LONG, INTEGER, 0},
        {MPI_UNSIGNED_LONG, INTEGER, UNSIGNED},
        {MPI_LONG_LONG, INTEGER, 0},
        {MPI_UNSIGNED_LONG_LONG, INTEGER, UNSIGNED},
        {MPI_INT8_T, INTEGER, 0},
        {MPI_INT16_T, INTEGER, 0},
        {MPI_INT32_T, INTEGER, 0},
        {MPI_INT64_T, INTEGER, 0},
        {MPI_UINT8_T, INTEGER, UNSIGNED},
        {MPI_UINT16_T, INTEGER, UNSIGNED},
        {MPI_UINT32_T, INTEGER, UNSIGNED},
        {MPI_UINT64_T, INTEGER, UNSIGNED},
        {MPI_AINT, INTEGER, 0},
        {MPI_OFFSET, INTEGER, 0},
        {MPI_COUNT, INTEGER, 0},
        {MPI_INTEGER, INTEGER, 0},
        {MPI_INTEGER1, INTEGER, 0},
        {MPI_INTEGER2, INTEGER, 0},
        {MPI_INTEGER4, INTEGER, 0},
        {MPI_INTEGER8, INTEGER, 0},
        {MPI_FLOAT, REAL, 0},
        {MPI_DOUBLE, REAL, 0},
        {MPI_LONG_DOUBLE, REAL, 0},
        {MPI_REAL, REAL, 0},
        {MPI_DOUBLE_PRECISION, REAL, 0},
        {MPI_REAL4, REAL, 0},
        {MPI_REAL8, REAL, 0},
        {MPI_C_FLOAT_COMPLEX, COMPLEX, 4},
        {MPI_C_DOUBLE_COMPLEX, COMPLEX, 8},
        {MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, 16},
        {MPI_CXX_FLOAT_COMPLEX, COMPLEX, 4},
        {MPI_CXX_DOUBLE_COMPLEX, COMPLEX, 8},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, 16},
        {MPI_COMPLEX, COMPLEX, 4},
        {MPI_DOUBLE_COMPLEX, COMPLEX, 8},
        {MPI_COMPLEX8, COMPLEX, 4},
        {MPI_COMPLEX16, COMPLEX, 8},
        {MPI_C_BOOL, LOGICAL, 0},
        {MPI_CXX_BOOL, LOGICAL, 0},
        {MPI_LOGICAL, LOGICAL, 0},
#ifdef MPI_LOGICAL1
        {MPI_LOGICAL1, LOGICAL, 0},
        {MPI_LOGICAL2, LOGICAL, 0},
        {MPI_LOGICAL4, LOGICAL, 0},
        {MPI_LOGICAL8, LOGICAL, 0},
#endif
        {MPI_BYTE, RAW, 0},
        {MPI_FLOAT_INT, PAIR, 0},
        {MPI_DOUBLE_INT, PAIR, 0},
        {MPI_LONG_INT, PAIR, 0},
        {MPI_SHORT_INT, PAIR, 0},
        {MPI_2INT, PAIR, 0},
        {MPI_LONG_DOUBLE_INT, PAIR, 0},
        {MPI_2INTEGER, PAIR, 0},
        {MPI_2REAL, PAIR, 0},
        {MPI_2DOUBLE_PRECISION, PAIR, 0},
    };
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    OK(MPI_Win_allocate(ranks * BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        sweep(&rows[i]);
    CHECK(tried > (few ? 500 : 2000));
    OK(MPI_Win_free(&win));
    return check_pass();
}
