#include "ops.h"

#define KIND(kind) (1u << LMPI_##kind)
#define INTEGERS (KIND(SIGNED) | KIND(UNSIGNED))
#define PAIRS                                                                                                        \
    (KIND(FLOAT_INT) | KIND(DOUBLE_INT) | KIND(LONG_INT) | KIND(SHORT_INT) | KIND(INT_INT) | KIND(LONG_DOUBLE_INT) | \
     KIND(REAL_REAL))
#define ALL (~0u)

/* Finds the operation and the kinds that it takes. Returns false for one that the program has made. */
static bool find(MPI_Op op, enum uccs_reduction *how, unsigned *kinds)
{
    const struct {
        MPI_Op op;
        enum uccs_reduction how;
        unsigned kinds;
    } rows[] = {
        {MPI_SUM, UCCS_SUM, INTEGERS | KIND(FLOATING) | KIND(COMPLEX)},
        {MPI_REPLACE, UCCS_REPLACE, ALL},
        {MPI_NO_OP, UCCS_NO_OP, ALL},
        {MPI_PROD, UCCS_PROD, INTEGERS | KIND(FLOATING) | KIND(COMPLEX)},
        {MPI_MAX, UCCS_MAX, INTEGERS | KIND(FLOATING)},
        {MPI_MIN, UCCS_MIN, INTEGERS | KIND(FLOATING)},
        {MPI_BAND, UCCS_AND, INTEGERS | KIND(BYTE)},
        {MPI_BOR, UCCS_OR, INTEGERS | KIND(BYTE)},
        {MPI_BXOR, UCCS_XOR, INTEGERS | KIND(BYTE)},
        {MPI_LAND, UCCS_LOGICAL_AND, INTEGERS | KIND(LOGICAL)},
        {MPI_LOR, UCCS_LOGICAL_OR, INTEGERS | KIND(LOGICAL)},
        {MPI_LXOR, UCCS_LOGICAL_XOR, INTEGERS | KIND(LOGICAL)},
        {MPI_MAXLOC, UCCS_MAX, PAIRS},
        {MPI_MINLOC, UCCS_MIN, PAIRS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == op) {
            *how = rows[i].how;
            *kinds = rows[i].kinds;
            return true;
        }
    return false;
}

static enum uccs_type integer(size_t unit, bool is_signed)
{
    switch (unit) {
    case 2: return is_signed ? UCCS_INT16 : UCCS_UINT16;
    case 4: return is_signed ? UCCS_INT32 : UCCS_UINT32;
    case 8: return is_signed ? UCCS_INT64 : UCCS_UINT64;
    }
    return is_signed ? UCCS_INT8 : UCCS_UINT8;
}

static enum uccs_type type_of(const struct lmpi_type *type)
{
    size_t unit = type->unit;
    switch (type->kind) {
    case LMPI_FLOATING: return unit == 4 ? UCCS_FLOAT : unit == 8 ? UCCS_DOUBLE : UCCS_LONG_DOUBLE;
    case LMPI_COMPLEX:
        return unit == 8 ? UCCS_FLOAT_COMPLEX : unit == 16 ? UCCS_DOUBLE_COMPLEX : UCCS_LONG_DOUBLE_COMPLEX;
    case LMPI_FLOAT_INT: return UCCS_FLOAT_INT;
    case LMPI_DOUBLE_INT: return UCCS_DOUBLE_INT;
    case LMPI_LONG_INT: return UCCS_LONG_INT;
    case LMPI_SHORT_INT: return UCCS_SHORT_INT;
    case LMPI_INT_INT: return UCCS_2INT;
    case LMPI_LONG_DOUBLE_INT: return UCCS_LONG_DOUBLE_INT;
    case LMPI_REAL_REAL: return unit == 8 ? UCCS_2FLOAT : UCCS_2DOUBLE;
    case LMPI_MIXED: return UCCS_UINT8;
    default: return integer(unit, type->kind != LMPI_UNSIGNED);
    }
}

int lmpi_op_of(MPI_Op op, const struct lmpi_type *type, bool any, struct lmpi_op *found)
{
    unsigned kinds;
    if (!find(op, &found->how, &kinds))
        return MPI_ERR_OP;
    if (any && !(kinds >> type->kind & 1))
        return type->kind == LMPI_MIXED ? MPI_ERR_TYPE : MPI_ERR_OP;
    found->type = type_of(type);
    found->unit = uccs_type_size(found->type);
    found->is_copy = (type->kind == LMPI_BYTE || type->kind == LMPI_MIXED) &&
                     (found->how == UCCS_REPLACE || found->how == UCCS_NO_OP);
    return MPI_SUCCESS;
}

size_t lmpi_op_swaps(const struct lmpi_type *type)
{
    bool good = (INTEGERS | KIND(LOGICAL) | KIND(BYTE) | KIND(TEXT)) >> type->kind & 1;
    return good && type->unit == type->size && type->unit <= 8 ? type->unit : 0;
}

struct lmpi_op lmpi_op_like_swap(size_t bytes)
{
    const enum uccs_type type = bytes == 8 ? UCCS_INT64 : bytes == 4 ? UCCS_INT32 : UCCS_LONG_DOUBLE;
    return (struct lmpi_op){.how = UCCS_SUM, .type = type, .unit = bytes};
}
