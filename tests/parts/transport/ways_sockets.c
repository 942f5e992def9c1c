/* The ways of a host (transport/socket/ways.c): which addresses are ways, their order, what the user's choice leaves of them; and the
 * sockets of doors and calls: to which names they are bound, and that none stays open when a call fails. The host is made up. */
#include "transport/socket/ways.h"

#include "ways_host.h"

#include "transport/socket/ways.c"

/* `wanted`: the last bytes of the addresses in the order of the ways. */
static bool found(const char *wanted)
{
    struct socket_place place = {0};
    const int before = freed;
    CHECK(ways_find(&place) && freed == before + 1 && open_files == 0);
    bool same = place.ways == strlen(wanted) && !place.port;
    for (int i = 0; same && i < place.ways; i++) {
        const unsigned char address[16] = {10, 9, 8, (unsigned char)(wanted[i] - '0')};
        same = !place.way[i].six && memcmp(place.way[i].address, address, sizeof address) == 0;
    }
    return same;
}

/* The faster device first, those of the same speed in the host's order, those that the user has named for UCX before all. */
static void ranks(void)
{
    make_interfaces(3);
    CHECK(found("123"));
    speeds[1] = "10\n", speeds[2] = "1000\n";
    CHECK(found("321"));
    speeds[0] = "10\n";
    CHECK(found("312"));
    speeds[0] = "fast\n", speeds[1] = "-1\n"; /* as if there were no file */
    CHECK(found("312"));
    speeds[1] = "0\n";
    CHECK(found("321"));
    speeds[0] = "-2\n";
    CHECK(found("321"));
    speeds[0] = "100\n", speeds[1] = "90\n", speeds[2] = "80\n";
    CHECK(found("123"));
    speeds[0] = "5\n", speeds[1] = "9\n", speeds[2] = "7\n"; /* the second moves the first one's speed as well */
    CHECK(found("231"));
    speeds[0] = "4294967297\n", speeds[1] = "4294967296\n", speeds[2] = "70\n";
    CHECK(found("123"));
    setenv("UCX_NET_DEVICES", "mlx0:1,ib:1", 1);
    speeds[1] = 0;
    CHECK(found("213"));
    setenv("LATERAL_UCX_NET_DEVICES", "ia", 1); /* counts instead */
    CHECK(found("132"));
    setenv("LATERAL_UCX_NET_DEVICES", "", 1);
    speeds[1] = "4294967296\n";
    CHECK(found("123"));
    unsetenv("LATERAL_UCX_NET_DEVICES");
    unsetenv("UCX_NET_DEVICES");
    CHECK(found("123"));
}

/* More than there is room for: the best stay. */
static void most(void)
{
    make_interfaces(8);
    CHECK(found("1234"));
    speeds[7] = "5\n", speeds[5] = "7\n";
    CHECK(found("6812"));
    speeds[0] = "9\n", speeds[1] = "8\n", speeds[2] = "7\n", speeds[3] = "6\n";
    CHECK(found("1236"));
    speeds[4] = "6\n", speeds[6] = "6\n";
    CHECK(found("1236"));
    speeds[7] = "10\n";
    CHECK(found("8123"));
    speeds[7] = "7\n", speeds[5] = "1\n";
    CHECK(found("1238"));
    make_interfaces(1);
    CHECK(found("1"));
    make_interfaces(4);
    speeds[3] = "1\n";
    CHECK(found("4123"));
    make_interfaces(5);
    speeds[4] = "1\n";
    CHECK(found("5123"));
}

static struct sockaddr_in6 six_of(const char *address)
{
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_flowinfo = 5, .sin6_scope_id = 6};
    CHECK(inet_pton(AF_INET6, address, &name.sin6_addr) == 1);
    return name;
}

/* Not those that are down, loopback, without an address, of another kind, or of a link. */
static void kinds(void)
{
    struct sockaddr other = {.sa_family = AF_PACKET};
    struct sockaddr_in6 six = six_of("fd00::7"), link = six_of("fe80::7");
    struct socket_place place = {0};
    make_interfaces(5);
    list[0].ifa_flags = IFF_RUNNING;
    list[1].ifa_flags = IFF_UP | IFF_LOOPBACK;
    list[2].ifa_addr = 0;
    list[3].ifa_addr = &other;
    CHECK(found("5"));
    list[4].ifa_addr = (struct sockaddr *)&link;
    CHECK(found(""));
    list[4].ifa_addr = (struct sockaddr *)&six;
    memset(place.way, 0xee, sizeof place.way);
    CHECK(ways_find(&place) && place.ways == 1 && place.way[0].six == 1);
    CHECK(memcmp(place.way[0].address, &six.sin6_addr, 16) == 0 && place.way[1].six == 0xee);
}

/* The first address of the chosen interface, of the best device otherwise. */
static void choice(void)
{
    struct socket_place place = {0};
    make_interfaces(3);
    list[1].ifa_flags |= IFF_LOOPBACK;
    setenv("LATERAL_INTERFACE", "ib", 1);
    CHECK(found("2"));
    list[2].ifa_name = names[1];
    CHECK(found("2"));
    list[1].ifa_flags = 0;
    CHECK(found("3"));
    setenv("LATERAL_INTERFACE", "i", 1);
    CHECK(!ways_find(&place) && place.ways == 0);
    no_list = true;
    const int before = freed;
    setenv("LATERAL_INTERFACE", "ia", 1);
    CHECK(!ways_find(&place) && place.ways == 0 && freed == before);
    setenv("LATERAL_INTERFACE", "", 1); /* is none */
    CHECK(ways_find(&place) && place.ways == 0 && freed == before);
    no_list = false;
    CHECK(found("13"));
    unsetenv("LATERAL_INTERFACE");
    CHECK(found("13"));
}

#include "ways_sockets_open.h"

int main(void)
{
    unsetenv("LATERAL_INTERFACE");
    unsetenv("LATERAL_UCX_NET_DEVICES");
    unsetenv("UCX_NET_DEVICES");
    ranks();
    most();
    kinds();
    choice();
    doors();
    chosen_doors();
    calls();
    chosen_calls();
    return 0;
}
