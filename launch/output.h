/* Forwards the PEs' standard output and error to oshrun's, in whole lines and in order per PE.
 *
 * Each PE writes into pipes of its own. When both of oshrun's streams are one file, a PE has one pipe for both, which
 * keeps even their order. A job of one PE without marks has no pipe: the PE writes straight to oshrun's outputs. With
 * --output-filename each PE writes straight to a file of its own. The supervisor always forwards lines up to OUTPUT_LINE bytes in one piece. A longer line keeps the others waiting while it
 * flows. When a line must be cut (its PE has ended or is waiting for input), the next PE starts on a new line. */
#ifndef LAUNCH_OUTPUT_H
#define LAUNCH_OUTPUT_H

#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
