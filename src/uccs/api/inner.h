/* Functions that the files of this folder share. */
#ifndef UCCS_API_INNER_H
#define UCCS_API_INNER_H

#include "uccs/am/am.h"

#include <stdbool.h>

/* Returns true when scope and thread mode exist. */
bool uccs_attr_good(enum uccs_scope scope, enum uccs_thread_mode threads);
/* Ends a stream and frees its endpoints, but not the stream. */
void uccs_stream_finish(struct uccs_stream *stream);

/* context.c. Returns a context that has no id yet; null: no memory. */
struct uccs_context *uccs_context_make(const struct uccs_context_attr *attr);
/* Returns a bit for each id that is free here. */
uint64_t uccs_context_ids(void);
/* Takes the id attr.id. Returns false when it is taken. leave gives it back: nobody has used the context. */
bool uccs_context_take(struct uccs_context *made);
void uccs_context_leave(struct uccs_context *made);

/* Releases, at the end of a life, the contexts that the program has left. None of their operations is under way. */
void uccs_contexts_close(void);

#endif
