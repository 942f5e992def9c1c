/* What a transport has to do: carry messages between PEs of different nodes, reliably.
 *
 * A transport knows nothing of puts, atomics or counters. Those are built once, on messages, in
 * src/uccs/far*.c, and executed by the target's processor; so there is one atomicity domain on every
 * network, completion means the same everywhere, and a transport is small enough to be looked through.
 *
 * A transport is a module that is loaded when a peer is off the node; it exports one symbol,
 * `lateral_transport`, of type struct transport.
 *
 * Threads: the caller holds one lock around every slot but wait_on; events are raised inside of slots (progress,
 * send, receive) on the calling thread, under that lock. An event may call send, receive and connect.
 *
 * Order: the headers of messages to one peer arrive in the order of sending when the data is short;
 * longer ones may arrive later than their successors. The caller numbers what must not overtake. */
#ifndef TRANSPORT_TRANSPORT_H
#define TRANSPORT_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

/* One that has arrived. Header and data are valid during the event only. */
struct transport_message {
    const void *header;
    size_t header_bytes;
    const void *data; /* null while `rest` holds the data back */
    size_t bytes;
    void *rest; /* data that is still at the sender: fetch it with receive, now or later; else null */
};

struct transport_events {
    void (*arrived)(const struct transport_message *message);
    void (*finished)(void *token, int failed); /* of a send or receive that returned PENDING */
    void (*broken)(int pe, const char *why);   /* the connection to the PE is lost */
};

enum transport_status { TRANSPORT_DONE = 0, TRANSPORT_PENDING = 1, TRANSPORT_FAILED = -1 };

struct transport {
    const char *name;

    /* Null, or why it cannot work here (static storage). */
    const char *(*open)(const struct transport_events *events, int npes);
    /* Copies my address, at most *bytes long; *bytes becomes its length. 0, or -1 when it does not fit. */
    int (*address)(void *room, size_t *bytes);
    /* A peer to send to; null when that is impossible. Does not wait for it. */
    void *(*connect)(int pe, const void *address, size_t bytes);

    /* Header and data must stay until it is finished. DONE: they may be reused now; no event follows. */
    enum transport_status (*send)(void *peer, const void *header, size_t header_bytes, const void *data, size_t bytes,
                                  void *token);
    /* Moves the data of a message to where it belongs. DONE: it is there; no event follows. */
    enum transport_status (*receive)(void *rest, void *into, size_t bytes, void *token);

    /* Non-zero when something happened. */
    int (*progress)(void);

    /* A thread that wants to sleep until there is something to do: arm, and if that returns 1, wait until the
     * descriptor is readable; 0: there is something to do already. */
    int (*descriptor)(void);
    int (*arm)(void);

    /* 1 when everything that was sent has left this process; progresses. */
    int (*drained)(void);
    void (*close)(void);
};

#define TRANSPORT_SYMBOL "lateral_transport"

#endif
