/* The listener at which other PEs of the job call this one. Anybody may call: who has not proved that he knows the key is a
 * *pending*. There are so many of them at most, each for some seconds; one more makes the oldest leave. A pending costs a
 * descriptor, and nothing once it is gone.
 *
 * The owner has an epoll descriptor. The listener puts its own descriptors there and takes their news. One thread at a time. */
#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include "net/auth/handshake.h"
#include "net/auth/routes.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define LISTENER_FULL_SECONDS 5
#define HANDSHAKE_CROSSED(proof) (~(proof)) /* the answer of a PE that calls the caller itself */

/* A caller that has not proved itself yet. */
struct listener_pending {
    int fd; /* -1: nobody */
    time_t since;
    struct handshake_challenge challenge;
    struct handshake_hello hello;
    size_t got; /* bytes of the hello received so far */
};

struct listener {
    int fd, timer;         /* -1: none; both are -1 before listener_open */
    uint32_t full_seconds; /* seconds in a row without a descriptor for a caller */
    struct listener_pending *pending;

    /* The owner sets these before listener_open. */
    int events;           /* the epoll descriptor */
    uint32_t max_pending; /* number of guests at most */
    uint32_t seconds;     /* for which a pending may stay */
    uint64_t key[2];
    uint32_t me, npes;
    /* Returns false when the owner wants no call of this PE, since it calls the PE itself; the caller learns that. Null: it wants
     * all. */
    bool (*wants)(void *owner, const struct handshake_hello *hello);
    /* A caller has proved itself. The descriptor is the owner's now; it is in `events` with a mark of the listener, for reading. */
    void (*accepted)(void *owner, int fd, const struct handshake_hello *hello);
    /* For so many seconds callers could not be let in, since the process has no descriptor left. Null: that may be. */
    void (*out_of_descriptors)(void *owner);
    void *owner;
};

/* Listens for calls and stores the port in the place. Returns 0, or -1; then nobody can call. listener_close follows in any case. */
int listener_open(struct listener *listener, struct routes *mine);
/* Takes news of the listener. Returns false when the mark is none of the listener's. */
bool listener_event(struct listener *listener, const void *mark);
void listener_close(struct listener *listener);

#endif
