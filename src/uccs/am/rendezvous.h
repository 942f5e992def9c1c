/* Announced payloads (rendezvous): the message carries this, then the header; the payload stays in the sender's memory
 * until the receiver knows where to put it, and comes straight there. A small payload follows the header instead. */
#ifndef UCCS_AM_RENDEZVOUS_H
#define UCCS_AM_RENDEZVOUS_H

#include "uccs/am/am.h"

struct uccs_announce {
    uint64_t length;
    uint64_t at; /* address in the sender; for another node a place in PROTO_LANDING, which the sender has opened */
    uint32_t header_bytes;
    uint32_t eager; /* 1: the payload follows the header */
};

/* The handlers of announced payloads (rendezvous_receive.c): for a place of the receiver's, and for a handler. */
void uccs_rendezvous_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);
void uccs_rendezvous_long_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);

#endif
