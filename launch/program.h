/* Finds the files to execute before any PE starts, so that a wrong name starts nothing. */
#ifndef LAUNCH_PROGRAM_H
#define LAUNCH_PROGRAM_H

#include "options.h"

/* Sets app->path. Returns 0. After one line returns the exit status: 127, 126, or 2 for a bad --wdir. */
int program_find(struct app *app);

#endif
