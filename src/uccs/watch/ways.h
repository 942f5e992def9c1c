/* The addresses of this host at which other hosts can call a PE, and the socket at which they do. One thread, in
 * init. */
#ifndef UCCS_WATCH_WAYS_H
#define UCCS_WATCH_WAYS_H

#include "uccs/watch/line.h"

#include <stdbool.h>
#include <sys/socket.h>

/* Finds the ways by which others can call this PE, best first. LATERAL_INTERFACE leaves one, of that interface. Returns
 * false, after a line, when it names no interface with an address. */
bool watch_ways_find(struct watch_line_place *mine);

/* Listens for calls: at the one way of LATERAL_INTERFACE, else at all addresses. Stores the port in the place. Returns
 * the descriptor, or -1. */
int watch_ways_door(struct watch_line_place *mine);

/* Begins to connect to a place by one of its ways, from the interface of LATERAL_INTERFACE if there is one. Returns the
 * descriptor, or -1. */
int watch_ways_call(const struct watch_line_place *place, int number, const struct watch_line_place *mine);

#endif
