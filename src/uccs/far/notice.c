/* Notices: what the target does once it has applied an operation. They count, or set or raise a signal. A put has its
 * notice in the header; other operations have it behind their data, so that operation and notice are one message. */
#include "uccs/far/inner.h"

#include "uccs/mem/region.h"

#include <stdlib.h>
#include <string.h>

/* --- At the origin */

struct link_notice far_notice_of(const struct uccs_far_with *with)
{
    if (with->what == FAR_COUNT)
        return (
            struct link_notice){.what = far_count_kind(with->value), .counter = with->value, .weight = with->weight};
    return (struct link_notice){.what = (uint8_t)with->what,
                                .signal_segment = (uint8_t)with->place.segment,
                                .signal_offset = with->place.offset,
                                .signal_value = with->value,
                                .signal_region = with->place.region};
}

static bool put_behind(struct link_message *message, const struct uccs_far_with *with)
{
    const struct link_notice notice = far_notice_of(with);
    char *all = realloc(message->buffer, message->bytes + sizeof notice);
    if (!all)
        return false;
    memcpy(all + message->bytes, &notice, sizeof notice);
    message->data = message->buffer = all;
    message->bytes += sizeof notice;
    return true;
}

bool far_notice_behind(struct link_message *message, const struct uccs_far_with *with, uint8_t *count)
{
    for (*count = 0; with; with = with->also, ++*count)
        if (!put_behind(message, with))
            return false;
    return true;
}

/* --- At the target */

struct link_notice far_notice_read(const struct link_arrival *arrival, const void *data, size_t left)
{
    struct link_notice notice;
    memcpy(&notice, (const char *)data + arrival->bytes - left * sizeof notice, sizeof notice);
    link_notice_check(&arrival->header, &notice, arrival->bytes);
    return notice;
}

/* Stores a signal, or adds to it. In memory of the locked domain node peers change the word under a lock. */
static void do_signal(struct link_arrival *arrival, const struct link_notice *notice)
{
    const uint64_t value = notice->signal_value;
    const bool add = notice->what == FAR_SIGNAL_ADD;
    struct link_header at = {.from = arrival->header.from, .segment = notice->signal_segment};
    at.at.region = notice->signal_region;
    uint64_t *signal = far_word_of(&at, notice->signal_offset, sizeof *signal);
    if (lat_unlikely(!signal)) {
        link_refuse(arrival);
    } else if (at.segment == FAR_REGION && uccs_region_locked(at.at.region, signal)) {
        const struct uccs_atomic_op op = {add ? UCCS_ATOMIC_ADD : UCCS_ATOMIC_SET, sizeof value, value, 0};
        (void)uccs_atomic_apply_locked(&op, signal);
    } else if (add) {
        atomic_fetch_add_acqrel(signal, value); /* acquire: signal_wait_until */
    } else {
        atomic_store_release(signal, value);
    }
}

void far_notice_do(struct link_arrival *arrival, const struct link_notice *notice)
{
    switch (notice->what) {
    case FAR_NOTHING: break;
    case FAR_COUNT: uccs_counter_arrive_here(notice->counter, notice->weight); break;
    case FAR_LATE: uccs_counter_late(notice->counter, uccs_core.me); break;
    default: do_signal(arrival, notice);
    }
}

void far_notices_do(struct link_arrival *arrival, const void *data, size_t count)
{
    for (size_t left = count; left > 0; left--) {
        const struct link_notice notice = far_notice_read(arrival, data, left);
        far_notice_do(arrival, &notice);
    }
}
