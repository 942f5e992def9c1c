/* Workers, peers and messages of the simulated network, and what LATERAL_SIM sets; see inner.h. Messages pass through to the transport behind it. */
#include "net/testing/sim/inner.h"

#include "net/testing/wrapper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

const struct transport_events *sim_events;
struct sim_plan sim_plan;
__attribute__((visibility("default"))) struct sim_counts lateral_sim_counts;

static const struct transport *inner;
static struct sim_worker *workers;
static int me;

/* --- LATERAL_SIM */

static uint32_t *field_of(struct sim_plan *plan, const char *name)
{
    if (strcmp(name, "hold") == 0)
        return &plan->hold;
    if (strcmp(name, "steps") == 0)
        return &plan->steps;
    if (strcmp(name, "order") == 0)
        return &plan->order;
    if (strcmp(name, "words") == 0)
        return &plan->words;
    return strcmp(name, "shares") == 0 ? &plan->shares : 0;
}

static const char *read_one(const char *name, const char *value, void *of)
{
    struct sim_plan *plan = of;
    char *end;
    const unsigned long long number = strtoull(value, &end, 10);
    uint32_t *field = field_of(plan, name);
    if (end == value || *end)
        return "LATERAL_SIM: a number is missing";
    if (field)
        *field = (uint32_t)number;
    else if (strcmp(name, "seed") == 0)
        plan->seed = number;
    else
        return "LATERAL_SIM: takes seed, hold, steps, order, shares and words";
    return 0;
}

/* Returns null, or a text that says what is wrong. */
static const char *read_plan(const char *text, struct sim_plan *plan)
{
    *plan = (struct sim_plan){.seed = 1, .hold = 0, .steps = 20, .shares = 1 << 20, .words = 4 | 8};
    return transport_plan_read("LATERAL_SIM", text, read_one, plan);
}

/* --- Events of the transport behind it */

static void arrived(void *owner, const struct transport_message *message)
{
    const struct sim_worker *worker = owner;
    sim_count(&lateral_sim_counts.handled);
    sim_events->arrived(worker->owner, message);
}

static void finished(void *token, int failed)
{
    sim_events->finished(token, failed);
}

static void broken(void *owner, int pe, const char *why)
{
    const struct sim_worker *worker = owner;
    sim_events->broken(worker->owner, pe, why);
}

/* --- Slots */

static const char *open_all(const struct transport_events *to, int pe, int npes, unsigned onesided)
{
    static const struct transport_events own = {arrived, finished, broken};
    const char *why = read_plan(getenv("LATERAL_SIM"), &sim_plan);
    (void)onesided;
    sim_events = to;
    me = pe;
    if (!why && !inner)
        why = transport_load_behind("sim", &inner);
    sim_adapter_open();
    return why ? why : inner->open(&own, pe, npes, 0);
}

static void add_file(const struct sim_worker *worker, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(worker->files, EPOLL_CTL_ADD, fd, &event);
}

static const char *open_worker(void *owner, void **made)
{
    static uint64_t opened; /* one thread at a time opens workers */
    struct sim_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return "no memory";
    worker->owner = owner;
    worker->last = &worker->first;
    worker->random = sim_plan.seed * 1000003 + (uint64_t)me * 64 + opened++ % 64;
    const char *why = inner->open_worker(worker, &worker->at);
    if (why) {
        free(worker);
        return why;
    }
    worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    worker->files = epoll_create1(EPOLL_CLOEXEC);
    add_file(worker, worker->wake);
    add_file(worker, inner->descriptor(worker->at));
    worker->next = workers;
    *made = workers = worker;
    return 0;
}

static int address(void *of, void *room, size_t *bytes)
{
    const struct sim_worker *worker = of;
    return inner->address(worker->at, room, bytes);
}

static void *connect_peer(void *of, int pe, const void *where, size_t bytes)
{
    struct sim_worker *worker = of;
    struct sim_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return 0;
    *peer =
        (struct sim_peer){.at = inner->connect(worker->at, pe, where, bytes), .worker = worker, .next = worker->peers};
    if (!peer->at) {
        free(peer);
        return 0;
    }
    worker->peers = peer;
    return peer;
}

static enum transport_status send_message(void *to, const void *header, size_t header_bytes, const void *data,
                                          size_t bytes, void *token)
{
    const struct sim_peer *peer = to;
    sim_count(&lateral_sim_counts.sent);
    return inner->send(peer->at, header, header_bytes, data, bytes, token);
}

static enum transport_status receive(void *of, void *rest, void *into, size_t bytes, void *token)
{
    const struct sim_worker *worker = of;
    return inner->receive(worker->at, rest, into, bytes, token);
}

static int progress(void *of)
{
    struct sim_worker *worker = of;
    int count = inner->progress(worker->at);
    return count + sim_adapter_move(worker);
}

static int descriptor(void *of)
{
    return ((struct sim_worker *)of)->files;
}

static int arm(void *of)
{
    const struct sim_worker *worker = of;
    eventfd_t count;
    if (worker->first)
        return 0;
    eventfd_read(worker->wake, &count);
    return inner->arm(worker->at);
}

static int drained(void *of)
{
    struct sim_worker *worker = of;
    (void)sim_adapter_move(worker);
    const int left = inner->drained(worker->at); /* may raise events, which begin operations */
    return left && !worker->first;
}

static void close_all(void)
{
    inner->close();
    while (workers) {
        struct sim_worker *worker = workers;
        workers = worker->next;
        while (worker->peers) {
            struct sim_peer *peer = worker->peers;
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
    .name = "sim",
    .open = open_all,
    .open_worker = open_worker,
    .address = address,
    .connect = connect_peer,
    .send = send_message,
    .receive = receive,
    .progress = progress,
    .descriptor = descriptor,
    .arm = arm,
    .drained = drained,
    .close = close_all,
    .able = sim_able,
    .share = sim_share,
    .pack = sim_pack,
    .withdraw = sim_withdraw,
    .unpack = sim_unpack,
    .forget = sim_forget,
    .put = sim_put,
    .get = sim_get,
    .atomics = sim_atomics,
    .atomic = sim_atomic,
    .flush = sim_flush,
    .order = sim_order,
};
