/* The interface of a transport, which carries messages between PEs of different nodes, reliably.
 *
 * A transport knows nothing of counters, signals or contexts. src/uccs/proto builds those once, on messages, and the
 * target's processor executes them; so there is one atomicity domain on every network, and a transport is small enough
 * to be read as a whole. A transport whose network reads and writes memory of peers by itself may also offer that: the
 * one-sided slots below. docs/internals/onesided.md says when the library uses them.
 *
 * A transport is a module that is loaded when a peer is off the node; it exports one symbol,
 * `lateral_transport`, of type struct transport.
 *
 * Workers are independent ends of communication of one process, each with connections of its own. A message sent to the
 * address of a worker arrives on that worker, so a process may use a worker for sending alone, with few answers.
 *
 * Threads: the caller holds the lock of a worker around every slot that names the worker, or a connection of it; slots of
 * different workers run at the same time. One thread at a time calls open_worker. No other slot runs during open or
 * close. Slots (progress, send, receive, drained) raise events on the calling thread, under the lock of their worker. An
 * event may call send, receive and connect of its worker.
 *
 * Order: messages with at most TRANSPORT_SHORT bytes of data arrive at a peer in the order of sending; a longer one may
 * arrive later than its successors. The caller numbers messages that must not overtake others. (UCX keeps that order
 * of eager messages, which the module asks for, without promising it: what leaves an endpoint at once takes one worker of it, as
 * its matching of tags needs. net/testing/fault delays all that it may delay.)
 *
 * Failure: for each failure after a connection is made, the transport raises `broken`, or reports the failure to the
 * failed call. */
#ifndef NET_TRANSPORT_H
#define NET_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_SHORT ((size_t)32 << 10)
#define TRANSPORT_BULK ((size_t)8 << 10) /* see TRANSPORT_CHEAPER */

/* A message that has arrived. Header and data are valid during the event only. */
struct transport_message {
    const void *header;
    size_t header_bytes;
    const void *data; /* null while `rest` holds the data back */
    size_t bytes;
    void *rest; /* data that is still at the sender: fetch it with receive, now or later; else null */
};

/* `owner` is the argument of open_worker. */
struct transport_events {
    void (*arrived)(void *owner, const struct transport_message *message);
    void (*finished)(void *token, int failed);            /* of a send or receive that returned PENDING */
    void (*broken)(void *owner, int pe, const char *why); /* the connection to the PE is lost */
};

enum transport_status { TRANSPORT_DONE = 0, TRANSPORT_PENDING = 1, TRANSPORT_FAILED = -1 };

/* What the one-sided operations of a connection can do. */
enum transport_able {
    TRANSPORT_ONESIDED = 1,      /* there are such operations to this peer, maybe emulated by messages */
    TRANSPORT_ALONE = 2,         /* put and get complete without the processor of the target */
    TRANSPORT_ORDERS = 4,        /* `order` keeps puts and atomics to one peer in order */
    TRANSPORT_ATOMICS_ALONE = 8, /* atomics, too, complete without that processor */
    TRANSPORT_KNOWN = 16,        /* the connection is made, so what the set lacks it will never have */
    TRANSPORT_CHEAPER =
        32, /* gets, puts from TRANSPORT_BULK bytes on, and one put with its flush cost less than messages */
    TRANSPORT_COUNTS = 64,  /* the network counts puts: share_counting, counted */
    TRANSPORT_BEHIND = 128, /* a message arrives when the puts that started before it are in place */
};

/* Atomics of a connection. They are atomic to each other, through whatever connection they come, and not to the
 * processors' own. */
enum transport_atomic { TRANSPORT_SWAP, TRANSPORT_CSWAP, TRANSPORT_ADD, TRANSPORT_AND, TRANSPORT_OR, TRANSPORT_XOR };
#define TRANSPORT_ATOMICS_ALL ((1u << (TRANSPORT_XOR + 1)) - 1)

/* An atomic on a word of 4 or 8 bytes; operand and compare are in their first `size` bytes. */
struct transport_word {
    enum transport_atomic what;
    uint32_t size;
    uint64_t operand, compare;
};

#define TRANSPORT_KEY ((size_t)1 << 10) /* bytes of a key at most */

struct transport {
    const char *name;

    /* Returns null, or the reason why the transport cannot work here (static storage). `onesided`: set of enum
     * transport_able; the caller uses the one-sided slots of connections that can do one of these. */
    const char *(*open)(const struct transport_events *events, int pe, int npes, unsigned onesided);
    /* Opens a further worker and stores it in *worker. Returns null, or the reason why there can be none (static
     * storage). */
    const char *(*open_worker)(void *owner, void **worker);
    /* Copies the worker's address, at most *bytes long; *bytes becomes its length. Returns 0, or -1 when it does not
     * fit. */
    int (*address)(void *worker, void *room, size_t *bytes);
    /* Connects the worker to the peer's worker with this address. Returns the connection; null when that is impossible.
     * Does not wait. */
    void *(*connect)(void *worker, int pe, const void *address, size_t bytes);

    /* Sends a message. Header and data must stay until `finished` is raised. After DONE they may be reused at once, and
     * no event follows. */
    enum transport_status (*send)(void *peer, const void *header, size_t header_bytes, const void *data, size_t bytes,
                                  void *token);
    /* Moves the data of a message that arrived on the worker to `into`. After DONE it is there, and no event follows. */
    enum transport_status (*receive)(void *worker, void *rest, void *into, size_t bytes, void *token);

    /* Makes progress. Returns 0 when nothing happened, else another number. */
    int (*progress)(void *worker);

    /* For a thread that wants to sleep until there is something to do. It calls arm. When arm returns 1, it waits until
     * the descriptor is readable. When arm returns 0, there is something to do already. */
    int (*descriptor)(void *worker);
    int (*arm)(void *worker);

    /* Makes progress. Returns 1 when everything sent on the worker has left this process, else 0. */
    int (*drained)(void *worker);
    /* Closes all workers and the transport. */
    void (*close)(void);

    /* --- One-sided operations. All of these slots are null in a transport that has none. No key and no piece of shared
     * memory is in use when close is called; those that are left end with it.
     *
     * Completion: DONE, or `finished`, tells the origin that it may reuse the source of a put, or that the data of a get
     * is there. That a put is in the target's memory is known only when a flush that was
     * started later is done. A failed operation (the target has withdrawn the memory) need not break the connection. A put
     * may fail after its source was free; then the next flush that covers it fails.
     *
     * Order: none between these operations, nor between them and messages (TRANSPORT_BEHIND apart), unless a flush is done or `order`
     * has been called in between. The network stores aligned elements of 1, 2, 4 and 8 bytes whole. */

    /* Returns a set of enum transport_able; 0 while the connection is under way. */
    unsigned (*able)(void *peer);
    /* Lets peers that have the memory's key access it. Returns null when that is impossible. One thread at a time calls
     * share, pack and withdraw, under the lock of any worker. */
    void *(*share)(void *start, size_t bytes);
    /* Copies the key of shared memory, at most *bytes long; *bytes becomes its length. Returns 0, or -1. */
    int (*pack)(void *shared, void *room, size_t *bytes);
    void (*withdraw)(void *shared);
    /* Like share, for puts alone, which the network counts as it stores them. Null, and so may be both slots, where it does not, or has
     * no counter left. The same memory may be shared so several times. */
    void *(*share_counting)(void *start, size_t bytes);
    /* Returns how many puts with the key of memory of share_counting are in place (acquire). A put is counted before its flush is
     * done. Any thread, without a lock, until withdraw. */
    uint64_t (*counted)(void *shared);
    /* Makes a packed key of the peer's memory usable on this connection. Returns null when the network cannot reach that
     * memory. */
    void *(*unpack)(void *peer, const void *key, size_t bytes);
    void (*forget)(void *key);
    /* `to` and `from` are addresses in the peer's process, within the memory of the key. */
    enum transport_status (*put)(void *peer, void *key, uint64_t to, const void *source, size_t bytes, void *token);
    enum transport_status (*get)(void *peer, void *key, uint64_t from, void *dest, size_t bytes, void *token);
    /* Returns the atomics that the connection has for words of `bytes` bytes, a bit (1 << enum transport_atomic) for each. Like
     * `able`, 0 while the connection is under way. */
    unsigned (*atomics)(void *peer, size_t bytes);
    /* Does an atomic on an aligned word in the memory of the key. `word` must stay until the end. `old` gets the old value;
     * then the end also tells that the operation is done at the target. `old` may be null for add, and, or, xor; then the end
     * tells no more than that of a put, and the operation counts as a put. */
    enum transport_status (*atomic)(void *peer, void *key, uint64_t at, const struct transport_word *word, void *old,
                                    void *token);
    /* Completes, at the target, what was started on the connection before. */
    enum transport_status (*flush)(void *peer, void *token);
    /* Puts and atomics that start later on the worker stay behind those that started before, per peer. */
    void (*order)(void *worker);
};

#define TRANSPORT_SYMBOL "lateral_transport"

#endif
