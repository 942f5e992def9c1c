/* The event loop: descriptors, each with a function, and the clock; files.
 *
 * One thread. The owner of a descriptor embeds its watch. A function may close other watches of the same turn, so every
 * function must accept a call when there is nothing to do. */
#ifndef LAUNCH_LOOP_H
#define LAUNCH_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/resource.h>

struct loop_watch {
    void (*ready)(struct loop_watch *watch);
};

/* Return 0, or -1 with errno. */
int loop_open(void);
int loop_add(int fd, uint32_t events, struct loop_watch *watch);
void loop_remove(int fd);
/* Waits at most this long (-1: for ever) and calls the functions of the ready descriptors. */
void loop_turn(int timeout_ms);
int64_t loop_now(void); /* milliseconds, monotonic */
/* Returns the milliseconds to wait until `at` by loop_now, at most an hour; -1: for ever, as `at` is 0. */
int loop_until(int64_t at);
/* Returns the one that comes first; 0: never. */
int64_t loop_sooner(int64_t one, int64_t other);

/* Reads a file of the kernel, which the format names, up to the room there is. Returns whether there was anything; text ends with 0. */
bool file_read(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Raises the limit of open files as far as it goes. Returns what it was. */
struct rlimit files_raise_limit(void);

#endif
