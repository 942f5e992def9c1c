/* Messages between nodes; inner.h describes the flow. Sending, taking and telling: any thread. Events: under the lane's lock. */
#include "uccs/am/inner.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/far_lane.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLOW_MESSAGES 512
#define FLOW_BYTES (1u << 20)
#define PATIENCE 5 /* seconds until a line says who is missing */

/* Both directions between this PE and a peer, for one context and ring number. */
struct flow {
    cache_aligned pthread_mutex_t lock; /* of the sender's half */
    uint64_t sent;                      /* numbers given out, from 1 */
    uint32_t messages;                  /* not handled yet */
    uint64_t bytes;
    cache_aligned uint64_t arrived; /* numbers queued; the receiver's half is under the queue's lock */
    struct uccs_far_packet *early;  /* behind one that has not arrived */
};

struct flows {
    struct flow flow[OWN_RINGS];
};

struct partner {
    struct flows *contexts[OWN_CONTEXTS];
};

static struct partner **partners;                         /* by PE; made on first use; release here, acquire */
static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER; /* of making them */

/* What has arrived and waits for a thread in progress. */
static struct queue {
    cache_aligned pthread_mutex_t lock;
    struct uccs_far_packet *first, *last;
    time_t since; /* the first one has no handler; 0: it has, or has been told of */
} queues[OWN_CONTEXTS][OWN_RINGS] = {
    [0 ... OWN_CONTEXTS - 1] = {[0 ... OWN_RINGS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}}};

uint32_t uccs_far_am_waiting;

static void *made(void *memory, int pe)
{
    if (!memory)
        far_fail("no memory for messages with PE %d", pe);
    return memory;
}

/* Under `books`. */
static struct flows *make_flows(int pe, uint32_t context)
{
    if (!partners)
        atomic_store_release(&partners, made(calloc((size_t)uccs_core.npes, sizeof *partners), pe));
    if (!partners[pe])
        atomic_store_release(&partners[pe], made(calloc(1, sizeof **partners), pe));
    struct flows *flows = partners[pe]->contexts[context];
    if (flows)
        return flows;
    flows = made(aligned_alloc(CACHE_LINE, sizeof *flows), pe);
    memset(flows, 0, sizeof *flows);
    for (int which = 0; which < OWN_RINGS; which++)
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

/* The flow's next number; 0: no credit. */
static uint64_t take_credit(struct flow *flow, size_t bytes)
{
    uint64_t number = 0;
    pthread_mutex_lock(&flow->lock);
    bool room = flow->messages < FLOW_MESSAGES && flow->bytes + bytes <= FLOW_BYTES;
    if (room || flow->messages == 0) {
        flow->messages++;
        flow->bytes += bytes;
        number = ++flow->sent;
    }
    pthread_mutex_unlock(&flow->lock);
    return number;
}

static void give_credit(struct flow *flow, uint32_t messages, uint64_t bytes)
{
    pthread_mutex_lock(&flow->lock);
    flow->messages -= messages;
    flow->bytes -= bytes;
    pthread_mutex_unlock(&flow->lock);
}

#define ID_BITS 8 /* of `offset`: id, staged or not */
_Static_assert(UCCS_AM_HANDLERS <= 1 << ID_BITS, "an id fits");

static struct far_header header_of(uint32_t context, uint32_t which, const struct uccs_message *head, uint64_t number,
                                   const struct uccs_block *block)
{
    return (struct far_header){.kind = FAR_AM,
                               .op = (uint8_t)which,
                               .size = head->lane,
                               .segment = (uint8_t)context,
                               .offset = (uint64_t)head->staged << ID_BITS | head->id,
                               .id = number,
                               .token = (uint64_t)(uintptr_t)block,
                               .a = head->counter,
                               .b = (uint64_t)head->weight};
}

bool uccs_far_am_try(int pe, uint32_t context, uint32_t which, const struct uccs_message *head, const void *payload,
                     struct uccs_block *block)
{
    struct flow *flow = flow_of(pe, context, which);
    void *copy = 0;
    if (far_busy(far_service()))
        return false;
    uint64_t number = take_credit(flow, head->length);
    if (!number)
        return false;
    if (head->staged)
        payload = block->payload;
    else if (head->length)
        payload = copy = memcpy(made(malloc(head->length), pe), payload, head->length);
    if (block)
        atomic_store_relaxed(&block->legs, head->staged ? 2 : 1); /* the message publishes it */
    struct far_header header = header_of(context, which, head, number, block);
    far_message(pe, &header, payload, head->length, copy, head->staged ? block : 0, true);
    return true;
}

/* The peer is done with it, or the transport. */
void far_am_left(struct uccs_block *block)
{
    if (atomic_fetch_sub_acqrel(&block->legs, 1) == 1)
        atomic_store_release(&block->done, 1); /* acquire: uccs_stage_collect */
}

void far_am_told(const struct far_header *header)
{
    struct uccs_block *block = (struct uccs_block *)(uintptr_t)header->token;
    uint32_t context = header->segment, count = (uint32_t)header->a;
    if (count) {
        give_credit(flow_of((int)header->from, context, header->op), count, header->b);
        struct uccs_own *own = uccs_own_mine();
        (void)atomic_fetch_add_release(&own->handled[context][header->size].count,
                                       count); /* acquire: uccs_am_settled */
    }
    if (!block)
        return;
    block->failed |= header->offset != 0;
    far_am_left(block);
}

/* --- Arriving */

struct uccs_far_packet *far_am_packet(const struct far_header *header, size_t bytes)
{
    bool staged = header->offset >> ID_BITS & 1;
    if (header->segment >= OWN_CONTEXTS || header->op >= OWN_RINGS || (!staged && bytes > UCCS_SHORT_MAX))
        far_fail("a message of PE %u makes no sense", header->from);
    size_t room = sizeof(struct uccs_far_packet) + (staged ? bytes : 0);
    struct uccs_far_packet *packet =
        made(aligned_alloc(CACHE_LINE, (room + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1)), (int)header->from);
    packet->number = header->id;
    packet->token = header->token;
    packet->context = header->segment;
    packet->which = header->op;
    struct uccs_message *message = &packet->message;
    message->source = header->from;
    message->length = (uint32_t)bytes;
    message->id = (uint16_t)(header->offset & ((1 << ID_BITS) - 1));
    message->staged = staged;
    message->lane = header->size;
    message->block = UCCS_NO_BLOCK;
    message->counter = header->a;
    message->weight = (int64_t)header->b;
    packet->block = (struct uccs_block){.far = 1};
    return packet;
}

void *far_am_room(struct uccs_far_packet *packet)
{
    return packet->message.staged ? packet->block.payload : packet->message.payload;
}

/* Under the queue's lock. */
static void append(struct queue *queue, struct uccs_far_packet *packet)
{
    packet->next = 0;
    if (queue->first)
        queue->last->next = packet;
    else
        atomic_store_relaxed(&queue->first, packet);
    queue->last = packet;
    (void)atomic_fetch_add_relaxed(&uccs_far_am_waiting, 1); /* the lock publishes the packet */
}

/* Under the queue's lock: the early one that is due now. */
static struct uccs_far_packet *next_early(struct flow *flow)
{
    struct uccs_far_packet **at = &flow->early;
    while (*at && (*at)->number != flow->arrived + 1)
        at = &(*at)->next;
    struct uccs_far_packet *found = *at;
    if (found)
        *at = found->next;
    return found;
}

void far_am_arrived(struct uccs_far_packet *packet)
{
    struct queue *queue = &queues[packet->context][packet->which];
    struct flow *flow = flow_of((int)packet->message.source, packet->context, packet->which);
    pthread_mutex_lock(&queue->lock);
    packet->next = flow->early;
    flow->early = packet;
    while ((packet = next_early(flow))) {
        flow->arrived++;
        append(queue, packet);
    }
    pthread_mutex_unlock(&queue->lock);
}

/* --- Taking */

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1;
}

/* Under the queue's lock. Once for each message: the program may know what it does. */
static lat_cold void tell_missing(struct queue *queue)
{
    const struct uccs_far_packet *packet = queue->first;
    if (!queue->since)
        queue->since = now();
    if (queue->since < 0 || now() < queue->since + PATIENCE)
        return;
    queue->since = -1;
    log_line("uccs: a message of PE %u waits for handler %u of context %u, which is not registered here, and those "
             "behind it wait too; register it",
             packet->message.source, packet->message.id, packet->context);
}

struct uccs_far_packet *uccs_far_am_take(struct uccs_context *context, uint32_t which)
{
    struct queue *queue = &queues[context->attr.id][which];
    if (!atomic_load_relaxed(&queue->first)) /* a hint: the caller looks again */
        return 0;
    pthread_mutex_lock(&queue->lock);
    struct uccs_far_packet *packet = queue->first;
    if (packet && !uccs_handler_known(&context->handlers[packet->message.id])) {
        tell_missing(queue);
        packet = 0;
    }
    if (packet) {
        queue->since = 0;
        atomic_store_relaxed(&queue->first, packet->next);
        (void)atomic_fetch_sub_acqrel(&uccs_far_am_waiting, 1);
    }
    pthread_mutex_unlock(&queue->lock);
    return packet;
}

/* --- Telling the sender */

static void tell(const struct uccs_far_tally *tally, uint64_t token, bool failed)
{
    struct far_header header = {.kind = FAR_AM_DONE,
                                .op = (uint8_t)tally->which,
                                .size = (uint8_t)tally->lane,
                                .segment = (uint8_t)tally->context,
                                .offset = failed,
                                .token = token,
                                .a = tally->count,
                                .b = tally->bytes};
    far_message(tally->to, &header, 0, 0, 0, 0, false);
}

void uccs_far_am_tell(struct uccs_far_tally *tally)
{
    if (tally->count)
        tell(tally, 0, false);
    tally->count = 0;
    tally->bytes = 0;
}

void uccs_far_am_handled(struct uccs_far_tally *tally, const struct uccs_message *message,
                         struct uccs_far_packet *packet)
{
    if (tally->count && (tally->to != (int)message->source || tally->lane != message->lane))
        uccs_far_am_tell(tally);
    tally->to = (int)message->source;
    tally->lane = message->lane;
    tally->count++;
    tally->bytes += message->length;
    if (packet && packet->token) {
        tell(tally, packet->token, packet->block.failed);
        tally->count = 0;
        tally->bytes = 0;
    }
    free(packet);
}

void uccs_far_am_done(struct uccs_block *block)
{
    struct uccs_far_packet *packet =
        (struct uccs_far_packet *)((char *)block - offsetof(struct uccs_far_packet, block));
    if (packet->token)
        tell(&(struct uccs_far_tally){.to = (int)packet->message.source, .context = packet->context}, packet->token,
             block->failed);
    free(packet);
}

/* --- The end of a life: nothing is under way; what nobody has handled is forgotten, at both ends. */

static void drop(struct uccs_far_packet *packet)
{
    for (struct uccs_far_packet *next; packet; packet = next) {
        next = packet->next;
        free(packet);
    }
}

static void drop_partner(struct partner *partner)
{
    for (int context = 0; partner && context < OWN_CONTEXTS; context++) {
        struct flows *flows = partner->contexts[context];
        for (int which = 0; flows && which < OWN_RINGS; which++) {
            pthread_mutex_destroy(&flows->flow[which].lock);
            drop(flows->flow[which].early);
        }
        free(flows);
    }
    free(partner);
}

void far_am_close(void)
{
    for (int pe = 0; partners && pe < uccs_core.npes; pe++)
        drop_partner(partners[pe]);
    free(partners);
    partners = 0;
    for (int context = 0; context < OWN_CONTEXTS; context++)
        for (int which = 0; which < OWN_RINGS; which++) {
            drop(queues[context][which].first);
            queues[context][which].first = 0;
            queues[context][which].since = 0;
        }
    uccs_far_am_waiting = 0;
}
