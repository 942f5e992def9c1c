/* Doors and calls, of any interface and of a chosen one. */
#ifndef TESTS_PARTS_TRANSPORT_WAYS_SOCKETS_OPEN_H
#define TESTS_PARTS_TRANSPORT_WAYS_SOCKETS_OPEN_H

static struct socket_way way_to(const char *address)
{
    struct socket_way way = {.six = strchr(address, ':') != 0};
    CHECK(inet_pton(way.six ? AF_INET6 : AF_INET, address, way.address) == 1);
    return way;
}

/* One call after the other fails: the socket is closed, and the place has no port. */
static void doors_fail(struct socket_place *place, const char *bound, int fd)
{
    bool *const fails[] = {&no_bind, &no_listen, &no_name};
    for (int i = 0; i < 3; i++) {
        char calls[200];
        int length = snprintf(calls, sizeof calls, "%s", bound);
        if (i >= 1)
            length += snprintf(calls + length, sizeof calls - (size_t)length, "listen %d;", fd);
        if (i == 2)
            length += snprintf(calls + length, sizeof calls - (size_t)length, "name %d;", fd);
        snprintf(calls + length, sizeof calls - (size_t)length, "close %d;", fd);
        place->port = 0;
        *fails[i] = true;
        CHECK(ways_door(place) == -1 && place->port == 0);
        CHECK(did(calls));
        *fails[i] = false;
    }
}

/* At all addresses: by a socket of the sixth version that takes the fourth as well, or by what the kernel knows. */
static void doors(void)
{
    struct socket_place place = {.ways = 2};
    given_port = 0xabcd;
    for (int fd = 0; fd < 2; fd++) {
        char calls[200], bound[100];
        new_six = fd, new_four = 50;
        snprintf(bound, sizeof bound, "socket 6;only six %d 0;bind %d ::/0;", fd, fd);
        snprintf(calls, sizeof calls, "%slisten %d;name %d;", bound, fd, fd);
        CHECK(ways_door(&place) == fd && ntohs(place.port) == 0xabcd && did(calls) && place.ways == 2);
        doors_fail(&place, bound, fd);
        new_six = -1, new_four = fd;
        snprintf(bound, sizeof bound, "socket 6;socket 4;bind %d 0.0.0.0/0;", fd);
        snprintf(calls, sizeof calls, "%slisten %d;name %d;", bound, fd, fd);
        CHECK(ways_door(&place) == fd && ntohs(place.port) == 0xabcd && did(calls));
        doors_fail(&place, bound, fd);
    }
    new_six = new_four = -1;
    place.port = 0;
    CHECK(ways_door(&place) == -1 && did("socket 6;socket 4;") && place.port == 0);
}

/* At the one way of the chosen interface. */
static void chosen_doors(void)
{
    struct socket_place place = {.ways = 1, .way = {way_to("10.1.2.3")}};
    setenv("LATERAL_INTERFACE", "ia", 1);
    new_six = 60, new_four = 0;
    CHECK(ways_door(&place) == 0 && ntohs(place.port) == 0xabcd);
    CHECK(did("socket 4;bind 0 10.1.2.3/0;listen 0;name 0;"));
    doors_fail(&place, "socket 4;bind 0 10.1.2.3/0;", 0);
    place.way[0] = way_to("fd00::1:2");
    CHECK(ways_door(&place) == 60 && did("socket 6;bind 60 fd00::1:2/0;listen 60;name 60;"));
    place.port = 0, new_six = -1;
    CHECK(ways_door(&place) == -1 && did("socket 6;") && place.port == 0);
    unsetenv("LATERAL_INTERFACE");
}

static void calls(void)
{
    const struct socket_place mine = {.ways = 1, .way = {way_to("10.1.2.9")}};
    const struct socket_place place = {.port = htons(4711), .ways = 2, .way = {way_to("10.1.2.3"), way_to("fd00::5")}};
    new_four = 0, new_six = 70;
    for (int at_once = 0; at_once < 2; at_once++) {
        connect_error = at_once ? 0 : EINPROGRESS;
        CHECK(ways_call(&place, 0, &mine) == 0 && did("socket 4;connect 0 10.1.2.3/4711;"));
        CHECK(ways_call(&place, 1, &mine) == 70 && did("socket 6;connect 70 fd00::5/4711;"));
    }
    connect_error = ECONNREFUSED;
    CHECK(ways_call(&place, 0, &mine) == -1 && did("socket 4;connect 0 10.1.2.3/4711;close 0;"));
    new_four = -1;
    CHECK(ways_call(&place, 0, &mine) == -1 && did("socket 4;"));
}

/* From the one way of the chosen interface, to ways of its kind. */
static void chosen_calls(void)
{
    struct socket_place mine = {.port = htons(99), .ways = 1, .way = {way_to("10.1.2.9")}};
    const struct socket_place place = {.port = htons(4711), .ways = 2, .way = {way_to("10.1.2.3"), way_to("fd00::5")}};
    setenv("LATERAL_INTERFACE", "ia", 1);
    new_four = 0, new_six = 70, connect_error = EINPROGRESS;
    CHECK(ways_call(&place, 0, &mine) == 0 && did("socket 4;bind 0 10.1.2.9/0;connect 0 10.1.2.3/4711;"));
    CHECK(ways_call(&place, 1, &mine) == -1 && did("socket 6;close 70;"));
    no_bind = true;
    CHECK(ways_call(&place, 0, &mine) == -1 && did("socket 4;bind 0 10.1.2.9/0;close 0;"));
    no_bind = false;
    for (mine.ways = 0; mine.ways <= 2; mine.ways += 2)
        CHECK(ways_call(&place, 0, &mine) == -1 && did("socket 4;close 0;"));
    mine = (struct socket_place){.ways = 1, .way = {way_to("fd00::9")}};
    CHECK(ways_call(&place, 0, &mine) == -1 && did("socket 4;close 0;"));
    CHECK(ways_call(&place, 1, &mine) == 70 && did("socket 6;bind 70 fd00::9/0;connect 70 fd00::5/4711;"));
    unsetenv("LATERAL_INTERFACE");
}

#endif
