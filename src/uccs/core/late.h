/* Waits that last long: after some seconds one line says who waits for what. Any thread, one at a time for each object. */
#ifndef UCCS_CORE_LATE_H
#define UCCS_CORE_LATE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Zeroed: the wait begins with the first look. */
struct uccs_late {
    time_t since;
    uint32_t looks;
    bool told;
};

/* True once, at a look more than LATERAL_PATIENCE seconds after the first: tell of it. Looks at the clock now and then. */
bool uccs_late_now(struct uccs_late *late);

/* The line for a message whose handler is not registered. */
void uccs_late_handler(uint32_t source, uint32_t id, uint32_t context);

#endif
