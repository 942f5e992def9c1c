/* Datatypes: where the bytes of one element lie, found out once per datatype.
 *
 * Predefined types are in a table that never changes. Others are taken apart by envelope and contents; the result is an
 * attribute of the datatype, which the MPI deletes together with it. Any thread. */
#ifndef MPI_TYPES_H
#define MPI_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct lmpi_run {
    MPI_Aint at; /* from the start of the element */
    size_t bytes;
};

enum lmpi_kind { /* with the number of bytes it names a type of the processor */
                 LMPI_SIGNED,
                 LMPI_UNSIGNED,
                 LMPI_FLOATING,
                 LMPI_COMPLEX,
                 LMPI_LOGICAL,
                 LMPI_BYTE,
                 LMPI_TEXT,      /* MPI_CHARACTER, MPI_WCHAR: data only */
                 LMPI_FLOAT_INT, /* pairs; their padding counts as data */
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
    MPI_Aint low, high;  /* of the data of one element: from its first byte to the end of its last */
    enum lmpi_kind kind; /* of the predefined type that it consists of, and that type's bytes */
    size_t unit;
    bool committed; /* as far as is known */
    bool dense;     /* count elements are one run of count * size bytes from `lb` */
    size_t runs;
    struct lmpi_run run[];
};

bool lmpi_types_begin(void);
void lmpi_types_end(void);

/* flatten.c: takes a datatype apart. Returns memory of malloc, or null. */
struct lmpi_type *lmpi_type_flatten(MPI_Datatype type);
/* What a predefined type of `size` bytes looks like. */
struct lmpi_type *lmpi_type_plain(enum lmpi_kind kind, size_t size);

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

/* A walk over the runs of `count` elements in order. */
struct lmpi_walk {
    const struct lmpi_type *type;
    size_t left;   /* elements, with the present one */
    size_t run;    /* in the present element */
    MPI_Aint at;   /* of the present element */
    size_t inside; /* bytes of the present run that are done */
};

void lmpi_walk_begin(struct lmpi_walk *walk, const struct lmpi_type *type, size_t count);
/* Returns the bytes that are left of the present run, and where they begin; 0 at the end. */
size_t lmpi_walk_look(const struct lmpi_walk *walk, MPI_Aint *at);
void lmpi_walk_on(struct lmpi_walk *walk, size_t bytes);

/* Sets the first byte and the end of the data of `count` elements, relative to the buffer's address. */
void lmpi_type_span(const struct lmpi_type *type, size_t count, MPI_Aint *low, MPI_Aint *high);

#endif
