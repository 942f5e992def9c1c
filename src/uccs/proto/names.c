/* PEs publish the transport's address and the identity of their image in the runtime environment, before they can talk.
 * A PE asks for a peer's record when it first needs the peer.
 *
 * One thread calls proto_names_publish, in init, before a fence. Any thread calls proto_names_find, after it. */
#include "uccs/proto/inner.h"

#include "base/log.h"
#include "rte/rte.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned life; /* number of the library's life in this process; each life needs a key of its own */

static void key_of_life(char key[RTE_KEY_BYTES])
{
    snprintf(key, RTE_KEY_BYTES, "far%u", life);
}

int proto_names_address(const struct proto_worker *worker, void *room, size_t *bytes)
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
    if (proto_names_address(proto_service_worker(), room.record.address, &bytes) != 0)
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

struct proto_record *proto_names_find(int pe)
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
