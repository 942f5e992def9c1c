/* The door at which other PEs of the job call this one. Anybody may call: who has not proved that he knows the key is a
 * *guest*. There are so many of them at most, each for some seconds; one more makes the oldest leave. A guest costs a
 * descriptor, and nothing once it is gone.
 *
 * The owner has an epoll descriptor. The door puts its own descriptors there and takes their news. One thread at a time. */
#ifndef TRANSPORT_SOCKET_DOOR_H
#define TRANSPORT_SOCKET_DOOR_H

#include "transport/socket/proof.h"
#include "transport/socket/ways.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define DOOR_RESTS 5
#define DOOR_LATER(proof) (~(proof)) /* the answer of a PE that calls the caller itself */

/* A caller that has not proved itself yet. */
struct door_guest {
    int fd; /* -1: nobody */
    time_t since;
    struct proof_challenge challenge;
    struct proof_hello hello;
    size_t got; /* bytes of the hello received so far */
};

struct door {
    int fd, timer;  /* -1: none; both are -1 before door_open */
    uint32_t rests; /* seconds in a row without a descriptor for a caller */
    struct door_guest *guests;

    /* The owner sets these before door_open. */
    int events;       /* the epoll descriptor */
    uint32_t places;  /* number of guests at most */
    uint32_t seconds; /* for which a guest may stay */
    uint64_t key[2];
    uint32_t me, npes;
    /* Returns false when the owner wants no call of this PE, since it calls the PE itself; the caller learns that. Null: it wants
     * all. */
    bool (*wants)(void *owner, const struct proof_hello *hello);
    /* A caller has proved itself. The descriptor is the owner's now; it is in `events` with a mark of the door, for reading. */
    void (*let_in)(void *owner, int fd, const struct proof_hello *hello);
    /* For so many seconds callers could not be let in, since the process has no descriptor left. Null: that may be. */
    void (*full)(void *owner);
    void *owner;
};

/* Listens for calls and stores the port in the place. Returns 0, or -1; then nobody can call. door_close follows in any case. */
int door_open(struct door *door, struct socket_place *mine);
/* Takes news of the door. Returns false when the mark is none of the door's. */
bool door_news(struct door *door, const void *mark);
void door_close(struct door *door);

#endif
