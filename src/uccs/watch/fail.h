/* Ends the job for a fault between nodes, after one line. The first PE of a node that finds a fault says so; the others
 * would speak of the same fault, or of what follows from it, and wait for the end without a word. Any thread. */
#ifndef UCCS_WATCH_FAIL_H
#define UCCS_WATCH_FAIL_H

#include <stdbool.h>

_Noreturn void watch_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same when a host is lost, which the launcher may find out by itself. */
_Noreturn void watch_abandon(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Notes that a PE has said that the job ends, so that nobody takes its end for a fault. False when it was noted before. */
bool watch_end_note(void);
bool watch_end_noted(void);
/* At the start of a life. */
void watch_end_forget(void);

#endif
