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

/* A call that waits for all of its parts together. */
struct uccs_remote_wait {
    uint32_t pending; /* parts under way; release by their end, acquire by the waiter */
    int32_t status;   /* of a part that failed */
};

/* What completes with an operation that outlasts the function that starts it. All may be null. */
struct uccs_remote_later {
    struct uccs_remote_wait *wait; /* of the call, which ends in uccs_remote_finish */
    struct uccs_request *request;  /* when the target has executed it */
    struct uccs_request *local;    /* when the old values are here */
    bool nowait;                   /* the first piece returns UCCS_AGAIN instead of waiting for room */
};

/* Returns when the operand has been copied. The stream counts the operation; null: none does. */
int uccs_remote_start(struct uccs_stream *stream, const struct uccs_access *access,
                      const struct uccs_remote_later *later);
/* Returns when the target has executed all parts: `status`, when it is an error, or that of a part. */
int uccs_remote_finish(struct uccs_remote_wait *wait, int status);

/* The handler at the target, in the library's own context. */
void uccs_remote_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);

/* Returns the access to n of the elements, from the one with this number on. */
static inline struct uccs_access uccs_access_part(const struct uccs_access *all, size_t first, size_t n)
{
    struct uccs_access part = *all;
    const size_t at = first * uccs_type_size((enum uccs_type)all->what.type);
    part.offset += at;
    part.what.n = n;
    part.operand += part.operand ? at : 0;
    part.result += part.result ? at : 0;
    return part;
}

#endif
