/* A transport for tests. It makes another transport as slow, disorderly and unreliable as transport.h allows. Built
 * beside the tests and never installed. LATERAL_TRANSPORTS=fault:ucx loads it, LATERAL_FAULT (fault.h) sets what it
 * does.
 *
 * By a seeded generator it may hold back for a while a message before it leaves, data before it is fetched, and a
 * completion. It keeps the promised order: short messages keep theirs, long ones are overtaken. A short message is also
 * sent from a copy, so that it is done long before it leaves.
 *
 * Threads: transport.h; everything of a lane is under its lock. Only progress moves held operations on; `step` counts
 * its calls. Lists may change whenever an event is raised, so each search starts at the front again. */
#include "net/testing/wrapper.h"
#include "net/testing/fault/fault.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define COPY_BYTES 512
#define MOVES_A_STEP 16

struct lane {
    void *at, *owner;
    uint64_t random, step;
    struct peer *peers;
    struct op *first, **last; /* held receives and completions, oldest first */
    struct peer *breaking;    /* the next progress breaks this peer's connection */
    int wake, files;          /* eventfd: something is held; epoll of it and of the inner descriptor */
    struct lane *next;
};

struct peer {
    void *at;
    struct lane *lane;
    int pe;
    struct op *first, **last; /* held messages, in the order of sending */
    struct peer *next;
};

enum what { SENDING, RECEIVING, FINISHED };

struct op {
    enum what what;
    struct lane *lane;
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
static struct lane *lanes;
static int me;
static uint64_t calls; /* number of calls of the kind that is to fail; relaxed */

/* splitmix64 */
static uint64_t next_random(struct lane *lane)
{
    uint64_t z = lane->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Returns the step at which an operation may go on: the current one or, at random, a later one. */
static uint64_t draw_due(struct lane *lane)
{
    uint64_t random = next_random(lane);
    if (random % 100 >= plan.hold || !plan.steps)
        return lane->step;
    return lane->step + 1 + (random >> 8) % plan.steps;
}

static bool fails(enum fault_kind kind)
{
    if (plan.fails != kind || (plan.pe >= 0 && plan.pe != me) ||
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != plan.at)
        return false;
    dprintf(STDERR_FILENO, "fault: PE %d: LATERAL_FAULT=%s\n", me, getenv("LATERAL_FAULT"));
    return true;
}

static struct op *new_op(struct lane *lane, enum what what, void *token, size_t copy)
{
    struct op *op = malloc(sizeof *op + copy);
    if (!op)
        abort();
    *op = (struct op){.what = what, .lane = lane, .token = token, .due = draw_due(lane)};
    return op;
}

/* Wakes a thread that sleeps on the lane, since a thread must move the operation on. */
static void append(struct op ***last, struct op *op)
{
    op->next = 0;
    **last = op;
    *last = &op->next;
    eventfd_write(op->lane->wake, 1);
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
    op->due = draw_due(op->lane);
    if (op->token)
        append(&op->lane->last, op);
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
    case RECEIVING: outcome(op, inner->receive(op->lane->at, op->rest, op->into, op->bytes, op)); break;
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
        if (op->due <= peer->lane->step) {
            take_out(at, &peer->last);
            go(op);
            return true;
        }
        behind_short = op->bytes <= TRANSPORT_SHORT;
    }
    return false;
}

static bool move_rest(struct lane *lane)
{
    for (struct op **at = &lane->first; *at; at = &(*at)->next) {
        struct op *op = *at;
        if (op->due > lane->step)
            continue;
        take_out(at, &lane->last);
        go(op);
        return true;
    }
    return false;
}

static bool move_one(struct lane *lane)
{
    for (struct peer *peer = lane->peers; peer; peer = peer->next)
        if (move_message(peer))
            return true;
    return move_rest(lane);
}

static bool holds_something(const struct lane *lane)
{
    if (lane->first || lane->breaking)
        return true;
    for (const struct peer *peer = lane->peers; peer; peer = peer->next)
        if (peer->first)
            return true;
    return false;
}

static int progress_lane(void *of)
{
    struct lane *lane = of;
    lane->step++;
    int count = inner->progress(lane->at);
    for (int i = 0; i < MOVES_A_STEP && move_one(lane); i++)
        count++;
    struct peer *breaking = lane->breaking;
    lane->breaking = 0;
    if (breaking)
        events->broken(lane->owner, breaking->pe, "the test wants it so");
    return count;
}

/* ---- slots ---- */

static void arrived(void *owner, const struct transport_message *message)
{
    const struct lane *lane = owner;
    events->arrived(lane->owner, message);
}

static void broken(void *owner, int pe, const char *why)
{
    const struct lane *lane = owner;
    events->broken(lane->owner, pe, why);
}

static const char *fault_open(const struct transport_events *to, int pe, int npes, unsigned onesided)
{
    static const struct transport_events own = {arrived, finished, broken};
    const char *why = fault_plan_read(getenv("LATERAL_FAULT"), &plan);
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

static void add_file(struct lane *lane, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(lane->files, EPOLL_CTL_ADD, fd, &event);
}

static const char *open_worker(void *owner, void **made)
{
    static uint64_t opened; /* one thread at a time opens lanes */
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return "no memory";
    lane->owner = owner;
    lane->last = &lane->first;
    lane->next = lanes;
    lane->random = plan.seed * 1000003 + (uint64_t)me * 64 + opened++ % 64;
    const char *why = inner->open_worker(lane, &lane->at);
    if (why) {
        free(lane);
        return why;
    }
    lane->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    lane->files = epoll_create1(EPOLL_CLOEXEC);
    add_file(lane, lane->wake);
    add_file(lane, inner->descriptor(lane->at));
    *made = lanes = lane;
    return 0;
}

static int address(void *of, void *room, size_t *bytes)
{
    const struct lane *lane = of;
    return fails(FAULT_ADDRESS) ? -1 : inner->address(lane->at, room, bytes);
}

static void *connect_peer(void *of, int pe, const void *where, size_t bytes)
{
    struct lane *lane = of;
    struct peer *peer = fails(FAULT_CONNECT) ? 0 : calloc(1, sizeof *peer);
    if (!peer)
        return 0;
    *peer =
        (struct peer){.at = inner->connect(lane->at, pe, where, bytes), .lane = lane, .pe = pe, .next = lane->peers};
    peer->last = &peer->first;
    if (!peer->at) {
        free(peer);
        return 0;
    }
    lane->peers = peer;
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
    struct lane *lane = peer->lane;
    if (fails(FAULT_SEND))
        return TRANSPORT_FAILED;
    if (fails(FAULT_BREAK))
        lane->breaking = peer;
    bool copies = bytes <= COPY_BYTES && next_random(lane) % 2;
    struct op *op = new_op(lane, SENDING, token, copies ? header_bytes + bytes : 0);
    op->peer = peer;
    op->header = header;
    op->header_bytes = header_bytes;
    op->data = data;
    op->bytes = bytes;
    if (copies)
        copy_message(op);
    if (!copies && fails(FAULT_FINISH)) {
        lane->breaking = peer;
        hold_finished(op, 1);
        return TRANSPORT_PENDING;
    }
    append(&peer->last, op);
    return copies ? TRANSPORT_DONE : TRANSPORT_PENDING;
}

static enum transport_status receive(void *of, void *rest, void *into, size_t bytes, void *token)
{
    struct lane *lane = of;
    if (fails(FAULT_RECEIVE))
        return TRANSPORT_FAILED;
    struct op *op = new_op(lane, RECEIVING, token, 0);
    op->rest = rest;
    op->into = into;
    op->bytes = bytes;
    append(&lane->last, op);
    return TRANSPORT_PENDING;
}

static int descriptor(void *of)
{
    return ((struct lane *)of)->files;
}

static int arm(void *of)
{
    const struct lane *lane = of;
    eventfd_t count;
    if (holds_something(lane))
        return 0;
    eventfd_read(lane->wake, &count);
    return inner->arm(lane->at);
}

static int drained(void *of)
{
    struct lane *lane = of;
    progress_lane(lane);
    const bool left = inner->drained(lane->at); /* may raise events, which are held */
    return left && !holds_something(lane);
}

static void close_all(void)
{
    inner->close();
    while (lanes) {
        struct lane *lane = lanes;
        lanes = lane->next;
        while (lane->peers) {
            struct peer *peer = lane->peers;
            lane->peers = peer->next;
            free(peer);
        }
        close(lane->files);
        close(lane->wake);
        free(lane);
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
    .progress = progress_lane,
    .descriptor = descriptor,
    .arm = arm,
    .drained = drained,
    .close = close_all,
};
