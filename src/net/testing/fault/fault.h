/* The plan that LATERAL_FAULT asks for; internal to this transport. Read once, in open. */
#ifndef TRANSPORT_FAULT_H
#define TRANSPORT_FAULT_H

#include <stdint.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_OPEN,
    FAULT_ADDRESS,
    FAULT_CONNECT,
    FAULT_SEND,
    FAULT_RECEIVE,
    FAULT_FINISH,
    FAULT_BREAK
};

struct fault_plan {
    uint64_t seed;
    uint32_t hold;         /* percent of sends, receives and completions that are held back */
    uint32_t steps;        /* an operation is held for at most this many progress calls */
    enum fault_kind fails; /* one call of this kind fails, at `pe` */
    int pe;                /* -1: any */
    uint64_t at;           /* the number of the failing call, from 1 */
};

/* Reads a plan such as "seed=3,hold=50,steps=20,fail=send,pe=1,at=7". Returns null, or a text that says what is
 * wrong. */
const char *fault_plan_read(const char *text, struct fault_plan *plan);

#endif
