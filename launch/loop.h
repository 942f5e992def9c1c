/* The event loop of the guard: descriptors with a function each, and the clock.
 *
 * One thread. A watch is embedded in whatever owns the descriptor. A function may close other
 * watches of the same turn, so every function must bear being called when there is nothing to do. */
#ifndef LAUNCH_LOOP_H
#define LAUNCH_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

struct watch {
    void (*ready)(struct watch *watch);
};

/* All return 0, or -1 with errno. */
int loop_open(void);
int loop_add(int fd, uint32_t events, struct watch *watch);
void loop_remove(int fd);
/* Waits at most this long (-1: for ever) and calls what is ready. */
void loop_turn(int timeout_ms);
int64_t loop_now(void); /* milliseconds, monotonic */

#endif
