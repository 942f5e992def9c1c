/* Active messages between nodes. Any thread may send, take and tell; events run under the lock of the worker.
 *
 * Data flow: send.c finds no ring for the peer and calls uccs_far_am_try, which takes a credit of the flow (peer,
 * context, ring number) and gives the message the flow's next number; the worker carries it (WIRE_AM). At the target the
 * transport's event makes a packet of it, fetching long payloads, and puts it into the queue of context and ring
 * number in the order of the numbers. receive.c takes packets out beside the rings, runs the handlers, and tells the
 * sender what has been handled (WIRE_AM_DONE): credits back, counts for flushes, blocks done.
 *
 * Invariants:
 * - A flow has at most FLOW_MESSAGES messages and FLOW_BYTES bytes (or one message) that are not handled. A slow
 *   receiver keeps at most these for each sender. Requests and replies of each class are flows of their own. A reply
 *   waits for replies alone, and a reply of user class for nothing: its receiver keeps all replies that it asked for.
 * - A credit comes back when the handler has returned, a block when its holder is done with it. So messages that nobody
 *   has taken yet delay no other message.
 * - The transport sends a payload from its block. The block is done when the peer has reported it done and the
 *   transport no longer uses it.
 * - Messages count as operations of the peer (issued, applied when queued), so a fence orders them behind puts, and a
 *   quiet means that they have arrived.
 * - The event holds the service worker's lock, which guards the receiver's half of a flow, and takes a queue's. */
#include "uccs/am/inner.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/core.h"

#include <stdlib.h>

#define FLOW_MESSAGES 512
#define FLOW_BYTES (1u << 20)

/* Both directions between this PE and a peer, for one context and ring number. */
struct flow {
    cache_aligned pthread_mutex_t lock; /* of the sender's half */
    uint64_t sent;                      /* last number given out; the first is 1 */
    uint32_t messages;                  /* not handled yet */
    uint64_t bytes;
    cache_aligned uint64_t arrived; /* last number queued; the receiver's half is under the service worker's lock */
    struct uccs_packet *early;      /* packets behind one that has not arrived */
};

struct flows {
    struct flow flow[PE_SHARED_RINGS];
};

struct partner {
    struct flows *contexts[PE_SHARED_CONTEXTS];
};

static struct partner **partners;                         /* by PE; made on first use; release here, acquire */
static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER; /* held while they are made */

/* Under `books`. */
static struct flows *make_flows(int pe, uint32_t context)
{
    if (!partners)
        atomic_store_release(&partners,
                             uccs_must_have(calloc((size_t)uccs_core.npes, sizeof *partners), "messages with", pe));
    if (!partners[pe])
        atomic_store_release(&partners[pe], uccs_must_have(calloc(1, sizeof **partners), "messages with", pe));
    struct flows *flows = partners[pe]->contexts[context];
    if (flows)
        return flows;
    flows = uccs_must_have(aligned_alloc(CACHE_LINE, sizeof *flows), "messages with", pe);
    memset(flows, 0, sizeof *flows);
    for (int which = 0; which < PE_SHARED_RINGS; which++)
        pthread_mutex_init(&flows->flow[which].lock, 0);
    atomic_store_release(&partners[pe]->contexts[context], flows);
    return flows;
}

static struct flow *flow_of(int pe, uint32_t context, uint32_t which)
{
    struct partner **all = atomic_load_acquire(&partners); /* release: make_flows, these three */
    struct partner *partner = all ? atomic_load_acquire(&all[pe]) : 0;
    struct flows *flows = partner ? atomic_load_acquire(&partner->contexts[context]) : 0;
    if (lat_unlikely(!flows)) {
        pthread_mutex_lock(&books);
        flows = make_flows(pe, context);
        pthread_mutex_unlock(&books);
    }
    return &flows->flow[which];
}

/* --- Sending */

/* Takes a credit. Returns the flow's next number, or 0 when there is no credit. Replies of user class always get one:
 * their receiver asked for them but may handle none of them for long, and a handler must not wait for that. */
static uint64_t take_credit(struct flow *flow, uint32_t which, size_t bytes)
{
    uint64_t number = 0;
    pthread_mutex_lock(&flow->lock);
    bool room = flow->messages < FLOW_MESSAGES && flow->bytes + bytes <= FLOW_BYTES;
    if (room || flow->messages == 0 || which == (UCCS_RING_REPLY | UCCS_RING_USER)) {
        flow->messages++;
        flow->bytes += bytes;
        number = ++flow->sent;
    }
    pthread_mutex_unlock(&flow->lock);
    return number;
}

/* Returns false when the flow has sent fewer. */
static bool give_credit(struct flow *flow, uint32_t messages, uint64_t bytes)
{
    pthread_mutex_lock(&flow->lock);
    bool good = messages <= flow->messages && bytes <= flow->bytes;
    flow->messages -= good ? messages : 0;
    flow->bytes -= good ? bytes : 0;
    pthread_mutex_unlock(&flow->lock);
    return good;
}

static bool owes_messages(const struct flows *flows)
{
    uint32_t messages = 0;
    for (int which = 0; flows && which < PE_SHARED_RINGS; which++)
        messages |= atomic_load_relaxed(&flows->flow[which].messages); /* only for a log line */
    return messages != 0;
}

int uccs_far_am_debtor(uint32_t context)
{
    struct partner **all = atomic_load_acquire(&partners); /* release: make_flows, these three */
    for (int pe = 0; all && pe < uccs_core.npes; pe++) {
        struct partner *partner = atomic_load_acquire(&all[pe]);
        if (partner && owes_messages(atomic_load_acquire(&partner->contexts[context])))
            return pe;
    }
    return -1;
}

/* Tokens of blocks that peers have not reported done. */
static struct proto_handles blocks;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER; /* taken last */

/* Returns 0 without a block. */
static uint64_t token_of(struct uccs_bounce *block, int pe)
{
    if (!block)
        return 0;
    pthread_mutex_lock(&blocks_lock);
    uint64_t token = proto_handle_give(&blocks, block, pe, WIRE_AM_DONE);
    pthread_mutex_unlock(&blocks_lock);
    return token;
}

/* Ends the job with a line when the PE has no such token. */
static struct uccs_bounce *block_of(uint64_t token, int pe)
{
    pthread_mutex_lock(&blocks_lock);
    struct uccs_bounce *block = proto_handle_try(&blocks, token, pe, WIRE_AM_DONE);
    pthread_mutex_unlock(&blocks_lock);
    if (lat_unlikely(!block))
        proto_handle_refuse(token, pe, WIRE_AM_DONE);
    return block;
}

static void fill_header(struct wire_header *header, uint32_t context, uint32_t which, const struct uccs_message *head)
{
    header->am.counter = head->counter;
    header->am.weight = head->weight;
    header->am.context = (uint8_t)context;
    header->am.ring = (uint8_t)which;
    header->am.thread = head->thread;
    header->am.staged = head->staged;
    header->am.id = head->id;
}

/* Called when the peer, or the transport, is done with the block. */
static void release_leg(void *cookie)
{
    struct uccs_bounce *block = cookie;
    if (atomic_fetch_sub_acqrel(&block->legs, 1) == 1)
        atomic_store_release(&block->done, 1); /* acquire: uccs_bounce_collect */
}

bool uccs_far_am_try(struct proto_worker_set *on, int pe, uint32_t context, uint32_t which,
                     const struct uccs_message *head, const void *payload, struct uccs_bounce *block)
{
    struct flow *flow = flow_of(pe, context, which);
    void *copy = 0;
    if (proto_busy(proto_worker_of(on)))
        return false;
    uint64_t number = take_credit(flow, which, head->length);
    if (!number)
        return false;
    if (head->staged)
        payload = block->payload;
    else if (head->length)
        payload = copy = memcpy(uccs_must_have(malloc(head->length), "messages with", pe), payload, head->length);
    if (block)
        atomic_store_relaxed(&block->legs, head->staged ? 2 : 1); /* the message publishes it */
    const uint64_t token = token_of(block, pe);
    struct proto_send *send = proto_send_begin_now(on, pe, WIRE_AM);
    fill_header(&send->header, context, which, head);
    send->header.am.number = number;
    send->header.am.block = token;
    send->data = payload;
    send->bytes = head->length;
    send->buffer = copy;
    send->left = head->staged ? release_leg : 0;
    send->cookie = block;
    send->counts = true;
    proto_issue(send);
    return true;
}

static void hear_done(struct proto_arrival *arrival)
{
    const struct wire_header *header = &arrival->header;
    uint32_t context = header->am_done.context, count = header->am_done.count;
    if (count) {
        if (!give_credit(flow_of((int)header->from, context, header->am_done.ring), count, header->am_done.bytes))
            uccs_fail("PE %u says that it has handled %u messages of %llu bytes, more than it has got", header->from,
                      count, (unsigned long long)header->am_done.bytes);
        struct uccs_pe_shared *own = uccs_pe_shared_mine();
        (void)atomic_fetch_add_release(&own->handled[context][header->am_done.thread].count,
                                       count); /* acquire: uccs_am_settled */
    }
    if (!header->am_done.block)
        return;
    struct uccs_bounce *block = block_of(header->am_done.block, (int)header->from);
    block->failed |= header->am_done.failed;
    release_leg(block);
}

/* --- Arriving */

static struct uccs_packet *make_packet(const struct wire_header *header, size_t bytes)
{
    bool staged = header->am.staged;
    struct uccs_packet *packet = uccs_packet_new(header->from, header->am.context, header->am.ring, staged ? bytes : 0);
    struct uccs_message *message = &packet->message;
    packet->number = header->am.number;
    packet->token = header->am.block;
    message->source = header->from;
    message->length = (uint32_t)bytes;
    message->id = header->am.id;
    message->staged = staged;
    message->thread = header->am.thread & (PE_SHARED_SENDERS - 1); /* for the compiler: wire.def has checked it */
    message->block = UCCS_NO_BLOCK;
    message->counter = header->am.counter;
    message->weight = header->am.weight;
    return packet;
}

/* Takes the early packet with this number off the flow; returns null when it has not arrived. */
static struct uccs_packet *take_early(struct flow *flow, uint64_t number)
{
    struct uccs_packet **at = &flow->early;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    struct uccs_packet *found = *at;
    if (found)
        *at = found->next;
    return found;
}

static void queue_message(struct proto_arrival *arrival)
{
    struct uccs_packet *packet = arrival->cookie;
    struct flow *flow = flow_of((int)packet->message.source, packet->context, packet->which);
    if (packet->number <= flow->arrived || take_early(flow, packet->number))
        uccs_fail("PE %u sent message %llu of context %u twice", packet->message.source,
                  (unsigned long long)packet->number, packet->context);
    packet->next = flow->early;
    flow->early = packet;
    while ((packet = take_early(flow, flow->arrived + 1))) {
        flow->arrived++;
        uccs_packet_add(UCCS_PACKETS_FAR, packet);
    }
    uccs_doorbell_wake(uccs_core.index); /* a thread that polls workers alone may have brought it */
}

static void *room_for_message(struct proto_arrival *arrival)
{
    struct uccs_packet *packet = arrival->cookie = make_packet(&arrival->header, arrival->bytes);
    return packet->message.staged ? packet->block.payload : packet->message.payload;
}

static bool land_message(struct proto_arrival *arrival, const void *payload)
{
    void *room = room_for_message(arrival);
    if (arrival->bytes)
        memcpy(room, payload, arrival->bytes);
    return true;
}

/* --- Telling the sender */

void uccs_far_am_tell(const struct uccs_tally *tally, uint64_t token, bool failed)
{
    struct proto_send *send = proto_send_begin_now(0, (int)tally->source, WIRE_AM_DONE);
    send->header.am_done.block = token;
    send->header.am_done.bytes = tally->bytes;
    send->header.am_done.count = tally->count;
    send->header.am_done.context = (uint8_t)tally->context;
    send->header.am_done.ring = (uint8_t)tally->which;
    send->header.am_done.thread = (uint16_t)tally->thread;
    send->header.am_done.failed = failed;
    proto_issue(send);
}

static struct uccs_packet *packet_of(struct uccs_bounce *block)
{
    return (struct uccs_packet *)((char *)block - offsetof(struct uccs_packet, block));
}

void uccs_far_am_end(struct uccs_bounce *block)
{
    struct uccs_packet *packet = packet_of(block);
    const struct uccs_message *message = &packet->message;
    if (message->counter)
        uccs_counter_arrive_here(message->counter, message->weight);
    uccs_far_am_tell(&(struct uccs_tally){packet->context, packet->which, message->source, message->thread, 1,
                                          message->length},
                     packet->token, block->failed);
    free(packet);
}

void uccs_far_am_done(struct uccs_bounce *block)
{
    struct uccs_packet *packet = packet_of(block);
    if (packet->token)
        uccs_far_am_tell(&(struct uccs_tally){.source = packet->message.source, .context = packet->context},
                         packet->token, block->failed);
    free(packet);
}

/* --- The end of a life. No message is under way; both ends drop the messages that nobody has handled. */

static void drop_partner(struct partner *partner)
{
    for (int context = 0; partner && context < PE_SHARED_CONTEXTS; context++) {
        struct flows *flows = partner->contexts[context];
        for (int which = 0; flows && which < PE_SHARED_RINGS; which++) {
            pthread_mutex_destroy(&flows->flow[which].lock);
            for (struct uccs_packet *next, *packet = flows->flow[which].early; packet; packet = next) {
                next = packet->next;
                free(packet);
            }
        }
        free(flows);
    }
    free(partner);
}

void uccs_far_am_open(void)
{
    static const struct proto_handler on_message = {.counts = true,
                                                    .room = room_for_message,
                                                    .land = land_message,
                                                    .landed = queue_message};
    static const struct proto_handler on_done = {.loose = true, .landed = hear_done};
    proto_handle(WIRE_AM, &on_message);
    proto_handle(WIRE_AM_DONE, &on_done);
}

void uccs_far_am_close(void)
{
    for (int pe = 0; partners && pe < uccs_core.npes; pe++)
        drop_partner(partners[pe]);
    free(partners);
    partners = 0;
    for (uint32_t context = 0; context < PE_SHARED_CONTEXTS; context++)
        for (uint32_t which = 0; which < PE_SHARED_RINGS; which++)
            for (struct uccs_packet *packet; (packet = uccs_packet_take_any(UCCS_PACKETS_FAR, context, which));)
                free(packet);
    proto_handle_close(&blocks);
}
