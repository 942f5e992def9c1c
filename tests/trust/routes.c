/* The ways by which other hosts can call this PE: those of devices that the user has named for UCX come first, each in the
 * order in which the host lists them, and no more than there is room for. The host's list is this test's. And the sockets: of the
 * interface that the user has chosen, if there is one. */
#include "base/env.h"
#include "net/auth/routes.h"

#include "unit/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
    struct routes place = {0};
    setenv("UCX_NET_DEVICES", devices, 1);
    CHECK(routes_find(&place));
    bool same = place.count == (int)strlen(wanted);
    for (int i = 0; same && i < (int)place.count; i++)
        same = place.route[i].address[0] == wanted[i] - '0';
    return same;
}

/* An interface that the user has chosen: its first address alone, also when it is loopback, and none when it is down. */
static void chosen_interface(void)
{
    struct routes place = {0};
    make_devices(4);
    list[2].ifa_name = list[1].ifa_name; /* two addresses */
    setenv("LATERAL_INTERFACE", "ab", 1);
    CHECK(routes_find(&place) && place.count == 1 && place.route[0].address[0] == 2);
    list[1].ifa_flags |= IFF_LOOPBACK;
    place = (struct routes){0};
    CHECK(routes_find(&place) && place.count == 1 && place.route[0].address[0] == 2);
    list[1].ifa_flags = 0;
    place = (struct routes){0};
    CHECK(routes_find(&place) && place.count == 1 && place.route[0].address[0] == 3);
    list[2].ifa_flags = 0;
    place = (struct routes){0};
    CHECK(!routes_find(&place) && place.count == 0);
    setenv("LATERAL_INTERFACE", "none", 1);
    CHECK(!routes_find(&place) && place.count == 0);
    unsetenv("LATERAL_INTERFACE");
    CHECK(routes_find(&place) && place.count == 2);
}

/* Addresses of the sixth version, but for those that need the name of a link; no others. */
static void kinds(void)
{
    static struct sockaddr_in6 six[2] = {{.sin6_family = AF_INET6}, {.sin6_family = AF_INET6}};
    static struct sockaddr other = {.sa_family = AF_UNIX};
    struct routes place = {0};
    make_devices(4);
    CHECK(inet_pton(AF_INET6, "fe80::1", &six[0].sin6_addr) == 1 &&
          inet_pton(AF_INET6, "fd00::7", &six[1].sin6_addr) == 1);
    list[0].ifa_addr = (struct sockaddr *)&six[0];
    list[1].ifa_addr = (struct sockaddr *)&six[1];
    list[2].ifa_addr = &other;
    CHECK(routes_find(&place) && place.count == 2);
    CHECK(place.route[0].six == 1 && memcmp(place.route[0].address, &six[1].sin6_addr, 16) == 0);
    CHECK(place.route[1].six == 0 && place.route[1].address[0] == 4);
}

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 100; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static struct routes place_at(const char *address)
{
    struct routes place = {.count = 1};
    CHECK(inet_pton(AF_INET, address, place.route[0].address) == 1);
    return place;
}

static bool is_at(int fd, const char *address)
{
    struct sockaddr_in name;
    socklen_t bytes = sizeof name;
    struct in_addr wanted;
    CHECK(inet_pton(AF_INET, address, &wanted) == 1 && getsockname(fd, (struct sockaddr *)&name, &bytes) == 0);
    return name.sin_family == AF_INET && name.sin_addr.s_addr == wanted.s_addr;
}

/* Doors and calls from the chosen interface's address. */
static void sockets(void)
{
    const int before = open_files();
    struct routes there = place_at("127.0.0.5"), mine = place_at("127.0.0.6"), away = place_at("192.0.2.1");
    setenv("LATERAL_INTERFACE", "lo", 1);
    const int door = routes_listen(&there);
    CHECK(door >= 0 && there.port && is_at(door, "127.0.0.5") && routes_listen(&away) == -1 && !away.port);
    int call = routes_connect(&there, 0, &mine);
    CHECK(call >= 0 && is_at(call, "127.0.0.6"));
    close(call);
    mine.count = 2;
    CHECK(routes_connect(&there, 0, &mine) == -1);
    mine.count = 0;
    CHECK(routes_connect(&there, 0, &mine) == -1);
    mine.count = 1;
    mine.route[0].six = 1;
    CHECK(routes_connect(&there, 0, &mine) == -1);
    CHECK(routes_connect(&there, 0, &away) == -1); /* no address of this host */
    unsetenv("LATERAL_INTERFACE");
    call = routes_connect(&there, 0, &mine);
    CHECK(call >= 0 && !is_at(call, "127.0.0.6"));
    close(call);
    close(door);
    struct routes any = {0};
    const int everywhere = routes_listen(&any);
    CHECK(everywhere >= 0 && any.port);
    there.port = any.port;
    call = routes_connect(&there, 0, &mine);
    CHECK(call >= 0);
    close(call);
    close(everywhere);
    CHECK(open_files() == before);
}

/* In a program with a closed standard input: any number is good for a door, and is free again when it cannot be opened. */
static void lowest_number(void)
{
    struct routes there = place_at("127.0.0.5"), away = place_at("192.0.2.1");
    const int input = dup(0);
    setenv("LATERAL_INTERFACE", "lo", 1);
    close(0);
    CHECK(routes_listen(&away) == -1 && fcntl(0, F_GETFD) == -1);
    CHECK(routes_listen(&there) == 0 && there.port);
    CHECK(routes_connect(&there, 0, &there) > 0);
    unsetenv("LATERAL_INTERFACE");
    CHECK(dup2(input, 0) == 0);
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
    unsetenv("UCX_NET_DEVICES");
    unsetenv("LATERAL_INTERFACE");
    chosen_interface();
    kinds();
    sockets();
    lowest_number();
    return 0;
}
