#include "uccs/core/work.h"

#include "uccs/core/bell.h"
#include "uccs/core/due.h"
#include "uccs/core/poller.h"

#include <pthread.h>

/* Work in the order in which it was started; this order is the same at all members of a group. */
static struct uccs_work *first, **last = &first;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static bool called;       /* peers know that work is pending; under the list's lock */
static uint64_t advances; /* by threads of the program; relaxed: a hint */

/* What a walk along the list has found. */
struct walk {
    bool labours; /* the walker runs labours */
    bool found;   /* a piece was finished, or a labour run */
    bool again;   /* a piece wants to be looked at soon, or its labour is due */
};

/* Runs the labour without the list's lock. The list may have changed on return. */
static void do_labour(struct uccs_work *work)
{
    void (*labour)(struct uccs_work *) = work->labour;
    work->labour = 0;
    work->busy = true; /* so no other thread advances it or takes it off the list */
    pthread_mutex_unlock(&list);
    labour(work);
    pthread_mutex_lock(&list);
    work->busy = false;
}

/* Returns the place of the next piece to advance behind an unfinished one. */
static struct uccs_work **go_past(struct uccs_work *work, struct walk *walk)
{
    walk->again |= work->again || work->labour;
    if (!work->labour || !walk->labours)
        return &work->next;
    do_labour(work);
    walk->found = true;
    return &first;
}

/* Advances the piece at `*at`, and takes it off the list when it is finished. Its own advance may have freed it then,
 * so afterwards this function touches only its place. Returns the place of the next piece to advance. */
static struct uccs_work **advance_one(struct uccs_work **at, struct walk *walk)
{
    struct uccs_work *work = *at, *next = work->next;
    if (work->busy)
        return &work->next;
    work->labour = 0;
    work->again = false;
    if (!work->advance(work))
        return go_past(work, walk);
    *at = next;
    if (!next)
        last = at;
    walk->found = true;
    atomic_fetch_sub_acqrel(&uccs_due, 1);
    return at;
}

/* Advances the work. Under the list's lock, which it releases. */
static void walk_and_unlock(struct walk *walk)
{
    uccs_pollers_barred++;
    for (struct uccs_work **at = &first; *at;)
        at = advance_one(at, walk);
    uccs_pollers_barred--;
    if (called && !first) {
        called = false;
        uccs_bell_work_ends();
    }
    pthread_mutex_unlock(&list);
}

void uccs_work_advance(void)
{
    struct walk walk = {.labours = true};
    if (pthread_mutex_trylock(&list) != 0)
        return;
    atomic_store_relaxed(&advances, atomic_load_relaxed(&advances) + 1);
    walk_and_unlock(&walk);
}

/* Looks at what peers have posted already: they ring only those that had work pending by then. A labour is left to the
 * progress thread. */
static void begin_work(void)
{
    struct walk walk = {0};
    pthread_mutex_lock(&list);
    walk_and_unlock(&walk);
    if (walk.again)
        uccs_bell(uccs_core.index);
}

void uccs_work_add(struct uccs_work *work)
{
    work->next = 0;
    work->labour = 0;
    work->busy = false;
    pthread_mutex_lock(&list);
    *last = work;
    last = &work->next;
    atomic_fetch_add_relaxed(&uccs_due, 1);
    if (uccs_progress_on && !called) {
        called = true;
        uccs_bell_work_begins();
    }
    pthread_mutex_unlock(&list);
    if (uccs_progress_on)
        begin_work();
}

enum uccs_served uccs_work_serve(void)
{
    struct walk walk = {.labours = true};
    if (!uccs_due_ends())
        return UCCS_SERVED_NOTHING;
    pthread_mutex_lock(&list);
    walk_and_unlock(&walk);
    if (walk.found)
        return UCCS_SERVED_SOME;
    return walk.again ? UCCS_SERVED_LATER : UCCS_SERVED_NOTHING;
}

bool uccs_work_tell(const struct uccs_request *request, struct uccs_told *told)
{
    bool known = false;
    if (pthread_mutex_trylock(&list) != 0)
        return false;
    for (const struct uccs_work *work = first; work && !known; work = work->next)
        known = work->tell && work->tell(work, request, told);
    pthread_mutex_unlock(&list);
    return known;
}

uint64_t uccs_work_polls(void)
{
    return atomic_load_relaxed(&advances);
}
