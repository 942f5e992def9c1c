/* The network adapters of this host that read and write memory by themselves, and the library that serves them. No state. */
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

#endif
