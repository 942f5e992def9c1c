#include "uccs/core/task.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"

#include <pthread.h>

/* Work in the order in which it was started; this order is the same at all members of a group. */
static struct uccs_task *first, **last = &first;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static bool called;       /* peers know that work is pending; under the list's lock */
static uint64_t advances; /* by threads of the program; relaxed: a hint */

/* What a walk along the list has found. */
struct walk {
    bool labours; /* the walker runs labours */
    bool found;   /* a piece was finished, or a step run */
    bool again;   /* a piece wants to be looked at soon, or its step is due */
};

/* Runs the step without the list's lock. The list may have changed on return. */
static void do_labour(struct uccs_task *task)
{
    void (*step)(struct uccs_task *) = task->step;
    task->step = 0;
    task->busy = true; /* so no other thread advances it or takes it off the list */
    pthread_mutex_unlock(&list);
    step(task);
    pthread_mutex_lock(&list);
    task->busy = false;
}

/* Returns the place of the next piece to advance behind an unfinished one. */
static struct uccs_task **go_past(struct uccs_task *task, struct walk *walk)
{
    walk->again |= task->again || task->step;
    if (!task->step || !walk->labours)
        return &task->next;
    do_labour(task);
    walk->found = true;
    return &first;
}

/* Advances the piece at `*at`, and takes it off the list when it is finished. Its own advance may have freed it then,
 * so afterwards this function touches only its place. Returns the place of the next piece to advance. */
static struct uccs_task **advance_one(struct uccs_task **at, struct walk *walk)
{
    struct uccs_task *task = *at, *next = task->next;
    if (task->busy)
        return &task->next;
    task->step = 0;
    task->again = false;
    if (!task->advance(task))
        return go_past(task, walk);
    *at = next;
    if (!next)
        last = at;
    walk->found = true;
    atomic_fetch_sub_acqrel(&uccs_progress_due, 1);
    return at;
}

/* Advances the task. Under the list's lock, which it releases. */
static void walk_and_unlock(struct walk *walk)
{
    uccs_progress_barred++;
    for (struct uccs_task **at = &first; *at;)
        at = advance_one(at, walk);
    uccs_progress_barred--;
    if (called && !first) {
        called = false;
        uccs_doorbell_tasks_end();
    }
    pthread_mutex_unlock(&list);
}

void uccs_tasks_advance(void)
{
    struct walk walk = {.labours = true};
    if (pthread_mutex_trylock(&list) != 0)
        return;
    atomic_store_relaxed(&advances, atomic_load_relaxed(&advances) + 1);
    walk_and_unlock(&walk);
}

/* Looks at what peers have posted already: they ring only those that had work pending by then. A step is left to the
 * progress thread. */
static void begin_work(void)
{
    struct walk walk = {0};
    pthread_mutex_lock(&list);
    walk_and_unlock(&walk);
    if (walk.again)
        uccs_doorbell_wake(uccs_core.index);
}

void uccs_task_add(struct uccs_task *task)
{
    task->next = 0;
    task->step = 0;
    task->busy = false;
    pthread_mutex_lock(&list);
    *last = task;
    last = &task->next;
    atomic_fetch_add_relaxed(&uccs_progress_due, 1);
    if (atomic_load_relaxed(&uccs_progress_thread_on) && !called) {
        called = true;
        uccs_doorbell_tasks_begin();
    }
    pthread_mutex_unlock(&list);
    if (atomic_load_relaxed(&uccs_progress_thread_on))
        begin_work();
}

enum uccs_served uccs_tasks_serve(void)
{
    struct walk walk = {.labours = true};
    if (!uccs_progress_has_tasks())
        return UCCS_SERVED_NOTHING;
    pthread_mutex_lock(&list);
    walk_and_unlock(&walk);
    if (walk.found)
        return UCCS_SERVED_SOME;
    return walk.again ? UCCS_SERVED_LATER : UCCS_SERVED_NOTHING;
}

bool uccs_task_reason(const struct uccs_request *request, struct uccs_reason *reason)
{
    bool known = false;
    if (pthread_mutex_trylock(&list) != 0)
        return false;
    for (const struct uccs_task *task = first; task && !known; task = task->next)
        known = task->reason && task->reason(task, request, reason);
    pthread_mutex_unlock(&list);
    return known;
}

uint64_t uccs_tasks_polls(void)
{
    return atomic_load_relaxed(&advances);
}
