/* What a wait is for. A wait that lasts shows this to those who ask why the job hangs (stay.h). Any thread. */
#ifndef UCCS_CORE_WAIT_REASON_H
#define UCCS_CORE_WAIT_REASON_H

#include "rte/node.h"

/* Says that a wait is for a variable of this PE. */
static inline struct node_wait_reason uccs_reason_variable(const void *object, int kind, const char *compare,
                                                           uint64_t value)
{
    return (struct node_wait_reason){.about = NODE_REASON_VARIABLE,
                                     .kind = (uint8_t)kind,
                                     .compare = {compare[0], compare[1]},
                                     .object = (uintptr_t)object,
                                     .number = value};
}

/* Says that a wait is for one other PE. */
static inline struct node_wait_reason uccs_reason_pe(int pe)
{
    return (struct node_wait_reason){.about = NODE_REASON_PES, .start = pe, .stride = 1, .size = 1};
}

/* What a wait is for, as it tells when it has lasted for a while. */
struct uccs_reason {
    struct node_wait_reason on;
    uint64_t value;            /* of a variable, now */
    char text[NODE_WAIT_TEXT]; /* names the object; empty: the call says enough */
};

enum {
    UCCS_REASON_FUNCTION = 255
}; /* in place of enum node_reason_kind: `number` is a function that fills in `on` of its own */

/* Says that `tell` knows what the wait is for. The waiting thread calls it once the wait lasts, and now and then
 * afterwards; `what` lives as long as the wait. It fills in a zeroed struct, without waiting. */
static inline struct node_wait_reason uccs_reason_function(void (*tell)(const void *what, struct uccs_reason *reason),
                                                           const void *what)
{
    return (struct node_wait_reason){.about = UCCS_REASON_FUNCTION,
                                     .object = (uintptr_t)what,
                                     .number = (uint64_t)(uintptr_t)tell};
}

#endif
