/* The routes to a PE, addresses of its host, and the sockets by which PEs listen and connect. No state. */
#ifndef NET_ROUTES_H
#define NET_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

#define ROUTES_MAX 4
#define ROUTES_HOST 48

/* How a PE can be reached; it publishes that to the other PEs. */
struct routes {
    uint16_t port; /* in network byte order; 0: the PE cannot be reached */
    uint8_t count;
    char host[ROUTES_HOST]; /* its host's name, for people */
    struct route {
        uint8_t six; /* IPv6 */
        uint8_t address[16];
    } route[ROUTES_MAX];
};

/* Finds the routes to this PE, best first; there may be none. LATERAL_INTERFACE leaves one, of that interface.
 * Returns false when it names no interface that is up and has an address. */
bool routes_find(struct routes *mine);

/* Makes loopback the one route: jobs on one machine need no network. */
void routes_use_loopback(struct routes *mine);

/* Listens for calls: at the one route of LATERAL_INTERFACE, else at all addresses. Stores the port. Returns the
 * descriptor, or -1. */
int routes_listen(struct routes *mine);

/* Begins to connect by one of the routes, from the interface of LATERAL_INTERFACE if there is one. Returns the descriptor,
 * or -1. */
int routes_connect(const struct routes *routes, int number, const struct routes *mine);

#endif
