/* Wait records: waits that last, written down in the node's memory so that the launcher can tell who waits for whom.
 *
 * A waiter that has waited in vain for a while makes a record (node.h) and takes it back when its wait ends. Waits that
 * end soon leave none and pay nothing. Any thread. */
#ifndef RTE_WAIT_RECORD_H
#define RTE_WAIT_RECORD_H

#include "rte/node.h"

/* Nanoseconds of waiting that make a record. Its cost, a stack walk for which libc loads the unwinder the first time, is
 * then below 1 ms in 500; a job of some hundred PEs on few cores starts without any. */
#define RTE_WAIT_RECORD_AFTER 500000000

/* Makes the record of a wait of the calling thread that has begun at `since` (nanoseconds of CLOCK_MONOTONIC); `text`
 * names the object in less than NODE_WAIT_TEXT bytes, or is null. Returns its number, or 0 when there is no room or no
 * node. Takes the addresses of the callers, which costs some microseconds. */
uint32_t rte_wait_record_begin(const struct node_wait_reason *on, const char *text, uint64_t since, uintptr_t heap,
                               size_t heap_bytes);

/* Says anew what the wait is for. */
void rte_wait_record_renew(uint32_t record, const struct node_wait_reason *on, const char *text);

/* Notes that the waiter has looked again, and the value that the variable has now. */
void rte_wait_record_looked(uint32_t record, uint64_t value);

/* Takes the record back. */
void rte_wait_record_end(uint32_t record);

#endif
