/* The life of the substrate: begun by the first user in the process (OpenSHMEM, uccs_init), ended by the
 * last; both collective over the job. After an end it may begin again.
 *
 * Data flow: environment -> rte (who am I) -> memory (map, move globals, all ready) -> running. Any thread. */
#ifndef UCCS_LIFE_H
#define UCCS_LIFE_H

#include <stdbool.h>

/* 0, or -1 after a line. Counted. */
int uccs_life_begin(void);
/* Waits for the other PEs, at most so many seconds (0: for ever); false when they did not come. */
bool uccs_life_end(int seconds);

#endif
