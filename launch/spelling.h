/* Names of variables that look like misspelt ones of the library. */
#ifndef LAUNCH_SPELLING_H
#define LAUNCH_SPELLING_H

#include "options.h"

/* Prints a line for each variable of the environment and of -x whose name is near to one of Lateral's; -q keeps it
 * quiet. */
void spelling_check_variables(const struct options *options);

#endif
