#include "pieces.h"

#include <string.h>

/* Both sides have one type, the usual case: each takes as many bytes, so they are at one place of it, and one walk does for both. */
static bool next_of_both(struct lmpi_walk *here, struct lmpi_pieces *pieces)
{
    pieces->bytes = lmpi_walk_look(here, &pieces->here);
    if (!pieces->bytes)
        return false;
    pieces->count = lmpi_walk_pieces(here, pieces->bytes, &pieces->here_step);
    pieces->there = pieces->here;
    pieces->there_step = pieces->here_step;
    lmpi_walk_over(here, pieces->bytes, pieces->count);
    return true;
}

bool lmpi_pieces_next(struct lmpi_walk *here, struct lmpi_walk *there, struct lmpi_pieces *pieces)
{
    if (here->type == there->type)
        return next_of_both(here, pieces);
    const size_t ready = lmpi_walk_look(here, &pieces->here), room = lmpi_walk_look(there, &pieces->there);
    if (!ready || !room)
        return false;
    pieces->bytes = ready < room ? ready : room;
    const size_t sent = lmpi_walk_pieces(here, pieces->bytes, &pieces->here_step),
                 taken = lmpi_walk_pieces(there, pieces->bytes, &pieces->there_step);
    pieces->count = sent < taken ? sent : taken;
    lmpi_walk_over(here, pieces->bytes, pieces->count);
    lmpi_walk_over(there, pieces->bytes, pieces->count);
    return true;
}

/* A loop for each length, so that the copy of a piece is one move. */
void lmpi_pieces_copy(char *to, MPI_Aint to_step, const char *from, MPI_Aint from_step, size_t bytes, size_t count)
{
#define EACH(size)                                               \
    case size:                                                   \
        for (; count; count--, to += to_step, from += from_step) \
            memcpy(to, from, size);                              \
        return;
    /* clang-format off */
    switch (bytes) {
        EACH(1) EACH(2) EACH(4) EACH(8) EACH(16)
    default:
        for (; count; count--, to += to_step, from += from_step)
            memcpy(to, from, bytes);
    }
    /* clang-format on */
#undef EACH
}
