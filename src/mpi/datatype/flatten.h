/* What one element of a datatype looks like, and how a datatype is taken apart. A regular datatype is a few loops, however many
 * blocks it has. Any thread. */
#ifndef MPI_DATATYPE_FLATTEN_H
#define MPI_DATATYPE_FLATTEN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
