/* Wakes the progress thread (thread.c) for messages of this process; the files below it call this. Any thread. */
#include "uccs/link/inner.h"

#include "uccs/core/doorbell.h"

uint32_t link_asleep, link_reminded;
uint64_t link_left;

void link_thread_remind(const struct link_lane *lane)
{
    const uint64_t bit = UINT64_C(1) << lane->number;
    if (!atomic_load_relaxed(&uccs_progress_thread_on))
        return;
    if (lane != link_service() && !(atomic_load_seqcst(&link_left) & bit))
        (void)atomic_fetch_or_seqcst(&link_left, bit);
    if (atomic_load_seqcst(&link_asleep) && atomic_exchange_seqcst(&link_asleep, 0)) {
        atomic_store_seqcst(&link_reminded, 1);
        uccs_doorbell_ring_mine();
    }
}
