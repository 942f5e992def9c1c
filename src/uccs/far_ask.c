/* Answers: the data of gets, old values of atomics, flushes. Called under the lane's lock; who waits is told by a
 * flag (release; acquire in far.c) or a request. */
#include "uccs/far_lane.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that an ask may take up at its target until the answer has left: long data is sent from its place. */
static uint32_t held_for(const struct far_ask *ask)
{
    return (uint32_t)(sizeof(struct far_header) + (ask->bytes <= TRANSPORT_SHORT ? ask->bytes : 0));
}

/* Read without the lock by threads that want to issue. */
static void add_asking(struct far_lane *lane, uint32_t change)
{
    atomic_store_relaxed(&lane->asking, lane->asking + change);
}

void far_ask_list(struct far_ask *ask)
{
    struct far_lane *lane = ask->lane;
    add_asking(lane, held_for(ask));
    ask->number = lane->asked++;
    ask->next = 0;
    ask->before = lane->last;
    *(lane->last ? &lane->last->next : &lane->first) = ask;
    lane->last = ask;
    if (lane->first == ask)
        atomic_store_release(&lane->oldest, ask->number); /* acquire: quiet */
}

void far_ask_watch(struct far_lane *lane, struct uccs_request *request)
{
    if (!lane->first)
        return;
    struct far_watch *watch = malloc(sizeof *watch);
    if (!watch)
        far_fail("no memory for a request");
    *watch = (struct far_watch){.before = lane->asked, .request = request};
    *(lane->watches ? &lane->last_watch->next : &lane->watches) = watch;
    lane->last_watch = watch;
    uccs_request_begin(request);
}

static void finish_watches(struct far_lane *lane)
{
    while (lane->watches && (!lane->first || lane->first->number >= lane->watches->before)) {
        struct far_watch *watch = lane->watches;
        lane->watches = watch->next;
        uccs_request_finish(watch->request, false);
        free(watch);
    }
}

static void unlist(const struct far_ask *ask)
{
    struct far_lane *lane = ask->lane;
    add_asking(lane, -held_for(ask));
    *(ask->before ? &ask->before->next : &lane->first) = ask->next;
    *(ask->next ? &ask->next->before : &lane->last) = ask->before;
    if (!ask->before)
        atomic_store_release(&lane->oldest, lane->first ? lane->first->number : UINT64_MAX); /* acquire: quiet */
    finish_watches(lane);
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
        uccs_request_finish(ask->request, ask->failed);
    free(ask);
}

static void unpack(const struct far_ask *ask, const char *data)
{
    const struct uccs_far_blocks *blocks = &ask->blocks;
    for (size_t i = 0; i < blocks->count; i++)
        memcpy((char *)ask->dest + (ptrdiff_t)i * blocks->here, data + i * blocks->block, blocks->block);
}

static void fetched(struct far_ask *ask)
{
    if (ask->packed)
        unpack(ask, ask->packed);
    free(ask->packed);
    settle(ask);
}

static void received(struct far_token *token, bool failed)
{
    if (!failed) /* else `broken` ends the job */
        fetched((struct far_ask *)token);
}

/* Long data. */
static void fetch(struct far_ask *ask, void *rest)
{
    ask->token.done = received;
    if (ask->blocks.count && !(ask->packed = malloc(ask->bytes)))
        far_fail("no memory for %zu bytes of PE %d", ask->bytes, ask->pe);
    switch (far_transport->receive(ask->lane->at, rest, ask->packed ? ask->packed : ask->dest, ask->bytes, ask)) {
    case TRANSPORT_DONE: fetched(ask); break;
    case TRANSPORT_PENDING: break;
    default: far_fail("the data of a get did not come: the connection is lost");
    }
}

static void take_data(struct far_ask *ask, const struct transport_message *message)
{
    if (message->bytes != ask->bytes)
        far_fail("a get of %zu bytes was answered by %zu", ask->bytes, message->bytes);
    if (message->rest) {
        fetch(ask, message->rest);
        return;
    }
    if (ask->blocks.count)
        unpack(ask, message->data);
    else if (message->bytes)
        memcpy(ask->dest, message->data, message->bytes);
    settle(ask);
}

void far_answered(const struct far_header *header, const struct transport_message *message)
{
    void *asker = (void *)(uintptr_t)header->token;
    if (header->kind == FAR_FLUSHED) {
        far_flushed(asker, header->a);
        return;
    }
    struct far_ask *ask = asker;
    if (header->kind == FAR_DATA && !header->op) {
        take_data(ask, message);
        return;
    }
    ask->failed = header->op != 0;
    if (ask->dest && !ask->failed)
        uccs_far_give(ask->dest, ask->bytes, header->a);
    settle(ask);
}
