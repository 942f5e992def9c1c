/* A transport for tests. It makes another transport as slow, disorderly and unreliable as transport.h allows. Built
 * beside the tests and never installed. LATERAL_TRANSPORTS=fault:ucx loads it, LATERAL_FAULT sets what it
 * does.
 *
 * By a seeded generator it may hold back for a while a message before it leaves, data before it is fetched, and a
 * completion. It keeps the promised order: short messages keep theirs, long ones are overtaken. A short message is also
 * sent from a copy, so that it is done long before it leaves.
 *
 * Threads: transport.h; everything of a worker is under its lock. Only progress moves held operations on; `step` counts
 * its calls. Lists may change whenever an event is raised, so each search starts at the front again. */
#include "net/testing/wrapper.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
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

struct fault_plan {
    uint64_t seed;
    uint32_t hold;         /* percent of sends, receives and completions that are held back */
    uint32_t steps;        /* an operation is held for at most this many progress calls */
    enum fault_kind fails; /* one call of this kind fails, at `pe` */
    int pe;                /* -1: any */
    uint64_t at;           /* the number of the failing call, from 1 */
};

#define COPY_BYTES 512
#define MOVES_A_STEP 16

struct worker {
    void *at, *owner;
    uint64_t random, step;
    struct peer *peers;
    struct op *first, **last; /* held receives and completions, oldest first */
    struct peer *breaking;    /* the next progress breaks this peer's connection */
    int wake, files;          /* eventfd: something is held; epoll of it and of the inner descriptor */
    struct worker *next;
};

struct peer {
    void *at;
    struct worker *worker;
    int pe;
    struct op *first, **last; /* held messages, in the order of sending */
    struct peer *next;
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

static const struct transport *inner;
static const struct transport_events *events;
static struct fault_plan plan;
static struct worker *workers;
static int me;
static uint64_t calls; /* number of calls of the kind that is to fail; relaxed */

/* ---- LATERAL_FAULT, such as "seed=3,hold=50,steps=20,fail=send,pe=1,at=7" ---- */

static const char *const kinds[] = {"none", "open", "address", "connect", "send", "receive", "finish", "break"};

static const char *read_kind(const char *value, struct fault_plan *plan)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(value, kinds[i]) == 0) {
            plan->fails = (enum fault_kind)i;
            return 0;
        }
    return "LATERAL_FAULT: fail= takes open, address, connect, send, receive, finish or break";
}

static const char *read_one(const char *name, const char *value, void *of)
{
    struct fault_plan *plan = of;
    if (strcmp(name, "fail") == 0)
        return read_kind(value, plan);
    char *end;
    unsigned long long number = strtoull(value, &end, 10);
    if (end == value || *end)
        return "LATERAL_FAULT: a number is missing";
    if (strcmp(name, "seed") == 0)
        plan->seed = number;
    else if (strcmp(name, "hold") == 0)
        plan->hold = (uint32_t)number;
    else if (strcmp(name, "steps") == 0)
        plan->steps = (uint32_t)number;
    else if (strcmp(name, "pe") == 0)
        plan->pe = (int)number;
    else if (strcmp(name, "at") == 0)
        plan->at = number;
    else
        return "LATERAL_FAULT: takes seed, hold, steps, fail, pe and at";
    return 0;
}

static const char *read_plan(const char *text, struct fault_plan *plan)
{
    *plan = (struct fault_plan){.seed = 1, .hold = 50, .steps = 20, .pe = -1, .at = 1};
    return transport_plan_read("LATERAL_FAULT", text, read_one, plan);
}

/* splitmix64 */
static uint64_t next_random(struct worker *worker)
{
    uint64_t z = worker->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Returns the step at which an operation may go on: the current one or, at random, a later one. */
static uint64_t draw_due(struct worker *worker)
{
    uint64_t random = next_random(worker);
    if (random % 100 >= plan.hold || !plan.steps)
        return worker->step;
    return worker->step + 1 + (random >> 8) % plan.steps;
}

static bool fails(enum fault_kind kind)
{
    if (plan.fails != kind || (plan.pe >= 0 && plan.pe != me) ||
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != plan.at)
        return false;
    dprintf(STDERR_FILENO, "fault: PE %d: LATERAL_FAULT=%s\n", me, getenv("LATERAL_FAULT"));
    return true;
}

static struct op *new_op(struct worker *worker, enum what what, void *token, size_t copy)
{
    struct op *op = malloc(sizeof *op + copy);
    if (!op)
        abort();
    *op = (struct op){.what = what, .worker = worker, .token = token, .due = draw_due(worker)};
    return op;
}

/* Wakes a thread that sleeps on the worker, since a thread must move the operation on. */
static void append(struct op ***last, struct op *op)
{
    op->next = 0;
    **last = op;
    *last = &op->next;
    eventfd_write(op->worker->wake, 1);
}

static void take_out(struct op **at, struct op ***last)
{
    struct op *op = *at;
    *at = op->next;
    if (*last == &op->next)
        *last = at;
}

/* ---- moving held operations on ---- */

static void hold_finished(struct op *op, int failed)
{
    op->what = FINISHED;
    op->failed = failed;
    op->due = draw_due(op->worker);
    if (op->token)
        append(&op->worker->last, op);
    else
        free(op);
}

static void outcome(struct op *op, enum transport_status status)
{
    if (status != TRANSPORT_PENDING)
        hold_finished(op, status == TRANSPORT_FAILED);
}

/* The inner transport raises this event. */
static void finished(void *token, int failed)
{
    hold_finished(token, failed);
}

static void go(struct op *op)
{
    switch (op->what) {
    case SENDING: outcome(op, inner->send(op->peer->at, op->header, op->header_bytes, op->data, op->bytes, op)); break;
    case RECEIVING: outcome(op, inner->receive(op->worker->at, op->rest, op->into, op->bytes, op)); break;
    case FINISHED:
        events->finished(op->token, op->failed);
        free(op);
        break;
    }
}

static bool move_message(struct peer *peer)
{
    bool behind_short = false;
    for (struct op **at = &peer->first; *at && !behind_short; at = &(*at)->next) {
        struct op *op = *at;
        if (op->due <= peer->worker->step) {
            take_out(at, &peer->last);
            go(op);
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
        if (op->due > worker->step)
            continue;
        take_out(at, &worker->last);
        go(op);
        return true;
    }
    return false;
}

static bool move_one(struct worker *worker)
{
    for (struct peer *peer = worker->peers; peer; peer = peer->next)
        if (move_message(peer))
            return true;
    return move_rest(worker);
}

static bool holds_something(const struct worker *worker)
{
    if (worker->first || worker->breaking)
        return true;
    for (const struct peer *peer = worker->peers; peer; peer = peer->next)
        if (peer->first)
            return true;
    return false;
}

static int progress_worker(void *of)
{
    struct worker *worker = of;
    worker->step++;
    int count = inner->progress(worker->at);
    for (int i = 0; i < MOVES_A_STEP && move_one(worker); i++)
        count++;
    struct peer *breaking = worker->breaking;
    worker->breaking = 0;
    if (breaking)
        events->broken(worker->owner, breaking->pe, "the test wants it so");
    return count;
}

/* ---- slots ---- */

static void arrived(void *owner, const struct transport_message *message)
{
    const struct worker *worker = owner;
    events->arrived(worker->owner, message);
}

static void broken(void *owner, int pe, const char *why)
{
    const struct worker *worker = owner;
    events->broken(worker->owner, pe, why);
}

static const char *fault_open(const struct transport_events *to, int pe, int npes, unsigned onesided)
{
    static const struct transport_events own = {arrived, finished, broken};
    const char *why = read_plan(getenv("LATERAL_FAULT"), &plan);
    events = to;
    me = pe;
    calls = 0;
    if (!why && !inner)
        why = transport_load_behind("fault", &inner);
    if (!why && fails(FAULT_OPEN))
        why = "the test wants it so";
    (void)onesided; /* this transport delays messages alone */
    return why ? why : inner->open(&own, pe, npes, 0);
}

static void add_file(struct worker *worker, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(worker->files, EPOLL_CTL_ADD, fd, &event);
}

static const char *open_worker(void *owner, void **made)
{
    static uint64_t opened; /* one thread at a time opens workers */
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return "no memory";
    worker->owner = owner;
    worker->last = &worker->first;
    worker->next = workers;
    worker->random = plan.seed * 1000003 + (uint64_t)me * 64 + opened++ % 64;
    const char *why = inner->open_worker(worker, &worker->at);
    if (why) {
        free(worker);
        return why;
    }
    worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    worker->files = epoll_create1(EPOLL_CLOEXEC);
    add_file(worker, worker->wake);
    add_file(worker, inner->descriptor(worker->at));
    *made = workers = worker;
    return 0;
}

static int address(void *of, void *room, size_t *bytes)
{
    const struct worker *worker = of;
    return fails(FAULT_ADDRESS) ? -1 : inner->address(worker->at, room, bytes);
}

static void *connect_peer(void *of, int pe, const void *where, size_t bytes)
{
    struct worker *worker = of;
    struct peer *peer = fails(FAULT_CONNECT) ? 0 : calloc(1, sizeof *peer);
    if (!peer)
        return 0;
    *peer = (struct peer){.at = inner->connect(worker->at, pe, where, bytes),
                          .worker = worker,
                          .pe = pe,
                          .next = worker->peers};
    peer->last = &peer->first;
    if (!peer->at) {
        free(peer);
        return 0;
    }
    worker->peers = peer;
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

static enum transport_status send_message(void *to, const void *header, size_t header_bytes, const void *data,
                                          size_t bytes, void *token)
{
    struct peer *peer = to;
    struct worker *worker = peer->worker;
    if (fails(FAULT_SEND))
        return TRANSPORT_FAILED;
    if (fails(FAULT_BREAK))
        worker->breaking = peer;
    bool copies = bytes <= COPY_BYTES && next_random(worker) % 2;
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
    append(&peer->last, op);
    return copies ? TRANSPORT_DONE : TRANSPORT_PENDING;
}

static enum transport_status receive(void *of, void *rest, void *into, size_t bytes, void *token)
{
    struct worker *worker = of;
    if (fails(FAULT_RECEIVE))
        return TRANSPORT_FAILED;
    struct op *op = new_op(worker, RECEIVING, token, 0);
    op->rest = rest;
    op->into = into;
    op->bytes = bytes;
    append(&worker->last, op);
    return TRANSPORT_PENDING;
}

static int descriptor(void *of)
{
    return ((struct worker *)of)->files;
}

static int arm(void *of)
{
    const struct worker *worker = of;
    eventfd_t count;
    if (holds_something(worker))
        return 0;
    eventfd_read(worker->wake, &count);
    return inner->arm(worker->at);
}

static int drained(void *of)
{
    struct worker *worker = of;
    progress_worker(worker);
    const bool left = inner->drained(worker->at); /* may raise events, which are held */
    return left && !holds_something(worker);
}

static void close_all(void)
{
    inner->close();
    while (workers) {
        struct worker *worker = workers;
        workers = worker->next;
        while (worker->peers) {
            struct peer *peer = worker->peers;
            worker->peers = peer->next;
            free(peer);
        }
        close(worker->files);
        close(worker->wake);
        free(worker);
    }
}

extern const struct transport lateral_transport;

__attribute__((visibility("default"))) const struct transport lateral_transport = {
    .name = "fault",
    .open = fault_open,
    .open_worker = open_worker,
    .address = address,
    .connect = connect_peer,
    .send = send_message,
    .receive = receive,
    .progress = progress_worker,
    .descriptor = descriptor,
    .arm = arm,
    .drained = drained,
    .close = close_all,
};
