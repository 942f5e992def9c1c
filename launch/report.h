/* Tells where the PEs of a job are and who waits for whom. One thread. */
#ifndef LAUNCH_REPORT_H
#define LAUNCH_REPORT_H

#include "stays.h"

/* Prints a line for each PE, equal ones together, then the verdict. */
void report_print(const struct view *view);

#endif
