/* What a PE says to the host of its node's meeting (node_bootstrap.c): one packet. */
#ifndef RTE_NODE_BOOTSTRAP_H
#define RTE_NODE_BOOTSTRAP_H

#include <stdint.h>

#define RTE_HELLO_MAGIC 0x4c6174486931ull
#define RTE_CPU_WORDS 64 /* 4096 processors */

struct rte_hello {
    uint64_t magic;
    int32_t pe, npes;
    uint64_t cpus[RTE_CPU_WORDS]; /* the processors that this PE may run on */
};

#endif
