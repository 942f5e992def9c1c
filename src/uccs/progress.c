#include "uccs/progress.h"

#include "uccs/far.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define YIELDS_BEFORE_SLEEP 500 /* some milliseconds on a crowded node */
#define SLEEP_NANOSECONDS 50000

uint32_t uccs_working;
int (*uccs_poll_messages)(void);

/* In the order of starting, which is the same at all members of a group. */
static struct uccs_work *first, **last = &first;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

void uccs_work_add(struct uccs_work *work)
{
    work->next = 0;
    pthread_mutex_lock(&list);
    *last = work;
    last = &work->next;
    atomic_fetch_add_relaxed(&uccs_working, 1);
    pthread_mutex_unlock(&list);
}

/* A finished piece may be freed by its own advance, so only its place is touched afterwards. */
static void advance_all(void)
{
    if (pthread_mutex_trylock(&list) != 0)
        return;
    struct uccs_work **at = &first;
    while (*at) {
        struct uccs_work *work = *at, *next = work->next;
        if (!work->advance(work)) {
            at = &work->next;
            continue;
        }
        *at = next;
        atomic_fetch_sub_acqrel(&uccs_working, 1);
    }
    last = at;
    pthread_mutex_unlock(&list);
}

/* Other nodes count as a piece of work that never ends, so that every wait comes here. */
int uccs_work_slow(void)
{
    int found = uccs_far_on ? uccs_far_poll() : 0;
    if (atomic_load_relaxed(&uccs_working) > uccs_far_on)
        advance_all();
    return found;
}

lat_cold void uccs_missed_slow(void)
{
    sched_yield();
}

void uccs_yield_slow(struct uccs_wait *wait)
{
    uint32_t yields = ++wait->looks - uccs_core.spin;
    if (!uccs_core.oversubscribed || yields < YIELDS_BEFORE_SLEEP) {
        sched_yield();
        return;
    }
    if (wait->looks == UINT32_MAX)
        wait->looks--;
    struct timespec time = {0, SLEEP_NANOSECONDS};
    nanosleep(&time, 0);
}

/* Out of line: there is work to move on, or the processor is given away. */
lat_cold void uccs_pause_slow(struct uccs_wait *wait)
{
    int found = atomic_load_relaxed(&uccs_working) ? uccs_work_slow() : 0;
    int (*poll)(void) = atomic_load_relaxed(&uccs_poll_messages);
    if (poll)
        found |= poll();
    if (!found)
        uccs_yield(wait);
}

void uccs_work_finish(void)
{
    struct uccs_wait wait = {0};
    while (atomic_load_relaxed(&uccs_working) > uccs_far_on)
        uccs_pause(&wait);
}
