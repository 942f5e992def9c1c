/* Memory of this process that windows use. What the node maps is known here as pieces: memory from MPI_Alloc_mem and of
 * allocated windows, and pages of the program's own that were moved there. A window over a part of a piece is as fast as
 * an allocated one. Pieces are counted: each goes with its last user.
 *
 * A byte is in one domain of atomicity, whichever windows reach it: it lies in a piece, or it does not as long as a
 * window has it. So pages do not move while a window uses some of their bytes as they are, and a window over a piece and
 * what lies beside it consists of parts. Any thread. */
#ifndef MPI_MEMORY_H
#define MPI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <uccs.h>

/* Makes memory that the node maps, with one user. Returns its address, or null. */
void *lmpi_memory_make(size_t bytes, uccs_memory_t *memory);
/* One user less. Returns false when the object is none of these. */
bool lmpi_memory_drop(uccs_memory_t memory);

struct lmpi_piece;
/* Bytes of a range that lie in one piece, or in none. */
struct lmpi_part {
    char *address;
    size_t bytes;
    uccs_memory_t memory; /* of the piece; null: the bytes stay where they are */
    size_t offset;        /* of the address in it */
    struct lmpi_piece *piece;
};
/* A range that a window or a memory handle uses: parts that follow each other. */
struct lmpi_hold {
    char *address;
    size_t n;
    struct lmpi_part part[];
};

/* Notes a user of the range. Moves pages of the program's where that is safe. Returns null without memory. */
struct lmpi_hold *lmpi_memory_hold(void *address, size_t bytes);
/* Ends the use; null: does nothing. */
void lmpi_memory_let_go(struct lmpi_hold *hold);

/* These return statuses of uccs.h. object makes a memory object that has the range from *offset on. attach adds it to a
 * dynamic one, whose offsets are addresses; detach takes it away. */
int lmpi_hold_object(const struct lmpi_hold *hold, uccs_memory_t *memory, size_t *offset);
int lmpi_hold_attach(const struct lmpi_hold *hold, uccs_memory_t dynamic);
void lmpi_hold_detach(const struct lmpi_hold *hold, uccs_memory_t dynamic);

#endif
