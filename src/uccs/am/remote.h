/* Operations that a peer of this node executes (remote.c). They reach memory that is neither mapped nor open to the kernel's
 * copy (a container refuses it, or the PE is in another pid namespace). A block of the origin's region carries the
 * call, and the data in both directions. Handlers may use them: a thread that waits here executes the peers' calls
 * meanwhile. The target has to make progress. Any thread. */
#ifndef UCCS_AM_REMOTE_H
#define UCCS_AM_REMOTE_H

#include "uccs/am/am.h"
#include "uccs/mem/accumulate.h"

/* Elements of a memory object that an operation reads, writes or changes. */
struct uccs_access {
    const struct uccs_region *memory; /* generation 0: no registration; addresses that the owner has named */
    size_t offset;
    struct uccs_accumulate_op what; /* a put replaces bytes, a get leaves them as they are */
    bool copies;                    /* a put or get, which need not be atomic */
    const char *operand;            /* of a put, the data; may be null */
    char *result;                   /* receives the old values; may be null */
};

/* What completes with an operation that outlasts the function that starts it. All may be null. */
struct uccs_remote_later {
    struct uccs_request *request; /* when the target has executed it */
    struct uccs_request *local;   /* when the old values are here */
    int *status;                  /* takes the error of a part that fails, before the request completes */
    bool nowait;                  /* the first piece returns UCCS_AGAIN instead of waiting for room */
};

/* Returns when the operand has been copied. The stream counts the operation; null: none does. */
int uccs_remote_start(struct uccs_stream *stream, const struct uccs_access *access,
                      const struct uccs_remote_later *later);
/* Waits for a request of the caller's, which has no parent. Returns `status`, or the failure of a part when it is UCCS_OK. */
int uccs_remote_finish(const struct uccs_request *all, const int *failure, int status);

/* The handler at the target, in the library's own context. */
void uccs_remote_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);

/* Returns the access to n of the elements, from the one with this number on. */
static inline struct uccs_access uccs_access_part(const struct uccs_access *all, size_t first, size_t n)
{
    struct uccs_access part = *all;
    const size_t at = first * uccs_accumulate_size(all->what.type);
    part.offset += at;
    part.what.n = n;
    part.operand += part.operand ? at : 0;
    part.result += part.result ? at : 0;
    return part;
}

#endif
