/* Bounce buffers. One holds a payload in the sender's mapped memory until the receiver has handled it, or
 * acknowledges a message that carries a request.
 *
 * Each thread takes its buffers from one shard, so that threads seldom meet at a lock. The sender owns a buffer until it
 * commits the message, then the receiver owns it until it sets `done` (release). The sender loads `done` (acquire),
 * completes the request and uses the buffer again. Any thread. */
#ifndef UCCS_MEM_BOUNCE_H
#define UCCS_MEM_BOUNCE_H

#include "uccs/core/wait_record.h"
#include "uccs/mem/region.h"
#include "uccs/comp/request.h"

#include <stddef.h>
#include <stdint.h>

enum uccs_bounce_home {
    UCCS_HOME_SENDER,
    UCCS_HOME_PACKET /* a packet (am/packet.c) */
};

struct uccs_bounce {
    cache_aligned uint32_t done;
    uint32_t shard;
    uint32_t arena;               /* enum uccs_arena */
    uint32_t capacity;            /* class of the payload: 0, UCCS_MEDIUM_MAX, or its own length */
    uint32_t failed;              /* the receiver sets it before `done`: the request ends with an error */
    uint32_t legs;                /* to a peer of another node: parties not done with it yet (am/far.c); acqrel */
    uint32_t home;                /* enum uccs_bounce_home; not 0: in the receiver's memory */
    int32_t to;                   /* the receiver's PE, of a block with a request */
    struct uccs_request *request; /* may be null */
    /* The sender calls it once the block is done (an answer lies in the payload); may be null. */
    void (*landed)(struct uccs_bounce *block);
    void *cookie;
    struct uccs_bounce *next;
    cache_aligned char payload[];
};

/* Returns a buffer, or null when the arena is full or the length exceeds UINT32_MAX. After null the caller asks
 * uccs_bounce_expected; when that is true, it makes progress and tries again. */
struct uccs_bounce *uccs_bounce_get(enum uccs_arena arena, size_t length);
/* Returns false when no buffer can come back. Another thread may bring one back after the caller has looked for it, so it
 * takes two calls in a row that find none in use; *vain counts them and starts with 0. */
bool uccs_bounce_expected(enum uccs_arena arena, int *vain);
/* Notes that the message is under way; uccs_bounce_collect looks for `done` from now on. */
void uccs_bounce_sent(struct uccs_bounce *block);
/* Gives back a block that was not sent. */
void uccs_bounce_put(struct uccs_bounce *block);
/* Completes the blocks that receivers have set to done, and returns their number, or 0. Skips a shard that another
 * thread has locked. */
int uccs_bounce_collect(void);
/* Fills in who has not handled a message that the request counts. Returns false when there is none. */
bool uccs_bounce_tell(const struct uccs_request *request, struct uccs_reason *reason);
/* Forgets all blocks at the end of a life, when the region is gone. */
void uccs_bounce_close(void);

#endif
