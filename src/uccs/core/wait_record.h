/* The record of a long wait, for those who ask why a job hangs: oshrun and debuggers read it in the node's memory
 * (rte/wait_record.h). Short waits leave none and pay nothing. A struct uccs_wait belongs to the thread that waits. */
#ifndef UCCS_CORE_WAIT_RECORD_H
#define UCCS_CORE_WAIT_RECORD_H

#include "base/atomic.h"
#include "rte/node.h"

#include <stdbool.h>
#include <time.h>

/* --- The wait */

/* Starts zeroed but for `on`, the reason of the wait. */
struct uccs_wait {
    uint32_t looks;
    uint32_t
        record;     /* 0: the wait is short so far; UCCS_WAIT_IS_LONG: it has no record yet; else its record's number */
    uint64_t since; /* when the wait became slow; 0: it has not */
    struct node_wait_reason on;
};

#define UCCS_WAIT_IS_LONG UINT32_MAX

/* Every struct uccs_wait is declared with this attribute, which takes its record back at the end of its scope. */
#define uccs_scoped __attribute__((cleanup(uccs_wait_end)))

/* Makes the record once the wait has lasted for a while, and renews it afterwards. The policy of waits calls it now and
 * then. */
void uccs_wait_record(struct uccs_wait *wait);
void uccs_wait_record_end(struct uccs_wait *wait);

static inline void uccs_wait_end(struct uccs_wait *wait)
{
    if (lat_unlikely(wait->record))
        uccs_wait_record_end(wait);
}

/* --- The reason of a wait */

/* Returns the reason of a wait for a variable of this PE. */
static inline struct node_wait_reason uccs_reason_variable(const void *object, int kind, const char *compare,
                                                           uint64_t value)
{
    return (struct node_wait_reason){.about = NODE_REASON_VARIABLE,
                                     .kind = (uint8_t)kind,
                                     .compare = {compare[0], compare[1]},
                                     .object = (uintptr_t)object,
                                     .number = value};
}

/* Returns the reason of a wait for one other PE. */
static inline struct node_wait_reason uccs_reason_pe(int pe)
{
    return (struct node_wait_reason){.about = NODE_REASON_PES, .start = pe, .stride = 1, .size = 1};
}

/* A reason as it is at the moment. */
struct uccs_reason {
    struct node_wait_reason on;
    uint64_t value;            /* of a variable, now */
    char text[NODE_WAIT_TEXT]; /* names the object; empty: the call says enough */
};

enum { UCCS_REASON_FUNCTION = 255 }; /* in place of enum node_reason_kind: `number` is a function that fills in `on` */

/* Returns a reason that `fill` finds out. The waiting thread calls `fill` once the wait lasts, and now and then
 * afterwards; `what` lives as long as the wait. `fill` gets a zeroed struct, and must not wait. */
static inline struct node_wait_reason uccs_reason_function(void (*fill)(const void *what, struct uccs_reason *reason),
                                                           const void *what)
{
    return (struct node_wait_reason){.about = UCCS_REASON_FUNCTION,
                                     .object = (uintptr_t)what,
                                     .number = (uint64_t)(uintptr_t)fill};
}

/* --- A line about a message that nobody takes
 *
 * Where the program itself must act before a wait can end, the waiter prints a line after five seconds. */

/* Starts zeroed; the time begins with the first look. One thread at a time. */
struct uccs_late {
    time_t since;
    uint32_t looks;
    bool told;
};

/* Returns true once, at a look that comes more than five seconds after the first; the caller then prints
 * the line. Reads the clock now and then. */
bool uccs_late_now(struct uccs_late *late);

/* Prints the line for a message whose handler is not registered. */
void uccs_late_handler(uint32_t source, uint32_t id, uint32_t context);

#endif
