/* What a wait for requests is for, for those who ask why the job hangs. Any thread. */
#ifndef UCCS_COMP_TELL_H
#define UCCS_COMP_TELL_H

#include "uccs/core/wait_record.h"
#include "uccs/comp/request.h"

struct uccs_reason_handles {
    const uccs_request_handle *handles;
    size_t n;
    const int *left_out; /* not 0: this one is not waited for; null: all are */
};

/* Tells of the first handle that is not complete: `what` is a struct uccs_reason_handles. For uccs_reason_function. */
void uccs_reason_handles(const void *what, struct uccs_reason *reason);

/* Upper folders know operations that requests count. Such a function fills in what an operation of the request waits
 * for, or returns false when it knows none; it must not wait. Added once, at the start of a life. */
enum { UCCS_REQUEST_REASONS = 2 };
void uccs_request_reason_add(bool (*teller)(const struct uccs_request *request, struct uccs_reason *reason));

#endif
