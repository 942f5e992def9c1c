/* The network adapters of this host that read and write memory by themselves, the library that serves them, and the network that jobs
 * use. No state. */
#ifndef NET_ADAPTERS_H
#define NET_ADAPTERS_H

#include <stdbool.h>

struct adapter {
    const char *transport; /* "ofi" or "ucx": the module that serves it best */
    char name[64], driver[32];
};

/* Finds the adapter that the host's jobs should use, below `class` ("/sys/class"). Slingshot comes before Omni-Path and EFA, and
 * those before InfiniBand and RoCE. Returns false when there is none. */
bool adapters_find(const char *class, struct adapter *found);

/* Returns the network of LATERAL_TRANSPORTS=auto: "tcp", "ucx" or "ofi". `found` gets the adapter that it is for; its name is empty
 * when there is none, and UCX_TLS when the user has told UCX to use more than TCP. */
const char *adapters_choose(const char *class, struct adapter *found);

#endif
