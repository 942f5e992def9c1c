/* Where the PEs' output goes: oshrun's own outputs, which may block, and a file for each PE (--output-filename). One thread. */
#ifndef LAUNCH_SINK_H
#define LAUNCH_SINK_H

#include "loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Makes the folder that the files lie in, and those above it. Returns false after one line. */
bool files_make_folder(const char *name);
/* Makes the file of a PE anew, open to be written at its end. Returns it, or -1 with errno after one line. */
int files_open(const char *name, uint32_t pe, uint32_t pes);

#endif
