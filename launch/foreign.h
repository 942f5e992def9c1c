/* Programs of other libraries, of which each PE would be a job of its own under oshrun. One thread. */
#ifndef LAUNCH_FOREIGN_H
#define LAUNCH_FOREIGN_H

#include "options.h"

/* Prints a line for each program that is linked with another OpenSHMEM or with an MPI, and not with Lateral. */
void foreign_warn(const struct options *options);

#endif
