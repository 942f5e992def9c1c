/* Turns at the messages, for threads in progress that share a core. Any thread.
 *
 * Where such threads outnumber the cores one of them finds all messages, as the others run only when it has none. So who
 * has had TURNS_LONG of them gives its core away, if others have been in progress on that core. Not else: a thread that
 * computes would keep it for a whole slice of time, and where every thread has a core the call would be for nothing. */
#ifndef UCCS_TURNS_H
#define UCCS_TURNS_H

#include <stdbool.h>

#define TURNS_LONG 128 /* messages */
#define TURNS_BELIEF 2 /* turns for which others are believed to be there still */

/* This thread has handled so many more. True when it has given its core away. */
bool uccs_turns_take(int handled);

/* This thread is in progress, has found nothing, and will give its core away. */
void uccs_turns_show(void);

#endif
