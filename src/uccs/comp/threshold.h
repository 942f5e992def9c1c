/* Requests on counters and words: such a request completes when the counter, or a word of this process, has reached a
 * number, so that a program can wait for it and for operations at once.
 *
 * What is awaited is on one list. While the list is not empty, a poller of core looks at it, in every wait, test and
 * progress, on any thread. Nothing looks when the list is empty. Any thread. */
#ifndef UCCS_COMP_THRESHOLD_H
#define UCCS_COMP_THRESHOLD_H

#include "uccs/core/wait_record.h"
#include "uccs/comp/counter.h"
#include "uccs/comp/request.h"

/* The request, an object, counts one operation until the counter of this PE is at least `at_least`. The operation fails
 * when the counter is shut first, or when the life ends. Returns false when memory is exhausted. */
bool uccs_threshold_counter(uccs_counter counter, int64_t at_least, struct uccs_request *request);
/* The same for a word, which counts as signed. The word must exist until then. */
bool uccs_threshold_word(const uint64_t *word, int64_t at_least, struct uccs_request *request);

/* Fills in the first counter or word that the request counts, for those who ask what a wait is for. Returns false when
 * there is none. */
bool uccs_threshold_tell(const struct uccs_request *request, struct uccs_reason *reason);

/* Ends what is still awaited, at the end of a life: these operations fail. */
void uccs_threshold_close(void);

#endif
