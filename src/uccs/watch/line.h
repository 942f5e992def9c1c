/* Lines tell this process that another host is gone. See line.c. */
#ifndef UCCS_WATCH_LINE_H
#define UCCS_WATCH_LINE_H

#include "net/auth/routes.h"

#include <stdbool.h>
#include <stdint.h>

/* Opens the lines, and stores the place where others can call this PE; its port is 0 when they cannot. Returns 0, or -1
 * after a line when LATERAL_INTERFACE cannot be had. One thread, in init. */
int watch_line_open(struct routes *mine);

/* Makes a line to a PE's node unless there is one; called when this process begins to talk to the PE. Any thread; does
 * not wait. */
void watch_line_to(int pe, const struct routes *place);

/* Returns a descriptor that is readable when watch_line_look has something to do, or -1 when it never has. Constant
 * while the lines are open. */
int watch_line_descriptor(void);

/* Handles the lines' events. Any thread; does not wait. Does not return when a host is lost. */
void watch_line_look(void);

/* Lets other PEs end without a fault from now on. */
void watch_line_rest(void);
void watch_line_close(void);

#endif
