/* Forwards the PEs' standard output and error to oshrun's, in whole lines and in order per PE.
 *
 * Each PE writes into pipes of its own. When both of oshrun's streams are one file, a PE has one pipe for both, which
 * keeps even their order. A job of one PE without marks has no pipe: the PE writes straight to oshrun's outputs. With
 * --output-filename each PE writes straight to a file of its own. The supervisor always forwards lines up to OUTPUT_LINE bytes in one piece. A longer line keeps the others waiting while it
 * flows. When a line must be cut (its PE has ended or is waiting for input), the next PE starts on a new line. */
#ifndef LAUNCH_OUTPUT_H
#define LAUNCH_OUTPUT_H

#include "loop.h"
#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the PEs' output goes: oshrun's own outputs, which may block, and a file for each PE (--output-filename). One thread. */

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

#define OUTPUT_LINE (256u << 10)

/* Returns false after one line when the folder of --output-filename cannot be made. */
bool output_open(const struct options *options);
/* Returns the number of descriptors that the supervisor needs for a PE. */
unsigned output_files_per_pe(void);
/* Makes the pipes of a PE, which inherits *out and *err. Returns whether both are there; else errno tells why. The caller closes what is
 * above 2. */
bool output_connect(uint32_t pe, int *out, int *err);
/* Called after every turn of the loop. Writes new output, and sends on lines that have waited long enough. */
void output_tick(void);
/* Returns the milliseconds until output_tick must be called; -1: only after an event. */
int output_patience(void);
/* True when all pipes have ended and all output is written. */
bool output_done(void);
/* Returns errno when standard output cannot be written any more, else 0. */
int output_broken(void);
/* Writes a line of oshrun itself to standard error. */
void output_message(const char *line, size_t bytes);

/* Standard input of the PEs: one of them has oshrun's own, or none, or each gets a copy of it (--stdin all).
 *
 * A copy of a file is the file opened once more. Anything else is read by the supervisor and written into a pipe for each PE;
 * it reads on once every PE has taken what it read before, so the slowest one sets the pace. */

void input_open(const struct options *options);
/* Returns the number of descriptors that the supervisor needs for a PE. */
unsigned input_files_per_pe(void);
/* Returns what the PE inherits as its standard input, or -1 with errno. The caller closes what is above 2. */
int input_connect(uint32_t pe);
/* Copying begins, once all PEs have been started. */
void input_begin(void);

#endif
