/* Contexts: isolated worlds of communication, each with handlers and rings of its own.
 *
 * Created and destroyed by any thread, one at a time per id. */
#ifndef UCCS_CONTEXT_H
#define UCCS_CONTEXT_H

#include "uccs/core/own.h"
#include "uccs/handler.h"

#include <stdbool.h>
#include <uccs.h>

_Static_assert(UCCS_CONTEXTS <= OWN_INNER, "every context has rings, and so has the inner one");

struct uccs_context {
    struct uccs_context_attr attr;
    struct uccs_handler handlers[UCCS_AM_HANDLERS];
    struct uccs_endpoint *endpoints; /* made from it, for destroy */
};

struct uccs_endpoint {
    struct uccs_context *context;
    struct uccs_endpoint *next;
    int pe;         /* in the world */
    uint32_t index; /* on this node; uccs_core.size or more: elsewhere */
};

/* At the end of a life: those that the program has left. Nothing of theirs is under way. */
void uccs_contexts_close(void);

#endif
