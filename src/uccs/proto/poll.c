/* Moves workers on: sends waiting messages and handles arrived ones. */
#include "uccs/proto/inner.h"

#define POLLS_A_LOOK 4096 /* one poll in this many looks at the lines; polls may be 50 us apart */

/* Returns non-zero when something came in or has left, else 0. */
static int look(struct proto_worker *worker)
{
    if (worker->hung)
        proto_nudge(worker);
    proto_land_wanted(worker);
    if (worker->coalescing)
        proto_coalesce_push_all(worker);
    int count = proto_transport->progress(worker->at);
    if (worker->coalescing)
        proto_coalesce_push_all(worker);
    if (count)
        uccs_eventcount_tell(&worker->events);
    return count;
}

bool proto_poll_clear(struct proto_worker *worker)
{
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return false;
    look(worker);
    bool clear = worker->sending == 0;
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    return clear;
}

int proto_poll(struct proto_worker *worker)
{
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return 0;
    if (lat_unlikely(!worker->at)) { /* closed; this thread still waits for a message that will never come */
        pthread_mutex_unlock(&worker->lock);
        return 0;
    }
    uint32_t polls = worker->polls + 1;
    atomic_store_relaxed(&worker->polls, polls); /* a hint for thread.c */
    int count = look(worker);
    uccs_eventcount_unlock(&worker->events, &worker->lock);
    if (lat_unlikely(polls % POLLS_A_LOOK == 0))
        uccs_keepalive_poll(); /* a process without the progress thread needs it */
    return count;
}

/* A waiter serves peers too, whether there is a progress thread or not: two PEs that wait for each other's answers would else
 * both wait for their threads, which the waiters keep from the cores. */
int proto_progress_all(uint64_t workers)
{
    int count = 0;
    for (workers |= 1; workers; workers &= workers - 1)
        count += proto_poll(&proto_workers[__builtin_ctzll(workers)]);
    return count;
}

int proto_progress(struct proto_worker *worker)
{
    return proto_progress_all(UINT64_C(1) << worker->number);
}
