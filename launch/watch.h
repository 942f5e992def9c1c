/* The watcher of a node. */
#ifndef LAUNCH_WATCH_H
#define LAUNCH_WATCH_H

/* Runs as the watcher that a PE has started (src/rte/watch.c). `front`: where oshrun listens that has handed the job over, as
 * front_place wrote it; empty: nowhere. */
_Noreturn void watch_run(const char *front);

#endif
