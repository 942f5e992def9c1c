/* A queue in front of oshrun's own standard output or error that never blocks the guard.
 *
 * The shell shares the descriptor, so the sink does not make it non-blocking. Instead it opens pipes and terminals a
 * second time. Once a write fails for good, the sink drops everything. */
#ifndef LAUNCH_SINK_H
#define LAUNCH_SINK_H

#include "loop.h"

#include <stdbool.h>
#include <stddef.h>

struct sink {
    struct loop_watch watch;
    int fd;
    bool cautious; /* fd may block; ask before each small write */
    bool armed;    /* waiting in the loop for room */
    int broken;    /* errno of the write that failed for good */
    char *data;    /* pending bytes are data[at..used) */
    size_t at, used, room;
    void (*drained)(struct sink *); /* called when the sink was stuck and everything is written */
};

void sink_open(struct sink *sink, int fd, void (*drained)(struct sink *));
void sink_put(struct sink *sink, const char *data, size_t bytes);
/* Writes as much as it can now. */
void sink_flush(struct sink *sink);
bool sink_full(const struct sink *sink); /* callers should then stop reading for it */
bool sink_empty(const struct sink *sink);

#endif
