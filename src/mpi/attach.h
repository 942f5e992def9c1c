/* What is attached to dynamic windows. */
#ifndef MPI_ATTACH_H
#define MPI_ATTACH_H

#include "window.h"

/* Ends what is attached to a window. The memory object goes after. */
void lmpi_attached_end(struct lmpi_window *window);

#endif
