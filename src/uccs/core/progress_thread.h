/* The progress thread: one thread of this process serves everything that other processes want of it while the program
 * computes. It runs when LATERAL_PROGRESS is `thread`, and with `auto` in a job on several nodes.
 *
 * It calls `serve` of every source of progress (progress.h) that has it, the tasks (task.h) last. It sleeps until a peer of the
 * node rings its doorbell (doorbell.h), a source's descriptor is readable, or a thread of this process wakes it. One loop
 * does this for all sources, so one place decides when the thread sleeps:
 *
 * - While threads of the program poll a source themselves, the thread leaves it alone and only checks now and then
 *   whether they still do. A message that they are about to take would wake it, and that would only cost them the core.
 * - When nothing is left, it asks to be woken, looks once more, and sleeps.
 *
 * The thread calls none of the program's functions and takes no signals. */
#ifndef UCCS_CORE_PROGRESS_THREAD_H
#define UCCS_CORE_PROGRESS_THREAD_H

#include <stdbool.h>
#include <stdint.h>

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
