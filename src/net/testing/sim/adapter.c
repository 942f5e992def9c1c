/* The simulated adapter; see inner.h. Each operation takes two steps, and either may be held back for some calls of
 * progress: a put first reads its source, which is free then, and later writes to the target; a get reads; an atomic
 * changes its word; a flush waits until the operations before it are done. */
#include "net/testing/sim/inner.h"

#include <stdlib.h>
#include <string.h>

enum { MOVES = 16 }; /* operations that move on in a call of progress, at most */

enum what { PUT, GET, ATOMIC, FLUSH };

struct sim_operation {
    enum what what;
    struct sim_peer *peer;
    uint64_t due, fence;
    void *token; /* null: the origin has been told */
    const struct sim_key *key;
    uint64_t there;
    const void *source; /* of a put that has not been read */
    void *dest;         /* of a get; of an atomic: may be null */
    const struct transport_word *word;
    size_t bytes;
    bool failed; /* of a flush: a put or an atomic before it has */
    struct sim_operation *next;
    char data[]; /* of a put */
};

unsigned sim_able(void *peer)
{
    (void)peer;
    return TRANSPORT_KNOWN | TRANSPORT_ONESIDED | TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE |
           (sim_plan.order ? TRANSPORT_ORDERS : 0) | (sim_plan.counters ? TRANSPORT_COUNTS : 0);
}

unsigned sim_atomics(void *peer, size_t bytes)
{
    (void)peer;
    return (bytes == 4 || bytes == 8) && sim_plan.words & bytes ? TRANSPORT_ATOMICS_ALL : 0;
}

/* --- Operations under way */

static struct sim_worker *worker_of(const struct sim_peer *peer)
{
    return (struct sim_worker *)peer->wrapped.worker;
}

static struct sim_operation *begin_operation(struct sim_peer *peer, const struct sim_operation *what, size_t room)
{
    struct sim_operation *operation = malloc(sizeof *operation + room);
    struct sim_worker *worker = worker_of(peer);
    if (!operation)
        abort();
    *operation = *what;
    operation->peer = peer;
    operation->fence = worker->fence;
    operation->due = wrapper_draw_due(&worker->wrapped);
    *worker->last = operation;
    worker->last = &operation->next;
    wrapper_wake(&worker->wrapped);
    return operation;
}

static void remove_operation(struct sim_worker *worker, struct sim_operation *operation)
{
    struct sim_operation **at = &worker->first;
    while (*at != operation)
        at = &(*at)->next;
    *at = operation->next;
    if (worker->last == &operation->next)
        worker->last = at;
}

/* The flushes that cover a put or an atomic which has failed fail; if none is under way, the next one will. */
static void tell_flushes(const struct sim_operation *put)
{
    put->peer->failed = true;
    for (struct sim_operation *later = put->next; later; later = later->next)
        if (later->what == FLUSH && later->peer == put->peer) {
            later->failed = true;
            put->peer->failed = false;
        }
}

static bool take_failed(struct sim_peer *peer)
{
    const bool failed = peer->failed;
    peer->failed = false;
    return failed;
}

static void end_operation(struct sim_operation *operation, bool failed)
{
    struct sim_worker *worker = worker_of(operation->peer);
    void *token = operation->token;
    if (failed && (operation->what == PUT || (operation->what == ATOMIC && !operation->dest)))
        tell_flushes(operation);
    remove_operation(worker, operation);
    free(operation);
    if (token)
        wrapper.events->finished(token, failed);
}

/* Reads the source; its owner may change it from now on. */
static void read_source(struct sim_operation *put)
{
    void *token = put->token;
    memcpy(put->data, put->source, put->bytes);
    put->source = 0;
    put->token = 0;
    put->due = wrapper_draw_due(put->peer->wrapped.worker);
    if (token)
        wrapper.events->finished(token, 0);
}

static void move_operation(struct sim_operation *operation)
{
    const struct sim_key *key = operation->key;
    switch (operation->what) {
    case PUT:
        if (operation->source)
            read_source(operation);
        else
            end_operation(operation, !sim_write(key, operation->there, operation->data, operation->bytes));
        break;
    case GET: end_operation(operation, !sim_read(key, operation->there, operation->dest, operation->bytes)); break;
    case ATOMIC: end_operation(operation, !sim_change(key, operation->there, operation->word, operation->dest)); break;
    case FLUSH: end_operation(operation, operation->failed); break;
    }
}

/* Returns true when the operation waits for an earlier one to the same peer: a flush for all, a put behind a fence for those
 * before it. */
static bool must_wait(const struct sim_operation *operation)
{
    const struct sim_worker *worker = worker_of(operation->peer);
    for (const struct sim_operation *before = worker->first; before != operation; before = before->next)
        if (before->peer == operation->peer && (operation->what == FLUSH || before->fence < operation->fence))
            return true;
    return false;
}

static bool move_one(struct sim_worker *worker)
{
    uint64_t count = 0;
    for (struct sim_operation *operation = worker->first; operation && count++ < sim_plan.most;
         operation = operation->next)
        if (operation->due <= worker->wrapped.step && !must_wait(operation)) {
            move_operation(operation); /* an event may begin others, so the search starts again */
            return true;
        }
    return false;
}

int sim_adapter_move(struct sim_worker *worker)
{
    int count = 0;
    worker->wrapped.step++;
    while (count < MOVES && move_one(worker))
        count++;
    return count;
}

/* --- Slots. With nothing to hold back, operations are done when they return. */

enum transport_status sim_put(void *to, void *key, uint64_t there, const void *source, size_t bytes, void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.puts);
    if (!wrapper.hold && !worker_of(peer)->first)
        return sim_write(key, there, source, bytes) ? TRANSPORT_DONE : TRANSPORT_FAILED;
    const struct sim_operation put =
        {.what = PUT, .token = token, .key = key, .there = there, .source = source, .bytes = bytes};
    struct sim_operation *made = begin_operation(peer, &put, bytes);
    if (wrapper_random(peer->wrapped.worker) % 2)
        return TRANSPORT_PENDING;
    made->token = 0;
    read_source(made);
    return TRANSPORT_DONE;
}

enum transport_status sim_get(void *to, void *key, uint64_t there, void *dest, size_t bytes, void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.gets);
    if (!wrapper.hold)
        return sim_read(key, there, dest, bytes) ? TRANSPORT_DONE : TRANSPORT_FAILED;
    const struct sim_operation get =
        {.what = GET, .token = token, .key = key, .there = there, .dest = dest, .bytes = bytes};
    begin_operation(peer, &get, 0);
    return TRANSPORT_PENDING;
}

enum transport_status sim_atomic(void *to, void *key, uint64_t there, const struct transport_word *word, void *old,
                                 void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.atomics);
    if (old)
        sim_count(&lateral_sim_counts.fetches);
    if (!wrapper.hold && !worker_of(peer)->first)
        return sim_change(key, there, word, old) ? TRANSPORT_DONE : TRANSPORT_FAILED;
    const struct sim_operation atomic =
        {.what = ATOMIC, .token = token, .key = key, .there = there, .dest = old, .word = word};
    begin_operation(peer, &atomic, 0);
    return TRANSPORT_PENDING;
}

enum transport_status sim_flush(void *to, void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.flushes);
    if (!worker_of(peer)->first)
        return take_failed(peer) ? TRANSPORT_FAILED : TRANSPORT_DONE;
    begin_operation(peer, &(struct sim_operation){.what = FLUSH, .token = token}, 0)->failed = take_failed(peer);
    return TRANSPORT_PENDING;
}

void sim_order(void *of)
{
    struct sim_worker *worker = of;
    worker->fence++;
}
