
#include "mpi/datatype/type.h"

#include <string.h>

#define KIND(kind) (1u << LMPI_##kind)
#define INTEGERS (KIND(SIGNED) | KIND(UNSIGNED))
#define PAIRS                                                                                                        \
    (KIND(FLOAT_INT) | KIND(DOUBLE_INT) | KIND(LONG_INT) | KIND(SHORT_INT) | KIND(INT_INT) | KIND(LONG_DOUBLE_INT) | \
     KIND(REAL_REAL))
#define REALS (KIND(FLOATING) | KIND(QUAD) | KIND(BFLOAT))
#define NUMBERS (INTEGERS | REALS | KIND(COMPLEX) | KIND(QUAD_COMPLEX))
#define ALL (~0u)

/* An operation, its name in MPIX_Win_op_intrinsic, and the kinds that it takes. */
struct row {
    MPI_Op op;
    const char *word;
    enum uccs_reduction how;
    unsigned kinds;
};

/* Returns the row of an operation, or with a word that of a name; all zero: there is none. */
static struct row find_row(MPI_Op op, const char *word, size_t length)
{
    const struct row rows[] = {
        {MPI_SUM, "sum", UCCS_SUM, NUMBERS},
        {MPI_REPLACE, "replace", UCCS_REPLACE, ALL},
        {MPI_NO_OP, "no_op", UCCS_NO_OP, ALL},
        {MPI_PROD, "prod", UCCS_PROD, NUMBERS},
        {MPI_MAX, "max", UCCS_MAX, INTEGERS | REALS},
        {MPI_MIN, "min", UCCS_MIN, INTEGERS | REALS},
        {MPI_BAND, "band", UCCS_AND, INTEGERS | KIND(BYTE)},
        {MPI_BOR, "bor", UCCS_OR, INTEGERS | KIND(BYTE)},
        {MPI_BXOR, "bxor", UCCS_XOR, INTEGERS | KIND(BYTE)},
        {MPI_LAND, "land", UCCS_LOGICAL_AND, INTEGERS | KIND(LOGICAL)},
        {MPI_LOR, "lor", UCCS_LOGICAL_OR, INTEGERS | KIND(LOGICAL)},
        {MPI_LXOR, "lxor", UCCS_LOGICAL_XOR, INTEGERS | KIND(LOGICAL)},
        {MPI_MAXLOC, "maxloc", UCCS_MAX, PAIRS},
        {MPI_MINLOC, "minloc", UCCS_MIN, PAIRS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (word ? strlen(rows[i].word) == length && strncmp(rows[i].word, word, length) == 0 : rows[i].op == op)
            return rows[i];
    return (struct row){0};
}

MPI_Op lmpi_op_named(const char *word, size_t length)
{
    const struct row row = find_row(MPI_OP_NULL, word, length);
    return row.kinds ? row.op : MPI_OP_NULL;
}

static enum uccs_type integer_type(size_t unit, bool is_signed)
{
    switch (unit) {
    case 2: return is_signed ? UCCS_INT16 : UCCS_UINT16;
    case 4: return is_signed ? UCCS_INT32 : UCCS_UINT32;
    case 8: return is_signed ? UCCS_INT64 : UCCS_UINT64;
    case 16: return UCCS_INT128;
    }
    return is_signed ? UCCS_INT8 : UCCS_UINT8;
}

static enum uccs_type real_type(size_t unit)
{
    switch (unit) {
    case 2: return UCCS_FLOAT16;
    case 4: return UCCS_FLOAT;
    case 8: return UCCS_DOUBLE;
    }
    return UCCS_LONG_DOUBLE;
}

static enum uccs_type complex_of(size_t unit)
{
    switch (unit) {
    case 4: return UCCS_FLOAT16_COMPLEX;
    case 8: return UCCS_FLOAT_COMPLEX;
    case 16: return UCCS_DOUBLE_COMPLEX;
    }
    return UCCS_LONG_DOUBLE_COMPLEX;
}

static enum uccs_type type_of(const struct lmpi_type *type)
{
    size_t unit = type->unit;
    switch (type->kind) {
    case LMPI_FLOATING: return real_type(unit);
    case LMPI_COMPLEX: return complex_of(unit);
    case LMPI_QUAD: return UCCS_FLOAT128;
    case LMPI_QUAD_COMPLEX: return UCCS_FLOAT128_COMPLEX;
    case LMPI_BFLOAT: return UCCS_BFLOAT16;
    case LMPI_FLOAT_INT: return UCCS_FLOAT_INT;
    case LMPI_DOUBLE_INT: return UCCS_DOUBLE_INT;
    case LMPI_LONG_INT: return UCCS_LONG_INT;
    case LMPI_SHORT_INT: return UCCS_SHORT_INT;
    case LMPI_INT_INT: return UCCS_2INT;
    case LMPI_LONG_DOUBLE_INT: return UCCS_LONG_DOUBLE_INT;
    case LMPI_REAL_REAL: return unit == 8 ? UCCS_2FLOAT : UCCS_2DOUBLE;
    case LMPI_MIXED: return UCCS_UINT8;
    default: return integer_type(unit, type->kind != LMPI_UNSIGNED);
    }
}

int lmpi_op_of(MPI_Op op, const struct lmpi_type *type, bool any, struct lmpi_op *found)
{
    const struct row row = find_row(op, 0, 0);
    found->how = row.how;
    if (!row.kinds)
        return MPI_ERR_OP;
    if (any && !(row.kinds >> type->kind & 1))
        return type->kind == LMPI_MIXED ? MPI_ERR_TYPE : MPI_ERR_OP;
    const bool copies = found->how == UCCS_REPLACE || found->how == UCCS_NO_OP;
    found->type = type_of(type);
    found->unit = uccs_type_size(found->type);
    found->is_copy = (type->kind == LMPI_BYTE || type->kind == LMPI_MIXED) && copies;
    if (found->unit == type->unit || type->kind == LMPI_MIXED)
        return MPI_SUCCESS;
    /* The library's compiler does not know such elements, for example a pair of two reals of 16 bytes. */
    found->type = UCCS_UINT8;
    found->unit = 1;
    found->is_copy = true;
    return copies || !any ? MPI_SUCCESS : MPI_ERR_OP;
}

size_t lmpi_op_swaps(const struct lmpi_type *type)
{
    bool good = (INTEGERS | KIND(LOGICAL) | KIND(BYTE) | KIND(TEXT)) >> type->kind & 1;
    return good && type->predefined && type->unit == type->size ? type->unit : 0;
}

struct lmpi_op lmpi_op_like_swap(size_t bytes)
{
    const enum uccs_type type = bytes == 8 ? UCCS_INT64 : bytes == 4 ? UCCS_INT32 : UCCS_LONG_DOUBLE;
    return (struct lmpi_op){.how = UCCS_SUM, .type = type, .unit = bytes};
}
