/* The simulated adapter; see inner.h. Each operation takes two steps, and either may be held back for some calls of
 * progress: a put first reads its source, which is free then, and later writes to the target; a get reads; an atomic
 * changes its word; a flush waits until the operations before it are done. */
#include "net/testing/sim/inner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

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
           (sim_plan.order ? TRANSPORT_ORDERS : 0);
}

unsigned sim_atomics(void *peer, size_t bytes)
{
    (void)peer;
    return (bytes == 4 || bytes == 8) && sim_plan.words & bytes ? TRANSPORT_ATOMICS_ALL : 0;
}

/* --- Operations under way */

/* splitmix64 */
static uint64_t next_random(struct sim_worker *worker)
{
    uint64_t z = worker->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t draw_due(struct sim_worker *worker)
{
    const uint64_t random = next_random(worker);
    if (random % 100 >= sim_plan.hold || !sim_plan.steps)
        return worker->step;
    return worker->step + 1 + (random >> 8) % sim_plan.steps;
}

static struct sim_operation *begin(struct sim_peer *peer, const struct sim_operation *what, size_t room)
{
    struct sim_operation *operation = malloc(sizeof *operation + room);
    struct sim_worker *worker = peer->worker;
    if (!operation)
        abort();
    *operation = *what;
    operation->peer = peer;
    operation->fence = worker->fence;
    operation->due = draw_due(worker);
    *worker->last = operation;
    worker->last = &operation->next;
    eventfd_write(worker->wake, 1); /* a thread must call progress */
    return operation;
}

static void take_out(struct sim_worker *worker, struct sim_operation *operation)
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

static void end(struct sim_operation *operation, bool failed)
{
    struct sim_worker *worker = operation->peer->worker;
    void *token = operation->token;
    if (failed && (operation->what == PUT || (operation->what == ATOMIC && !operation->dest)))
        tell_flushes(operation);
    take_out(worker, operation);
    free(operation);
    if (token)
        sim_events->finished(token, failed);
}

/* Reads the source; its owner may change it from now on. */
static void read_source(struct sim_operation *put)
{
    void *token = put->token;
    memcpy(put->data, put->source, put->bytes);
    put->source = 0;
    put->token = 0;
    put->due = draw_due(put->peer->worker);
    if (token)
        sim_events->finished(token, 0);
}

static void move(struct sim_operation *operation)
{
    const struct sim_key *key = operation->key;
    switch (operation->what) {
    case PUT:
        if (operation->source)
            read_source(operation);
        else
            end(operation, !sim_write(key, operation->there, operation->data, operation->bytes));
        break;
    case GET: end(operation, !sim_read(key, operation->there, operation->dest, operation->bytes)); break;
    case ATOMIC: end(operation, !sim_change(key, operation->there, operation->word, operation->dest)); break;
    case FLUSH: end(operation, operation->failed); break;
    }
}

/* Returns true when the operation waits for an earlier one to the same peer: a flush for all, a put behind a fence for those
 * before it. */
static bool must_wait(const struct sim_operation *operation)
{
    const struct sim_worker *worker = operation->peer->worker;
    for (const struct sim_operation *before = worker->first; before != operation; before = before->next)
        if (before->peer == operation->peer && (operation->what == FLUSH || before->fence < operation->fence))
            return true;
    return false;
}

static bool move_one(struct sim_worker *worker)
{
    for (struct sim_operation *operation = worker->first; operation; operation = operation->next)
        if (operation->due <= worker->step && !must_wait(operation)) {
            move(operation); /* an event may begin others, so the search starts again */
            return true;
        }
    return false;
}

int sim_adapter_move(struct sim_worker *worker)
{
    int count = 0;
    worker->step++;
    while (count < MOVES && move_one(worker))
        count++;
    return count;
}

/* --- Slots. With nothing to hold back, operations are done when they return. */

enum transport_status sim_put(void *to, void *key, uint64_t there, const void *source, size_t bytes, void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.puts);
    if (!sim_plan.hold && !peer->worker->first)
        return sim_write(key, there, source, bytes) ? TRANSPORT_DONE : TRANSPORT_FAILED;
    const struct sim_operation put =
        {.what = PUT, .token = token, .key = key, .there = there, .source = source, .bytes = bytes};
    struct sim_operation *made = begin(peer, &put, bytes);
    if (next_random(peer->worker) % 2)
        return TRANSPORT_PENDING;
    made->token = 0;
    read_source(made);
    return TRANSPORT_DONE;
}

enum transport_status sim_get(void *to, void *key, uint64_t there, void *dest, size_t bytes, void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.gets);
    if (!sim_plan.hold)
        return sim_read(key, there, dest, bytes) ? TRANSPORT_DONE : TRANSPORT_FAILED;
    const struct sim_operation get =
        {.what = GET, .token = token, .key = key, .there = there, .dest = dest, .bytes = bytes};
    begin(peer, &get, 0);
    return TRANSPORT_PENDING;
}

enum transport_status sim_atomic(void *to, void *key, uint64_t there, const struct transport_word *word, void *old,
                                 void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.atomics);
    if (old)
        sim_count(&lateral_sim_counts.fetches);
    if (!sim_plan.hold && !peer->worker->first)
        return sim_change(key, there, word, old) ? TRANSPORT_DONE : TRANSPORT_FAILED;
    const struct sim_operation atomic =
        {.what = ATOMIC, .token = token, .key = key, .there = there, .dest = old, .word = word};
    begin(peer, &atomic, 0);
    return TRANSPORT_PENDING;
}

enum transport_status sim_flush(void *to, void *token)
{
    struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.flushes);
    if (!peer->worker->first)
        return take_failed(peer) ? TRANSPORT_FAILED : TRANSPORT_DONE;
    begin(peer, &(struct sim_operation){.what = FLUSH, .token = token}, 0)->failed = take_failed(peer);
    return TRANSPORT_PENDING;
}

void sim_order(void *of)
{
    struct sim_worker *worker = of;
    worker->fence++;
}
