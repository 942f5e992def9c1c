/* Drops the messages that are not handled at the end of a life. One thread; no PE sends meanwhile. */
#include "uccs/am/inner.h"

#include <stdlib.h>
#include <string.h>

/* Drops a message and fails its request. */
static void drop_message(uint32_t context, const struct uccs_message *message, struct uccs_am_tally *tally,
                         struct uccs_am_lost *lost)
{
    struct uccs_bounce *block = uccs_am_block_of(message);
    if (lost->count++ == 0)
        *lost = (struct uccs_am_lost){1, message->source, message->id % UCCS_AM_HANDLERS, context};
    if (block) {
        block->failed = 1;
        uccs_am_done(block);
    }
    uccs_am_count_handled(context, tally, message);
}

static void drop_ring(uint32_t context, uint32_t which, struct uccs_am_lost *lost)
{
    struct ring *ring = uccs_pe_shared_ring(uccs_core.index, context, which);
    struct uccs_am_tally tally = {0};
    struct uccs_message message;
    struct uccs_bounce *copy;
    uint64_t ticket;
    while (uccs_unexpected_take_any(context, which, &message, &copy)) {
        drop_message(context, &message, &tally, lost);
        free(copy);
    }
    bool open = atomic_load_acquire(&uccs_pe_shared_mine()->open[context]) ==
                PE_RINGS_OPEN; /* release: uccs_pe_shared_open_rings_slow */
    while (open && uccs_cell_take(ring, &message, &ticket))
        drop_message(context, &message, &tally, lost);
    uccs_am_tell(context, &tally);
}

static void drop_packets(uint32_t context, uint32_t which, struct uccs_am_lost *lost)
{
    struct uccs_far_tally tally = {.context = context, .which = which};
    struct uccs_far_packet *packet;
    while ((packet = uccs_far_am_take_any(context, which))) {
        const struct uccs_message message = packet->message;
        if (lost->count++ == 0)
            *lost = (struct uccs_am_lost){1, message.source, message.id % UCCS_AM_HANDLERS, context};
        packet->block.failed = 1;
        uccs_far_am_handled(&tally, &message, packet);
    }
    uccs_far_am_tell(&tally);
}

struct uccs_am_lost uccs_am_drop(void)
{
    struct uccs_am_lost lost = {0};
    for (uint32_t context = 0; context < PE_SHARED_LIBRARY_CONTEXT; context++)
        for (uint32_t which = 0; which < PE_SHARED_RINGS; which++) {
            drop_ring(context, which, &lost);
            drop_packets(context, which, &lost);
        }
    return lost;
}
