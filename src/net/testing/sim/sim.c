/* Workers, peers and messages of the simulated network, and its plan; see inner.h. Messages pass through to the transport behind it. */
#include "net/testing/sim/inner.h"

#include <string.h>

struct sim_plan sim_plan;
__attribute__((visibility("default"))) struct sim_counts lateral_sim_counts;

static uint64_t opened; /* workers of this life; one thread at a time opens them */

/* --- The plan */

static const char *read_setting(const char *name, const char *value)
{
    const struct {
        const char *name;
        uint64_t *field;
    } settings[] = {{"order", &sim_plan.order}, {"shares", &sim_plan.shares}, {"words", &sim_plan.words},
                    {"most", &sim_plan.most},   {"bound", &sim_plan.bound},   {"counters", &sim_plan.counters}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strcmp(name, settings[i].name) == 0)
            return wrapper_number(value, settings[i].field) ? 0 : "LATERAL_TRANSPORTS: a number is missing";
    return "LATERAL_TRANSPORTS: sim takes seed, hold, steps, order, shares, words, most, bound and counters";
}

/* Returns null, or a text that says what is wrong. */
static const char *read_plan(void)
{
    sim_plan = (struct sim_plan){.shares = 1 << 20, .words = 4 | 8, .most = UINT64_MAX};
    wrapper.seed = 1;
    wrapper.hold = 0;
    wrapper.steps = 20;
    return wrapper_plan_read("sim", read_setting);
}

/* --- Events of the transport behind it */

static void sim_arrived(void *owner, const struct transport_message *message)
{
    const struct wrapper_worker *worker = owner;
    sim_count(&lateral_sim_counts.handled);
    wrapper.events->arrived(worker->owner, message);
}

static void sim_finished(void *token, int failed)
{
    wrapper.events->finished(token, failed);
}

/* --- Slots */

static const char *sim_open(const struct transport_events *to, int pe, int npes, unsigned onesided)
{
    static const struct transport_events own = {sim_arrived, sim_finished, wrapper_broken};
    const char *why = read_plan();
    (void)onesided;
    opened = 0;
    sim_adapter_open();
    return why ? why : wrapper_open("sim", to, &own, pe, npes);
}

static const char *sim_open_worker(void *owner, void **made)
{
    const char *why = wrapper_worker_open(owner, sizeof(struct sim_worker), made);
    struct sim_worker *worker = *made;
    if (why)
        return why;
    worker->last = &worker->first;
    worker->number = opened++;
    return 0;
}

/* The number of the worker stands before the address of the transport behind it. */
static int sim_address(void *of, void *room, size_t *bytes)
{
    const struct sim_worker *worker = of;
    const size_t own = sizeof worker->number, has = *bytes;
    char *address = room;
    *bytes = has > own ? has - own : 0;
    const int status = wrapper_address(of, address + (has > own ? own : 0), bytes);
    *bytes += own;
    if (status == 0 && *bytes <= has)
        memcpy(address, &worker->number, own);
    return *bytes <= has ? status : -1;
}

static void *sim_connect(void *worker, int pe, const void *address, size_t bytes)
{
    uint64_t number;
    if (bytes < sizeof number)
        return 0;
    struct sim_peer *peer =
        wrapper_connect(worker, pe, (const char *)address + sizeof number, bytes - sizeof number, sizeof *peer);
    if (peer)
        memcpy(&peer->number, address, sizeof number);
    return peer;
}

static enum transport_status sim_send(void *to, const void *header, size_t header_bytes, const void *data, size_t bytes,
                                      void *token)
{
    const struct wrapper_peer *peer = to;
    sim_count(&lateral_sim_counts.sent);
    return wrapper.behind->send(peer->at, header, header_bytes, data, bytes, token);
}

static enum transport_status sim_receive(void *of, void *rest, void *into, size_t bytes, void *token)
{
    const struct wrapper_worker *worker = of;
    return wrapper.behind->receive(worker->at, rest, into, bytes, token);
}

static int sim_progress(void *of)
{
    const struct wrapper_worker *worker = of;
    const int count = wrapper.behind->progress(worker->at);
    return count + sim_adapter_move(of);
}

static int sim_arm(void *of)
{
    struct sim_worker *worker = of;
    return worker->first ? 0 : wrapper_arm(&worker->wrapped);
}

static int sim_drained(void *of)
{
    struct sim_worker *worker = of;
    (void)sim_adapter_move(worker);
    const int left = wrapper.behind->drained(worker->wrapped.at); /* may raise events, which begin operations */
    return left && !worker->first;
}

extern const struct transport lateral_transport;

__attribute__((visibility("default"))) const struct transport lateral_transport = {
    .name = "sim",
    .open = sim_open,
    .open_worker = sim_open_worker,
    .address = sim_address,
    .connect = sim_connect,
    .send = sim_send,
    .receive = sim_receive,
    .progress = sim_progress,
    .descriptor = wrapper_descriptor,
    .arm = sim_arm,
    .drained = sim_drained,
    .close = wrapper_close,
    .able = sim_able,
    .share = sim_share,
    .share_counting = sim_share_counting,
    .counted = sim_counted,
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
