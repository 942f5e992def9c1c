/* A call of another PE's listener (listener.h): tries the ways of its place one after the other, and proves itself there. It does not
 * wait: the owner puts its descriptor into an epoll and gives the call its news. One thread at a time. */
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
    DIALER_CROSSED,         /* the called PE calls this one itself */
    DIALER_FAILED,          /* no way leads there */
};

struct dialer {
    enum dialer_state state;
    int fd;    /* -1: none. It is in the epoll with the owner's mark, for reading once the connection is made */
    int next;  /* number of the next way to try */
    int tries; /* times that the called PE has hung up before it answered */
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

/* Begins the call. Its state is DIALER_CONNECTS or DIALER_FAILED afterwards. */
void dialer_start(struct dialer *dialer);
/* Takes the news of the call's descriptor; call it in the first three states. */
void dialer_event(struct dialer *dialer);
/* Gives the call up; its state becomes DIALER_CROSSED or DIALER_FAILED. */
void dialer_stop(struct dialer *dialer, enum dialer_state state);

#endif
