/* Packets: messages that wait outside of the rings, by context and ring. Those of other nodes come as packets (far.h). A message of
 * this node becomes one when it is unexpected, because its handler is not registered yet, or because it is a reply of user class
 * that came while only the network class was served; such packets stay over the lives of a context, as the messages in its rings
 * do. Any thread. Who holds a queue's lock takes no other. */
#ifndef UCCS_AM_PACKET_H
#define UCCS_AM_PACKET_H

#include "uccs/am/contexts.h"
#include "uccs/core/wait_record.h"

#include <pthread.h>

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

#endif
