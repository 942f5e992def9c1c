/* The one test and wait of uccs.h. */
#ifndef UCCS_API_COMPLETION_H
#define UCCS_API_COMPLETION_H

#include "uccs/core/wait.h"

#include <uccs.h>

/* Looks at what a test or wait is for, without making progress. Returns UCCS_IN_PROGRESS, or the outcome. */
typedef int uccs_look_function(const void *what);

typedef void uccs_fill_function(const void *about, struct uccs_reason *reason);

/* What uccs_look_until does behind its first look. */
int uccs_look_again(uccs_look_function *look, const void *what, uccs_fill_function *fill, const void *about,
                    int64_t nanoseconds);

/* The one test and wait of uccs.h: looks, and makes progress in between, until the outcome is there or the time is over; 0: looks
 * twice; below 0: without limit. Returns the outcome, UCCS_IN_PROGRESS when the time is over, or UCCS_ERR_STATE when it would
 * have to pause in a handler, since other threads may wait for the handler's end. `fill` and `about` make the reason of the wait. */
static inline int uccs_look_until(uccs_look_function *look, const void *what, uccs_fill_function *fill,
                                  const void *about, int64_t nanoseconds)
{
    const int status = look(what);
    return lat_likely(status != UCCS_IN_PROGRESS) ? status : uccs_look_again(look, what, fill, about, nanoseconds);
}

#endif
