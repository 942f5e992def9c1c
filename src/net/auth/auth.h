/* How PEs dial each other over TCP and prove who they are: routes, handshake, dialer, listener. */
#ifndef NET_AUTH_H
#define NET_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The routes to a PE, addresses of its host, and the sockets by which PEs listen and connect. No state. */

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

/* How the two ends of a connection prove that they are of one job, without telling its key: each hashes a fresh challenge of
 * the other, so what was heard on the wire is of no use later. The words of caller and called PE differ, so neither can
 * be had by calling back. Any thread. */

struct handshake_challenge {
    uint64_t words[2]; /* random */
};

/* What a caller answers to the challenge of the called PE. */
struct handshake_hello {
    uint32_t from, to; /* PEs */
    uint64_t word;     /* of the caller's choice; 0: none */
    struct handshake_challenge challenge;
    uint64_t proof;
};

/* Makes a challenge. Returns false when the kernel has no random numbers. */
bool handshake_make_challenge(struct handshake_challenge *challenge);
/* Fills in the proof of a hello. `theirs` is the challenge of the called PE. */
void handshake_sign(const uint64_t key[2], struct handshake_hello *hello, const struct handshake_challenge *theirs);
/* Returns true when the caller knows the key and means PE `me`. `mine` is the challenge that it was given. */
bool handshake_verify(const uint64_t key[2], const struct handshake_hello *hello,
                      const struct handshake_challenge *mine, uint32_t me, uint32_t npes);
/* Returns what the called PE answers to a hello, and what the caller expects. `called` is the called PE's challenge. */
uint64_t handshake_answer(const uint64_t key[2], const struct handshake_hello *hello,
                          const struct handshake_challenge *called);

/* Connects to the listener of another PE: tries its routes one after the other, and passes the handshake. It does not wait: the owner
 * passes on the events of its descriptor, which is in the owner's epoll. One thread at a time. */

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

/* Accepts connections of other PEs of the job. A connection that has not passed the handshake is pending: at most `max_pending`
 * are kept, each for `seconds`, and a further one closes the oldest. A pending connection costs a descriptor.
 *
 * The owner has an epoll descriptor. The listener adds its descriptors there, and the owner passes their events on. One thread at a
 * time. */

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
