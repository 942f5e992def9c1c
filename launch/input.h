/* Standard input of the PEs: one of them has oshrun's own, or none, or each gets a copy of it (--stdin all).
 *
 * A copy of a file is the file opened once more. Anything else is read by the supervisor and written into a pipe for each PE;
 * it reads on once every PE has taken what it read before, so the slowest one sets the pace. */
#ifndef LAUNCH_INPUT_H
#define LAUNCH_INPUT_H

#include "options.h"

/* Returns false after one line. */
bool input_open(const struct options *options);
/* Returns the number of descriptors that the supervisor needs for a PE. */
unsigned input_files_per_pe(void);
/* Returns what the PE inherits as its standard input, or -1 with errno. */
int input_connect(uint32_t pe);
/* Closes the supervisor's copy after the PE has inherited it (or failed to). After the last PE, copying begins. */
void input_connected(int in);

#endif
