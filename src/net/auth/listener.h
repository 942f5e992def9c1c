/* Accepts connections of other PEs of the job. A connection that has not passed the handshake is pending: at most `max_pending`
 * are kept, each for `seconds`, and a further one closes the oldest. A pending connection costs a descriptor.
 *
 * The owner has an epoll descriptor. The listener adds its descriptors there, and the owner passes their events on. One thread at a
 * time. */
#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include "net/auth/handshake.h"
#include "net/auth/routes.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define LISTENER_FULL_SECONDS 5
#define HANDSHAKE_CROSSED(proof) (~(proof)) /* the answer of a PE that dials the caller itself */

/* A connection that has not passed the handshake. */
struct listener_pending {
    int fd; /* -1: this entry is free */
    time_t since;
    struct handshake_challenge challenge;
    struct handshake_hello hello;
    size_t got; /* bytes of the hello received so far */
};

struct listener {
    int fd, timer;         /* -1: none; both are -1 before listener_open */
    uint32_t full_seconds; /* seconds in a row without a descriptor for a connection */
    struct listener_pending *pending;

    /* The owner sets these before listener_open. */
    int events;           /* the epoll descriptor */
    uint32_t max_pending; /* connections at most */
    uint32_t seconds;     /* for which one may be pending */
    uint64_t key[2];
    uint32_t me, npes;
    /* Returns false when the owner dials this PE itself and wants no second connection; the caller is told. Null: it wants all. */
    bool (*wants)(void *owner, const struct handshake_hello *hello);
    /* A connection has passed the handshake. The descriptor is the owner's; it is in `events` with a mark of the listener, for reading. */
    void (*accepted)(void *owner, int fd, const struct handshake_hello *hello);
    /* For LISTENER_FULL_SECONDS no connection could be accepted, since the process has no descriptor left. Null: ignore that. */
    void (*out_of_descriptors)(void *owner);
    void *owner;
};

/* Listens, and stores the port in *mine. Returns 0; -1: nobody can connect. The caller calls listener_close in either case. */
int listener_open(struct listener *listener, struct routes *mine);
/* Takes an event of the epoll descriptor. Returns false when the mark is not of this listener. */
bool listener_event(struct listener *listener, const void *mark);
/* Closes the socket and what is pending. */
void listener_close(struct listener *listener);

#endif
