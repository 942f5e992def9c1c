/* Functions that the files of this folder share. */
#ifndef UCCS_API_INNER_H
#define UCCS_API_INNER_H

#include "uccs/am/am.h"
#include "uccs/comp/agree.h"

#include <stdbool.h>

/* Returns true when scope and thread mode exist. */
bool uccs_attr_good(enum uccs_scope scope, enum uccs_thread_mode threads);
/* Ends a stream and frees its endpoints, but not the stream. */
void uccs_stream_finish(struct uccs_stream *stream);

/* Returns how the members of a group agree on a number. */
struct uccs_members uccs_group_members(uccs_group_t group);

/* Releases, at the end of a life, the contexts that the program has left. None of their operations is under way. */
void uccs_contexts_close(void);

#endif
