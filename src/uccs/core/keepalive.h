/* Keepalive connections, by which this process learns that another host is gone (keepalive.c). */
#ifndef UCCS_CORE_KEEPALIVE_H
#define UCCS_CORE_KEEPALIVE_H

#include "base/atomic.h"
#include "net/auth/auth.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts listening, and stores the routes by which others reach this PE; their port is 0 when nobody can. Returns 0, or -1
 * after a line when LATERAL_INTERFACE cannot be had. One thread, in init. */
int uccs_keepalive_open(struct routes *mine);

/* Connects to a PE's node unless it is connected; called when this process begins to talk to the PE. Any thread; does not
 * wait. */
void uccs_keepalive_connect(int pe, const struct routes *to);

/* Returns " on NAME", or " at ADDRESS" where only that is known, if the PE is on another host, else an empty text; it stays until the connections are closed. Any
 * thread. */
const char *uccs_keepalive_host(int pe);

/* Returns a descriptor that is readable when uccs_keepalive_poll has something to do, or -1 when it never has. Constant
 * while the connections are open. */
int uccs_keepalive_descriptor(void);

/* Handles what has come. Any thread; does not wait. Does not return when a host is lost. */
void uccs_keepalive_poll(void);

/* Returns true when a thread that has polled `polls` times shall call uccs_keepalive_poll: a process without the progress thread
 * needs it. */
extern uint32_t uccs_keepalive_seldom;
static inline bool uccs_keepalive_due(uint32_t polls)
{
    return (polls & atomic_load_relaxed(&uccs_keepalive_seldom)) == 0;
}

/* From now on other PEs may end without a fault. */
void uccs_keepalive_expect_end(void);

/* Closes the connections. One thread, in finalize. */
void uccs_keepalive_close(void);

#endif
