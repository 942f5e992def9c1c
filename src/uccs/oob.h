/* Out-of-band messages of uccs_rte.h: queues of what has come and of what is waited for, under one lock, as it is
 * not for speed. Any thread. */
#ifndef UCCS_OOB_H
#define UCCS_OOB_H

#include <stdbool.h>
#include <uccs_rte.h>

/* The handler of the inner context. */
void uccs_oob_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);

/* Runs callbacks that are due; how many. */
int uccs_oob_deliver(void);

/* Begin and end of a life. False: no memory. */
bool uccs_oob_open(void);
void uccs_oob_close(void);

#endif
