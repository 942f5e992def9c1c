#include "uccs/am/inner.h"

#include "uccs/core/core.h"

#include <stdlib.h>

struct uccs_packet_queue uccs_packet_queues[2][PE_SHARED_CONTEXTS][PE_SHARED_RINGS] = {
    [0 ... 1] = {[0 ... PE_SHARED_CONTEXTS - 1] = {[0 ... PE_SHARED_RINGS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}}}};
uint32_t uccs_packets_far;

struct uccs_packet *uccs_packet_new(uint32_t source, uint32_t context, uint32_t which, size_t payload)
{
    const size_t bytes = sizeof(struct uccs_packet) + payload;
    struct uccs_packet *packet =
        uccs_must_have(aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1)), "a message of",
                       (int)source);
    packet->token = 0;
    packet->context = (uint16_t)context;
    packet->which = (uint8_t)which;
    packet->block = (struct uccs_bounce){.home = UCCS_HOME_PACKET};
    return packet;
}

/* Under the queue's lock. */
static void count_packet(enum uccs_packet_side side, uint32_t context, uint32_t by)
{
    uint32_t *shown = &uccs_pe_shared_mine()->unexpected[context];
    if (side == UCCS_PACKETS_FAR)
        (void)atomic_fetch_add_relaxed(&uccs_packets_far, by);
    else
        (void)atomic_fetch_add_relaxed(shown, by);
}

/* Threads that take cells of a ring at the same time may add near packets in another order. */
void uccs_packet_add(enum uccs_packet_side side, struct uccs_packet *packet)
{
    struct uccs_packet_queue *queue = &uccs_packet_queues[side][packet->context][packet->which];
    pthread_mutex_lock(&queue->lock);
    struct uccs_packet **at = &queue->first;
    if (*at && (side == UCCS_PACKETS_FAR || queue->last->number < packet->number))
        at = &queue->last->next;
    while (*at && (*at)->number < packet->number)
        at = &(*at)->next;
    packet->next = *at;
    atomic_store_release(at, packet); /* acquire: uccs_packets_empty */
    if (!packet->next)
        queue->last = packet;
    count_packet(side, packet->context, 1);
    pthread_mutex_unlock(&queue->lock);
}

/* Under the queue's lock. */
static struct uccs_packet *take_first(enum uccs_packet_side side, struct uccs_packet_queue *queue)
{
    struct uccs_packet *packet = queue->first;
    queue->late = (struct uccs_late){0};
    atomic_store_release(&queue->first, packet->next); /* acquire: uccs_packets_empty */
    count_packet(side, packet->context, -1u);
    return packet;
}

struct uccs_packet *uccs_packet_take(enum uccs_packet_side side, const struct uccs_context *context, uint32_t which)
{
    struct uccs_packet_queue *queue = &uccs_packet_queues[side][context->attr.id][which];
    if (uccs_packets_empty(side, context->attr.id, which)) /* the caller looks again */
        return 0;
    pthread_mutex_lock(&queue->lock);
    struct uccs_packet *packet = queue->first;
    const bool known = packet && uccs_handler_known(&context->handlers[packet->message.id]);
    if (known)
        take_first(side, queue);
    else if (packet && uccs_late_now(&queue->late))
        uccs_late_handler(packet->message.source, packet->message.id % UCCS_AM_HANDLERS, packet->context);
    pthread_mutex_unlock(&queue->lock);
    return known ? packet : 0;
}

bool uccs_packet_is_ready(enum uccs_packet_side side, const struct uccs_context *context, uint32_t which)
{
    struct uccs_packet_queue *queue = &uccs_packet_queues[side][context->attr.id][which];
    pthread_mutex_lock(&queue->lock);
    const bool known = queue->first && uccs_handler_known(&context->handlers[queue->first->message.id]);
    pthread_mutex_unlock(&queue->lock);
    return known;
}

struct uccs_packet *uccs_packet_take_any(enum uccs_packet_side side, uint32_t context, uint32_t which)
{
    struct uccs_packet_queue *queue = &uccs_packet_queues[side][context][which];
    pthread_mutex_lock(&queue->lock);
    struct uccs_packet *packet = queue->first ? take_first(side, queue) : 0;
    pthread_mutex_unlock(&queue->lock);
    return packet;
}
