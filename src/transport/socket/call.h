/* A call of another PE's door (door.h): tries the ways of its place one after the other, and proves itself there. It does not
 * wait: the owner puts its descriptor into an epoll and gives the call its news. One thread at a time. */
#ifndef TRANSPORT_SOCKET_CALL_H
#define TRANSPORT_SOCKET_CALL_H

#include "transport/socket/proof.h"
#include "transport/socket/ways.h"

#include <stddef.h>

enum call_state {
    CALL_RINGS, /* the connection is being made */
    CALL_HEARS, /* and awaits the challenge of the called PE */
    CALL_ASKS,  /* has answered, and awaits the called PE's proof */
    CALL_UP,    /* both have proved themselves; the descriptor is the owner's */
    CALL_LATER, /* the called PE calls this one itself */
    CALL_OVER,  /* no way leads there */
};

struct call {
    enum call_state state;
    int fd;    /* -1: none. It is in the epoll with the owner's mark, for reading once the connection is made */
    int way;   /* number of the next way to try */
    int tries; /* times that the called PE has hung up before it answered */
    struct proof_hello hello;
    union {
        struct proof_challenge challenge; /* of the called PE */
        uint64_t answer;
    } heard;
    size_t got;      /* bytes of it so far */
    uint64_t wanted; /* the answer of a PE of this job */

    /* The owner sets these before call_begin. */
    int events; /* the epoll descriptor */
    void *mark;
    uint64_t key[2];
    uint32_t me, pe;
    uint64_t word; /* goes along in the hello */
    struct socket_place place, here;
};

/* Begins the call. Its state is CALL_RINGS or CALL_OVER afterwards. */
void call_begin(struct call *call);
/* Takes the news of the call's descriptor; call it in the first three states. */
void call_news(struct call *call);
/* Gives the call up; its state becomes CALL_LATER or CALL_OVER. */
void call_end(struct call *call, enum call_state state);

#endif
