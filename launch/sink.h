/* A queue in front of oshrun's own standard output or error that never blocks the guard.
 *
 * The descriptor is shared with the shell, so it is not switched to non-blocking: pipes and
 * terminals are opened a second time for that. Once a write fails for good the sink swallows all. */
#ifndef LAUNCH_SINK_H
#define LAUNCH_SINK_H

#include "loop.h"

#include <stdbool.h>
#include <stddef.h>

struct sink {
    struct watch watch;
    int fd;
    bool cautious; /* fd may block: ask before each small write */
    bool armed;    /* waiting in the loop for room */
    int broken;    /* errno of the write that failed for good */
    char *data;    /* pending bytes are data[at..used) */
    size_t at, used, room;
    void (*drained)(struct sink *); /* called when everything is written after having been stuck */
};

void sink_open(struct sink *sink, int fd, void (*drained)(struct sink *));
void sink_put(struct sink *sink, const char *data, size_t bytes);
/* Writes what can be written now. */
void sink_flush(struct sink *sink);
bool sink_full(const struct sink *sink); /* callers should stop reading for it */
bool sink_empty(const struct sink *sink);

#endif
