/* Connects to the listener of another PE: tries its routes one after the other, and passes the handshake. It does not wait: the owner
 * passes on the events of its descriptor, which is in the owner's epoll. One thread at a time. */
#ifndef NET_DIALER_H
#define NET_DIALER_H

#include "net/auth/handshake.h"
#include "net/auth/routes.h"

#include <stddef.h>

enum dialer_state {
    DIALER_CONNECTS,        /* the connection is being made */
    DIALER_READS_CHALLENGE, /* and awaits the challenge of the called PE */
    DIALER_READS_ANSWER,    /* has answered, and awaits the called PE's proof */
    DIALER_CONNECTED,       /* both have proved themselves; the descriptor is the owner's */
    DIALER_CROSSED,         /* the other PE dials this one itself */
    DIALER_FAILED,          /* no route leads there */
};

struct dialer {
    enum dialer_state state;
    int fd;           /* -1: none. It is in the epoll with the owner's mark, for reading once the connection is made */
    int next;         /* number of the next route */
    int tries;        /* connections that the other PE has closed before it answered */
    bool unreachable; /* a route has led nowhere: DIALER_FAILED does not say that the other process is gone */
    struct handshake_hello hello;
    union {
        struct handshake_challenge challenge; /* of the called PE */
        uint64_t answer;
    } heard;
    size_t got;      /* bytes of it so far */
    uint64_t wanted; /* the answer of a PE of this job */

    /* The owner sets these before dialer_start. */
    int events; /* the epoll descriptor */
    void *mark;
    uint64_t key[2];
    uint32_t me, pe;
    uint64_t word; /* goes along in the hello */
    struct routes to, from;
};

/* Starts. The state is DIALER_CONNECTS or DIALER_FAILED afterwards. */
void dialer_start(struct dialer *dialer);
/* Takes an event of the descriptor, in one of the first three states. */
void dialer_event(struct dialer *dialer);
/* Closes the descriptor. The state becomes DIALER_CROSSED or DIALER_FAILED, as the caller says. */
void dialer_stop(struct dialer *dialer, enum dialer_state state);

#endif
