#include "cores.h"

#include "loop.h"

#include <stdlib.h>
#include <string.h>

static void allowed_set(struct cpus *cpus)
{
    memset(cpus, 0, sizeof *cpus);
    if (sched_getaffinity(0, sizeof *cpus, cpus->set) != 0)
        CPU_SET_S(0, sizeof *cpus, cpus->set);
}

uint32_t cores_allowed(void)
{
    struct cpus cpus;
    allowed_set(&cpus);
    return (uint32_t)CPU_COUNT_S(sizeof cpus, cpus.set);
}

/* Returns the lowest processor of cpu's core, or cpu itself when the kernel does not say. */
static int core_name(int cpu)
{
    char text[64];
    const bool told = file_read(text, sizeof text, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    return told ? atoi(text) : cpu;
}

/* Filled once: the core of each allowed processor, numbered from 0; -1: not allowed. */
static int16_t core_of[CORES_MAX_CPUS];
static int ncores;

static void read_cores(void)
{
    static int16_t number[CORES_MAX_CPUS]; /* of the core with this name, plus 1 */
    struct cpus cpus;
    allowed_set(&cpus);
    for (int cpu = 0; cpu < CORES_MAX_CPUS; cpu++) {
        core_of[cpu] = -1;
        if (!CPU_ISSET_S(cpu, sizeof cpus, cpus.set))
            continue;
        int name = core_name(cpu);
        name = name >= 0 && name < CORES_MAX_CPUS ? name : cpu;
        if (!number[name])
            number[name] = (int16_t)++ncores;
        core_of[cpu] = number[name] - 1;
    }
}

void cores_of_pe(uint32_t pe, struct cpus *cpus)
{
    if (ncores == 0)
        read_cores();
    int core = (int)(pe % (uint32_t)ncores);
    memset(cpus, 0, sizeof *cpus);
    for (int cpu = 0; cpu < CORES_MAX_CPUS; cpu++)
        if (core_of[cpu] == core)
            CPU_SET_S(cpu, sizeof *cpus, cpus->set);
}
