/* One process that believes itself PE 0 of a few nodes, over a transport that carries nothing: messages come from the
 * test, and what leaves is kept for the test to look at. A line that would end the job comes back to the test instead.
 * One thread. */
#ifndef TESTS_FUZZ_WORLD_H
#define TESTS_FUZZ_WORLD_H

#include "uccs/proto/inner.h"

#include <stdbool.h>
#include <stddef.h>

#define WORLD_PES 3     /* each a node of its own */
#define WORLD_ROOM 4096 /* bytes of the room for parcels */

/* The last message that left, with the data that the transport got. */
struct world_sent {
    unsigned count;
    struct wire_header header;
    size_t bytes;
    char data[65536];
};
extern struct world_sent world_sent;

/* Starts OpenSHMEM and uccs.h here, with a context that takes messages under each id from 0 to 7. */
void world_open(void);
/* Forgets all connections, messages and tokens. */
void world_reset(void);

/* A message arrives; `rest`: the transport holds its data back. Returns null, or the line that ends the job. */
const char *world_deliver(const struct wire_header *header, const void *data, size_t bytes, bool rest);
/* Runs something of the library. Returns null, or the line that ends the job. */
const char *world_try(void (*run)(void *argument), void *argument);
/* Handles what waits: sends the outboxes, runs the handlers. The same. */
const char *world_poll(void);
/* Calls of the program's handlers so far. */
extern unsigned world_handled;

/* Places of this PE's memory. */
extern uint64_t world_region; /* number of a registered region of WORLD_ROOM bytes */
extern char *world_heap;      /* a block of the symmetric heap of WORLD_ROOM bytes */
extern uint64_t world_room;   /* offset of a room in PROTO_LANDING */

#endif
