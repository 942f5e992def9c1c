/* For the wrappers of uccs.h. Any thread. */
#ifndef STATS_OF_UCCS_H
#define STATS_OF_UCCS_H

#include "stats.h"

#include <uccs.h>
#include <uccs_rte.h>

/* True when the program itself, or a library of its own, calls: OpenSHMEM, uccs_rte.h and these layers are on uccs.h, too. */
bool stats_is_program(const void *from);

size_t stats_parts(const struct uccs_payload *parts, size_t n); /* returns the bytes of all parts */
size_t stats_pieces(const struct uccs_piece *pieces, size_t n); /* returns the bytes of all pieces */

#endif
