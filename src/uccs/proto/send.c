/* Connects to peers and sends messages to them. */
#include "uccs/proto/inner.h"

#include "rte/rte.h"

#include <stdlib.h>
#include <string.h>

/* Sends the address of a worker that issues, so that the peer can answer. The hello is the first operation to the peer;
 * the peer keeps all others until the hello has come. */
static void say_hello(struct proto_peer *peer)
{
    size_t bytes;
    void *address = malloc(PROTO_ADDRESS);
    if (!address || proto_names_address(peer->worker, address, &bytes) != 0)
        uccs_fail("no connection to PE %d", peer->pe);
    struct proto_send *send = proto_send_new(peer->worker);
    send->header.kind = WIRE_HELLO;
    send->buffer = address;
    peer->issued.messages++;
    proto_send_now(peer, send, address, bytes);
}

static void connect_peer(struct proto_peer *peer)
{
    struct proto_record *record = proto_names_find(peer->pe);
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

static struct proto_coalescer *box_of(struct proto_peer *peer)
{
    proto_connect(peer);
    return &peer->coalescer;
}

/* Sends a message past the coalescer. If the transport keeps it (it connects, or asks the receiver before it sends long
 * data), a later poll of the worker must move it on. Who waits for the message's flag polls; the program may compute. */
static void send_alone(struct proto_peer *peer, struct proto_send *send, const void *data, size_t bytes)
{
    if (!proto_hand_over(&peer->coalescer, send, data, bytes) && !send->flag && send->worker != proto_service_worker())
        proto_thread_remind(send->worker);
}

void proto_send_now(struct proto_peer *peer, struct proto_send *send, const void *data, size_t bytes)
{
    struct proto_coalescer *coalescer = box_of(peer);
    struct proto_worker *worker = send->worker;
    if (lat_likely(!coalescer->send)) {
        send_alone(peer, send, data, bytes);
    } else if (proto_coalesce_fits(bytes)) {
        proto_coalesce_add(coalescer, send, data, bytes);
        proto_coalesce_push(coalescer, worker);
    } else {
        proto_coalesce_push(coalescer, worker);
        send_alone(peer, send, data, bytes);
    }
}

void proto_send_later(struct proto_peer *peer, struct proto_send *send, const void *data, size_t bytes)
{
    struct proto_worker *worker = send->worker;
    if (!proto_coalesce_fits(bytes)) {
        proto_send_now(peer, send, data, bytes);
        return;
    }
    bool first = !worker->coalescing;
    proto_coalesce_add(box_of(peer), send, data, bytes);
    if (first && worker->coalescing)
        proto_thread_remind(worker);
}

bool proto_copies(const struct proto_message *message)
{
    return message->later && !message->way && proto_coalesce_fits(message->bytes);
}

void proto_answer(struct proto_origin *origin, const struct proto_message *answer)
{
    struct proto_send *send = proto_send_new(proto_service_worker());
    const uint32_t from = send->header.from;
    send->header = answer->header;
    send->header.from = from;
    send->buffer = answer->buffer;
    send->left = answer->left;
    send->cookie = answer->cookie;
    const void *data = answer->data;
    size_t bytes = answer->bytes;
    struct proto_coalescer *coalescer =
        lat_likely(origin == &origin->peer->origin) ? box_of(origin->peer) : &origin->coalescer;
    if (proto_coalesce_fits(bytes))
        proto_coalesce_add(coalescer, send, data, bytes);
    else
        (void)proto_hand_over(coalescer, send, data, bytes); /* the progress thread polls the service worker */
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
