/* The PEs' standard output and error on their way to oshrun's: whole lines, in order per PE.
 *
 * Each PE writes into pipes of its own; when both of oshrun's streams are one file, a PE has one
 * pipe for both, so that even their order is kept. A job of one PE without tags has none: it
 * writes straight to where oshrun would. Lines up to OUTPUT_LINE bytes are forwarded in one piece
 * whatever happens. A longer one keeps the others waiting while it flows. When a line must be cut
 * (its PE has ended or is waiting for input), the next PE starts on a new line. */
#ifndef LAUNCH_OUTPUT_H
#define LAUNCH_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_LINE (256u << 10)

void output_open(uint32_t pes, bool tag);
/* Descriptors that this side needs for a PE. */
unsigned output_files_per_pe(void);
/* Makes the pipes of a PE; *out and *err are what it shall inherit. 0, or -1 with errno. */
int output_connect(uint32_t pe, int *out, int *err);
/* The PE has inherited them (or failed to): closes this side's copies. */
void output_connected(int out, int err);
/* After every turn of the loop: writes what came in, sends on what has waited long enough. */
void output_tick(void);
/* Milliseconds until output_tick must be called; -1: only after an event. */
int output_patience(void);
/* True when all pipes have ended and all is written. */
bool output_done(void);
/* errno when standard output cannot be written any more; else 0. */
int output_broken(void);
/* A line of oshrun itself, for standard error. */
void output_message(const char *line, size_t bytes);

#endif
