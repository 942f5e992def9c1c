/* The lane: its life, its peers, and what leaves through it. See far.h. */
#include "uccs/far.h"

#include "base/log.h"
#include "base/module.h"
#include "rte/rte.h"
#include "uccs/far_lane.h"
#include "uccs/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS_MOST 32    /* polls before a waiter yields: a PE of another "node" may want this core */
#define SENDING_MOST 512 /* messages that the transport may hold before issuing waits */

struct far_lane far_lane = {.lock = PTHREAD_MUTEX_INITIALIZER};
uint32_t uccs_far_on, uccs_far_touched;

static void connect_peer(struct far_peer *peer)
{
    struct far_record *record = far_names_find(peer->pe);
    peer->same_image = record->image_shared && rte.me->image_shared &&
                       memcmp(record->image_id, rte.me->image_id, sizeof record->image_id) == 0;
    peer->asked_image = true;
    peer->to = far_lane.transport->connect(peer->pe, record->address, record->size);
    free(record);
    if (!peer->to)
        far_fail("PE %d cannot be reached over %s", peer->pe, far_lane.transport->name);
}

struct far_peer *far_peer(int pe)
{
    struct far_peer *peer = far_lane.peers[pe];
    if (lat_likely(peer != 0))
        return peer;
    peer = calloc(1, sizeof *peer);
    if (!peer)
        far_fail("no memory for a connection to PE %d", pe);
    peer->pe = pe;
    far_lane.peers[pe] = peer;
    return peer;
}

static void sent(struct far_token *token, bool failed)
{
    struct far_send *send = (struct far_send *)token;
    far_lane.sending--;
    if (lat_unlikely(failed))
        return; /* `broken` says why and ends the job */
    far_send_free(send);
}

struct far_send *far_send_new(void)
{
    struct far_send *send = far_lane.idle;
    if (lat_likely(send != 0))
        far_lane.idle = send->next;
    else if (!(send = malloc(sizeof *send)))
        far_fail("no memory for a message");
    *send = (struct far_send){.token.done = sent, .header.from = uccs_core.me};
    return send;
}

/* The message has left: what it carried may be used again. */
void far_send_free(struct far_send *send)
{
    if (send->counter)
        uccs_counter_take(send->counter, 1);
    if (send->buffer)
        free(send->buffer);
    if (send->flag)
        atomic_store_release(send->flag, 1); /* acquire: far_await */
    send->next = far_lane.idle;
    far_lane.idle = send;
}

void far_send(struct far_peer *peer, struct far_send *send, const void *data, size_t bytes)
{
    if (lat_unlikely(!peer->to))
        connect_peer(peer);
    far_lane.sending++;
    switch (far_lane.transport->send(peer->to, &send->header, sizeof send->header, data, bytes, send)) {
    case TRANSPORT_DONE: far_lane.sending--, far_send_free(send); break;
    case TRANSPORT_PENDING: break;
    default: far_fail("a message to PE %d failed: the connection is lost", peer->pe);
    }
}

static void finished(void *token, int failed)
{
    struct far_token *done = token;
    done->done(done, failed);
}

/* One line and the end, unless the job is ending anyway. */
static void broken(int pe, const char *why)
{
    if (rte_ending())
        rte_abort(LAT_EXIT);
    far_fail("PE %d is lost (%s)", pe, why);
}

static int poll_locked(void)
{
    int count = far_lane.transport->progress();
    if (far_lane.hung)
        uccs_far_nudge();
    return count;
}

int uccs_far_poll(void)
{
    if (pthread_mutex_trylock(&far_lane.lock) != 0)
        return 0;
    atomic_store_relaxed(&far_lane.polls, far_lane.polls + 1); /* a hint for far_thread.c */
    int count = poll_locked();
    pthread_mutex_unlock(&far_lane.lock);
    return count;
}

bool uccs_far_same_image(int pe)
{
    pthread_mutex_lock(&far_lane.lock);
    struct far_peer *peer = far_peer(pe);
    if (!peer->asked_image)
        connect_peer(peer);
    bool same = peer->same_image;
    pthread_mutex_unlock(&far_lane.lock);
    return same;
}

static int load_transport(void)
{
    static void *module;
    static const struct transport_events events = {far_arrived, finished, broken};
    const char *why = 0;
    if (!module)
        module = module_open("ucx", &why);
    far_lane.transport = module ? dlsym(module, TRANSPORT_SYMBOL) : 0;
    if (!far_lane.transport) {
        log_line("PEs are on several nodes, and what carries messages between them cannot be loaded: %s",
                 why ? why : "it is not one of this library's");
        return -1;
    }
    why = far_lane.transport->open(&events, uccs_core.npes);
    if (why)
        log_line("the transport %s does not work here: %s", far_lane.transport->name, why);
    return why ? -1 : 0;
}

int uccs_far_open(void)
{
    if ((int)uccs_core.size == uccs_core.npes)
        return 0;
    far_lane.peers = calloc((size_t)uccs_core.npes, sizeof *far_lane.peers);
    if (!far_lane.peers || load_transport() != 0 || far_names_publish() != 0)
        return -1;
    if (uccs_core.spin > LOOKS_MOST)
        uccs_core.spin = LOOKS_MOST;
    uccs_far_on = 1;
    atomic_fetch_add_relaxed(&uccs_working, 1); /* every wait takes the slow way, and polls */
    return far_thread_start();
}

/* Answers that let others go may still be here. */
void uccs_far_settle(void)
{
    if (!uccs_far_on)
        return;
    uccs_far_quiet();
    far_thread_start_anyway();
    struct uccs_wait wait = {0};
    bool done = false;
    while (!done) {
        pthread_mutex_lock(&far_lane.lock);
        done = far_lane.transport->drained() && far_lane.sending == 0;
        pthread_mutex_unlock(&far_lane.lock);
        if (!done)
            uccs_yield(&wait);
    }
}

static void free_peers(void)
{
    for (int pe = 0; pe < uccs_core.npes; pe++) {
        struct far_peer *peer = far_lane.peers[pe];
        if (!peer)
            continue;
        if (peer->next)
            free(peer->next->requests);
        free(peer->next);
        free(peer);
    }
    free(far_lane.peers);
    while (far_lane.idle) {
        struct far_send *send = far_lane.idle;
        far_lane.idle = send->next;
        free(send);
    }
}

void uccs_far_close(void)
{
    if (!uccs_far_on)
        return;
    far_thread_stop();
    rte_job_barrier(); /* nobody looks at a connection any more: that one is taken down now is no fault */
    far_lane.transport->close();
    free_peers();
    atomic_fetch_sub_acqrel(&uccs_working, 1);
    uccs_far_on = uccs_far_touched = 0;
    far_lane = (struct far_lane){.lock = PTHREAD_MUTEX_INITIALIZER};
}

/* --- Issuing ------------------------------------------------------------------------------------------- */

/* Before taking the lock: too much under way makes the issuer wait. */
static void make_room(void)
{
    struct uccs_wait wait = {0};
    while (lat_unlikely(atomic_load_relaxed(&far_lane.sending) > SENDING_MOST))
        if (!uccs_far_poll())
            uccs_yield(&wait);
}

static void await(const uint32_t *flag)
{
    struct uccs_wait wait = {0};
    while (!atomic_load_acquire(flag)) /* release: far_send_free, far_answered */
        if (!uccs_far_poll())
            uccs_yield(&wait);
}

/* Counts an operation on the peer and says what it must not overtake. */
static void issue(struct far_peer *peer, struct far_header *header)
{
    if (peer->epoch != far_lane.epoch) {
        peer->epoch = far_lane.epoch;
        peer->fenced = peer->issued;
    }
    header->after = peer->fenced;
    peer->issued++;
    if (!peer->touched) {
        peer->touched = true;
        peer->next_touched = far_lane.touched;
        far_lane.touched = peer;
    }
    atomic_store_relaxed(&uccs_far_touched, 1);
}

static struct uccs_request *object_of(uccs_request_handle *handle)
{
    struct uccs_request *request = handle ? uccs_request_materialise(handle) : 0;
    if (handle && !request)
        far_fail("no memory for a request");
    return request;
}

static void attach(struct far_header *header, const struct uccs_far_with *with)
{
    bool counts = with->what == FAR_COUNT;
    header->op = (uint8_t)(counts && !uccs_counter_live(with->value) ? FAR_LATE : with->what);
    header->size = (uint8_t)with->place.segment;
    header->a = counts ? with->value : with->place.offset;
    header->b = counts ? (uint64_t)with->weight : with->value;
}

static void put(int pe, struct uccs_far_place to, const void *source, size_t bytes, const struct uccs_far_with *with,
                uccs_request_handle *handle, uint32_t *flag)
{
    struct uccs_request *request = object_of(handle);
    make_room();
    pthread_mutex_lock(&far_lane.lock);
    struct far_peer *peer = far_peer(pe);
    struct far_send *send = far_send_new();
    send->header.kind = FAR_PUT;
    send->header.segment = (uint8_t)to.segment;
    send->header.offset = to.offset;
    if (with)
        attach(&send->header, with);
    send->flag = flag;
    issue(peer, &send->header);
    if (request)
        far_hang(peer, request);
    far_send(peer, send, source, bytes);
    pthread_mutex_unlock(&far_lane.lock);
}

void uccs_far_put(int pe, struct uccs_far_place to, const void *source, size_t bytes, const struct uccs_far_with *with,
                  uccs_request_handle *request)
{
    uint32_t sent_flag = 0;
    put(pe, to, source, bytes, with, request, &sent_flag);
    await(&sent_flag);
}

void uccs_far_put_nb(int pe, struct uccs_far_place to, const void *source, size_t bytes,
                     const struct uccs_far_with *with, uccs_request_handle *request)
{
    put(pe, to, source, bytes, with, request, 0);
}

/* Packed here, unpacked there: one message, whose copy is the operation's own. */
void uccs_far_put_blocks(int pe, struct uccs_far_place to, const void *source, const struct uccs_far_blocks *blocks,
                         uccs_request_handle *handle)
{
    struct uccs_request *request = object_of(handle);
    char *packed = malloc(blocks->block * blocks->count);
    if (!packed)
        far_fail("no memory for a strided put");
    for (size_t i = 0; i < blocks->count; i++)
        memcpy(packed + i * blocks->block, (const char *)source + (ptrdiff_t)i * blocks->here, blocks->block);
    make_room();
    pthread_mutex_lock(&far_lane.lock);
    struct far_peer *peer = far_peer(pe);
    struct far_send *send = far_send_new();
    send->header.kind = FAR_PUT_BLOCKS;
    send->header.segment = (uint8_t)to.segment;
    send->header.offset = to.offset;
    send->header.token = (uint64_t)blocks->there;
    send->header.a = blocks->block;
    send->buffer = packed;
    issue(peer, &send->header);
    if (request)
        far_hang(peer, request);
    far_send(peer, send, packed, blocks->block * blocks->count);
    pthread_mutex_unlock(&far_lane.lock);
}

void uccs_far_count(int pe, uccs_counter counter, int64_t weight)
{
    const struct uccs_far_with with = {.what = FAR_COUNT, .value = counter, .weight = weight};
    uccs_far_put_nb(pe, (struct uccs_far_place){FAR_HEAP, 0}, 0, 0, &with, 0);
}

void uccs_far_flag(int pe, uint64_t offset, uint64_t value)
{
    pthread_mutex_lock(&far_lane.lock);
    struct far_send *send = far_send_new();
    send->header.kind = FAR_FLAG;
    send->header.offset = offset;
    send->header.a = value;
    far_send(far_peer(pe), send, 0, 0);
    pthread_mutex_unlock(&far_lane.lock);
}

/* Sends what asks for an answer; `ask` comes back with it. */
static void send_ask(int pe, const struct far_header *header, struct far_ask *ask, bool counts)
{
    make_room();
    pthread_mutex_lock(&far_lane.lock);
    struct far_peer *peer = far_peer(pe);
    struct far_send *send = far_send_new();
    send->header = *header;
    send->header.from = uccs_core.me;
    send->header.token = (uint64_t)(uintptr_t)ask;
    if (counts)
        issue(peer, &send->header);
    if (ask && !ask->flag && !ask->request)
        far_lane.getting++;
    far_send(peer, send, 0, 0);
    pthread_mutex_unlock(&far_lane.lock);
}

/* Whether a handle is an old one is known here: the target may not have made its counter yet. */
static uint8_t counted(uccs_counter counter)
{
    return !counter ? FAR_NOTHING : uccs_counter_live(counter) ? FAR_COUNT : FAR_LATE;
}

void uccs_far_get(int pe, struct uccs_far_place from, void *dest, size_t bytes, uccs_counter counter)
{
    uint32_t flag = 0;
    struct far_ask ask = {.flag = &flag, .dest = dest, .bytes = bytes};
    const struct far_header header = {.kind = FAR_GET,
                                      .op = counted(counter),
                                      .segment = (uint8_t)from.segment,
                                      .offset = from.offset,
                                      .a = counter,
                                      .b = bytes};
    send_ask(pe, &header, &ask, false);
    await(&flag);
}

void uccs_far_get_nb(int pe, struct uccs_far_place from, void *dest, size_t bytes, uccs_counter counter,
                     uccs_request_handle *handle)
{
    struct far_ask *ask = malloc(sizeof *ask);
    if (!ask)
        far_fail("no memory for a get");
    *ask = (struct far_ask){.request = object_of(handle), .dest = dest, .bytes = bytes};
    if (ask->request)
        uccs_request_begin(ask->request);
    const struct far_header header = {.kind = FAR_GET,
                                      .op = counted(counter),
                                      .segment = (uint8_t)from.segment,
                                      .offset = from.offset,
                                      .a = counter,
                                      .b = bytes};
    atomic_store_relaxed(&uccs_far_touched, 1);
    send_ask(pe, &header, ask, false);
}

void uccs_far_get_blocks(int pe, struct uccs_far_place from, void *dest, const struct uccs_far_blocks *blocks)
{
    uint32_t flag = 0;
    struct far_ask ask = {.flag = &flag, .bytes = blocks->block * blocks->count};
    ask.dest = malloc(ask.bytes);
    if (!ask.dest)
        far_fail("no memory for a strided get");
    const struct far_header header = {.kind = FAR_GET_BLOCKS,
                                      .segment = (uint8_t)from.segment,
                                      .offset = from.offset,
                                      .after = blocks->block,
                                      .a = (uint64_t)blocks->there,
                                      .b = ask.bytes};
    send_ask(pe, &header, &ask, false);
    await(&flag);
    for (size_t i = 0; i < blocks->count; i++)
        memcpy((char *)dest + (ptrdiff_t)i * blocks->here, (const char *)ask.dest + i * blocks->block, blocks->block);
    free(ask.dest);
}

static struct far_header amo_header(enum uccs_far_amo op, struct uccs_far_place at, size_t size, uint64_t value,
                                    uint64_t cond)
{
    return (struct far_header){.kind = FAR_AMO,
                               .op = (uint8_t)op,
                               .size = (uint8_t)size,
                               .segment = (uint8_t)at.segment,
                               .offset = at.offset,
                               .a = value,
                               .b = cond};
}

uint64_t uccs_far_amo(int pe, enum uccs_far_amo op, struct uccs_far_place at, size_t size, uint64_t value,
                      uint64_t cond)
{
    uint64_t old = 0;
    uint32_t flag = 0;
    struct far_ask ask = {.flag = &flag, .value = &old};
    const struct far_header header = amo_header(op, at, size, value, cond);
    if (op == FAR_SET) {
        send_ask(pe, &header, 0, true);
        return 0;
    }
    send_ask(pe, &header, &ask, true);
    await(&flag);
    return old;
}

void uccs_far_amo_post(int pe, enum uccs_far_amo op, struct uccs_far_place at, size_t size, uint64_t value,
                       uccs_request_handle *handle)
{
    struct uccs_request *request = object_of(handle);
    make_room();
    pthread_mutex_lock(&far_lane.lock);
    struct far_peer *peer = far_peer(pe);
    struct far_send *send = far_send_new();
    send->header = amo_header(op, at, size, value, 0);
    send->header.from = uccs_core.me;
    issue(peer, &send->header);
    if (request)
        far_hang(peer, request);
    far_send(peer, send, 0, 0);
    pthread_mutex_unlock(&far_lane.lock);
}

struct uccs_far_place uccs_far_place(const void *addr)
{
    size_t offset;
    switch (uccs_memory_find(addr, &offset)) {
    case UCCS_HEAP: return (struct uccs_far_place){FAR_HEAP, offset};
    case UCCS_IMAGE: return (struct uccs_far_place){FAR_IMAGE, offset};
    default: return (struct uccs_far_place){FAR_NOWHERE, 0};
    }
}

int uccs_far_node_of(int pe)
{
    return uccs_memory_pretends() ? pe / (int)uccs_memory_pretends() : rte_node_of(pe);
}

const void *uccs_far_address(struct uccs_far_place place)
{
    if (place.segment == FAR_HEAP)
        return (const char *)uccs_core.heap_start + place.offset;
    return (const char *)uccs_memory_image_start() + place.offset;
}
