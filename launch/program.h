/* The files to execute, found before any PE starts, so that a wrong name starts nothing, and a word about programs of other
 * libraries, of which each PE would be a job of its own. One thread. */
#ifndef LAUNCH_PROGRAM_H
#define LAUNCH_PROGRAM_H

#include "options.h"

/* Sets app->path. Returns 0. After one line returns the exit status: 127, 126, or 2 for a bad --wdir. */
int program_find(struct app *app);

/* Prints a line for each program that is linked with another OpenSHMEM or with an MPI, and not with Lateral. */
void foreign_warn(const struct options *options);

#endif
