#include "net/auth/auth.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The name of a socket of either kind. */
union name {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static socklen_t socket_name(const struct route *route, uint16_t port, union name *name)
{
    *name = (union name){.any.sa_family = route->six ? AF_INET6 : AF_INET};
    if (route->six) {
        name->six.sin6_port = port;
        memcpy(&name->six.sin6_addr, route->address, sizeof name->six.sin6_addr);
        return sizeof name->six;
    }
    name->four.sin_port = port;
    memcpy(&name->four.sin_addr, route->address, sizeof name->four.sin_addr);
    return sizeof name->four;
}

/* Returns the name of the interface that the user has chosen; empty: any. */
static const char *chosen_interface(void)
{
    const char *name = getenv("LATERAL_INTERFACE");
    return name ? name : "";
}

/* ---- addresses ---- */

/* Returns the rank of a network device; the highest rank is dialed first. Devices that the user has named for UCX rank
 * above all others, since they are the job's network; then the faster device ranks higher. */
static long rank_device(const char *name)
{
    char path[64 + IF_NAMESIZE];
    long speed = -1;
    const char *devices = getenv("UCX_NET_DEVICES");
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%ld", &speed) != 1)
        speed = -1;
    if (file)
        fclose(file);
    return speed + (devices && strstr(devices, name) ? 1L << 40 : 0);
}

/* Returns false for an address that no other host can reach: of another interface than the chosen one, loopback unless
 * it is chosen, and addresses that need the name of a link. */
static bool find_route(const struct ifaddrs *at, struct route *route)
{
    const union name *name = (const union name *)at->ifa_addr;
    const bool named = *chosen_interface() != 0;
    if (!name || !(at->ifa_flags & IFF_UP) ||
        (named ? strcmp(at->ifa_name, chosen_interface()) != 0 : (at->ifa_flags & IFF_LOOPBACK) != 0))
        return false;
    *route = (struct route){.six = name->any.sa_family == AF_INET6};
    if (name->any.sa_family == AF_INET)
        memcpy(route->address, &name->four.sin_addr, sizeof name->four.sin_addr);
    else if (route->six && !IN6_IS_ADDR_LINKLOCAL(&name->six.sin6_addr))
        memcpy(route->address, &name->six.sin6_addr, sizeof name->six.sin6_addr);
    else
        return false;
    return true;
}

static void insert_route(struct routes *mine, const struct route *route, long rank, long *ranks)
{
    int place = mine->count;
    while (place && ranks[place - 1] < rank)
        place--;
    if (place == ROUTES_MAX)
        return;
    int behind = mine->count < ROUTES_MAX ? mine->count++ : ROUTES_MAX - 1;
    memmove(&mine->route[place + 1], &mine->route[place], (size_t)(behind - place) * sizeof *route);
    memmove(&ranks[place + 1], &ranks[place], (size_t)(behind - place) * sizeof *ranks);
    mine->route[place] = *route;
    ranks[place] = rank;
}

bool routes_find(struct routes *mine)
{
    long ranks[ROUTES_MAX];
    struct ifaddrs *all;
    struct route route;
    const bool known = getifaddrs(&all) == 0;
    gethostname(mine->host, sizeof mine->host - 1);
    for (const struct ifaddrs *at = known ? all : 0; at; at = at->ifa_next)
        if (find_route(at, &route))
            insert_route(mine, &route, rank_device(at->ifa_name), ranks);
    if (known)
        freeifaddrs(all);
    if (!*chosen_interface())
        return true;
    mine->count = mine->count ? 1 : 0;
    return mine->count;
}

void routes_use_loopback(struct routes *mine)
{
    const uint32_t loopback = htonl(INADDR_LOOPBACK);
    mine->count = 1;
    mine->route[0] = (struct route){.six = 0};
    memcpy(mine->route[0].address, &loopback, sizeof loopback);
}

/* ---- sockets ---- */

/* Opens a socket for any address of either kind, or of the kind that the kernel knows. */
static int open_anywhere(union name *name, socklen_t *length)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), off = 0;
    const struct route any = {.six = fd >= 0};
    if (fd >= 0)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    else
        fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    *length = socket_name(&any, 0, name);
    return fd;
}

int routes_listen(struct routes *mine)
{
    union name name;
    socklen_t length;
    int fd;
    if (*chosen_interface()) {
        length = socket_name(&mine->route[0], 0, &name);
        fd = socket(name.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    } else {
        fd = open_anywhere(&name, &length);
    }
    if (fd < 0 || bind(fd, &name.any, length) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, &name.any, &length) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    mine->port = name.six.sin6_port; /* sockaddr_in has the port at the same place */
    return fd;
}

/* Connections leave by the chosen interface's address, too. */
static bool bind_here(int fd, const struct route *route, const struct routes *mine)
{
    union name name;
    if (!*chosen_interface())
        return true;
    if (mine->count != 1 || mine->route[0].six != route->six)
        return false;
    socklen_t length = socket_name(&mine->route[0], 0, &name);
    return bind(fd, &name.any, length) == 0;
}

int routes_connect(const struct routes *routes, int number, const struct routes *mine)
{
    union name to;
    const struct route *route = &routes->route[number];
    socklen_t length = socket_name(route, routes->port, &to);
    int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (!bind_here(fd, route, mine) || (connect(fd, &to.any, length) != 0 && errno != EINPROGRESS))) {
        close(fd);
        fd = -1;
    }
    return fd;
}
