/* Messages over TCP, with nothing between the library and the kernel's sockets.
 *
 *   tcp.c         workers and the slots of transport.h
 *   peer.c        who is connected to whom
 *   out.c, in.c   sending, receiving
 *   event.c       what the owner is told, and what epoll is asked for
 *
 * Each worker has a listener (net/auth) and one connection to each worker that it talks to, which serves both directions, so that
 * answers carry the acknowledgements. When two workers call each other at the same time, the call of the lower PE counts.
 *
 * On the wire a message is a word, its header, and its data; the word is TCP_WORD(bytes of data, bytes of the header). So all
 * messages of a connection arrive in the order of sending.
 *
 * A poll reads from the connection that brought the last message, and only now and then asks epoll for the others. So with one busy
 * peer a message costs one system call at its receiver.
 *
 * Threads: transport.h. Everything of a worker is under its lock. */
#ifndef NET_TCP_INNER_H
#define NET_TCP_INNER_H

#include "base/atomic.h"
#include "net/auth/auth.h"
#include "net/transport.h"

#include <stdbool.h>

#define TCP_HEADER ((size_t)4 << 10)   /* bytes of a header at most */
#define TCP_BUFFER ((size_t)128 << 10) /* bytes that are read at once; holds any message that is not long */
#define TCP_WORD(bytes, header_bytes) ((uint64_t)(bytes) << 16 | (uint64_t)(header_bytes))

struct worker {
    void *owner;
    int events;  /* the epoll descriptor */
    uint64_t id; /* random: names the worker to others */
    struct listener listener;
    struct routes here;
    struct peer *peers; /* all */
    struct peer *hot;   /* brought the last message; or null */
    uint32_t polls;     /* since epoll was asked */
    size_t queued;      /* messages that have not left */
    struct out *idle;
    char *buffer;      /* of TCP_BUFFER bytes; shared by connections that hold no part of a message */
    char *spare;       /* another one, or null */
    struct late *late; /* long data whose place is not known */
    struct worker *next;
};

/* A message that has not left as a whole. Header and data stay with the caller. */
struct out {
    uint64_t word;
    const void *header, *data;
    void *token;
    struct out *next;
};

/* Long data that is arriving, or has arrived before its place was known. */
struct late {
    struct worker *worker;
    size_t bytes, got;
    char *to;    /* its place; or `own` */
    char *own;   /* a buffer while the place is not known; else null */
    bool placed; /* the place is known */
    void *token; /* of receive, once it is placed */
    struct late *next;
};

struct peer {
    struct worker *worker;
    int pe;
    uint64_t id;         /* of the worker at the other end */
    int fd;              /* -1: not connected yet */
    struct dialer *call; /* null: no call is under way */
    struct peer *next;
    /* Sending: */
    struct out *first, **last;
    size_t left;  /* bytes of the first message that have left */
    bool blocked; /* epoll tells when more can leave */
    /* Receiving: */
    char *part;        /* a buffer of TCP_BUFFER bytes with the beginning of a message; or null */
    size_t held;       /* bytes in it */
    struct late *rest; /* is arriving; or null */
};

/* event.c. broken raises `broken`; `error` is of errno, or 0 when the other end has closed the connection. watch asks epoll for what
 * the connection brings, and while messages wait, for room. */
extern const struct transport_events *tcp_events;
extern int tcp_me, tcp_npes;
void tcp_peer_broken(struct peer *peer, int error);
void tcp_peer_watch(struct peer *peer);

/* What a worker publishes. */
struct tcp_address {
    struct routes routes;
    uint64_t id, key[2];
};

/* peer.c */
struct peer *tcp_peer_connect(struct worker *worker, int pe, const struct tcp_address *address);
bool tcp_peer_wants(void *worker, const struct handshake_hello *hello);
void tcp_peer_let_in(void *worker, int fd, const struct handshake_hello *hello);
/* Takes what epoll tells of a peer. Returns non-zero when something came in or has left. */
int tcp_peer_news(struct peer *peer, uint32_t what);
void tcp_peer_free(struct peer *peer);

/* out.c. push sends as much as the kernel takes, and returns the number of messages that have left. */
enum transport_status tcp_send(void *peer, const void *header, size_t header_bytes, const void *data, size_t bytes,
                               void *token);
int tcp_push(struct peer *peer);

/* in.c. Reads once, and raises `arrived` for what is there. Returns non-zero when something came in. */
int tcp_read(struct peer *peer);

/* in.c: the slot receive; and frees the long data that nobody has fetched. */
enum transport_status tcp_receive(void *worker, void *rest, void *into, size_t bytes, void *token);
void tcp_late_close(struct worker *worker);

#endif
