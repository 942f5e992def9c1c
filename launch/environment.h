/* The environment of the PEs: that of oshrun, -x, the checking layer, and LATERAL_JOB. */
#ifndef LAUNCH_ENVIRONMENT_H
#define LAUNCH_ENVIRONMENT_H

#include "options.h"

/* True when --check or LATERAL_CHECK asks for the checking layer. */
bool environment_wants_check(const struct options *options);
/* The checking layer's file, beside this oshrun; NULL after one line when it is not there. */
const char *environment_check_library(void);
/* Whether the library can use liblateral-NAME.so: it lies beside the checking layer's file. */
bool environment_has_module(const char *name);
/* A list for one program. Its first entry is LATERAL_JOB, set by environment_name_pe. */
char **environment_make(const struct app *app, const char *check_library);
void environment_name_pe(char **list, int segment, uint32_t pe);

#endif
