/* The place of this process, for uccs_rte.h. */
#include "uccs/api/rte_locality.h"

#include "uccs/core/core.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU "/sys/devices/system/cpu/cpu%d/"

static int numa_of(int cpu)
{
    char path[128];
    for (int node = 0; node < 64; node++) {
        snprintf(path, sizeof path, CPU "node%d", cpu, node);
        if (access(path, F_OK) == 0)
            return node;
    }
    return -1;
}

/* Returns the core of a processor. Cores of different sockets may have the same number in /sys. */
static int core_of(int cpu)
{
    long socket = uccs_machine_number(CPU "topology/physical_package_id", cpu);
    long core = uccs_machine_number(CPU "topology/core_id", cpu);
    return core < 0 ? -1 : (int)((socket < 0 ? 0 : socket) << 16 | core);
}

static int socket_of(int cpu)
{
    return (int)uccs_machine_number(CPU "topology/physical_package_id", cpu);
}

static int cache_of(int cpu)
{
    return (int)uccs_machine_number(CPU "cache/index3/id", cpu);
}

static int itself(int cpu)
{
    return cpu;
}

/* Returns the number that all processors of the set share, or -1 when they differ. */
static int common(const cpu_set_t *set, int (*of)(int cpu))
{
    int found = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, set))
            continue;
        int here = of(cpu);
        if (here < 0 || (found >= 0 && here != found))
            return -1;
        found = here;
    }
    return found;
}

/* Lists networks that other machines can reach first. */
static void find_networks(struct uccs_locality *place)
{
    struct uccs_rte_network all[64];
    size_t count = 64;
    if (uccs_rte_network_query(all, &count) != UCCS_OK)
        return;
    for (int loopback = 0; loopback < 2; loopback++)
        for (size_t i = 0; i < count && i < 64 && place->nnetworks < UCCS_RTE_EC_NETWORKS; i++)
            if ((all[i].loopback != 0) == loopback)
                place->networks[place->nnetworks++] = all[i];
}

void uccs_locality_find(struct uccs_locality *place)
{
    cpu_set_t set;
    memset(place, 0, sizeof *place);
    if (gethostname(place->host, sizeof place->host - 1) != 0)
        strcpy(place->host, "localhost");
    place->node = (int32_t)uccs_core.first;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        CPU_ZERO(&set);
    place->numa = common(&set, numa_of);
    place->socket = common(&set, socket_of);
    place->cache = common(&set, cache_of);
    place->core = common(&set, core_of);
    place->hwthread = common(&set, itself);
    (void)uccs_rte_machine_query(&place->machine);
    find_networks(place);
}
