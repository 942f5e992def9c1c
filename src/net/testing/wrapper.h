/* For transports that wrap another one (fault, sim): LATERAL_TRANSPORTS names all, the outermost first, as
 * in fault:ucx or sim:fault:ucx. */
#ifndef NET_WRAPPER_H
#define NET_WRAPPER_H

#include "net/transport.h"

/* Loads the transport that stands behind `outer:` in LATERAL_TRANSPORTS; its module lies beside this one. Returns null
 * and stores the transport, or returns the reason why it cannot (static storage). One thread. */
const char *transport_load_behind(const char *outer, const struct transport **inner);

/* Reads a plan such as "seed=3,hold=50" from a variable: gives each name with its value to `one`, which returns null or a text
 * that says what is wrong. Returns null, or the first such text. `text` null: an empty plan. */
const char *transport_plan_read(const char *variable, const char *text,
                                const char *(*one)(const char *name, const char *value, void *plan), void *plan);

#endif
