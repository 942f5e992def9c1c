/* The environment of the PEs: oshrun's own, -x, a layer, the PE's place. */
#ifndef LAUNCH_ENVIRONMENT_H
#define LAUNCH_ENVIRONMENT_H

#include "options.h"

/* Adds what LATERAL_CHECK, LATERAL_STATS and LATERAL_TRACE ask for, which do as the options. */
void environment_take_wishes(struct options *options);
/* Layers that stand between the program and the library: files to preload, with colons, and their variables, NAME=VALUE. */
struct layer {
    char *library;     /* NULL: none is wanted */
    char *settings[4]; /* ends with NULL */
};
/* Chooses the layers of --check, --stats and --trace. Returns false after one line when one is not there. */
bool environment_choose_layer(const struct options *options, struct layer *layer);
/* Frees what the layer owns. */
void environment_drop_layer(struct layer *layer);
/* True when the library can use liblateral-NAME.so: the file lies beside the checking layer's. */
bool environment_has_module(const char *name);
/* Makes a list for one program. environment_name_pe sets what each PE has of its own: LATERAL_JOB and
 * LATERAL_PE. */
char **environment_make(const struct app *app, uint32_t pes, const struct layer *layer);
void environment_name_pe(char **list, int segment, uint32_t pe, int parent_pipe);

#endif
