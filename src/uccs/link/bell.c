/* Wakes the progress thread (thread.c); the files below it call this. Any thread. */
#include "uccs/link/inner.h"

#include <sys/eventfd.h>

int link_bell = -1;
uint32_t link_asleep;
uint64_t link_left;

void link_thread_remind(const struct link_lane *lane)
{
    const uint64_t bit = UINT64_C(1) << lane->number;
    if (link_bell < 0)
        return;
    if (lane != link_service() && !(atomic_load_seqcst(&link_left) & bit))
        (void)atomic_fetch_or_seqcst(&link_left, bit);
    if (atomic_load_seqcst(&link_asleep) && atomic_exchange_seqcst(&link_asleep, 0))
        eventfd_write(link_bell, 1);
}

bool link_thread_serves(void)
{
    return link_bell >= 0; /* changes only at the start and the end of a life */
}
