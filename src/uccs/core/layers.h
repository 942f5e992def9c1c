/* The layers of LATERAL_CHECK, LATERAL_STATS and LATERAL_TRACE in jobs that another launcher than oshrun starts: nobody has
 * preloaded them there, and a layer must stand before the library when the loader binds the program's calls. So a program that
 * is linked with the library executes itself once more, with the layers preloaded, before anything else of it runs.
 *
 * One thread calls the functions, at load and in init. */
#ifndef UCCS_CORE_LAYERS_H
#define UCCS_CORE_LAYERS_H

/* Executes the program again when it wants a layer that is not preloaded. Only at the start of the process, when neither the
 * program nor the C library has run. Returns when there is nothing to do, or when it cannot. */
void uccs_layers_load(char **argv);

/* Returns a line about a variable that asks for a layer that is not there; null: there is none. */
const char *uccs_layers_missing(void);

#endif
