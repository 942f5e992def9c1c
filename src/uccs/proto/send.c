/* Connects to peers and sends messages to them. PEs publish the transport's address and the identity of their image in the runtime
 * environment, before they can talk; a PE asks for a peer's record when it first needs the peer. */
#include "uccs/proto/inner.h"

#include "base/log.h"
#include "rte/rte.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- What a PE publishes */

static unsigned life; /* number of the library's life in this process; each life needs a key of its own */

static void key_of_life(char key[RTE_KEY_BYTES])
{
    snprintf(key, RTE_KEY_BYTES, "far%u", life);
}

/* Stores the address of a worker. Returns 0, or -1 after a line. */
static int address_of(const struct proto_worker *worker, void *room, size_t *bytes)
{
    *bytes = PROTO_ADDRESS;
    if (proto_transport->address(worker->at, room, bytes) == 0)
        return 0;
    log_line("the address of %s takes %zu bytes, more than %d; give it fewer devices (UCX_NET_DEVICES)",
             proto_transport->name, *bytes, PROTO_ADDRESS);
    return -1;
}

int proto_names_publish(void)
{
    char key[RTE_KEY_BYTES];
    union {
        struct proto_record record;
        unsigned char bytes[sizeof(struct proto_record) + PROTO_ADDRESS];
    } room = {.record = {.image_shared = rte.me->image_fd != NODE_PRIVATE}};
    size_t bytes;
    if (address_of(proto_service_worker(), room.record.address, &bytes) != 0)
        return -1;
    room.record.size = (uint32_t)bytes;
    strncpy(room.record.transport, proto_transport->name, sizeof room.record.transport - 1);
    if (uccs_keepalive_open(&room.record.line) != 0)
        return -1;
    memcpy(room.record.image_id, rte.me->image_id, sizeof room.record.image_id);
    life++;
    key_of_life(key);
    return rte_put(key, &room, sizeof room.record + bytes) == 0 ? rte_commit_fence() : -1;
}

/* Returns the record of a peer, which the caller frees. */
static struct proto_record *find_record(int pe)
{
    char key[RTE_KEY_BYTES];
    void *value;
    size_t bytes;
    key_of_life(key);
    if (rte_get(pe, key, &value, &bytes) != 0)
        uccs_fail("PE %d has no address", pe);
    const struct proto_record *record = value;
    if (bytes < sizeof *record || bytes - sizeof *record < record->size)
        uccs_fail("the address of PE %d is cut off", pe);
    if (record->line.count > ROUTES_MAX)
        uccs_fail("the address of PE %d names %d networks, more than %d; do all PEs run the same version of Lateral?",
                  pe, record->line.count, ROUTES_MAX);
    return value;
}

/* --- Connecting */

/* Sends the address of a worker that issues, so that the peer can answer. The hello is the first operation to the peer;
 * the peer keeps all others until the hello has come. */
static void say_hello(struct proto_peer *peer)
{
    size_t bytes;
    void *address = malloc(PROTO_ADDRESS);
    if (!address || address_of(peer->worker, address, &bytes) != 0)
        uccs_fail("no connection to PE %d", peer->pe);
    struct proto_send *send = proto_send_new(peer->worker, peer, WIRE_HELLO);
    send->data = send->buffer = address;
    send->bytes = bytes;
    peer->all.issued.messages++;
    proto_send_now(send);
}

static void connect_peer(struct proto_peer *peer)
{
    struct proto_record *record = find_record(peer->pe);
    peer->same_image = record->image_shared && rte.me->image_fd != NODE_PRIVATE &&
                       memcmp(record->image_id, rte.me->image_id, sizeof record->image_id) == 0;
    peer->asked_image = true;
    if (strncmp(record->transport, proto_transport->name, sizeof record->transport) != 0)
        uccs_fail("PE %d talks over %.*s, and this one over %s: set LATERAL_TRANSPORTS in all of them", peer->pe,
                  (int)sizeof record->transport, record->transport, proto_transport->name);
    peer->to = proto_transport->connect(peer->worker->at, peer->pe, record->address, record->size);
    if (uccs_far_pe(peer->pe))
        uccs_keepalive_connect(peer->pe, &record->line);
    free(record);
    if (!peer->to)
        uccs_fail("PE %d cannot be reached over %s", peer->pe, proto_transport->name);
    peer->coalescer.to = peer->to;
    peer->coalescer.pe = peer->pe;
    if (peer->worker != proto_service_worker())
        say_hello(peer);
}

void proto_connect(struct proto_peer *peer)
{
    if (lat_unlikely(!peer->to))
        connect_peer(peer);
}

static struct proto_coalescer *coalescer_of(struct proto_peer *peer)
{
    proto_connect(peer);
    return &peer->coalescer;
}

/* Sends a message past the coalescer. If the transport keeps it (it connects, or asks the receiver before it sends long
 * data), a later poll of the worker must move it on. Who waits for the message's flag polls; the program may compute. */
static void send_alone(struct proto_send *send)
{
    struct proto_worker *worker = send->worker;
    const bool awaited = send->flag || worker == proto_service_worker();
    if (!proto_hand_over(&send->peer->coalescer, send) && !awaited)
        proto_thread_remind(worker);
}

/* One that somebody wants to have left is not copied, which would only tell that it may. */
void proto_send_now(struct proto_send *send)
{
    struct proto_coalescer *coalescer = coalescer_of(send->peer);
    struct proto_worker *worker = send->worker;
    if (lat_likely(!coalescer->send)) {
        send_alone(send);
    } else if (!send->left && proto_coalesce_fits(send->bytes)) {
        proto_coalesce_add(coalescer, send);
        proto_coalesce_push(coalescer, worker);
    } else {
        proto_coalesce_push(coalescer, worker);
        send_alone(send);
    }
}

void proto_send_add(struct proto_send *send)
{
    proto_coalesce_add(coalescer_of(send->peer), send);
}

void proto_send_later(struct proto_send *send)
{
    struct proto_worker *worker = send->worker;
    if (!proto_coalesce_fits(send->bytes)) {
        proto_send_now(send);
        return;
    }
    const bool first = !worker->coalescing;
    proto_send_add(send);
    if (first && worker->coalescing)
        proto_thread_remind(worker);
}

void proto_answer(struct proto_origin *origin, struct proto_send *answer)
{
    struct proto_coalescer *coalescer =
        lat_likely(origin == &origin->peer->origin) ? coalescer_of(origin->peer) : &origin->coalescer;
    if (proto_coalesce_fits(answer->bytes))
        proto_coalesce_add(coalescer, answer);
    else
        (void)proto_hand_over(coalescer, answer); /* the progress thread polls the service worker */
}

bool proto_same_image(int pe)
{
    struct proto_worker *worker = proto_service_worker();
    pthread_mutex_lock(&worker->lock);
    struct proto_peer *peer = proto_peer_of(worker, pe);
    if (!peer->asked_image)
        connect_peer(peer);
    bool same = peer->same_image;
    pthread_mutex_unlock(&worker->lock);
    return same;
}

/* Handles the hello of another PE's worker: connects to the address to which the answers go. */
static bool land_hello(struct proto_arrival *arrival, const void *address)
{
    struct proto_origin *origin = arrival->origin;
    int pe = (int)arrival->header.from;
    if (origin->to)
        uccs_fail("PE %d says hello twice for worker %u", pe, arrival->header.worker);
    origin->to = proto_transport->connect(proto_service_worker()->at, pe, address, arrival->bytes);
    if (!origin->to)
        uccs_fail("PE %d cannot be answered over %s", pe, proto_transport->name);
    origin->coalescer.to = origin->to;
    origin->coalescer.pe = pe;
    return true;
}

const struct proto_handler proto_on_hello = {.counts = true, .land = land_hello};
