#include "uccs/core/task.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"

#include <pthread.h>

/* Tasks in the order in which they were added, which is the same at all members of a group. */
static struct uccs_task *first, **last = &first;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static bool announced;    /* peers know that tasks are pending; under the list's lock */
static uint64_t advances; /* by threads of the program; relaxed: a hint */

/* One round along the list, and what it has found. */
struct advance {
    bool runs_steps; /* this thread runs steps */
    bool found;      /* a task was finished, or a step run */
    bool again;      /* a task wants to be advanced soon, or its step is due */
};

/* Runs the step without the list's lock. The list may have changed on return. */
static void run_step(struct uccs_task *task)
{
    void (*run)(struct uccs_task *) = task->step;
    task->step = 0;
    task->busy = true; /* so no other thread advances it or takes it off the list */
    pthread_mutex_unlock(&list);
    run(task);
    pthread_mutex_lock(&list);
    task->busy = false;
}

/* Returns the link to the task to advance next, after an unfinished one. */
static struct uccs_task **go_past(struct uccs_task *task, struct advance *round)
{
    round->again |= task->again || task->step;
    if (!task->step || !round->runs_steps)
        return &task->next;
    run_step(task);
    round->found = true;
    return &first;
}

/* Advances the task at `*at`, and takes it off the list when it is finished. Its own `advance` may have freed it then, so
 * afterwards this function touches only the link to it. Returns the link to the task to advance next. */
static struct uccs_task **advance_one(struct uccs_task **at, struct advance *round)
{
    struct uccs_task *task = *at, *next = task->next;
    if (task->busy)
        return &task->next;
    task->step = 0;
    task->again = false;
    if (!task->advance(task))
        return go_past(task, round);
    *at = next;
    if (!next)
        last = at;
    round->found = true;
    atomic_fetch_sub_acqrel(&uccs_progress_due, 1);
    return at;
}

/* Under the list's lock, which it releases. */
static void advance_all_and_unlock(struct advance *round)
{
    uccs_progress_barred++;
    for (struct uccs_task **at = &first; *at;)
        at = advance_one(at, round);
    uccs_progress_barred--;
    if (announced && !first) {
        announced = false;
        uccs_doorbell_tasks_end();
    }
    pthread_mutex_unlock(&list);
}

/* Advances the tasks and runs their steps, unless another thread does. */
static void advance_tasks(void)
{
    struct advance round = {.runs_steps = true};
    if (pthread_mutex_trylock(&list) != 0)
        return;
    atomic_store_relaxed(&advances, atomic_load_relaxed(&advances) + 1);
    advance_all_and_unlock(&round);
}

int uccs_progress_look_slow(void)
{
    int found = uccs_progress_poll(UCCS_PROGRESS_LOOK) | uccs_callbacks_run();
    if (uccs_progress_has_tasks())
        advance_tasks();
    return found;
}

/* Looks at what peers have posted already: they ring only those PEs that had tasks pending by then. Steps are left to the
 * progress thread. */
static void begin_tasks(void)
{
    struct advance round = {0};
    pthread_mutex_lock(&list);
    advance_all_and_unlock(&round);
    if (round.again)
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
    if (atomic_load_relaxed(&uccs_progress_thread_on) && !announced) {
        announced = true;
        uccs_doorbell_tasks_begin();
    }
    pthread_mutex_unlock(&list);
    if (atomic_load_relaxed(&uccs_progress_thread_on))
        begin_tasks();
}

enum uccs_served uccs_tasks_serve(void)
{
    struct advance round = {.runs_steps = true};
    if (!uccs_progress_has_tasks())
        return UCCS_SERVED_NOTHING;
    pthread_mutex_lock(&list);
    advance_all_and_unlock(&round);
    if (round.found)
        return UCCS_SERVED_SOME;
    return round.again ? UCCS_SERVED_LATER : UCCS_SERVED_NOTHING;
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
