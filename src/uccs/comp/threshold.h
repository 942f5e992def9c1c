/* Requests on counters and words: such a request completes when the counter, or a word of this process, has reached a
 * number, so that a program can wait for it and for operations at once.
 *
 * The thresholds that nobody has reached are on one list. While the list is not empty, it is a source of progress (core/progress.h):
 * every wait, test and progress call looks at it, on any thread. Any thread. */
#ifndef UCCS_COMP_THRESHOLD_H
#define UCCS_COMP_THRESHOLD_H

#include "uccs/comp/counter.h"
#include "uccs/comp/request.h"

/* The request, an object, counts one operation until the counter or word is at least so much. The operation fails when the
 * counter is shut first, or when the life ends. A word must exist until then. Returns false when memory is exhausted. */
bool uccs_threshold_add(const struct uccs_counter_wanted *what, struct uccs_request *request);

/* Fills in the first counter or word that the request waits for. Returns false when there is none. For uccs_request_reason_add. */
bool uccs_threshold_tell(const struct uccs_request *request, struct uccs_reason *reason);

/* Fails the operations of thresholds that nobody has reached, at the end of a life. */
void uccs_threshold_close(void);

#endif
