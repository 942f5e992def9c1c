/* Answers: the data of gets, old values of atomics, flushes. Called under the lane's lock; who waits is told by a
 * flag (release; acquire in far.c) or a request. */
#include "uccs/far_lane.h"

#include <stdlib.h>
#include <string.h>

void far_ask_list(struct far_ask *ask)
{
    struct far_lane *lane = ask->lane;
    ask->number = lane->asked++;
    ask->next = 0;
    ask->before = lane->last;
    *(lane->last ? &lane->last->next : &lane->first) = ask;
    lane->last = ask;
    if (lane->first == ask)
        atomic_store_release(&lane->oldest, ask->number); /* acquire: quiet */
}

static void unlist(const struct far_ask *ask)
{
    struct far_lane *lane = ask->lane;
    *(ask->before ? &ask->before->next : &lane->first) = ask->next;
    *(ask->next ? &ask->next->before : &lane->last) = ask->before;
    if (!ask->before)
        atomic_store_release(&lane->oldest, lane->first ? lane->first->number : UINT64_MAX);
}

/* The waiting thread owns an ask with a flag, and may be gone as soon as it sees it. */
static void settle(struct far_ask *ask)
{
    if (ask->flag) {
        atomic_store_release(ask->flag, 1);
        return;
    }
    unlist(ask);
    if (ask->request)
        uccs_request_finish(ask->request, false);
    free(ask);
}

static void received(struct far_token *token, bool failed)
{
    if (!failed) /* else `broken` ends the job */
        settle((struct far_ask *)token);
}

static void take_data(struct far_ask *ask, const struct transport_message *message)
{
    if (message->bytes != ask->bytes)
        far_fail("a get of %zu bytes was answered by %zu", ask->bytes, message->bytes);
    ask->token.done = received;
    if (!message->rest) {
        memcpy(ask->dest, message->data, message->bytes);
        settle(ask);
        return;
    }
    switch (far_transport->receive(ask->lane->at, message->rest, ask->dest, message->bytes, ask)) {
    case TRANSPORT_DONE: settle(ask); break;
    case TRANSPORT_PENDING: break;
    default: far_fail("the data of a get did not come: the connection is lost");
    }
}

void far_answered(struct far_lane *lane, const struct far_header *header, const struct transport_message *message)
{
    void *asker = (void *)(uintptr_t)header->token;
    if (header->kind == FAR_FLUSHED) {
        far_flushed(asker);
        return;
    }
    struct far_ask *ask = asker;
    (void)lane;
    if (header->kind == FAR_DATA) {
        take_data(ask, message);
        return;
    }
    *ask->value = header->a;
    settle(ask);
}
