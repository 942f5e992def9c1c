/* Datatypes: where the bytes of one element lie, found out once per datatype.
 *
 * Predefined types are in a table that never changes. Others are taken apart by envelope and contents; the result is an
 * attribute of the datatype, which the MPI deletes together with it. Any thread. */
#ifndef MPI_DATATYPE_TYPE_H
#define MPI_DATATYPE_TYPE_H

#include "mpi/datatype/flatten.h"

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

/* The same for an accumulate, which works on whole elements. */
static inline const struct lmpi_type *lmpi_type_filled(MPI_Datatype type)
{
    const struct lmpi_type *known = lmpi_type(type);
    return known && known->filled ? known->filled : known;
}

/* Sets the first byte and the end of the data of `count` elements, relative to the buffer's address. */
void lmpi_type_span(const struct lmpi_type *type, size_t count, MPI_Aint *low, MPI_Aint *high);

#endif
