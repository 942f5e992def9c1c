/* Datatypes: where the bytes of one element lie, found out once per datatype.
 *
 * Predefined types are in a table that never changes. Others are taken apart by envelope and contents; the result is an
 * attribute of the datatype, which the MPI deletes together with it. Any thread. */
#ifndef MPI_DATATYPE_TYPE_H
#define MPI_DATATYPE_TYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uccs.h>

/* Pieces of `bytes` bytes, or loops over other nodes, repeated at a constant distance. */
struct lmpi_loop {
    MPI_Aint at; /* of the first repetition, from the start of a repetition of the loop around it, or of the element */
    MPI_Aint stride;
    size_t count;
    size_t bytes;      /* of a piece; 0: a loop over `n` nodes from `first` on, in their order */
    uint32_t first, n; /* earlier nodes of the type, which several loops may share */
};

enum lmpi_kind { /* with the number of bytes it names a type of the processor */
                 LMPI_SIGNED,
                 LMPI_UNSIGNED,
                 LMPI_FLOATING,
                 LMPI_COMPLEX,
                 LMPI_QUAD, /* of 16 bytes, and another format than C's long double where that has 16 bytes too */
                 LMPI_QUAD_COMPLEX,
                 LMPI_BFLOAT,
                 LMPI_LOGICAL,
                 LMPI_BYTE,
                 LMPI_TEXT,      /* MPI_CHARACTER, MPI_WCHAR: data only */
                 LMPI_FLOAT_INT, /* pairs */
                 LMPI_DOUBLE_INT,
                 LMPI_LONG_INT,
                 LMPI_SHORT_INT,
                 LMPI_INT_INT,
                 LMPI_LONG_DOUBLE_INT,
                 LMPI_REAL_REAL, /* of Fortran: unit says which reals */
                 LMPI_MIXED      /* of more than one predefined type */
};

struct lmpi_type {
    size_t size; /* bytes of data of one element */
    MPI_Aint lb, extent;
    MPI_Aint low, high;       /* of the data of one element: from its first byte to the end of its last */
    enum lmpi_kind kind;      /* of the predefined type that it consists of, and that type's bytes */
    size_t unit;              /* with the gaps of a pair */
    bool committed;           /* as far as is known */
    bool predefined;          /* by the MPI */
    bool dense;               /* count elements are one run of count * size bytes from `lb` */
    struct lmpi_type *filled; /* of pairs with gaps, for accumulates: the gaps count as data; null: this one */
    size_t nodes, top;        /* the element is the nodes from `top` on */
    unsigned depth;           /* of loops in loops, with the pieces */
    struct lmpi_loop loop[];
};

/* Takes a datatype apart. `part_of` returns what is known of the datatypes that it consists of, or null. Returns memory of
 * malloc, or null. */
struct lmpi_type *lmpi_type_flatten(MPI_Datatype type, const struct lmpi_type *(*part_of)(MPI_Datatype));
/* What a predefined type of `size` bytes looks like. */
struct lmpi_type *lmpi_type_plain(enum lmpi_kind kind, size_t size);
/* What a predefined pair of a value and an int looks like, of which `extent` is more than `size`. */
struct lmpi_type *lmpi_type_pair(enum lmpi_kind kind, size_t size, size_t extent);
void lmpi_type_free(struct lmpi_type *type);

bool lmpi_types_begin(void);
void lmpi_types_end(void);

/* Returns what is known of a datatype, or null when it is none, or not committed, or memory is exhausted. A part of
 * another datatype need not be committed. */
const struct lmpi_type *lmpi_type_part(MPI_Datatype type);
const struct lmpi_type *lmpi_type_slow(MPI_Datatype type);

/* What this thread asked for last, of predefined types alone: those cannot go. */
struct lmpi_last_type {
    MPI_Datatype type;
    const struct lmpi_type *known;
};
extern _Thread_local struct lmpi_last_type lmpi_last_type;

static inline const struct lmpi_type *lmpi_type(MPI_Datatype type)
{
    return __builtin_expect(type == lmpi_last_type.type && lmpi_last_type.known, 1) ? lmpi_last_type.known
                                                                                    : lmpi_type_slow(type);
}

/* Like lmpi_type, for an accumulate, which works on whole elements. */
static inline const struct lmpi_type *lmpi_type_filled(MPI_Datatype type)
{
    const struct lmpi_type *known = lmpi_type(type);
    return known && known->filled ? known->filled : known;
}

/* Sets the first byte and the end of the data of `count` elements, relative to the buffer's address. */
void lmpi_type_span(const struct lmpi_type *type, size_t count, MPI_Aint *low, MPI_Aint *high);

/* ---- contents.c: what a datatype was made from, in one form for constructors of small and of large counts ---- */

struct lmpi_contents {
    int combiner;
    int n_types;
    MPI_Aint *numbers;   /* the integers of MPI_Type_get_contents */
    MPI_Aint *addresses; /* its addresses */
    MPI_Datatype *types;
};

/* Returns the combiner of a datatype, or MPI_UNDEFINED when it is none. */
int lmpi_combiner(MPI_Datatype type);
/* The datatype has no constructor. */
bool lmpi_combiner_is_plain(int combiner);

/* Fills *contents for a datatype that has a constructor. Returns false without memory, or when it is none; lmpi_contents_free
 * is due in any case. */
bool lmpi_contents_get(MPI_Datatype type, struct lmpi_contents *contents);
void lmpi_contents_free(struct lmpi_contents *contents);

/* ---- op.c: predefined operations of accumulates, in the words of the substrate ---- */

struct lmpi_op {
    enum uccs_reduction how;
    enum uccs_type type;
    size_t unit;  /* bytes of an element of that type */
    bool is_copy; /* of bytes without a type */
};

/* Fills *op for an operation on elements of a datatype. Returns MPI_SUCCESS, or MPI_ERR_OP or MPI_ERR_TYPE where the
 * standard does not define it. Without `any` elements, every operation that MPI defines is right. */
int lmpi_op_of(MPI_Op op, const struct lmpi_type *type, bool any, struct lmpi_op *found);

/* Returns the operation that MPIX_Win_op_intrinsic names so, or MPI_OP_NULL. */
MPI_Op lmpi_op_named(const char *word, size_t length);

/* The integer type of an element for compare_and_swap. Returns its bytes, or 0 when the standard does not allow it. */
size_t lmpi_op_swaps(const struct lmpi_type *type);
/* The accumulate that runs as a swap of that many bytes does: intrinsic or not. */
struct lmpi_op lmpi_op_like_swap(size_t bytes);

#endif
