/* Applies accumulates and compare-and-swaps of other nodes to this process's memory. Events, under the service worker's lock; a stripe's
 * lock is taken there, whose holder never waits. See mem/accumulate.h. */
#include "uccs/proto/target.h"

#include "uccs/mem/region.h"

#include <stdlib.h>

static struct uccs_accumulate_op change_of(const struct wire_header *header)
{
    return (struct uccs_accumulate_op){header->change.type, header->change.how, header->change.n};
}

static void apply_here(const struct wire_header *header, const struct uccs_accumulate_op *change, char *to,
                       const char *operand, char *result)
{
    const size_t size = uccs_type_size((enum uccs_type)change->type), bytes = uccs_accumulate_bytes(change);
    struct uccs_accumulate_op some = *change;
    atomic_fence_release(); /* the elements may be flags: after earlier stores of this process */
    for (size_t done = 0; done < bytes; done += some.n * size) {
        const struct uccs_region_home home = uccs_region_home(header->at.region, to + done, bytes - done);
        const struct uccs_accumulate_target place = {uccs_core.me, home.domain, home.address, to + done};
        some.n = home.bytes < size ? 1 : home.bytes / size;
        uccs_accumulate_apply(&some, &place, operand ? operand + done : 0, result ? result + done : 0);
    }
}

static void answer_change(struct proto_arrival *arrival, void *old, size_t bytes)
{
    struct proto_message answer = {.header.kind = WIRE_DATA, .data = old, .bytes = bytes, .buffer = old};
    answer.header.answer.handle = arrival->header.change.handle;
    answer.header.answer.applied = old ? proto_applied_count(arrival) : 0;
    answer.header.answer.failed = !old;
    proto_answer(arrival->origin, &answer);
}

/* Returns false when the region has been released and no answer tells of that. */
static bool land_change(struct proto_arrival *arrival, const void *operand)
{
    const struct wire_header *header = &arrival->header;
    const struct uccs_accumulate_op change = change_of(header);
    const size_t bytes = uccs_accumulate_bytes(&change);
    const bool wanted = header->change.handle != 0;
    char *to = proto_target_address(header, header->at.offset, bytes);
    void *old = to && wanted ? malloc(bytes) : 0;
    if (to && wanted && !old)
        uccs_fail("no memory for %zu bytes for PE %u", bytes, header->from);
    if (to)
        apply_here(header, &change, to, operand, old);
    if (to)
        proto_notify_run_all(arrival, operand, header->change.notices);
    if (wanted)
        answer_change(arrival, old, old ? bytes : 0);
    return to || wanted;
}

const struct proto_handler proto_on_change = {.counts = true, .land = land_change};
