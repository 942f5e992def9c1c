/* The machine of this process, and the place of the process in it, for uccs_rte.h. Any thread; nothing is kept. */
#include "uccs/api/inner.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>

/* Returns a number from a file of /sys; -1 when there is none. */
static __attribute__((format(printf, 1, 0))) long read_number(const char *format, int cpu)
{
    char path[128];
    long number = -1;
    snprintf(path, sizeof path, format, cpu);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%ld", &number) != 1)
        number = -1;
    if (file)
        fclose(file);
    return number;
}

/* Returns the number of different sockets (or cores) of the machine's processors. */
static int count_different(bool cores, int cpus)
{
    long seen[1024];
    int count = 0;
    for (int cpu = 0; cpu < cpus && count < 1024; cpu++) {
        long socket = read_number("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        long core = cores ? read_number("/sys/devices/system/cpu/cpu%d/topology/core_id", cpu) : 0;
        long key = socket << 20 | core;
        int i = 0;
        while (i < count && seen[i] != key)
            i++;
        if (socket >= 0 && core >= 0 && i == count)
            seen[count++] = key;
    }
    return count;
}

int uccs_rte_machine_query(struct uccs_rte_machine *machine)
{
    struct utsname names;
    cpu_set_t set;
    if (!machine || uname(&names) != 0)
        return UCCS_ERR_INVALID;
    *machine = (struct uccs_rte_machine){.endianness = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? UCCS_RTE_BIG_ENDIAN
                                                                                              : UCCS_RTE_LITTLE_ENDIAN,
                                         .pointer_bits = 8 * (int)sizeof(void *),
                                         .page_bytes = (int)sysconf(_SC_PAGESIZE),
                                         .hwthreads = (int)sysconf(_SC_NPROCESSORS_CONF)};
    snprintf(machine->architecture, sizeof machine->architecture, "%.31s", names.machine);
    machine->sockets = count_different(false, machine->hwthreads);
    machine->cores = count_different(true, machine->hwthreads);
    CPU_ZERO(&set);
    machine->usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : machine->hwthreads;
    return UCCS_OK;
}

static bool describe_interface(const struct ifaddrs *at, struct uccs_rte_network *network)
{
    if (!at->ifa_addr || !(at->ifa_flags & IFF_UP))
        return false;
    int family = at->ifa_addr->sa_family;
    const void *address = family == AF_INET    ? (const void *)&((const struct sockaddr_in *)at->ifa_addr)->sin_addr
                          : family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)at->ifa_addr)->sin6_addr
                                               : 0;
    *network =
        (struct uccs_rte_network){.family = family == AF_INET ? 4 : 6, .loopback = (at->ifa_flags & IFF_LOOPBACK) != 0};
    snprintf(network->interface, sizeof network->interface, "%.15s", at->ifa_name);
    return address && inet_ntop(family, address, network->address, sizeof network->address);
}

int uccs_rte_network_query(struct uccs_rte_network *list, size_t *count)
{
    struct ifaddrs *all;
    if (!count || (*count && !list))
        return UCCS_ERR_INVALID;
    if (getifaddrs(&all) != 0)
        return UCCS_ERR_FAILED;
    size_t found = 0;
    for (struct ifaddrs *at = all; at; at = at->ifa_next) {
        struct uccs_rte_network network;
        if (!describe_interface(at, &network))
            continue;
        if (found < *count)
            list[found] = network;
        found++;
    }
    freeifaddrs(all);
    *count = found;
    return UCCS_OK;
}

/* --- Where this process runs */

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
    long socket = read_number(CPU "topology/physical_package_id", cpu);
    long core = read_number(CPU "topology/core_id", cpu);
    return core < 0 ? -1 : (int)((socket < 0 ? 0 : socket) << 16 | core);
}

static int socket_of(int cpu)
{
    return (int)read_number(CPU "topology/physical_package_id", cpu);
}

static int cache_of(int cpu)
{
    return (int)read_number(CPU "cache/index3/id", cpu);
}

static int number_of(int cpu)
{
    return cpu;
}

/* Returns the number that all processors of the set share, or -1 when they differ. */
static int common_number(const cpu_set_t *set, int (*of)(int cpu))
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
    place->numa = common_number(&set, numa_of);
    place->socket = common_number(&set, socket_of);
    place->cache = common_number(&set, cache_of);
    place->core = common_number(&set, core_of);
    place->hwthread = common_number(&set, number_of);
    (void)uccs_rte_machine_query(&place->machine);
    find_networks(place);
}
