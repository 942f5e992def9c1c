/* The event loop of the supervisor: descriptors, each with a function, and the clock.
 *
 * One thread. The owner of a descriptor embeds its watch. A function may close other watches of the same turn, so every
 * function must accept a call when there is nothing to do. */
#ifndef LAUNCH_LOOP_H
#define LAUNCH_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

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

#endif
