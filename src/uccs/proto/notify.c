/* Notifications: what the target does once it has applied an operation. They count, or set or raise a signal. A put has its
 * notification in the header; other operations have it behind their data, so that operation and notification are one message. */
#include "uccs/proto/target.h"

#include "uccs/mem/region.h"

#include <stdlib.h>
#include <string.h>

/* --- At the origin */

struct wire_notify proto_notify_wire(const struct proto_notify *with)
{
    if (with->what == PROTO_NOTIFY_COUNT)
        return (struct wire_notify){.what = proto_notify_count_kind(with->value),
                                    .counter = with->value,
                                    .weight = with->weight};
    return (struct wire_notify){.what = (uint8_t)with->what,
                                .signal_segment = (uint8_t)with->place.segment,
                                .signal_offset = with->place.offset,
                                .signal_value = with->value,
                                .signal_region = with->place.region};
}

bool proto_notify_append(struct proto_payload *payload, const struct proto_notify *with)
{
    for (; with; with = with->also, payload->notices++) {
        const struct wire_notify notice = proto_notify_wire(with);
        char *all = realloc(payload->buffer, payload->bytes + sizeof notice);
        if (!all)
            return false;
        memcpy(all + payload->bytes, &notice, sizeof notice);
        payload->data = payload->buffer = all;
        payload->bytes += sizeof notice;
    }
    return true;
}

/* --- At the target */

struct wire_notify proto_notify_read(const struct proto_arrival *arrival, const void *data, size_t left)
{
    struct wire_notify notice;
    memcpy(&notice, (const char *)data + arrival->bytes - left * sizeof notice, sizeof notice);
    proto_wire_notify_check(&arrival->header, &notice, arrival->bytes);
    return notice;
}

/* Stores a signal, or adds to it. In memory of the locked domain node peers change the word under a lock. */
static void do_signal(struct proto_arrival *arrival, const struct wire_notify *notice)
{
    const uint64_t value = notice->signal_value;
    const bool add = notice->what == PROTO_SIGNAL_ADD;
    struct wire_header at = {.from = arrival->header.from, .segment = notice->signal_segment};
    at.at.region = notice->signal_region;
    uint64_t *signal = proto_target_word(&at, notice->signal_offset, sizeof *signal);
    if (lat_unlikely(!signal)) {
        proto_nack(arrival);
    } else if (at.segment == PROTO_REGION && uccs_region_locked(at.at.region, signal)) {
        const struct uccs_atomic_op op = {add ? UCCS_ATOMIC_ADD : UCCS_ATOMIC_SET, sizeof value, value, 0};
        (void)uccs_atomic_apply_locked(&op, signal);
    } else if (add) {
        atomic_fetch_add_acqrel(signal, value); /* acquire: signal_wait_until */
    } else {
        atomic_store_release(signal, value);
    }
}

void proto_notify_run(struct proto_arrival *arrival, const struct wire_notify *notice)
{
    switch (notice->what) {
    case PROTO_NOTIFY_NONE: break;
    case PROTO_NOTIFY_COUNT: uccs_counter_arrive_here(notice->counter, notice->weight); break;
    case PROTO_NOTIFY_STALE: uccs_counter_late(notice->counter, uccs_core.me); break;
    default: do_signal(arrival, notice);
    }
}

void proto_notify_run_all(struct proto_arrival *arrival, const void *data, size_t count)
{
    for (size_t left = count; left > 0; left--) {
        const struct wire_notify notice = proto_notify_read(arrival, data, left);
        proto_notify_run(arrival, &notice);
    }
}
