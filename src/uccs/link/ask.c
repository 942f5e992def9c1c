/* Asks are messages that the target answers: gets, fetching atomics, questions about regions. They are listed and
 * settled under the lane's lock. A flag (release; acquire in link_await) or a request tells the asking thread of the
 * answer. */
#include "uccs/link/inner.h"

#include <stdlib.h>

/* Returns the bytes that an ask may take up at its target until the answer has left. Long data takes up none, since the
 * target sends it from its place. */
static uint32_t held_for(const struct link_ask *ask)
{
    return (uint32_t)(sizeof(struct link_header) + (ask->bytes <= TRANSPORT_SHORT ? ask->bytes : 0));
}

/* Adds to the lane's held bytes. Threads that want to issue read them without the lock. */
static void add_asking(struct link_lane *lane, uint32_t change)
{
    atomic_store_relaxed(&lane->asking, lane->asking + change);
}

void link_ask_list(struct link_ask *ask)
{
    struct link_lane *lane = ask->lane;
    add_asking(lane, held_for(ask));
    ask->number = lane->asked++;
    ask->next = 0;
    ask->before = lane->last;
    *(lane->last ? &lane->last->next : &lane->first) = ask;
    lane->last = ask;
    if (lane->first == ask)
        atomic_store_release(&lane->oldest, ask->number); /* acquire: quiet */
}

void link_ask_watch(struct link_lane *lane, struct uccs_request *request)
{
    if (!lane->first)
        return;
    struct link_watch *watch = malloc(sizeof *watch);
    if (!watch)
        uccs_fail("no memory for a request");
    *watch = (struct link_watch){.before = lane->asked, .request = request};
    *(lane->watches ? &lane->last_watch->next : &lane->watches) = watch;
    lane->last_watch = watch;
    uccs_request_begin(request);
}

static void finish_watches(struct link_lane *lane)
{
    while (lane->watches && (!lane->first || lane->first->number >= lane->watches->before)) {
        struct link_watch *watch = lane->watches;
        lane->watches = watch->next;
        uccs_request_finish(watch->request, false);
        free(watch);
    }
}

static void unlist(const struct link_ask *ask)
{
    struct link_lane *lane = ask->lane;
    add_asking(lane, -held_for(ask));
    *(ask->before ? &ask->before->next : &lane->first) = ask->next;
    *(ask->next ? &ask->next->before : &lane->last) = ask->before;
    if (!ask->before)
        atomic_store_release(&lane->oldest, lane->first ? lane->first->number : UINT64_MAX); /* acquire: quiet */
    finish_watches(lane);
}

/* The waiting thread owns an ask with a flag. It may drop the ask as soon as it sees the flag, so the flag is last. */
void link_settle(struct link_ask *ask)
{
    if (ask->flag) {
        atomic_store_release(ask->flag, 1);
        return;
    }
    unlist(ask);
    if (ask->request)
        uccs_request_finish_use(ask->request, ask->failed);
    if (lat_unlikely(ask->local != 0))
        uccs_request_finish(ask->local, ask->failed);
    if (lat_unlikely(ask->mark != 0))
        link_mark_settled(ask);
    free(ask);
}
