/* Broadcast.
 *
 * post: the root copies its data into its posts, piece by piece; the others copy it out. One hop.
 * The root does not wait for readers: the ring's rare sync tells it that they have read its posts.
 * pull: the others copy from the root's source at the same time; the root leaves when all have. */
#include "shmem/coll/inner.h"
#include "shmem/coll/nodes.h"

#include <stdint.h>

static void by_post(struct uccs_team *group, void *dest, const void *source, size_t bytes, int root)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        uccs_slot_begin(group, piece);
        if (group->rank != root) {
            lat_coll_copy((char *)dest + at, uccs_slot_await(group, root, piece), piece);
            continue;
        }
        lat_coll_copy(uccs_slot_buffer(group, piece), (const char *)source + at, piece);
        uccs_slot_publish(group, piece);
    }
}

static void by_pull(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes, int root,
                    bool at_root)
{
    lat_coll_enter(group);
    if (group->rank != root) {
        lat_coll_await(group, root);
        memcpy(dest, lat_coll_peer(call, "source", group, source, root), bytes);
    } else if (at_root && dest != source) {
        memcpy(dest, source, bytes);
    }
    lat_coll_leave(group);
}

void lat_group_broadcast(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes,
                         int root, bool at_root)
{
    if (bytes == 0)
        return;
    if (lat_unlikely(group->far)) {
        lat_nodes_broadcast(call, group, dest, source, bytes, root, at_root);
        return;
    }
    if (group->size > 1 && lat_coll_has_slots(group) &&
        lat_coll_choose(LAT_COLL_BROADCAST, group, bytes) == LAT_BY_POST) {
        by_post(group, dest, source, bytes, root);
        if (group->rank == root && at_root && dest != source)
            lat_coll_copy(dest, source, bytes);
        return;
    }
    by_pull(call, group, dest, source, bytes, root, at_root);
}
