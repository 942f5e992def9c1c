/* Lines tell this process that another host is gone. See line.c. */
#ifndef UCCS_CORE_KEEPALIVE_H
#define UCCS_CORE_KEEPALIVE_H

#include "net/auth/routes.h"

#include <stdbool.h>
#include <stdint.h>

/* Opens the lines, and stores the place where others can call this PE; its port is 0 when they cannot. Returns 0, or -1
 * after a line when LATERAL_INTERFACE cannot be had. One thread, in init. */
int uccs_keepalive_open(struct routes *mine);

/* Makes a line to a PE's node unless there is one; called when this process begins to talk to the PE. Any thread; does
 * not wait. */
void uccs_keepalive_connect(int pe, const struct routes *place);

/* Returns a descriptor that is readable when uccs_keepalive_poll has something to do, or -1 when it never has. Constant
 * while the lines are open. */
int uccs_keepalive_descriptor(void);

/* Handles the lines' events. Any thread; does not wait. Does not return when a host is lost. */
void uccs_keepalive_poll(void);

/* Lets other PEs end without a fault from now on. */
void uccs_keepalive_expect_end(void);
void uccs_keepalive_close(void);

#endif
