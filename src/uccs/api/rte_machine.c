/* The machine of this process, for uccs_rte.h. Any thread; nothing is kept. */
#include "uccs/api/rte_locality.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

long uccs_machine_number(const char *format, int cpu)
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
        long socket = uccs_machine_number("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        long core = cores ? uccs_machine_number("/sys/devices/system/cpu/cpu%d/topology/core_id", cpu) : 0;
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
