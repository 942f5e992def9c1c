#include "rte/pmi_call.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Names of hosts are resolved in programs that are linked with shared libraries alone: the linker warns of getaddrinfo in
 * others, as that loads libraries at run time. Launchers give numbers there too. */
#pragma weak getaddrinfo
#pragma weak freeaddrinfo

/* Returns a connected socket, or -1. */
static int call_address(const struct sockaddr *address, socklen_t bytes)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, address, bytes) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int call_number(const char *host, const char *port)
{
    struct sockaddr_in old = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    struct sockaddr_in6 new = {.sin6_family = AF_INET6, .sin6_port = old.sin_port};
    if (inet_pton(AF_INET, host, &old.sin_addr) == 1)
        return call_address((struct sockaddr *)&old, sizeof old);
    if (inet_pton(AF_INET6, host, &new.sin6_addr) == 1)
        return call_address((struct sockaddr *)&new, sizeof new);
    return -1;
}

static int call_name(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = 0;
    if (!getaddrinfo || getaddrinfo(host, port, &hints, &found) != 0)
        return -1;
    int fd = -1;
    for (struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = call_address(at->ai_addr, at->ai_addrlen);
    freeaddrinfo(found);
    return fd;
}

int pmi_call(const char *port)
{
    char host[256];
    const char *colon = strrchr(port, ':');
    if (!colon || colon == port || colon - port >= (int)sizeof host)
        return -1;
    snprintf(host, sizeof host, "%.*s", (int)(colon - port), port);
    int fd = call_number(host, colon + 1);
    return fd >= 0 ? fd : call_name(host, colon + 1);
}
