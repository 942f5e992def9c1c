/* Wakes the progress thread (progress.c) for messages of this process; the files below it call this. Any thread. */
#include "uccs/proto/inner.h"

#include "uccs/core/doorbell.h"

uint32_t proto_asleep, proto_reminded;
uint64_t proto_workers_left;

void proto_thread_remind(const struct proto_worker *worker)
{
    const uint64_t bit = UINT64_C(1) << worker->number;
    if (!atomic_load_relaxed(&uccs_progress_thread_on))
        return;
    if (worker != proto_service_worker() && !(atomic_load_seqcst(&proto_workers_left) & bit))
        (void)atomic_fetch_or_seqcst(&proto_workers_left, bit);
    if (atomic_load_seqcst(&proto_asleep) && atomic_exchange_seqcst(&proto_asleep, 0)) {
        atomic_store_seqcst(&proto_reminded, 1);
        uccs_doorbell_ring_mine();
    }
}
