/* What uccs_rte.h tells of a machine and of a process's place in it, where the kernel's files, the network and the host's name are this
 * program's own. Handles of processes are told apart as whole words. */
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static FILE *fopen_made_up(const char *path);
static long sysconf_made_up(int name);
static int affinity_made_up(size_t bytes, cpu_set_t *set);
static int addresses_made_up(struct ifaddrs **all);
static void free_made_up(struct ifaddrs *all);
static int access_made_up(const char *path);
static int name_made_up(char *name, size_t bytes);
#define fopen(path, mode) fopen_made_up(path)
#define sysconf(name) sysconf_made_up(name)
#define sched_getaffinity(pid, bytes, set) affinity_made_up(bytes, set)
#define getifaddrs(all) addresses_made_up(all)
#define freeifaddrs(all) free_made_up(all)
#define access(path, mode) access_made_up(path)
#define gethostname(name, bytes) name_made_up(name, bytes)
#include "uccs/env/machine.c"
#include "uccs/env/place.c"
#undef fopen
#undef sysconf
#undef sched_getaffinity
#undef getifaddrs
#undef freeifaddrs
#undef access
#undef gethostname
#define exchange exchange_places
#define shared shared_bit
#include "uccs/env/environment.c"

#include "unit/child.h"

#include <string.h>

/* ---- the kernel's answers ---- */

enum { CPUS = 8 };

static const struct cpu {
    int socket, core, cache, numa; /* -1: there is no such file */
} * cpus;
static bool nonsense; /* files hold no number */
static int opened, threads;

static const struct cpu two_sockets[CPUS] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0},
                                             {1, 0, 1, 2}, {1, 0, 1, 2}, {1, 1, 1, 3}, {1, 1, 1, 3}};
static const struct cpu unknown[CPUS] = {{-1, -1, -1, -1}, {-1, 5, -1, -1},  {3, -1, -1, -1},  {-1, -1, -1, -1},
                                         {-1, -1, -1, -1}, {-1, -1, -1, -1}, {-1, -1, -1, -1}, {-1, -1, -1, -1}};
static const struct cpu odd_numbers[CPUS] = {{36, 65535, 70000, 63}, {4, 9, 7, 63}};

static FILE *fopen_made_up(const char *path)
{
    static char text[32];
    int cpu, at = 0, number = -1;
    CHECK(sscanf(path, "/sys/devices/system/cpu/cpu%d/%n", &cpu, &at) == 1 && at);
    if (cpu < CPUS && strcmp(path + at, "topology/physical_package_id") == 0)
        number = cpus[cpu].socket;
    if (cpu < CPUS && strcmp(path + at, "topology/core_id") == 0)
        number = cpus[cpu].core;
    if (cpu < CPUS && strcmp(path + at, "cache/index3/id") == 0)
        number = cpus[cpu].cache;
    if (number < 0)
        return 0;
    snprintf(text, sizeof text, nonsense ? "none\n" : "%d\n", number);
    opened++;
    return fmemopen(text, strlen(text), "r");
}

static int access_made_up(const char *path)
{
    int cpu, node;
    CHECK(sscanf(path, "/sys/devices/system/cpu/cpu%d/node%d", &cpu, &node) == 2);
    return cpu < CPUS && cpus[cpu].numa == node ? 0 : -1;
}

static long sysconf_made_up(int name)
{
    return name == _SC_NPROCESSORS_CONF ? threads : name == _SC_PAGESIZE ? 16384 : -1;
}

static cpu_set_t usable;
static bool no_affinity;

static int affinity_made_up(size_t bytes, cpu_set_t *set)
{
    CHECK(bytes == sizeof *set);
    if (no_affinity) {
        CPU_SET(0, set);
        return -1;
    }
    *set = usable;
    return 0;
}

static const char *host;

static int name_made_up(char *name, size_t bytes)
{
    CHECK(bytes == sizeof((struct uccs_place *)0)->host - 1);
    if (!host)
        return -1;
    strncpy(name, host, bytes);
    return 0;
}

/* ---- networks ---- */

static struct sockaddr_in four[70];
static struct sockaddr_in6 six;
static struct sockaddr other = {.sa_family = AF_UNIX};
static struct ifaddrs interface[70];
static int interfaces, lists;

static int addresses_made_up(struct ifaddrs **all)
{
    if (interfaces < 0)
        return -1;
    for (int i = 0; i < interfaces; i++)
        interface[i].ifa_next = i + 1 < interfaces ? &interface[i + 1] : 0;
    *all = interfaces ? interface : 0;
    lists++;
    return 0;
}

static void free_made_up(struct ifaddrs *all)
{
    CHECK(all == (interfaces ? interface : 0));
    lists--;
}

static void add(char *name, unsigned flags, void *address)
{
    interface[interfaces++] = (struct ifaddrs){.ifa_name = name, .ifa_flags = flags, .ifa_addr = address};
}

static struct sockaddr_in *address_of(uint32_t number)
{
    static int used;
    struct sockaddr_in *one = &four[used++ % 70];
    *one = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(number)};
    return one;
}

static void make_interfaces(void)
{
    interfaces = 0;
    six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    add("lo", IFF_UP | IFF_LOOPBACK, address_of(0x7f000001));
    add("down", 0, address_of(0x0a000001));
    add("none", IFF_UP, 0);
    add("unix", IFF_UP, &other);
    add("a-very-long-interface-name", IFF_UP, address_of(0x0a0b0c0d));
    add("lo6", IFF_UP | IFF_LOOPBACK, &six);
}

static void networks(void)
{
    struct uccs_rte_network list[4];
    size_t count = 4;
    make_interfaces();
    memset(list, 0xee, sizeof list);
    CHECK(uccs_rte_network_query(list, &count) == UCCS_RTE_SUCCESS && count == 3 && lists == 0);
    CHECK(strcmp(list[0].interface, "lo") == 0 && strcmp(list[0].address, "127.0.0.1") == 0);
    CHECK(list[0].family == 4 && list[0].loopback == 1);
    CHECK(strcmp(list[1].interface, "a-very-long-int") == 0 && strcmp(list[1].address, "10.11.12.13") == 0);
    CHECK(list[1].family == 4 && list[1].loopback == 0);
    CHECK(strcmp(list[2].address, "::1") == 0 && list[2].family == 6 && list[2].loopback == 1);
    memset(list, 0xee, sizeof list);
    count = 1;
    CHECK(uccs_rte_network_query(list, &count) == UCCS_RTE_SUCCESS && count == 3);
    CHECK(strcmp(list[0].interface, "lo") == 0 && ((unsigned char *)&list[1])[0] == 0xee);
    CHECK(uccs_rte_network_query(0, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_network_query(0, &count) == UCCS_RTE_ERROR_BAD_INPUT);
    count = 0;
    CHECK(uccs_rte_network_query(0, &count) == UCCS_RTE_SUCCESS && count == 3);
    interfaces = 0;
    count = 4;
    CHECK(uccs_rte_network_query(list, &count) == UCCS_RTE_SUCCESS && count == 0);
    interfaces = -1;
    CHECK(uccs_rte_network_query(list, &count) == UCCS_RTE_ERROR && lists == 0);
}

/* ---- the machine ---- */

static bool machine_has(const struct cpu *all, int hwthreads, int sockets, int cores)
{
    struct uccs_rte_machine machine;
    cpus = all;
    threads = hwthreads;
    CHECK(uccs_rte_machine_query(&machine) == UCCS_RTE_SUCCESS && machine.hwthreads == hwthreads);
    return machine.sockets == sockets && machine.cores == cores;
}

static void use(const int *numbers, int count)
{
    CPU_ZERO(&usable);
    for (int i = 0; i < count; i++)
        CPU_SET(numbers[i], &usable);
}

static void machines(void)
{
    struct uccs_rte_machine machine;
    struct utsname names;
    CHECK(machine_has(two_sockets, 8, 2, 4) && machine_has(two_sockets, 4, 1, 2) && machine_has(two_sockets, 5, 2, 3));
    CHECK(machine_has(two_sockets, 1, 1, 1) && machine_has(two_sockets, 0, 0, 0) && machine_has(unknown, 8, 1, 0));
    CHECK(machine_has(two_sockets, 30, 2, 4)); /* some are not there */
    nonsense = true;
    CHECK(machine_has(two_sockets, 8, 0, 0));
    nonsense = false;
    use((const int[]){1, 2, 900}, 3);
    CHECK(uccs_rte_machine_query(&machine) == UCCS_RTE_SUCCESS && machine.usable == 3 && machine.page_bytes == 16384);
    no_affinity = true;
    CHECK(uccs_rte_machine_query(&machine) == UCCS_RTE_SUCCESS && machine.usable == threads);
    no_affinity = false;
    CHECK(uname(&names) == 0 && strncmp(machine.architecture, names.machine, 31) == 0);
    CHECK(machine.endianness ==
          (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? UCCS_RTE_LITTLE_ENDIAN : UCCS_RTE_BIG_ENDIAN));
    CHECK(machine.pointer_bits == 64 && uccs_rte_machine_query(0) == UCCS_RTE_ERROR_BAD_INPUT);
}

/* ---- places ---- */

static struct uccs_place place;

static void find_place(const struct cpu *all, const int *numbers, int count)
{
    cpus = all;
    use(numbers, count);
    uccs_place_find(&place);
}

static bool place_is(int numa, int socket, int cache, int core, int hwthread)
{
    return place.numa == numa && place.socket == socket && place.cache == cache && place.core == core &&
           place.hwthread == hwthread;
}

static void finds_places(void)
{
    threads = 8;
    host = "a-host";
    uccs_core.first = 77;
    make_interfaces();
    find_place(two_sockets, (const int[]){5}, 1);
    CHECK(place_is(2, 1, 1, 1 << 16, 5) && strcmp(place.host, "a-host") == 0 && place.node == 77);
    find_place(two_sockets, (const int[]){0, 1}, 2);
    CHECK(place_is(0, 0, 0, 0, -1));
    find_place(two_sockets, (const int[]){0, 2}, 2);
    CHECK(place_is(0, 0, 0, -1, -1));
    find_place(two_sockets, (const int[]){4, 6}, 2);
    CHECK(place_is(-1, 1, 1, -1, -1));
    find_place(two_sockets, (const int[]){0, 7}, 2);
    CHECK(place_is(-1, -1, -1, -1, -1));
    find_place(two_sockets, 0, 0);
    CHECK(place_is(-1, -1, -1, -1, -1));
    find_place(unknown, (const int[]){1}, 1);
    CHECK(place_is(-1, -1, -1, 5, 1)); /* the socket has no number */
    find_place(unknown, (const int[]){2}, 1);
    CHECK(place_is(-1, 3, -1, -1, 2));
    find_place(odd_numbers, (const int[]){0}, 1);
    CHECK(place_is(63, 36, 70000, 36 << 16 | 65535, 0));
    find_place(two_sockets, (const int[]){7, CPU_SETSIZE - 1}, 2);
    CHECK(place_is(-1, -1, -1, -1, -1)); /* the last one counts */
    find_place(two_sockets, (const int[]){CPU_SETSIZE - 1}, 1);
    CHECK(place_is(-1, -1, -1, -1, CPU_SETSIZE - 1) && place.machine.cores == 4);
    no_affinity = true;
    host = 0;
    find_place(two_sockets, (const int[]){0}, 1);
    CHECK(place_is(-1, -1, -1, -1, -1) && strcmp(place.host, "localhost") == 0);
    no_affinity = false;
}

/* Loopback comes last; no more than there is room for. */
static void lists_networks(void)
{
    host = "0123456789012345678901234567890123456789012345678901234567890123456789";
    find_place(two_sockets, (const int[]){0}, 1);
    CHECK(strlen(place.host) == 63 && place.nnetworks == 3 && strcmp(place.networks[0].address, "10.11.12.13") == 0);
    CHECK(strcmp(place.networks[1].address, "127.0.0.1") == 0 && strcmp(place.networks[2].address, "::1") == 0);
    for (int i = 0; i < UCCS_RTE_EC_NETWORKS; i++)
        add("eth", IFF_UP, address_of(0x0a000000u + (uint32_t)i));
    find_place(two_sockets, (const int[]){0}, 1);
    CHECK(place.nnetworks == UCCS_RTE_EC_NETWORKS && strcmp(place.networks[1].address, "10.0.0.0") == 0);
    for (int i = 0; i < UCCS_RTE_EC_NETWORKS; i++)
        CHECK(!place.networks[i].loopback);
    interfaces = 0;
    while (interfaces < 70) /* more than are asked for, of which the others would be first */
        add(interfaces < 64 ? "lo" : "eth", interfaces < 64 ? IFF_UP | IFF_LOOPBACK : IFF_UP, address_of(0x7f000001));
    find_place(two_sockets, (const int[]){0}, 1);
    CHECK(place.nnetworks == UCCS_RTE_EC_NETWORKS && place.networks[0].loopback);
    interfaces = 0;
    find_place(two_sockets, (const int[]){0}, 1);
    CHECK(place.nnetworks == 0);
    interfaces = -1;
    find_place(two_sockets, (const int[]){0}, 1);
    CHECK(place.nnetworks == 0);
}

/* ---- processes ---- */

static uccs_rte_ec_t process(uintptr_t number)
{
    return (uccs_rte_ec_t)number;
}

/* Handles are compared as whole words. */
static void compares(void)
{
    static const uintptr_t words[] = {0, 1, 2, UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, UINTPTR_MAX};
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 7; k++)
            CHECK(uccs_rte_cmp_ec(process(words[i]), process(words[k])) == (i > k) - (i < k));
}

static void asks_of_others(void)
{
    struct uccs_place all[3] = {{.host = "one", .node = 0, .nnetworks = 2},
                                {.host = "two", .node = 4},
                                {.host = "one"}};
    struct uccs_rte_network list[3];
    size_t count = 3;
    uccs_core.npes = 3;
    CHECK(!place_of(process(1)));
    places = all;
    all[0].networks[0].family = 4;
    all[0].networks[1].family = 6;
    CHECK(place_of(process(1)) == &all[0] && place_of(process(3)) == &all[2]);
    CHECK(!place_of(process(0)) && !place_of(process(4)) && !place_of(process(UINTPTR_MAX)));
    CHECK(uccs_rte_ec_node_id(process(2)) == 4 && uccs_rte_ec_node_id(process(0)) == UINT32_MAX);
    CHECK(strcmp(uccs_rte_ec_hostname(process(2)), "two") == 0 && !uccs_rte_ec_node_name(process(4)));
    memset(list, 0, sizeof list);
    CHECK(uccs_rte_ec_network(process(1), list, &count) == UCCS_RTE_SUCCESS && count == 2 && list[1].family == 6);
    memset(list, 0, sizeof list);
    count = 1;
    CHECK(uccs_rte_ec_network(process(1), list, &count) == UCCS_RTE_SUCCESS && count == 2 && list[0].family == 4);
    CHECK(list[1].family == 0);
    count = 0;
    CHECK(uccs_rte_ec_network(process(1), 0, &count) == UCCS_RTE_SUCCESS && count == 2);
    CHECK(uccs_rte_ec_network(process(1), 0, &count) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_ec_network(process(1), list, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_ec_network(process(4), list, &count) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_ec_machine(process(2), &all[0].machine) == UCCS_RTE_SUCCESS);
    CHECK(uccs_rte_ec_machine(process(2), 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_ec_machine(process(4), &all[0].machine) == UCCS_RTE_ERROR_BAD_INPUT);
    places = 0;
}

static void job_ids(void)
{
    static struct node head;
    rte.node = 0;
    CHECK(uccs_rte_job_id() == 0);
    rte.node = &head;
    head.nonce[0] = UINT64_C(0x1234567800000000);
    CHECK(uccs_rte_job_id() == 0x12345678);
    head.nonce[0] |= 0xf0f0f0f0;
    CHECK(uccs_rte_job_id() == (0x12345678 ^ 0xf0f0f0f0));
    rte.node = 0;
}

static void shares(void)
{
    CHECK(shared_bit(3, 3, 8) == 8 && shared_bit(0, 0, 8) == 8 && shared_bit(3, 4, 8) == 0);
    CHECK(shared_bit(-1, -1, 8) == 0 && shared_bit(-1, 0, 8) == 0 && shared_bit(0, -1, 8) == 0);
}

int main(void)
{
    in_a_child(networks);
    machines();
    finds_places();
    lists_networks();
    compares();
    in_a_child(asks_of_others);
    job_ids();
    shares();
    CHECK(lists == 0 && opened > 0);
    return 0;
}
