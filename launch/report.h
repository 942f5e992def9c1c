/* Prints where the PEs of a job are, and who waits for whom. One thread. */
#ifndef LAUNCH_REPORT_H
#define LAUNCH_REPORT_H

#include "picture.h"

/* Prints a line for each group of PEs, then the verdict, then the stacks. */
void report_print(const struct picture *picture);

/* `pid` is oshrun's, its supervisor's or one of the PEs'. Returns the exit status, after a line when there is no such job. */
int status_print(pid_t pid);

#endif
