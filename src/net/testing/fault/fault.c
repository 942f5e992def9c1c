/* A transport for tests. It makes another transport as slow, disorderly and unreliable as transport.h allows. Built
 * beside the tests and never installed. LATERAL_TRANSPORTS=fault,hold=50:ucx loads it and sets what it does.
 *
 * By a seeded generator it may hold back for a while a message before it leaves, data before it is fetched, and a
 * completion. It keeps the promised order: short messages keep theirs, long ones are overtaken. A short message is also
 * sent from a copy, so that it is done long before it leaves.
 *
 * Threads: transport.h; everything of a worker is under its lock. Only progress moves held operations on; `step` counts
 * its calls. Lists may change whenever an event is raised, so each search starts at the front again. */
#include "net/testing/wrapper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_OPEN,
    FAULT_ADDRESS,
    FAULT_CONNECT,
    FAULT_SEND,
    FAULT_RECEIVE,
    FAULT_FINISH,
    FAULT_BREAK
};

/* One call of this kind fails, at `pe`. */
struct fault_plan {
    enum fault_kind fails;
    uint64_t pe, at; /* pe UINT64_MAX: any; at: the number of the failing call, from 1 */
};

#define COPY_BYTES 512
#define MOVES_A_STEP 16

struct worker {
    struct wrapper_worker wrapped;
    struct op *first, **last; /* held receives and completions, oldest first */
    struct peer *breaking;    /* the next progress breaks this peer's connection */
};

struct peer {
    struct wrapper_peer wrapped;
    struct op *first, **last; /* held messages, in the order of sending */
};

enum what { SENDING, RECEIVING, FINISHED };

struct op {
    enum what what;
    struct worker *worker;
    struct peer *peer;
    uint64_t due;
    void *token; /* null: no caller waits for it */
    int failed;
    const void *header, *data; /* of a message */
    size_t header_bytes, bytes;
    void *rest, *into; /* of a receive */
    struct op *next;
    char copy[]; /* header and data of a message that was reported done */
};

static struct fault_plan plan;
static uint64_t calls; /* number of calls of the kind that is to fail; relaxed */

/* --- The plan, such as fault,seed=3,hold=50,steps=20,fail=send,pe=1,at=7:tcp */

static const char *const kinds[] = {"none", "open", "address", "connect", "send", "receive", "finish", "break"};

static const char *read_kind(const char *value)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(value, kinds[i]) == 0) {
            plan.fails = (enum fault_kind)i;
            return 0;
        }
    return "LATERAL_TRANSPORTS: fail= takes open, address, connect, send, receive, finish or break";
}

static const char *read_setting(const char *name, const char *value)
{
    if (strcmp(name, "fail") == 0)
        return read_kind(value);
    if (strcmp(name, "pe") != 0 && strcmp(name, "at") != 0)
        return "LATERAL_TRANSPORTS: fault takes seed, hold, steps, fail, pe and at";
    return wrapper_number(value, name[0] == 'p' ? &plan.pe : &plan.at) ? 0 : "LATERAL_TRANSPORTS: a number is missing";
}

static const char *read_plan(void)
{
    plan = (struct fault_plan){.pe = UINT64_MAX, .at = 1};
    wrapper.seed = 1;
    wrapper.hold = 50;
    wrapper.steps = 20;
    return wrapper_plan_read("fault", read_setting);
}

static bool fails(enum fault_kind kind)
{
    if (plan.fails != kind || (plan.pe != UINT64_MAX && plan.pe != (uint64_t)wrapper.me) ||
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != plan.at)
        return false;
    dprintf(STDERR_FILENO, "fault: PE %d: LATERAL_TRANSPORTS=%s\n", wrapper.me, getenv("LATERAL_TRANSPORTS"));
    return true;
}

static struct op *new_op(struct worker *worker, enum what what, void *token, size_t copy)
{
    struct op *op = malloc(sizeof *op + copy);
    if (!op)
        abort();
    *op = (struct op){.what = what, .worker = worker, .token = token, .due = wrapper_draw_due(&worker->wrapped)};
    return op;
}

static void append_op(struct op ***last, struct op *op)
{
    op->next = 0;
    **last = op;
    *last = &op->next;
    wrapper_wake(&op->worker->wrapped);
}

static void remove_op(struct op **at, struct op ***last)
{
    struct op *op = *at;
    *at = op->next;
    if (*last == &op->next)
        *last = at;
}

/* ---- moving held operations on ---- */

/* Also the event of the inner transport. */
static void hold_finished(void *token, int failed)
{
    struct op *op = token;
    op->what = FINISHED;
    op->failed = failed;
    op->due = wrapper_draw_due(&op->worker->wrapped);
    if (op->token)
        append_op(&op->worker->last, op);
    else
        free(op);
}

static void judge_op(struct op *op, enum transport_status status)
{
    if (status != TRANSPORT_PENDING)
        hold_finished(op, status == TRANSPORT_FAILED);
}

static void move_op(struct op *op)
{
    switch (op->what) {
    case SENDING:
        judge_op(op, wrapper.behind->send(op->peer->wrapped.at, op->header, op->header_bytes, op->data, op->bytes, op));
        break;
    case RECEIVING:
        judge_op(op, wrapper.behind->receive(op->worker->wrapped.at, op->rest, op->into, op->bytes, op));
        break;
    case FINISHED:
        wrapper.events->finished(op->token, op->failed);
        free(op);
        break;
    }
}

static bool move_message(struct peer *peer)
{
    bool behind_short = false;
    for (struct op **at = &peer->first; *at && !behind_short; at = &(*at)->next) {
        struct op *op = *at;
        if (op->due <= peer->wrapped.worker->step) {
            remove_op(at, &peer->last);
            move_op(op);
            return true;
        }
        behind_short = op->bytes <= TRANSPORT_SHORT;
    }
    return false;
}

static bool move_rest(struct worker *worker)
{
    for (struct op **at = &worker->first; *at; at = &(*at)->next) {
        struct op *op = *at;
        if (op->due > worker->wrapped.step)
            continue;
        remove_op(at, &worker->last);
        move_op(op);
        return true;
    }
    return false;
}

static bool move_one(struct worker *worker)
{
    for (struct wrapper_peer *peer = worker->wrapped.peers; peer; peer = peer->next)
        if (move_message((struct peer *)peer))
            return true;
    return move_rest(worker);
}

static bool holds_something(const struct worker *worker)
{
    if (worker->first || worker->breaking)
        return true;
    for (const struct wrapper_peer *peer = worker->wrapped.peers; peer; peer = peer->next)
        if (((const struct peer *)peer)->first)
            return true;
    return false;
}

static int fault_progress(void *of)
{
    struct worker *worker = of;
    worker->wrapped.step++;
    int count = wrapper.behind->progress(worker->wrapped.at);
    for (int i = 0; i < MOVES_A_STEP && move_one(worker); i++)
        count++;
    struct peer *breaking = worker->breaking;
    worker->breaking = 0;
    if (breaking)
        wrapper_broken(worker, breaking->wrapped.pe, "the test wants it so");
    return count;
}

/* ---- slots ---- */

static void fault_arrived(void *owner, const struct transport_message *message)
{
    const struct wrapper_worker *worker = owner;
    wrapper.events->arrived(worker->owner, message);
}

static const char *fault_open(const struct transport_events *to, int pe, int npes, unsigned onesided)
{
    static const struct transport_events own = {fault_arrived, hold_finished, wrapper_broken};
    const char *why = read_plan();
    wrapper.me = pe;
    calls = 0;
    if (!why && fails(FAULT_OPEN))
        why = "the test wants it so";
    (void)onesided; /* this transport delays messages alone */
    return why ? why : wrapper_open("fault", to, &own, pe, npes);
}

static const char *fault_open_worker(void *owner, void **made)
{
    const char *why = wrapper_worker_open(owner, sizeof(struct worker), made);
    struct worker *worker = *made;
    if (!why)
        worker->last = &worker->first;
    return why;
}

static int fault_address(void *worker, void *room, size_t *bytes)
{
    return fails(FAULT_ADDRESS) ? -1 : wrapper_address(worker, room, bytes);
}

static void *fault_connect(void *worker, int pe, const void *address, size_t bytes)
{
    struct peer *peer = fails(FAULT_CONNECT) ? 0 : wrapper_connect(worker, pe, address, bytes, sizeof *peer);
    if (peer)
        peer->last = &peer->first;
    return peer;
}

/* Copies a message, so that it is reported done before it leaves. The copy is sent. */
static void copy_message(struct op *op)
{
    memcpy(op->copy, op->header, op->header_bytes);
    if (op->bytes)
        memcpy(op->copy + op->header_bytes, op->data, op->bytes);
    op->header = op->copy;
    op->data = op->bytes ? op->copy + op->header_bytes : 0;
    op->token = 0;
}

static enum transport_status fault_send(void *to, const void *header, size_t header_bytes, const void *data,
                                        size_t bytes, void *token)
{
    struct peer *peer = to;
    struct worker *worker = (struct worker *)peer->wrapped.worker;
    if (fails(FAULT_SEND))
        return TRANSPORT_FAILED;
    if (fails(FAULT_BREAK))
        worker->breaking = peer;
    bool copies = bytes <= COPY_BYTES && wrapper_random(&worker->wrapped) % 2;
    struct op *op = new_op(worker, SENDING, token, copies ? header_bytes + bytes : 0);
    op->peer = peer;
    op->header = header;
    op->header_bytes = header_bytes;
    op->data = data;
    op->bytes = bytes;
    if (copies)
        copy_message(op);
    if (!copies && fails(FAULT_FINISH)) {
        worker->breaking = peer;
        hold_finished(op, 1);
        return TRANSPORT_PENDING;
    }
    append_op(&peer->last, op);
    return copies ? TRANSPORT_DONE : TRANSPORT_PENDING;
}

static enum transport_status fault_receive(void *of, void *rest, void *into, size_t bytes, void *token)
{
    struct worker *worker = of;
    if (fails(FAULT_RECEIVE))
        return TRANSPORT_FAILED;
    struct op *op = new_op(worker, RECEIVING, token, 0);
    op->rest = rest;
    op->into = into;
    op->bytes = bytes;
    append_op(&worker->last, op);
    return TRANSPORT_PENDING;
}

static int fault_arm(void *of)
{
    struct worker *worker = of;
    return holds_something(worker) ? 0 : wrapper_arm(&worker->wrapped);
}

static int fault_drained(void *of)
{
    struct worker *worker = of;
    fault_progress(worker);
    const bool left = wrapper.behind->drained(worker->wrapped.at); /* may raise events, which are held */
    return left && !holds_something(worker);
}

extern const struct transport lateral_transport;

__attribute__((visibility("default"))) const struct transport lateral_transport = {
    .name = "fault",
    .open = fault_open,
    .open_worker = fault_open_worker,
    .address = fault_address,
    .connect = fault_connect,
    .send = fault_send,
    .receive = fault_receive,
    .progress = fault_progress,
    .descriptor = wrapper_descriptor,
    .arm = fault_arm,
    .drained = fault_drained,
    .close = wrapper_close,
};
