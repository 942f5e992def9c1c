/* The stacks of all PEs of a job that hangs, by a debugger of the system (--get-stack-traces). */
#ifndef LAUNCH_STACKS_H
#define LAUNCH_STACKS_H

#include "waiters.h"

/* Prints the stack of each thread of each PE that runs, equal ones of several PEs once. One line says so when there is
 * neither gdb nor eu-stack, or when they may not look or take too long. */
void stacks_print(const struct view *view);

#endif
