/* The environment of the PEs: oshrun's own, -x, the checking layer, and LATERAL_JOB. */
#ifndef LAUNCH_ENVIRONMENT_H
#define LAUNCH_ENVIRONMENT_H

#include "options.h"

/* True when --check or LATERAL_CHECK asks for the checking layer. */
bool environment_wants_check(const struct options *options);
/* Returns the path of the checking layer's file, beside this oshrun, or NULL after one line when there is none. */
const char *environment_check_library(void);
/* True when the library can use liblateral-NAME.so: the file lies beside the checking layer's. */
bool environment_has_module(const char *name);
/* Makes a list for one program. environment_name_pe sets its first entry, LATERAL_JOB. */
char **environment_make(const struct app *app, const char *check_library);
void environment_name_pe(char **list, int segment, uint32_t pe, int tether);

#endif
