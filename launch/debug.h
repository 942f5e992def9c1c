/* PEs that wait for a debugger (--debug): each stops before its first instruction, and a debugger attaches to it, in a pane
 * of tmux or by hand.
 *
 * Only the guard uses it, in its one thread; debug_check runs in oshrun before. */
#ifndef LAUNCH_DEBUG_H
#define LAUNCH_DEBUG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Exits after one line when the list ("1,3", "0-2", "all") is none, or names a PE that the job does not have. */
void debug_check(const char *list, uint32_t pes);

/* Returns true when the list, which may be null, names the PE. */
bool debug_wants(const char *list, uint32_t pe);

/* In the child, before it executes the program: the guard will see it stop. */
void debug_arm(void);

/* Returns true when the status is that of an armed PE that has just executed its program. */
bool debug_arrived(int status);

/* Leaves the PE stopped and opens a pane with a debugger, or prints the line to type. */
void debug_offer(uint32_t pe, pid_t pid);

#endif
