/* What the files of this folder share. Any thread. */
#ifndef UCCS_AM_INNER_H
#define UCCS_AM_INNER_H

#include "uccs/am/am.h"
#include "uccs/core/wait_record.h"
#include "uccs/proto/proto.h"

#include <pthread.h>
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

/* --- Published contexts and the threads that look at them */

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

/* --- Rings */

void uccs_pe_shared_open_rings_slow(struct uccs_pe_shared *shared, uint32_t context);

/* Makes the rings of the context at that PE ready for use. */
static inline void uccs_pe_shared_open_rings(uint32_t index, uint32_t context)
{
    struct uccs_pe_shared *shared = uccs_pe_shared_of(index);
    if (lat_unlikely(atomic_load_acquire(&shared->open[context]) !=
                     PE_RINGS_OPEN)) /* release: uccs_pe_shared_open_rings_slow */
        uccs_pe_shared_open_rings_slow(shared, context);
}

/* --- Packets: messages that wait outside of the rings, by context and ring. Those of other nodes come as packets (far.c). A message of
 * this node becomes one when it is unexpected, because its handler is not registered yet, or because it is a reply of user class
 * that came while only the network class was served; such packets stay over the lives of a context, as the messages in its rings
 * do. Any thread. Who holds a queue's lock takes no other. */

struct uccs_packet {
    struct uccs_packet *next;
    uint64_t number; /* far: in its flow; near: its place in its ring */
    uint64_t token;  /* of the sender's block on another node; 0: it has none */
    struct uccs_message message;
    uint16_t context;
    uint8_t which;
    struct uccs_bounce block; /* for hold and done; the payload of a staged message follows it */
};

/* Returns a packet with room for a payload behind its block; the caller fills in number, token and message. Without memory it ends
 * the job. */
struct uccs_packet *uccs_packet_new(uint32_t source, uint32_t context, uint32_t which, size_t payload);

enum uccs_packet_side { UCCS_PACKETS_NEAR, UCCS_PACKETS_FAR };

extern struct uccs_packet_queue {
    cache_aligned pthread_mutex_t lock;
    struct uccs_packet *first, *last; /* `first`: release; acquire without the lock, a hint */
    struct uccs_late late;            /* of the first one, while it has no handler */
} uccs_packet_queues[2][PE_SHARED_CONTEXTS][PE_SHARED_RINGS];

/* Number of far packets; relaxed, a hint. */
extern uint32_t uccs_packets_far;

static inline bool uccs_packets_empty(enum uccs_packet_side side, uint32_t context, uint32_t which)
{
    return !atomic_load_acquire(&uccs_packet_queues[side][context][which].first); /* release: packet.c */
}

/* Adds a packet: a far one at the end, a near one by its number. */
void uccs_packet_add(enum uccs_packet_side side, struct uccs_packet *packet);
/* Takes the first packet if its handler is registered by now; else returns null. */
struct uccs_packet *uccs_packet_take(enum uccs_packet_side side, const struct uccs_context *context, uint32_t which);
/* Returns true when uccs_packet_take would find one. */
bool uccs_packet_is_ready(enum uccs_packet_side side, const struct uccs_context *context, uint32_t which);
/* Takes the first packet, registered handler or not. Returns null when there is none. */
struct uccs_packet *uccs_packet_take_any(enum uccs_packet_side side, uint32_t context, uint32_t which);

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

/* Sends a message. Copies its payload. Returns UCCS_OK; UCCS_AGAIN or an error, and then has no effect. */
int uccs_am_post(struct uccs_sending *sending, const struct uccs_context *context, const struct uccs_op *op);
/* Checks the arguments that all messages have. */
int uccs_am_check(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload,
                  size_t length, const struct uccs_op *op);
/* Sends a plain message, at most uccs_am_most() bytes, with arguments that have been checked. */
int uccs_am_send(const struct uccs_endpoint *endpoint, int id, enum uccs_am_class cls, const void *payload,
                 size_t length, const struct uccs_op *op);
size_t uccs_am_most(void);

/* --- Taking messages out of the rings, and what their handlers leave (receive.c, payload.c) */

/* Ends the job with a line when a word of the message leads to no PE, handler, thread or memory. */
void uccs_cell_check(const struct uccs_message *message);

/* True for a message without a block that is right; false says nothing. */
static inline bool uccs_cell_is_plain(const struct uccs_message *message)
{
    return message->block == UCCS_NO_BLOCK && message->length <= UCCS_SHORT_MAX && !message->staged &&
           message->id < UCCS_MESSAGE_SLOTS && message->thread < PE_SHARED_SENDERS &&
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
/* Handles the library's messages alone: requests of peers to execute operations, and tagged messages. Their handlers do not
 * wait. Returns how many it handled. */
int uccs_am_look_inner(void);

/* --- Operations that the owner of the memory executes (remote.c, call.c) */

struct uccs_remote_call {
    struct uccs_accumulate_op what;
    uint64_t offset; /* generation 0: an address */
    uint32_t slot, generation;
    int32_t status;  /* the owner's answer */
    uint16_t copies; /* 1: a put or get */
    uint16_t wanted; /* 1: the old values are */
};

/* Executes it at the owner. Stores the old values if they are wanted. Returns a status. */
int uccs_call_execute(const struct uccs_remote_call *call, const void *operand, void *old);

/* Of the slot in which origins leave calls. */
enum uccs_call_state {
    UCCS_CALL_SHUT,
    UCCS_CALL_OPEN,
    UCCS_CALL_TAKEN,
    UCCS_CALL_POSTED,
    UCCS_CALL_RUNNING,
    UCCS_CALL_DONE
};

int uccs_call_serve_slow(void);

/* Opens this PE's slot, or executes the call in it. Returns 1 when it has executed one, else 0. Each round of progress calls it. */
static inline int uccs_call_serve(void)
{
    const uint32_t state = atomic_load_relaxed(&uccs_pe_shared_mine()->call.state);
    return lat_unlikely(state == UCCS_CALL_SHUT || state == UCCS_CALL_POSTED) ? uccs_call_serve_slow() : 0;
}

/* --- To and from other nodes (far.c) */

/* Handled messages of one thread of a PE, which that PE is told of at once. */
struct uccs_tally {
    uint32_t context, which, source, thread, count;
    uint64_t bytes;
};

/* Sends a message on these workers (null: the service worker). Returns false when there is no credit at the moment; then it
 * has done nothing. */
bool uccs_far_am_try(struct proto_worker_set *on, int pe, uint32_t context, uint32_t which,
                     const struct uccs_message *head, const void *payload, struct uccs_bounce *block);

/* Returns a PE of another node that has not handled all messages of this PE in the context; -1 when there is none. */
int uccs_far_am_debtor(uint32_t context);

/* Tells the sender of the messages, and that the block with this token, if it is not 0, is done. */
void uccs_far_am_tell(const struct uccs_tally *tally, uint64_t token, bool failed);

/* Ends the hold of a packet's block. */
void uccs_far_am_done(struct uccs_bounce *block);
/* Ends the handling of a pending message: counts it, and tells its sender. */
void uccs_far_am_end(struct uccs_bounce *block);

#endif
