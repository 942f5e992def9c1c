/* Connects to peers and sends messages to them. */
#include "uccs/link/inner.h"

#include "rte/rte.h"

#include <stdlib.h>
#include <string.h>

/* Sends the address of a lane that issues, so that the peer can answer. The hello is the first operation to the peer;
 * the peer keeps all others until the hello has come. */
static void say_hello(struct link_peer *peer)
{
    size_t bytes;
    void *address = malloc(LINK_ADDRESS);
    if (!address || link_names_address(peer->lane, address, &bytes) != 0)
        uccs_fail("no connection to PE %d", peer->pe);
    struct link_send *send = link_send_new(peer->lane);
    send->header.kind = LINK_HELLO;
    send->buffer = address;
    peer->issued.messages++;
    link_send_now(peer, send, address, bytes);
}

static void connect_peer(struct link_peer *peer)
{
    struct link_record *record = link_names_find(peer->pe);
    peer->same_image = record->image_shared && rte.me->image_fd != NODE_PRIVATE &&
                       memcmp(record->image_id, rte.me->image_id, sizeof record->image_id) == 0;
    peer->asked_image = true;
    if (strncmp(record->transport, link_transport->name, sizeof record->transport) != 0)
        uccs_fail("PE %d talks over %.*s, and this one over %s: set LATERAL_TRANSPORTS in all of them", peer->pe,
                  (int)sizeof record->transport, record->transport, link_transport->name);
    peer->to = link_transport->connect(peer->lane->at, peer->pe, record->address, record->size);
    if (uccs_far_pe(peer->pe))
        uccs_keepalive_connect(peer->pe, &record->line);
    free(record);
    if (!peer->to)
        uccs_fail("PE %d cannot be reached over %s", peer->pe, link_transport->name);
    peer->box.to = peer->to;
    peer->box.pe = peer->pe;
    if (peer->lane != link_service())
        say_hello(peer);
}

void link_connect(struct link_peer *peer)
{
    if (lat_unlikely(!peer->to))
        connect_peer(peer);
}

static struct link_outbox *box_of(struct link_peer *peer)
{
    link_connect(peer);
    return &peer->box;
}

/* Sends a message past the outbox. If the transport keeps it (it connects, or asks the receiver before it sends long
 * data), a later poll of the lane must move it on. Who waits for the message's flag polls; the program may compute. */
static void send_alone(struct link_peer *peer, struct link_send *send, const void *data, size_t bytes)
{
    if (!link_hand_over(&peer->box, send, data, bytes) && !send->flag && send->lane != link_service())
        link_thread_remind(send->lane);
}

void link_send_now(struct link_peer *peer, struct link_send *send, const void *data, size_t bytes)
{
    struct link_outbox *box = box_of(peer);
    struct link_lane *lane = send->lane;
    if (lat_likely(!box->send)) {
        send_alone(peer, send, data, bytes);
    } else if (link_batch_fits(bytes)) {
        link_batch_add(box, send, data, bytes);
        link_batch_push(box, lane);
    } else {
        link_batch_push(box, lane);
        send_alone(peer, send, data, bytes);
    }
}

void link_send_later(struct link_peer *peer, struct link_send *send, const void *data, size_t bytes)
{
    struct link_lane *lane = send->lane;
    if (!link_batch_fits(bytes)) {
        link_send_now(peer, send, data, bytes);
        return;
    }
    bool first = !lane->boxes;
    link_batch_add(box_of(peer), send, data, bytes);
    if (first && lane->boxes)
        link_thread_remind(lane);
}

bool link_copies(const struct link_message *message)
{
    return message->later && !message->way && link_batch_fits(message->bytes);
}

void link_answer(struct link_origin *origin, const struct link_message *answer)
{
    struct link_send *send = link_send_new(link_service());
    const uint32_t from = send->header.from;
    send->header = answer->header;
    send->header.from = from;
    send->buffer = answer->buffer;
    send->left = answer->left;
    send->cookie = answer->cookie;
    const void *data = answer->data;
    size_t bytes = answer->bytes;
    struct link_outbox *box = lat_likely(origin == &origin->peer->origin) ? box_of(origin->peer) : &origin->box;
    if (link_batch_fits(bytes))
        link_batch_add(box, send, data, bytes);
    else
        (void)link_hand_over(box, send, data, bytes); /* the progress thread polls the service lane */
}

bool uccs_far_same_image(int pe)
{
    struct link_lane *lane = link_service();
    pthread_mutex_lock(&lane->lock);
    struct link_peer *peer = link_peer_of(lane, pe);
    if (!peer->asked_image)
        connect_peer(peer);
    bool same = peer->same_image;
    pthread_mutex_unlock(&lane->lock);
    return same;
}

/* Handles the hello of another PE's lane: connects to the address to which the answers go. */
static bool land_hello(struct link_arrival *arrival, const void *address)
{
    struct link_origin *origin = arrival->origin;
    int pe = (int)arrival->header.from;
    if (origin->to)
        uccs_fail("PE %d says hello twice for lane %u", pe, arrival->header.lane);
    origin->to = link_transport->connect(link_service()->at, pe, address, arrival->bytes);
    if (!origin->to)
        uccs_fail("PE %d cannot be answered over %s", pe, link_transport->name);
    origin->box.to = origin->to;
    origin->box.pe = pe;
    return true;
}

const struct link_handler link_on_hello = {.counts = true, .land = land_hello};
