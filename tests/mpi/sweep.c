/* Every predefined operation on every predefined type that the MPI has: accumulate, get_accumulate and fetch_and_op, with
 * elements that lie together and apart on either side, against a model in plain C. What the standard does not allow is
 * MPI_ERR_OP. And compare_and_swap.
 * ranks: 2
 * ways: plain far */
#include "sweep_model.h"

enum { N = 5, APART = 2, BYTES = 4096, ELEMENT = 32 };

static MPI_Win win;
static unsigned char *memory;
static int tried, refused;
static bool few; /* messages take longer */

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
        answer(row, op, origin + here, wanted, size, extent);
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
    answer(row, op, origin, wanted, size, extent);
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

/* What the standard allows (MPI 4.1, 6.9.2), and logical operations of all integers, which MPIs allow. */
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

/* An operation that the standard does not allow changes nothing. */
static void refuse(const struct row *row, MPI_Op op)
{
    unsigned char origin[ELEMENT] = {1}, old[ELEMENT];
    memset(old, 0xee, sizeof old);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win));
    CHECK_EQ(error_class(MPI_Accumulate(origin, 1, row->type, next_rank, 0, 1, row->type, op, win)), MPI_ERR_OP);
    CHECK_EQ(error_class(
                 MPI_Get_accumulate(origin, 1, row->type, old, 1, row->type, next_rank, 0, 1, row->type, op, win)),
             MPI_ERR_OP);
    CHECK_EQ(error_class(MPI_Fetch_and_op(origin, old, row->type, next_rank, 0, op, win)), MPI_ERR_OP);
    OK(MPI_Win_unlock(next_rank, win));
    CHECK_EQ(old[0], 0xee);
    refused++;
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
        if (!is_allowed(row->kind, o)) {
            refuse(row, ops[o]);
            continue;
        }
        for (int i = 0; i < 8; i++)
            if ((ops[o] != MPI_NO_OP || i & 4) && (!few || i == 3 || i == 4))
                run(row, ops[o], names[o], i & 1 ? &apart : &together, i & 2 ? &apart : &together, i & 4);
        fetch_one(row, ops[o], names[o]);
    }
    if (row->kind == INTEGER || row->kind == LOGICAL || row->kind == RAW)
        swap_one(row);
    MPI_Type_free(&apart.type);
}

/* Types that Fortran programs describe by digits; the format is that of selected_real_kind. */
static void sweep_described(void)
{
    const struct {
        int digits;
        enum format format;
    } rows[] = {{6, SINGLE}, {15, DOUBLE}, {18, LONG_DOUBLE}, {33, QUAD}};
    MPI_Datatype type;
    for (int i = 0; i < 4; i++) {
        if (MPI_Type_create_f90_real(rows[i].digits, MPI_UNDEFINED, &type) == MPI_SUCCESS)
            sweep(&(struct row){"a described real", type, REAL, rows[i].format, 0});
        if (MPI_Type_create_f90_complex(rows[i].digits, MPI_UNDEFINED, &type) == MPI_SUCCESS)
            sweep(&(struct row){"a described complex", type, COMPLEX, rows[i].format, 0});
    }
    for (int digits = 2; digits < 20; digits += 4)
        if (MPI_Type_create_f90_integer(digits, &type) == MPI_SUCCESS)
            sweep(&(struct row){"a described integer", type, INTEGER, SIGNED, 0});
}

#define ROW(type, ...)           \
    {                            \
#type, type, __VA_ARGS__ \
    }

int main(int argc, char **argv)
{
    check_start(MPI_THREAD_SINGLE);
    few = argc > 1 && strcmp(argv[1], "far") == 0;
    const struct row rows[] =
    { ROW(MPI_SIGNED_CHAR, INTEGER, SIGNED, 0),
      ROW(MPI_SHORT, INTEGER, SIGNED, 0),
      ROW(MPI_INT, INTEGER, SIGNED, 0),
      ROW(MPI_LONG, INTEGER, SIGNED, 0),
      ROW(MPI_LONG_LONG, INTEGER, SIGNED, 0),
      ROW(MPI_INT8_T, INTEGER, SIGNED, 0),
      ROW(MPI_INT16_T, INTEGER, SIGNED, 0),
      ROW(MPI_INT32_T, INTEGER, SIGNED, 0),
      ROW(MPI_INT64_T, INTEGER, SIGNED, 0),
      ROW(MPI_AINT, INTEGER, SIGNED, 0),
      ROW(MPI_OFFSET, INTEGER, SIGNED, 0),
      ROW(MPI_COUNT, INTEGER, SIGNED, 0),
      ROW(MPI_INTEGER, INTEGER, SIGNED, 0),
      ROW(MPI_INTEGER1, INTEGER, SIGNED, 0),
      ROW(MPI_INTEGER2, INTEGER, SIGNED, 0),
      ROW(MPI_INTEGER4, INTEGER, SIGNED, 0),
      ROW(MPI_INTEGER8, INTEGER, SIGNED, 0),
#ifdef MPI_INTEGER16
      ROW(MPI_INTEGER16, INTEGER, SIGNED, 0),
#endif
      ROW(MPI_UNSIGNED_CHAR, INTEGER, UNSIGNED, 0),
      ROW(MPI_UNSIGNED_SHORT, INTEGER, UNSIGNED, 0),
      ROW(MPI_UNSIGNED, INTEGER, UNSIGNED, 0),
      ROW(MPI_UNSIGNED_LONG, INTEGER, UNSIGNED, 0),
      ROW(MPI_UNSIGNED_LONG_LONG, INTEGER, UNSIGNED, 0),
      ROW(MPI_UINT8_T, INTEGER, UNSIGNED, 0),
      ROW(MPI_UINT16_T, INTEGER, UNSIGNED, 0),
      ROW(MPI_UINT32_T, INTEGER, UNSIGNED, 0),
      ROW(MPI_UINT64_T, INTEGER, UNSIGNED, 0),
      ROW(MPI_FLOAT, REAL, SINGLE, 0),
      ROW(MPI_DOUBLE, REAL, DOUBLE, 0),
      ROW(MPI_LONG_DOUBLE, REAL, LONG_DOUBLE, 0),
      ROW(MPI_REAL, REAL, SINGLE, 0),
      ROW(MPI_DOUBLE_PRECISION, REAL, DOUBLE, 0),
      ROW(MPI_REAL4, REAL, SINGLE, 0),
      ROW(MPI_REAL8, REAL, DOUBLE, 0),
#ifdef MPI_REAL16
      ROW(MPI_REAL16, REAL, QUAD, 0),
#endif
      ROW(MPI_C_FLOAT_COMPLEX, COMPLEX, SINGLE, 0),
      ROW(MPI_C_DOUBLE_COMPLEX, COMPLEX, DOUBLE, 0),
      ROW(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, LONG_DOUBLE, 0),
      ROW(MPI_CXX_FLOAT_COMPLEX, COMPLEX, SINGLE, 0),
      ROW(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, DOUBLE, 0),
      ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, LONG_DOUBLE, 0),
      ROW(MPI_COMPLEX, COMPLEX, SINGLE, 0),
      ROW(MPI_DOUBLE_COMPLEX, COMPLEX, DOUBLE, 0),
      ROW(MPI_COMPLEX8, COMPLEX, SINGLE, 0),
      ROW(MPI_COMPLEX16, COMPLEX, DOUBLE, 0),
#ifdef MPI_COMPLEX32
      ROW(MPI_COMPLEX32, COMPLEX, QUAD, 0),
#endif
      ROW(MPI_C_BOOL, LOGICAL, UNSIGNED, 0),
      ROW(MPI_CXX_BOOL, LOGICAL, UNSIGNED, 0),
      ROW(MPI_LOGICAL, LOGICAL, UNSIGNED, 0),
#ifdef MPI_LOGICAL1
      ROW(MPI_LOGICAL1, LOGICAL, UNSIGNED, 0),
#endif
#ifdef MPI_LOGICAL2
      ROW(MPI_LOGICAL2, LOGICAL, UNSIGNED, 0),
#endif
#ifdef MPI_LOGICAL4
      ROW(MPI_LOGICAL4, LOGICAL, UNSIGNED, 0),
#endif
#ifdef MPI_LOGICAL8
      ROW(MPI_LOGICAL8, LOGICAL, UNSIGNED, 0),
#endif
#ifdef MPI_LOGICAL16
      ROW(MPI_LOGICAL16, LOGICAL, UNSIGNED, 0),
#endif
      ROW(MPI_BYTE, RAW, UNSIGNED, 0),
      ROW(MPI_FLOAT_INT, PAIR, SINGLE, INT),
      ROW(MPI_DOUBLE_INT, PAIR, DOUBLE, INT),
      ROW(MPI_LONG_INT, PAIR, LONG, INT),
      ROW(MPI_SHORT_INT, PAIR, SHORT, INT),
      ROW(MPI_2INT, PAIR, INT, INT),
      ROW(MPI_LONG_DOUBLE_INT, PAIR, LONG_DOUBLE, INT),
      ROW(MPI_2INTEGER, PAIR, INT, INT),
      ROW(MPI_2REAL, PAIR, SINGLE, SINGLE),
      ROW(MPI_2DOUBLE_PRECISION, PAIR, DOUBLE, DOUBLE),
#if defined(__FLT16_MAX__) && defined(MPI_REAL2)
      ROW(MPI_REAL2, REAL, HALF, 0),
      ROW(MPI_COMPLEX4, COMPLEX, HALF, 0),
#endif
#if defined(__FLT16_MAX__) && defined(MPIX_C_FLOAT16)
      ROW(MPIX_C_FLOAT16, REAL, HALF, 0),
#endif
#ifdef MPIX_BFLOAT16
      ROW(MPIX_BFLOAT16, REAL, BRAIN, 0),
#endif
    };
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    OK(MPI_Win_allocate(ranks * BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        sweep(&rows[i]);
    sweep_described();
    CHECK(tried > (few ? 500 : 2000) && refused > 100);
    OK(MPI_Win_free(&win));
    return check_pass();
}
