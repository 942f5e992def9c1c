/* The table of sources (progress.h).
 *
 * A slot of the table is null or a source. Writers hold the lock; a thread that polls takes none: it loads a slot
 * (acquire; partner: the release store of the writer) and calls what it finds. So a source must outlive its removal as long as a
 * thread may be in a wait; the library's own are static.
 *
 * A source of the program is made once for each pair of function and argument and lives as long as the process, so a
 * thread that still looks at a removed one finds the pair that it stands for. A thread counts itself into the source
 * before it looks whether the source is in the table (sequentially consistent on both sides: either the remover sees the
 * count, or the thread sees the empty slot). So after the removal, when nobody is counted in, nobody can call it any more. */
#include "uccs/core/progress.h"

#include "uccs/core/doorbell.h"

#include <pthread.h>

static struct uccs_progress_source *table[UCCS_PROGRESS_SERVED + 1][UCCS_PROGRESS_SOURCES]; /* release; acquire */
static uint32_t used[UCCS_PROGRESS_SERVED + 1]; /* slots that were ever used; grows; release, acquire as the slots */
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local const struct uccs_progress_source *running; /* the program's source that this thread is in */

/* --- Adding and removing */

static void count_sources(enum uccs_progress_when when, int by)
{
    if (when == UCCS_PROGRESS_LOOK) {
        (void)atomic_fetch_add_relaxed(&uccs_progress_sources, (uint32_t)by);
        (void)atomic_fetch_add_relaxed(&uccs_progress_due, (uint32_t)by);
    } else if (when != UCCS_PROGRESS_SERVED) {
        (void)atomic_fetch_add_relaxed(&uccs_progress_idle, (uint32_t)by);
    }
    if (when == UCCS_PROGRESS_PROGRAM)
        (void)atomic_fetch_add_relaxed(&uccs_progress_program, (uint32_t)by);
}

/* Under the lock. Returns the slot that holds the source, or a free one for null; null when there is none. */
static struct uccs_progress_source **find_slot(enum uccs_progress_when when, const struct uccs_progress_source *source)
{
    const int most = when == UCCS_PROGRESS_SERVED ? UCCS_PROGRESS_SERVED_MOST : UCCS_PROGRESS_SOURCES;
    for (int i = 0; i < most; i++)
        if (atomic_load_relaxed(&table[when][i]) == source)
            return &table[when][i];
    return 0;
}

/* Under the lock. Returns false when there is no room. */
static bool enter_source(enum uccs_progress_when when, struct uccs_progress_source *source)
{
    if (find_slot(when, source))
        return true;
    struct uccs_progress_source **slot = find_slot(when, 0);
    if (!slot)
        return false;
    const uint32_t count = (uint32_t)(slot - table[when]) + 1;
    atomic_store_seqcst(slot, source); /* seqcst: call_program; acquire: uccs_progress_poll, uccs_progress_served */
    if (count > used[when])
        atomic_store_release(&used[when], count); /* acquire: uccs_progress_poll, uccs_progress_served */
    count_sources(when, 1);
    return true;
}

/* Under the lock. */
static bool leave_source(enum uccs_progress_when when, const struct uccs_progress_source *source)
{
    struct uccs_progress_source **slot = find_slot(when, source);
    if (!slot)
        return false;
    atomic_store_seqcst(slot, (struct uccs_progress_source *)0); /* partner: call_program */
    count_sources(when, -1);
    return true;
}

bool uccs_progress_add(struct uccs_progress_source *source)
{
    pthread_mutex_lock(&writers);
    const bool entered = (!source->poll || enter_source(source->when, source)) &&
                         (!source->serve || enter_source(UCCS_PROGRESS_SERVED, source));
    pthread_mutex_unlock(&writers);
    return entered;
}

void uccs_progress_remove(struct uccs_progress_source *source)
{
    pthread_mutex_lock(&writers);
    if (source->poll)
        (void)leave_source(source->when, source);
    if (source->serve)
        (void)leave_source(UCCS_PROGRESS_SERVED, source);
    pthread_mutex_unlock(&writers);
}

struct uccs_progress_source *uccs_progress_served(int position)
{
    const uint32_t most = atomic_load_acquire(&used[UCCS_PROGRESS_SERVED]); /* release: enter_source */
    for (uint32_t i = 0; i < most; i++) {
        struct uccs_progress_source *source = atomic_load_acquire(&table[UCCS_PROGRESS_SERVED][i]);
        if (source && position-- == 0)
            return source;
    }
    return 0;
}

/* --- Serving */

int uccs_progress_poll(enum uccs_progress_when when)
{
    int found = 0;
    const uint32_t most = atomic_load_acquire(&used[when]); /* release: enter_source */
    for (uint32_t i = 0; i < most; i++) {
        const struct uccs_progress_source *source =
            atomic_load_acquire(&table[when][i]); /* release: enter_source, leave_source */
        if (source)
            found |= source->poll(source->argument);
    }
    return found;
}

static int call_program(struct uccs_progress_source **slot)
{
    int found = 0;
    struct uccs_progress_source *source = atomic_load_seqcst(slot);
    if (!source)
        return 0;
    (void)atomic_fetch_add_seqcst(&source->inside, 1);
    if (atomic_load_seqcst(slot) == source) { /* partner: leave_source */
        running = source;
        found = source->poll(source->argument);
        running = 0;
    }
    (void)atomic_fetch_sub_acqrel(&source->inside, 1); /* acquire: uccs_progress_is_in_use */
    return found;
}

bool uccs_progress_is_in_use(const struct uccs_progress_source *source)
{
    return atomic_load_seqcst(&source->inside) > (running == source); /* acqrel: call_program */
}

lat_cold int uccs_progress_poll_program_slow(void)
{
    int found = 0;
    if (uccs_progress_barred)
        return 0;
    uccs_progress_barred++;
    for (uint32_t i = 0; i < atomic_load_acquire(&used[UCCS_PROGRESS_PROGRAM]); i++) /* release: enter_source */
        found |= call_program(&table[UCCS_PROGRESS_PROGRAM][i]);
    uccs_progress_barred--;
    return found;
}

/* --- Callbacks */

struct uccs_callback *uccs_callback_queue;

/* Counted as due first, so that the count never falls below the callbacks that a thread has taken. */
void uccs_callback_push(struct uccs_callback *callback)
{
    struct uccs_callback *first = atomic_load_relaxed(&uccs_callback_queue);
    (void)atomic_fetch_add_relaxed(&uccs_progress_due, 1);
    do
        callback->next = first;
    while (!atomic_cas_acqrel(&uccs_callback_queue, &first, callback)); /* acquire: uccs_callbacks_run_slow */
}

static struct uccs_callback *reverse_callbacks(struct uccs_callback *last)
{
    struct uccs_callback *first = 0;
    while (last) {
        struct uccs_callback *before = last->next;
        last->next = first;
        first = last;
        last = before;
    }
    return first;
}

lat_cold int uccs_callbacks_run_slow(void)
{
    static _Thread_local bool inside;
    int count = 0;
    if (inside)
        return 0;
    inside = true;
    struct uccs_callback *callback =
        reverse_callbacks(atomic_exchange_acqrel(&uccs_callback_queue, (struct uccs_callback *)0));
    while (callback) {
        struct uccs_callback *next = callback->next;
        callback->run(callback);
        (void)atomic_fetch_sub_acqrel(&uccs_progress_due, 1);
        callback = next;
        count++;
    }
    inside = false;
    return count;
}

/* ---- Tasks ---- */

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
