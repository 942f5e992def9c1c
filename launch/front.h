/* oshrun in front of another launcher. */
#ifndef LAUNCH_FRONT_H
#define LAUNCH_FRONT_H

#include "options.h"

/* Opens the place where PE 0's watcher will call, and puts it into the environment (LATERAL_JOB). Before front_run. */
void front_open(void);

/* Runs the launcher with these words. It stays in oshrun's process group, so a terminal's signals reach both. Returns the exit status
 * of the job: the one that a watcher has told, else the launcher's. */
int front_run(char **words, const struct options *options);

#endif
