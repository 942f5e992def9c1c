/* Waits that last long: after some seconds the waiter prints one line about its wait. Any thread may call these
 * functions, one at a time for each object. */
#ifndef UCCS_CORE_LATE_H
#define UCCS_CORE_LATE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Starts zeroed; the wait begins with the first look. */
struct uccs_late {
    time_t since;
    uint32_t looks;
    bool told;
};

/* Returns true once, at a look that comes more than LATERAL_PATIENCE seconds after the first; the caller then prints
 * the line. Reads the clock now and then. */
bool uccs_late_now(struct uccs_late *late);

/* Prints the line for a message whose handler is not registered. */
void uccs_late_handler(uint32_t source, uint32_t id, uint32_t context);

#endif
