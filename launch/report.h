/* Prints where the PEs of a job are, and who waits for whom, or where they have crashed. One thread. */
#ifndef LAUNCH_REPORT_H
#define LAUNCH_REPORT_H

#include "picture.h"

/* Prints a line for each group of PEs, then the verdict, then the stacks. */
void report_print(const struct picture *picture);

/* Prints signal, address, functions and source lines of each PE that has crashed, by the records that they make as they die
 * (src/rte/crash.c), equal ones once. */
void crash_print(const struct view *view);

/* `pid` is oshrun's, its supervisor's or one of the PEs'. Returns the exit status, after a line when there is no such job. */
int status_print(pid_t pid);

#endif
