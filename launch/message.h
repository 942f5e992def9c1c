/* Messages of oshrun itself: one line each, "oshrun: text", on standard error.
 *
 * Single-threaded, like all of launch/. Before the supervisor runs, oshrun writes lines at once. The supervisor routes them
 * through the output so that they do not tear a PE's line. */
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
/* Lines of `say` begin with this name, "oshrun: " if nothing else is said. */
void say_as(const char *name);
/* A further line of the same message, without "oshrun: " in front. */
void say_more(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports a mistake on the command line: prints a line that ends with a pointer to --help, and exits with
 * STATUS_USAGE. */
_Noreturn void say_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Sends all later lines to this function instead of file descriptor 2. */
void say_through(void (*sink)(const char *line, size_t bytes));
/* Keeps later lines in memory; say_collected ends that and returns them, or null. The caller frees it. */
void say_collect(void);
char *say_collected(void);
/* Writes whole lines that were collected, in one piece. */
void say_lines(const char *text);
/* Returns memory. When it is null, memory is exhausted: prints a line and exits. */
void *say_if_null(void *memory);

#endif
