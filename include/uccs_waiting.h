/* UCCS: waits of a layer above; <uccs.h> includes this file. A thread that waits in a loop of its own, not in a call of this library, can say for what, so
 * that those who ask why the job hangs are told (oshrun --status, --timeout) as of the library's own waits. The record
 * names the calls on the thread's stack, so it costs some microseconds: make it when the wait has lasted for a while. */
#ifndef UCCS_H
#include <uccs.h>
#endif
#ifndef UCCS_WAITING_H
#define UCCS_WAITING_H

struct uccs_waiting {
    const char *object;      /* names in a few words what the wait is about, copied; null: the call says enough */
    int rank;                /* in the world: who is waited for; of those who meet, the first; -1: not known */
    int ranks, stride;       /* more than 1: so many ranks meet, which are `stride` apart */
    uint64_t place, meeting; /* of those who meet: equal at all of them, different in other meetings */
};
/* `seconds`: how long the wait has lasted already. Returns the record's number, or 0 when there is no room for it. The
 * same thread ends it with the wait. */
int uccs_waiting_begin(const struct uccs_waiting *what, double seconds);
void uccs_waiting_end(int record); /* 0 does nothing */

#endif
