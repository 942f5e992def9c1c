/* The processors that oshrun may use, and their grouping into cores for --bind-to core. */
#ifndef LAUNCH_CORES_H
#define LAUNCH_CORES_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#define CORES_MAX_CPUS 8192

struct cpus {
    cpu_set_t set[CORES_MAX_CPUS / CPU_SETSIZE];
};

/* Returns the number of processors that the affinity of this process allows, at least 1. */
uint32_t cores_allowed(void);
/* Gives the processors of core number pe modulo the number of allowed cores. A core's hardware threads go together. */
void cores_of_pe(uint32_t pe, struct cpus *cpus);

#endif
