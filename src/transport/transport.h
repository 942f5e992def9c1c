/* What a transport has to do: carry messages between PEs of different nodes, reliably.
 *
 * A transport knows nothing of puts, atomics or counters. Those are built once, on messages, in
 * src/uccs/far*.c, and executed by the target's processor; so there is one atomicity domain on every
 * network, completion means the same everywhere, and a transport is small enough to be looked through.
 *
 * A transport is a module that is loaded when a peer is off the node; it exports one symbol,
 * `lateral_transport`, of type struct transport.
 *
 * Lanes: independent ends of communication of one process, each with connections of its own. What is sent to the
 * address of a lane arrives on that lane, so an end may be for sending alone, with few answers.
 *
 * Threads: the caller holds the lock of a lane around every slot that names the lane, or a connection of it; slots of
 * different lanes run at the same time. open_lane: one thread at a time; open and close: alone. Events are raised
 * inside of slots (progress, send, receive, drained) on the calling thread, under the lock of their lane. An event
 * may call send, receive and connect of its lane.
 *
 * Order: messages with at most TRANSPORT_SHORT bytes of data arrive at a peer in the order of sending; a longer one may
 * arrive later than its successors. The caller numbers what must not overtake. (UCX keeps that order without promising
 * it: what leaves an endpoint at once takes one lane of it, as its matching of tags needs. transport/fault delays all it may.)
 *
 * Failure: whatever goes wrong once a connection is made, `broken` follows, or the call that failed is told so. */
#ifndef TRANSPORT_TRANSPORT_H
#define TRANSPORT_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_SHORT ((size_t)32 << 10)

/* One that has arrived. Header and data are valid during the event only. */
struct transport_message {
    const void *header;
    size_t header_bytes;
    const void *data; /* null while `rest` holds the data back */
    size_t bytes;
    void *rest; /* data that is still at the sender: fetch it with receive, now or later; else null */
};

/* `owner` is what open_lane was given. */
struct transport_events {
    void (*arrived)(void *owner, const struct transport_message *message);
    void (*finished)(void *token, int failed);            /* of a send or receive that returned PENDING */
    void (*broken)(void *owner, int pe, const char *why); /* the connection to the PE is lost */
};

enum transport_status { TRANSPORT_DONE = 0, TRANSPORT_PENDING = 1, TRANSPORT_FAILED = -1 };

struct transport {
    const char *name;

    /* Null, or why it cannot work here (static storage). */
    const char *(*open)(const struct transport_events *events, int pe, int npes);
    /* A further lane; null, or why there can be none (static storage). Reached as *lane. */
    const char *(*open_lane)(void *owner, void **lane);
    /* Copies the lane's address, at most *bytes long; *bytes becomes its length. 0, or -1 when it does not fit. */
    int (*address)(void *lane, void *room, size_t *bytes);
    /* A way from my lane to the lane of a peer that has this address; null when that is impossible. Does not wait. */
    void *(*connect)(void *lane, int pe, const void *address, size_t bytes);

    /* Header and data must stay until it is finished. DONE: they may be reused now; no event follows. */
    enum transport_status (*send)(void *peer, const void *header, size_t header_bytes, const void *data, size_t bytes,
                                  void *token);
    /* Moves the data of a message that arrived on the lane to where it belongs. DONE: it is there; no event follows. */
    enum transport_status (*receive)(void *lane, void *rest, void *into, size_t bytes, void *token);

    /* Non-zero when something happened. */
    int (*progress)(void *lane);

    /* A thread that wants to sleep until there is something to do: arm, and if that returns 1, wait until the
     * descriptor is readable; 0: there is something to do already. */
    int (*descriptor)(void *lane);
    int (*arm)(void *lane);

    /* 1 when everything that was sent on the lane has left this process; progresses. */
    int (*drained)(void *lane);
    /* All lanes, and itself. */
    void (*close)(void);
};

#define TRANSPORT_SYMBOL "lateral_transport"

#endif
