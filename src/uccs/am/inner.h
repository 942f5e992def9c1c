/* Functions that the files of this folder share. Any thread. */
#ifndef UCCS_AM_INNER_H
#define UCCS_AM_INNER_H

#include "rte/rte.h"
#include "uccs/am/am.h"
#include "uccs/proto/proto.h"

#include <string.h>

/* --- Handlers. Any thread may register a handler while threads in progress read it.
 *
 * `version` is odd while a thread writes. A reader that finds the same even version before and after has read one
 * registration. Its loads are acquire loads so that they stay between the two looks at the version; the writer's stores
 * are release stores so that none of them is seen before the odd version. */

/* Looks at `closed` first: uccs_handler_write opens an entry after it has taken the handler away, so who sees it open again sees that,
 * too. */
static inline bool uccs_handler_known(const struct uccs_handler *entry)
{
    return !atomic_load_acquire(&entry->closed) &&    /* release: uccs_handler_write, take_back */
           atomic_load_acquire(&entry->handler) != 0; /* release: uccs_handler_write */
}

static inline void uccs_handler_write(struct uccs_handler *entry, enum uccs_am_class cls, uccs_am_handler handler,
                                      void *argument)
{
    struct uccs_wait wait uccs_scoped = {0};
    uint32_t version = atomic_load_relaxed(&entry->version) & ~1u;
    while (!atomic_cas_acquire(&entry->version, &version, version + 1)) { /* release: the last writer */
        uccs_rest(&wait);
        version &= ~1u;
    }
    atomic_store_release(&entry->cls, (uint16_t)cls); /* these, acquire: uccs_handler_read, uccs_handler_known */
    atomic_store_release(&entry->argument, argument);
    atomic_store_release(&entry->handler, handler);
    atomic_store_release(&entry->closed, 0);
    atomic_store_release(&entry->version, version + 2); /* acquire: the next writer, uccs_handler_read */
}

/* Returns one registration. Its `handler` is null when no handler is registered. */
static inline struct uccs_handler uccs_handler_read(const struct uccs_handler *entry)
{
    struct uccs_wait wait uccs_scoped = {0};
    for (;;) {
        struct uccs_handler read = {.version = atomic_load_acquire(&entry->version)}; /* release: uccs_handler_write */
        read.cls = atomic_load_acquire(&entry->cls);
        read.argument = atomic_load_acquire(&entry->argument);
        read.handler = atomic_load_acquire(&entry->handler);
        if (lat_likely(!(read.version & 1) && atomic_load_relaxed(&entry->version) == read.version))
            return read;
        uccs_rest(&wait);
    }
}

/* --- Sending (send.c) */

/* A message on its way into a ring. Its owner fills in index, which, id, length, and payload or parts. */
struct uccs_sending {
    struct uccs_stream *stream; /* null: the library's own message */
    uint32_t index, context, which;
    bool nowait;
    struct uccs_message head;
    const void *payload; /* null: it is gathered from `parts`, which have head.length bytes together */
    const struct uccs_payload *parts;
    struct uccs_bounce *block;
    struct uccs_request *request; /* the block finishes it; may be null */
    /* As in struct uccs_bounce; `landed` may be null. */
    void (*landed)(struct uccs_bounce *block);
    void *cookie;
};

/* Begins a message without a payload. Leaves the cell's room for a payload as it is: zeroing it would take longer than the
 * rest. */
static inline void uccs_sending_start(struct uccs_sending *s, uint32_t index, uint32_t which, int id)
{
    s->index = index;
    s->which = which;
    s->nowait = false;
    s->head.length = 0;
    s->head.id = (uint16_t)id;
    s->head.counter = 0;
    s->head.weight = 0;
    s->payload = 0;
    s->parts = 0;
    s->block = 0;
    s->request = 0;
    s->landed = 0;
}

/* Sends a message. Copies its payload. Returns UCCS_OK; UCCS_AGAIN or an error, and then has no effect. */
int uccs_am_post(struct uccs_sending *sending, const struct uccs_context *context, const struct uccs_op *op);
/* Checks the arguments that all messages have. */
int uccs_am_check(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload,
                  size_t length, const struct uccs_op *op);
/* Sends a plain message, at most uccs_am_most() bytes, with arguments that have been checked. */
int uccs_am_send(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload,
                 size_t length, const struct uccs_op *op);
size_t uccs_am_most(void);

/* --- Receiving: contexts.c, payload.c, receive.c; progress.c calls them. */

/* Returns when no thread is in a handler that it began to run before the call. The caller is in none, and holds no lock that
 * handlers take. */
void uccs_am_quiesce(void);
/* Counts this thread among those that look at published contexts, until it leaves. */
uint32_t *uccs_am_enter(void);
void uccs_am_leave(uint32_t *inside);
/* Returns a bit for each published context; a hint, as uccs_am_published decides. */
uint64_t uccs_am_live(void);

/* Grows while threads of the program poll; the progress thread's own polls count too. */
uint64_t uccs_am_polls(void);

/* Ends the job with a line when a word of the message leads to no PE, handler, lane or memory. */
void uccs_cell_check(const struct uccs_message *message);

/* True for a message without a block that is right; false says nothing. */
static inline bool uccs_cell_is_plain(const struct uccs_message *message)
{
    return message->block == UCCS_NO_BLOCK && message->length <= UCCS_SHORT_MAX && !message->staged &&
           message->id < UCCS_MESSAGE_SLOTS && message->lane < PE_SHARED_SENDERS &&
           message->source - uccs_core.first < uccs_core.pes && !uccs_core.index_of;
}

/* Takes the next message out of a ring of this PE. Every process of the node can write there, so the words that lead to memory are
 * checked in the copy, before anything follows them. Returns false when there is none. */
static inline bool uccs_cell_take(struct ring *ring, struct uccs_message *message, uint64_t *ticket)
{
    const struct uccs_message *cell = ring_take(ring, ticket);
    if (!cell)
        return false;
    const uint32_t length = atomic_load_relaxed(&cell->length); /* read once: the cell may change */
    size_t bytes = offsetof(struct uccs_message, payload) + (length <= UCCS_SHORT_MAX ? length : 0);
    __asm__("" : "+r"(bytes)); /* a compiler that knows how few they may be copies them by slower instructions */
    memcpy(message, cell, bytes);
    ring_release(ring, *ticket);
    /* Behind the release, because what has just been copied can only be read when the copy is complete. */
    if (lat_unlikely(!uccs_cell_is_plain(message)))
        uccs_cell_check(message);
    return true;
}

/* Returns the block, at the sender, of a message of this node; null when it has none. */
struct uccs_bounce *uccs_am_block_of(const struct uccs_message *message);
/* Gives a block of this node back to its sender. */
void uccs_am_mark_done(struct uccs_bounce *block);

/* Handled messages of one sender and lane. One addition tells the sender of them. */
struct uccs_am_tally {
    uint32_t source, lane, count;
};
void uccs_am_count_handled(uint32_t context, struct uccs_am_tally *tally, const struct uccs_message *message);
void uccs_am_tell(uint32_t context, struct uccs_am_tally *tally);

/* Messages that a thread may handle besides replies of the network class. */
enum { UCCS_AM_REQUESTS = 1, UCCS_AM_USERS = 2 };

struct uccs_am_found {
    int users, own; /* handlers of the program run; messages of the library handled */
};
/* Polls the published contexts of the mask once, between uccs_am_enter and uccs_am_leave. The library's own context has network
 * requests alone. */
struct uccs_am_found uccs_am_look(int what, uint64_t contexts);
/* Returns true when a message waits whose handler only a thread of the program may run. */
bool uccs_am_user_waits(void);
/* Handles the library's messages alone: requests of peers to execute operations, and letters. Their handlers do not
 * wait. Returns how many it handled. */
int uccs_am_look_inner(void);

/* Of the progress thread: it wakes who sleeps on the descriptor of uccs_event_descriptor (event.c). */
extern struct uccs_progress_source uccs_event_source;

/* --- Unexpected messages (unexpected.c), by context and ring. They have been taken out of their ring and wait, because their
 * handler is not registered yet, or because they are replies of user class that came while only the network class was
 * served. They stay over the lives of a context, as the messages in its rings do. */

/* Number of unexpected messages of one ring, a hint; almost always 0. Release: unexpected.c. */
extern uint32_t uccs_unexpected_count[PE_SHARED_CONTEXTS][PE_SHARED_RINGS];

static inline bool uccs_unexpected_empty(uint32_t context, uint32_t which)
{
    return atomic_load_acquire(&uccs_unexpected_count[context][which]) == 0;
}

/* Keeps a message. `ticket` is its place in its ring. `copy` is a private copy of a payload that was in a block, or
 * null. */
void uccs_unexpected_add(uint32_t context, uint32_t which, uint64_t ticket, const struct uccs_message *message,
                         struct uccs_bounce *copy);

/* Takes the first message if its handler is registered by now. Returns false when there is none. The caller frees
 * *copy, which may be null. */
bool uccs_unexpected_take(struct uccs_context *context, uint32_t which, struct uccs_message *message,
                          struct uccs_bounce **copy);
/* Returns true when uccs_unexpected_take would find one. */
bool uccs_unexpected_is_ready(const struct uccs_context *context, uint32_t which);
/* Takes the first message. Returns false when there is none. */
bool uccs_unexpected_take_any(uint32_t context, uint32_t which, struct uccs_message *message,
                              struct uccs_bounce **copy);

/* --- Active messages between nodes (far.c).
 *
 * Data flow: send.c finds no ring for the peer and calls uccs_far_am_try, which takes a credit of the flow (peer,
 * context, ring number) and gives the message the flow's next number; the lane carries it (WIRE_AM). At the target the
 * transport's event makes a packet of it, fetching long payloads, and puts it into the queue of context and ring
 * number in the order of the numbers. receive.c takes packets out beside the rings, runs the handlers, and tells the
 * sender what has been handled (WIRE_AM_DONE): credits back, counts for flushes, blocks done.
 *
 * Invariants:
 * - A flow has at most FLOW_MESSAGES messages and FLOW_BYTES bytes (or one message) that are not handled. A slow
 *   receiver keeps at most these for each sender. Requests and replies of each class are flows of their own. A reply
 *   waits for replies alone, and a reply of user class for nothing: its receiver keeps all replies that it asked for.
 * - A credit comes back when the handler has returned, a block when its holder is done with it. So letters that nobody
 *   has taken yet delay no other message.
 * - The transport sends a payload from its block. The block is done when the peer has reported it done and the
 *   transport no longer uses it.
 * - Messages count as operations of the peer (issued, applied when queued), so a fence orders them behind puts, and a
 *   quiet means that they have arrived.
 * - The event holds the lane's lock and takes a queue's; who holds a queue's lock takes no other. */

/* A message that has arrived. The payload of a staged message follows it. */
struct uccs_far_packet {
    struct uccs_far_packet *next;
    uint64_t number; /* in its flow */
    uint64_t token;  /* of the sender's block; 0: it has none */
    struct uccs_message message;
    uint16_t context;
    uint8_t which;
    struct uccs_bounce block; /* for hold and done */
};

/* Handled messages of one sender and lane, told in one message. */
struct uccs_far_tally {
    int to;
    uint32_t context, which, lane, count;
    uint64_t bytes;
};

/* Number of packets in queues; relaxed, a hint. */
extern uint32_t uccs_far_am_waiting;

/* Sends a message on these lanes (null: the service lane). Returns false when there is no credit at the moment; then it
 * has done nothing. */
bool uccs_far_am_try(struct proto_worker_set *on, int pe, uint32_t context, uint32_t which,
                     const struct uccs_message *head, const void *payload, struct uccs_bounce *block);

/* Takes the first packet if its handler is registered by now; else returns null. */
struct uccs_far_packet *uccs_far_am_take(struct uccs_context *context, uint32_t which);
/* Returns true when uccs_far_am_take would find one. */
bool uccs_far_am_is_ready(const struct uccs_context *context, uint32_t which);
/* Takes the first packet, registered handler or not. Returns null when there is none. */
struct uccs_far_packet *uccs_far_am_take_any(uint32_t context, uint32_t which);
/* Returns a PE of another node that has not handled all messages of this PE in the context; -1 when there is none. */
int uccs_far_am_debtor(uint32_t context);

/* Returns the packet's block for the handler; null when it has none. */
static inline struct uccs_bounce *uccs_far_am_block(struct uccs_far_packet *packet)
{
    return packet->message.staged || packet->token ? &packet->block : 0;
}

/* Counts a message whose handler has returned, and frees its packet. `packet` is null when the handler holds the
 * packet. */
void uccs_far_am_handled(struct uccs_far_tally *tally, const struct uccs_message *message,
                         struct uccs_far_packet *packet);
void uccs_far_am_tell(struct uccs_far_tally *tally);

/* Ends the hold of a packet's block. */
void uccs_far_am_done(struct uccs_bounce *block);
/* Ends the handling of a pending message: counts it, and tells its sender. */
void uccs_far_am_end(struct uccs_bounce *block);

#endif
