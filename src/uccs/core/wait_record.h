/* A wait and its record: a wait that lasts leaves a record in the node's memory, which oshrun and debuggers read
 * (rte/wait_record.h). A wait belongs to the thread that waits. */
#ifndef UCCS_CORE_WAIT_RECORD_H
#define UCCS_CORE_WAIT_RECORD_H

#include "uccs/core/wait_reason.h"

/* Starts zeroed but for `on`, which says what the wait is for, to those who ask why the job hangs. */
struct uccs_wait {
    uint32_t looks;
    uint32_t stay;  /* 0: the wait is short so far; UCCS_WAIT_IS_LONG: it is not; else its record (rte/wait_record.h) */
    uint64_t since; /* when the wait became slow; 0: it has not */
    struct node_wait_reason on;
};

#define UCCS_WAIT_IS_LONG UINT32_MAX

/* Every struct uccs_wait is declared with this attribute, which ends its stay with its scope. */
#define uccs_scoped __attribute__((cleanup(uccs_wait_end)))

/* Begins or renews the record once the wait has lasted. The waiting thread calls it now and then. */
void uccs_wait_record(struct uccs_wait *wait);
void uccs_wait_record_end(struct uccs_wait *wait);

static inline void uccs_wait_end(struct uccs_wait *wait)
{
    if (lat_unlikely(wait->stay))
        uccs_wait_record_end(wait);
}

#endif
