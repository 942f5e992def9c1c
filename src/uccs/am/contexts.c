/* The contexts that receive messages, and the threads that look at them. Any thread.
 *
 * A thread counts itself in `pollers` before it looks at published[] (seqcst on both sides), so a retired context can be
 * freed once all threads that might have seen it have left. There are two phases: with one, new pollers could keep the
 * count above zero forever. New pollers count in the current phase; a retiring thread turns the phase and waits until the
 * other one is empty. */
#include "uccs/am/inner.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"
#include "uccs/core/core.h"

#include <pthread.h>

#define POLLERS 64 /* further threads share entries */

static struct uccs_context *published[PE_SHARED_CONTEXTS];
static uint64_t live; /* a bit for each published context; a hint: published[] decides */

static struct poller {
    cache_aligned uint32_t inside[2];
    uint64_t polls; /* of the threads that use the entry; relaxed, a hint */
} pollers[POLLERS];
static uint32_t phase;

uint32_t *uccs_am_enter(void)
{
    struct poller *mine = &pollers[uccs_thread() % POLLERS];
    uint32_t *inside = &mine->inside[atomic_load_relaxed(&phase) & 1];
    atomic_store_relaxed(&mine->polls, atomic_load_relaxed(&mine->polls) + 1);
    __atomic_fetch_add(inside, 1, __ATOMIC_SEQ_CST); /* partner: uccs_am_retire */
    return inside;
}

uint64_t uccs_am_polls(void)
{
    uint64_t all = 0;
    for (int i = 0; i < POLLERS; i++)
        all += atomic_load_relaxed(&pollers[i].polls);
    return all;
}

void uccs_am_leave(uint32_t *inside)
{
    (void)atomic_fetch_sub_acqrel(inside, 1); /* partner: wait_for_phase */
}

static void wait_for_phase(uint32_t old)
{
    for (int i = 0; i < POLLERS; i++) {
        struct uccs_wait wait uccs_scoped = {0};
        while (atomic_load_seqcst(&pollers[i].inside[old]))
            uccs_rest(&wait);
    }
}

void uccs_am_publish(struct uccs_context *context)
{
    uccs_pe_shared_open_rings(uccs_core.index, context->attr.id);
    atomic_store_release(&published[context->attr.id], context); /* acquire: uccs_am_published */
    (void)atomic_fetch_or_acqrel(&live, UINT64_C(1) << context->attr.id);
    uccs_doorbell_wake(uccs_core.index); /* messages may wait already */
}

/* Turns both phases, since a thread may have read the phase long before it counted itself in. */
void uccs_am_quiesce(void)
{
    static pthread_mutex_t turning = PTHREAD_MUTEX_INITIALIZER; /* one thread turns phases at a time */
    pthread_mutex_lock(&turning);
    uccs_progress_barred++;
    for (int turn = 0; turn < 2; turn++)
        wait_for_phase(atomic_fetch_add_acqrel(&phase, 1) & 1);
    uccs_progress_barred--;
    pthread_mutex_unlock(&turning);
}

void uccs_am_retire(struct uccs_context *context)
{
    (void)atomic_fetch_and_acqrel(&live, ~(UINT64_C(1) << context->attr.id));
    atomic_store_seqcst(&published[context->attr.id], 0); /* then look at pollers; partner: uccs_am_enter */
    uccs_am_quiesce();
}

uint64_t uccs_am_live(void)
{
    return atomic_load_relaxed(&live);
}

struct uccs_context *uccs_am_published(uint32_t id)
{
    return atomic_load_seqcst(&published[id]); /* release: uccs_am_publish; after uccs_am_enter */
}

/* --- Rings */

/* The first process that needs the rings formats them; the others wait for it, as long as some stores take. They may hold
 * locks, so the program's functions must not run here. */
lat_cold void uccs_pe_shared_open_rings_slow(struct uccs_pe_shared *shared, uint32_t context)
{
    uint32_t state = PE_RINGS_CLOSED;
    _Static_assert(PE_SHARED_RING_CELLS * (PE_SHARED_CELL_BYTES + CACHE_LINE) + sizeof(struct ring) <=
                       PE_SHARED_RING_BYTES,
                   "a ring fits");
    if (atomic_cas_acquire(&shared->open[context], &state, PE_RINGS_OPENING)) {
        for (uint32_t which = 0; which < PE_SHARED_RINGS; which++)
            ring_format(shared->rings[context][which], PE_SHARED_RING_CELLS, PE_SHARED_CELL_BYTES);
        atomic_store_release(&shared->open[context], PE_RINGS_OPEN); /* acquire: uccs_pe_shared_open_rings */
        return;
    }
    struct uccs_wait wait uccs_scoped = {0};
    uccs_progress_barred++;
    while (atomic_load_acquire(&shared->open[context]) != PE_RINGS_OPEN)
        uccs_rest(&wait);
    uccs_progress_barred--;
}
