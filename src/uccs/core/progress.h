/* The one registry of progress: what must move on while threads of this process wait, test, or compute.
 *
 * A source is one thing that moves: the connections to other nodes, the rings of active messages, counters that requests
 * wait for, tasks, a function of the program (uccs_poller_add of uccs.h). Folders above register their sources, so
 * every wait serves them without knowing them. Three kinds of callers serve a source:
 *
 *   a look     Every look of a wait, and tests: sources of UCCS_PROGRESS_LOOK, callbacks, tasks.
 *   idle       A wait that has spun in vain, or a test that found nothing: sources of UCCS_PROGRESS_IDLE.
 *   program    The same waits and tests, last: the program's functions (UCCS_PROGRESS_PROGRAM). A thread calls none while it
 *              is in one already, runs a handler, or holds a lock of this library (uccs_progress_barred).
 *   serve      The progress thread, for a source with a function `serve`.
 *
 * What a wait pays while there is nothing to do is one load: uccs_progress_due counts what a look would serve, and
 * uccs_progress_idle what an idle wait would. Both are hints: a thread that loads an old value serves the source at its next
 * look.
 *
 * Any thread may call every function here, unless its comment says otherwise. */
#ifndef UCCS_CORE_PROGRESS_H
#define UCCS_CORE_PROGRESS_H

#include "uccs/core/core.h"
#include "uccs/core/wait_record.h"

#include <stdbool.h>
#include <stdint.h>

/* --- Sources */

enum uccs_progress_when { UCCS_PROGRESS_LOOK, UCCS_PROGRESS_IDLE, UCCS_PROGRESS_PROGRAM, UCCS_PROGRESS_SERVED };

/* What `serve` has found. */
enum uccs_served {
    UCCS_SERVED_NOTHING, /* what comes next rings the doorbell, or shows at the descriptor */
    UCCS_SERVED_SOME,    /* call `serve` again at once */
    UCCS_SERVED_SOON,    /* a thread of the program is about to look; call `serve` again in some microseconds */
    UCCS_SERVED_LATER    /* nothing at the moment, but call `serve` again within a millisecond, unasked */
};

/* Owned by the caller, who leaves it alone from uccs_progress_add to uccs_progress_remove. */
struct uccs_progress_source {
    int (*poll)(
        void *argument); /* returns non-zero when it found something; must not wait. Null: threads do not call */
    void *argument;
    enum uccs_progress_when when; /* of `poll` */
    uint32_t inside;              /* threads that are in a poll of the program, or look at it; seqcst: progress.c */

    /* For the progress thread. */
    enum uccs_served (*serve)(
        void);               /* serves all that waits; may wait for locks, not for processes. Null: no serving */
    uint64_t (*polls)(void); /* grows while threads of the program serve the same; any value */
    void (*tend)(void);      /* called in place of `serve` while they do; may be null */
    int descriptor;          /* readable when there is something to serve; -1: none */
    int alarm;               /* readable when `alarmed` must run, also while the program polls; -1: none */
    void (*alarmed)(void);
    bool rung; /* peers ring the doorbell for it */
    /* Of progress_thread.c. */
    uint64_t seen;
    bool attended, paused;
    enum uccs_served served;
};

enum { UCCS_PROGRESS_SOURCES = 64, UCCS_PROGRESS_SERVED_MOST = 5 }; /* at most: of each kind of `poll`; with `serve` */

/* Adds a source; does nothing for one that is there. Returns false when there is no room. A source with `serve` is added
 * while the progress thread does not run. */
bool uccs_progress_add(struct uccs_progress_source *source);

/* Removes a source; does nothing for one that is not there. A thread may still be in `poll` when this returns, but the thread
 * that removes it knows that none is in a poll of the program. */
void uccs_progress_remove(struct uccs_progress_source *source);

/* Returns true while another thread is in the source, which is the program's; also after it was removed. */
bool uccs_progress_is_in_use(const struct uccs_progress_source *source);

/* Returns the source at a position that `serve` is called for; null: no more. One thread. */
struct uccs_progress_source *uccs_progress_served(int position);

/* --- Serving them */

extern uint32_t uccs_progress_due;     /* sources of a look, callbacks and tasks; relaxed */
extern uint32_t uccs_progress_sources; /* the sources among them; relaxed */
extern uint32_t uccs_progress_idle;    /* sources of idle waits, and of the program; relaxed */
extern uint32_t uccs_progress_program; /* the program's; relaxed */

/* Number of reasons why this thread must call none of the program's functions now. A thread counts itself in and out. The
 * progress thread is counted for ever. */
extern _Thread_local int uccs_progress_barred;

/* Returns true when a callback or a task is due. */
static inline bool uccs_progress_has_tasks(void)
{
    return atomic_load_relaxed(&uccs_progress_due) > atomic_load_relaxed(&uccs_progress_sources);
}

/* Polls the sources of a kind, UCCS_PROGRESS_LOOK or UCCS_PROGRESS_IDLE. Returns non-zero when one found something. */
int uccs_progress_poll(enum uccs_progress_when when);

int uccs_progress_poll_program_slow(void);

/* Polls the program's functions. Returns non-zero when one found something. */
static inline int uccs_progress_poll_program(void)
{
    return lat_unlikely(atomic_load_relaxed(&uccs_progress_program)) ? uccs_progress_poll_program_slow() : 0;
}

int uccs_progress_look_slow(void);

/* Makes one look: sources, callbacks, tasks. Returns non-zero when a source or a callback was found. The caller holds no lock
 * that a source could need. */
static inline int uccs_progress_look(void)
{
    return lat_unlikely(atomic_load_relaxed(&uccs_progress_due) != 0) ? uccs_progress_look_slow() : 0;
}

/* --- Callbacks that run later, on a thread that holds no lock: the completion functions of programs. A thread that completes
 * an operation, often under a lock, pushes a callback; waits, tests and uccs_progress run it. */

struct uccs_callback {
    void (*run)(struct uccs_callback *callback); /* owns the callback from then on */
    struct uccs_callback *next;
};

/* Adds a callback, which the queue owns until it runs. Takes no lock. */
void uccs_callback_push(struct uccs_callback *callback);

extern struct uccs_callback *uccs_callback_queue; /* the last one first; null: none; acqrel */

int uccs_callbacks_run_slow(void);

/* Runs the callbacks in the order in which they were pushed. Does nothing inside a callback of this thread. Returns how many
 * it has run. */
static inline int uccs_callbacks_run(void)
{
    return lat_unlikely(atomic_load_relaxed(&uccs_callback_queue) != 0) ? uccs_callbacks_run_slow() : 0;
}

/* Tasks: operations that this process must help along until they are finished, such as split-phase collectives. Threads that
 * wait or test advance them, and so does the progress thread. Any thread may call every function here. */

struct uccs_request; /* comp/request.h */

/* `advance` runs on one thread at a time, under the list's lock, and must not wait. It returns true when the task is finished,
 * and is not called again. For what takes long, such as copying, `advance` stores a function in `step`: the same thread
 * calls that function once, without the lock, so that other tasks go on meanwhile, and then calls `advance` again. */
struct uccs_task {
    bool (*advance)(struct uccs_task *task);
    void (*step)(struct uccs_task *task); /* null: no step is due */
    bool again; /* `advance` sets it when no other process will tell that it can go on; then it is soon called again */
    bool busy;  /* a thread runs its step; under the list's lock */
    /* Fills in what the task waits for. Returns false when the request does not count it. Under the list's lock; may be null. */
    bool (*reason)(const struct uccs_task *task, const struct uccs_request *request, struct uccs_reason *reason);
    struct uccs_task *next;
};

/* Adds a task. With a progress thread, which sleeps until peers ring, it also advances the tasks once, but runs no step. The task
 * may be finished and gone on return. */
void uccs_task_add(struct uccs_task *task);

/* Advances the tasks and runs their steps, for the progress thread, which waits for another thread. Each look of a wait does so, too
 * (uccs_progress_look), unless another thread does. */
enum uccs_served uccs_tasks_serve(void);

/* Returns a number that grows while threads of the program advance tasks. */
uint64_t uccs_tasks_polls(void);

/* Lets the first task that the request counts fill in what it waits for. Returns false when there is none, or another
 * thread has the list. */
bool uccs_task_reason(const struct uccs_request *request, struct uccs_reason *reason);

/* The progress thread: one thread of this process serves everything that other processes want of it while the program
 * computes. It runs when LATERAL_PROGRESS is `thread`, and with `auto` in a job on several nodes.
 *
 * It calls `serve` of every source of progress (progress.h) that has it, the tasks last. It sleeps until a peer of the
 * node rings its doorbell (doorbell.h), a source's descriptor is readable, or a thread of this process wakes it. One loop
 * does this for all sources, so one place decides when the thread sleeps:
 *
 * - While threads of the program poll a source themselves, the thread leaves it alone and only checks now and then
 *   whether they still do. A message that they are about to take would wake it, and that would only cost them the core.
 * - When nothing is left, it asks to be woken, looks once more, and sleeps.
 *
 * The thread calls none of the program's functions and takes no signals. */

/* For `serve` of a source, on the thread: how often one has found something so far, and whether the program polls one that comes before
 * it in this round. */
extern uint64_t uccs_progress_finds;
extern bool uccs_progress_attended;

/* Starts the thread if LATERAL_PROGRESS wants one; `several`: the job is on several nodes. Returns 0, or -1 after a
 * line. */
int uccs_progress_thread_open(bool several);
/* Starts the thread unless it runs. Returns 0, or -1 after a line. */
int uccs_progress_thread_start(void);
/* Ends the thread if it runs, and removes the sources that it serves. */
void uccs_progress_thread_close(void);

#endif
