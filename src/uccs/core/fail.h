/* The end of a job for a fault between nodes. The first PE of a node that finds a fault prints one line; the others wait for
 * the end silently, since they would report the same fault or a consequence of it. Any thread. */
#ifndef UCCS_CORE_FAIL_H
#define UCCS_CORE_FAIL_H

#include <stdbool.h>

/* Ends the job after the line. */
_Noreturn void uccs_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns the memory, unless there is none: then it ends the job after the line "no memory for `what` PE `pe`". */
void *uccs_must_have(void *memory, const char *what, int pe);
/* Ends the job for that PE's process, which is gone, after a second in which launcher or watcher may report its end first. */
_Noreturn void uccs_fail_process_lost(int pe, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends the job for that PE's host, which is lost, after the same second. */
_Noreturn void uccs_fail_host_lost(int pe, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes that a PE has said that the job ends, so that this process does not take that PE's end for a fault. Returns
 * false when it was noted before. */
bool uccs_end_note(void);
/* Returns true once the end is noted. */
bool uccs_end_noted(void);
/* Clears the note at the start of a life. */
void uccs_end_forget(void);

#endif
