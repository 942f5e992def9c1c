/* The life of the substrate. The first user in the process (OpenSHMEM, uccs_init) begins it, the last user ends it.
 * Both are collective over the job. After an end a life may begin again.
 *
 * Data flow: environment -> rte (who am I) -> memory (map, move globals, all ready) -> running. Any thread. */
#ifndef UCCS_LIFE_H
#define UCCS_LIFE_H

#include <stdbool.h>

/* Begins a life, or joins the current one; calls are counted. Returns 0, or -1 after it has logged a line, or -2 when
 * another PE of the node could not begin. */
int uccs_life_begin(void);
/* Keeps the table of the program that embeds this library for the next life. Returns 0; -1 when a life runs or the
 * process has its place from elsewhere; -2 after a line when a variable of the environment is wrong. Null withdraws the table. */
struct uccs_environment;
int uccs_life_embed(const struct uccs_environment *environment);
/* Waits for the other PEs at most `seconds` (0: for ever). Returns false when they did not come. */
bool uccs_life_end(int seconds);

#endif
