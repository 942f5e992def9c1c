/* What the TCP module publishes of this host: the ways that it has found, or loopback where there is none. */
#include "../../src/transport/tcp/tcp.c"

#include "unit/check.h"

#include <string.h>

static int found; /* ways; -1: the chosen interface is not there */

bool __wrap_ways_find(struct socket_place *mine);
bool __wrap_ways_find(struct socket_place *mine)
{
    mine->ways = found > 0 ? (uint8_t)found : 0;
    for (int i = 0; i < found; i++)
        mine->way[i].address[0] = (unsigned char)(10 + i);
    return found >= 0;
}

static const char *open_with(int ways)
{
    static const struct transport_events events;
    found = ways;
    return tcp_open(&events, 1, 2, 0);
}

int main(void)
{
    static const unsigned char loopback[] = {127, 0, 0, 1};
    CHECK(!open_with(0) && here.ways == 1 && !here.way[0].six && memcmp(here.way[0].address, loopback, 4) == 0);
    CHECK(!open_with(1) && here.ways == 1 && here.way[0].address[0] == 10);
    CHECK(!open_with(2) && here.ways == 2 && here.way[0].address[0] == 10 && here.way[1].address[0] == 11);
    CHECK(tcp_me == 1 && tcp_npes == 2);
    const char *why = open_with(-1);
    CHECK(why && strstr(why, "LATERAL_INTERFACE names no network interface"));
    return 0;
}
