/* Runs a tool of the system for its output, for a limited time. Any thread; no handler of pthread_atfork runs. */
#ifndef BASE_TOOL_H
#define BASE_TOOL_H

#include <stddef.h>
#include <sys/types.h>

/* Starts the first of these commands that is there; each is a null-ended list of words, the last is null. Reads what it
 * prints for at most *ms milliseconds, then ends it, and takes the time from *ms. Returns the bytes; text ends with 0. The
 * tool gets no LD_PRELOAD and no signal mask of this process. */
size_t tool_run(char *const *const *commands, int *ms, char *text, size_t room);

/* Starts the first of these commands that is there, with these descriptors as 0 and 1. `in` -1: it reads nothing, and what it prints
 * on standard error is lost. Returns its process, or -1 when none is there. */
pid_t tool_start(char *const *const *commands, int in, int out);

#endif
