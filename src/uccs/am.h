/* Active messages on a node (seed 001; design §5). See am.c for the flow. Any thread. */
#ifndef UCCS_AM_H
#define UCCS_AM_H

#include "uccs/context.h"
#include "uccs/counter.h"

/* What lies in a ring's cell. A payload over UCCS_SHORT_MAX lies in the sender's block. */
struct uccs_message {
    uint32_t source;  /* PE */
    uint32_t length;
    uint16_t id;
    uint16_t staged;  /* the payload is in the block */
    uint64_t block;   /* offset in the sender's region, or NO_BLOCK: nothing to acknowledge */
    uccs_counter counter;
    int64_t weight;
    char payload[UCCS_SHORT_MAX];
};

/* Contexts come and go: start with the first, stop with the last. Called under the lock of context.c. */
void uccs_am_start(void);
void uccs_am_stop(void);

/* Returns when no thread runs a handler of a context that is no longer published. */
void uccs_am_wait_for_pollers(void);

/* All messages of the context that carried a request have been handled. */
bool uccs_am_settled(const struct uccs_context *context);

#endif
