/* The ways by which other hosts can call this PE: those of devices that the user has named for UCX come first, each in the
 * order in which the host lists them, and no more than there is room for. The host's list is this test's. */
#include "base/env.h"
#include "transport/socket/ways.h"

#include "unit/check.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

enum { MOST = 8 };

static struct ifaddrs list[MOST];
static struct sockaddr_in names[MOST];

int __wrap_getifaddrs(struct ifaddrs **all);
int __wrap_getifaddrs(struct ifaddrs **all)
{
    *all = list;
    return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *all);
void __wrap_freeifaddrs(struct ifaddrs *all)
{
    CHECK(all == list);
}

/* Devices a, b, ... with the addresses 1, 2, ... */
static void make_devices(int count)
{
    static char letters[MOST][8];
    for (int i = 0; i < count; i++) {
        letters[i][0] = 'a';
        letters[i][1] = (char)('a' + i);
        names[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = (in_addr_t)i + 1};
        list[i] = (struct ifaddrs){.ifa_next = i + 1 < count ? &list[i + 1] : 0,
                                   .ifa_name = letters[i],
                                   .ifa_flags = IFF_UP,
                                   .ifa_addr = (struct sockaddr *)&names[i]};
    }
}

/* `wanted`: the addresses in the order of the ways. */
static bool found(const char *devices, const char *wanted)
{
    struct socket_place place = {0};
    setenv("UCX_NET_DEVICES", devices, 1);
    CHECK(ways_find(&place));
    bool same = place.ways == (int)strlen(wanted);
    for (int i = 0; same && i < (int)place.ways; i++)
        same = place.way[i].address[0] == wanted[i] - '0';
    return same;
}

int main(void)
{
    const char *why = "";
    CHECK(env_load(&why) == 0);
    make_devices(3);
    CHECK(found("none", "123"));
    CHECK(found("ac", "312"));
    CHECK(found("ab,ac", "231"));
    make_devices(8);
    CHECK(found("none", "1234"));
    CHECK(found("ah", "8123"));
    CHECK(found("af:1,ag:1", "6712"));
    CHECK(found("ae,af,ag,ah", "5678"));
    list[1].ifa_flags = 0; /* down */
    list[2].ifa_flags |= IFF_LOOPBACK;
    list[3].ifa_addr = 0;
    CHECK(found("ad", "1567"));
    return 0;
}
