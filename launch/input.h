/* Standard input of the PEs: one of them has oshrun's own, or none, or each gets a copy of it (--stdin all).
 *
 * A copy of a file is the file opened once more. Anything else is read by the supervisor and written into a pipe for each PE;
 * it reads on once every PE has taken what it read before, so the slowest one sets the pace. */
#ifndef LAUNCH_INPUT_H
#define LAUNCH_INPUT_H

#include "options.h"

void input_open(const struct options *options);
/* Returns the number of descriptors that the supervisor needs for a PE. */
unsigned input_files_per_pe(void);
/* Returns what the PE inherits as its standard input, or -1 with errno. The caller closes what is above 2. */
int input_connect(uint32_t pe);
/* Copying begins, once all PEs have been started. */
void input_begin(void);

#endif
