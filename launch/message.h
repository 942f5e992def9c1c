/* What oshrun itself has to say: one line per message, "oshrun: text", on standard error.
 *
 * Single-threaded, like all of launch/. Before the guard runs, lines are written at once; the
 * guard routes them through the output so that they do not tear a PE's line. */
#ifndef LAUNCH_MESSAGE_H
#define LAUNCH_MESSAGE_H

#include <stddef.h>

enum { /* exit statuses that a shell user knows */
       STATUS_FAILED = 1,
       STATUS_USAGE = 2,
       STATUS_TIMEOUT = 124,
       STATUS_NOT_EXECUTABLE = 126,
       STATUS_NOT_FOUND = 127,
       STATUS_SIGNAL = 128,
};

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A mistake on the command line: the line ends with a pointer to --help; exits with STATUS_USAGE. */
_Noreturn void say_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From now on lines go to this function instead of file descriptor 2. */
void say_through(void (*sink)(const char *line, size_t bytes));
/* Memory ran out: nothing sensible is left to do. */
void *say_if_null(void *memory);

#endif
