/* Staged messages: payloads that wait in the sender's mapped memory until the receiver has handled them,
 * and acknowledgements of messages that carry a request.
 *
 * Blocks lie in shards, a thread keeps to one, so that threads seldom meet at a lock. A block is the sender's
 * until its message is committed, then the receiver's until `done` (release by the receiver, acquire by the
 * sender, who then completes the request and uses the block again). Any thread. */
#ifndef UCCS_OBJECT_STAGE_H
#define UCCS_OBJECT_STAGE_H

#include "uccs/object/region.h"
#include "uccs/object/request.h"

#include <stddef.h>
#include <stdint.h>

struct uccs_block {
    cache_aligned uint32_t done;
    uint32_t shard;
    uint32_t room;                /* enum uccs_room */
    uint32_t capacity;            /* class of the payload: 0, UCCS_MEDIUM_MAX, or one of its own */
    uint32_t failed;              /* by the receiver, before done: the request ends with an error */
    uint32_t legs;                /* to a peer of another node: who is not done with it yet (am/far.c); acqrel */
    uint32_t far;                 /* a packet of another node, in the receiver's memory */
    struct uccs_request *request; /* or null */
    /* What the sender does with it once it is done (an answer lies in the payload); null: nothing. */
    void (*landed)(struct uccs_block *block);
    void *cookie;
    struct uccs_block *next;
    cache_aligned char payload[];
};

/* Null when the room is full: make progress and try again, if uccs_stage_expected. */
struct uccs_block *uccs_stage_get(enum uccs_room room, size_t length);
/* Blocks of the room are in use and will come back. */
bool uccs_stage_expected(enum uccs_room room);
/* The message is under way: look for `done` from now on. */
void uccs_stage_sent(struct uccs_block *block);
/* It never was: back. */
void uccs_stage_put(struct uccs_block *block);
/* Completes what receivers have done; how many. Returns at once where another thread is at it. */
int uccs_stage_collect(void);
/* At the end of a life: the region is gone. */
void uccs_stage_close(void);

#endif
