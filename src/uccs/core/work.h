/* Work: split-phase collectives and other operations that this process must help along until they are finished. Threads
 * that wait or test advance it, and so does the progress thread. Any thread. */
#ifndef UCCS_CORE_WORK_H
#define UCCS_CORE_WORK_H

#include "uccs/core/await.h"

#include <stdbool.h>

struct uccs_request; /* comp/request.h */

/* A piece of work. `advance` runs on one thread at a time, under the list's lock, and must not wait. It returns true when
 * the work is finished, and is not called again. For long steps, such as copying, `advance` stores a function in `labour`:
 * the same thread calls that function once, without the lock, so that other work goes on meanwhile, and then calls
 * `advance` again. */
struct uccs_work {
    bool (*advance)(struct uccs_work *work);
    void (*labour)(struct uccs_work *work); /* null: no labour is due */
    bool again; /* `advance` sets it when no other process will tell that it can go on; then it is soon called again */
    bool busy;  /* a thread runs its labour; under the list's lock */
    /* Fills in what the work waits for. Returns false when the request does not count it. Under the list's lock; may be
     * null. */
    bool (*tell)(const struct uccs_work *work, const struct uccs_request *request, struct uccs_told *told);
    struct uccs_work *next;
};

/* Adds a piece of work. With a progress thread, which sleeps until others post, it also advances the work once, but runs
 * no labour. The piece may be finished and gone on return. */
void uccs_work_add(struct uccs_work *work);

/* Advances the work; leaves it alone when another thread advances it. */
void uccs_work_advance(void);

/* What a server of the progress thread (progress.h) has found. */
enum uccs_served {
    UCCS_SERVED_NOTHING, /* what comes next will ring the bell or shows at the descriptor */
    UCCS_SERVED_SOME,    /* look again at once */
    UCCS_SERVED_SOON,    /* a thread of the program is about to look; see in a moment whether it has */
    UCCS_SERVED_LATER    /* nothing at the moment, but look again within a millisecond, unasked */
};

/* The progress thread advances the work by uccs_work_serve. uccs_work_polls grows while threads of the program advance
 * it. */
enum uccs_served uccs_work_serve(void);
uint64_t uccs_work_polls(void);

/* Lets the first piece of work that the request counts fill in what it waits for. Returns false when there is none, or
 * another thread has the list. */
bool uccs_work_tell(const struct uccs_request *request, struct uccs_told *told);

#endif
