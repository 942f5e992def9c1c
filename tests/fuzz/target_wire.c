/* Messages of other nodes, in any order, between calls of the program's own. An input is a row of steps: a byte says
 * which, bytes for it follow. */
#include "fuzz/fuzz.h"
#include "fuzz/world.h"

#include "uccs/proto/initiator.h"

#include <stdlib.h>

enum { STEPS_MOST = 64, KINDS_END = 200, RAW = 255 };

static uint8_t *held[STEPS_MOST]; /* data that a message of this input may fetch later */
static int held_count;

static void ask_get(void *to)
{
    const struct proto_op get =
        {.kind = PROTO_GET, .nonblocking = true, .pe = 1, .at.segment = PROTO_HEAP, .dest = to, .bytes = 64};
    (void)proto_rma_or_end(&get);
}

static void ask_amo(void *to)
{
    const struct uccs_atomic_op add = {UCCS_ATOMIC_ADD, 8, 1, 0};
    const struct proto_op op =
        {.kind = PROTO_ATOMIC, .nonblocking = true, .pe = 1, .at.segment = PROTO_HEAP, .dest = to, .atomic = &add};
    (void)proto_rma_or_end(&op);
}

static void put(void *from)
{
    uccs_request_handle request = UCCS_REQUEST_NULL;
    const struct proto_op put = {.kind = PROTO_PUT,
                                 .nonblocking = true,
                                 .pe = 1,
                                 .at.segment = PROTO_HEAP,
                                 .source = from,
                                 .bytes = 64,
                                 .request = &request};
    (void)proto_rma_or_end(&put);
    proto_service_lock();
    proto_nudge(proto_service_worker());
    proto_service_unlock();
}

/* The message's places are mostly such as there are, so that its other words matter. */
static void settle_place(struct wire_header *h, uint8_t how)
{
    if (how & 8)
        return;
    h->segment %= PROTO_SEGMENTS;
    h->at.offset %= 2 * WORLD_ROOM;
    if (h->segment == PROTO_REGION)
        h->at.region = world_region;
    if (h->segment == PROTO_LANDING)
        h->at.offset += world_room;
}

static const char *message(struct fuzz *fuzz, uint8_t step)
{
    struct wire_header h;
    uint8_t how = fuzz_byte(fuzz);
    memset(&h, 0, sizeof h);
    if (step == RAW) {
        fuzz_take(fuzz, &h, sizeof h);
    } else {
        h.segment = fuzz_byte(fuzz);
        fuzz_take(fuzz, &h.at, sizeof h - offsetof(struct wire_header, at));
        h.kind = step % WIRE_KINDS;
        h.from = 1;
        h.worker = how & 2 ? 3 : 0;
        h.after = how & 4 ? fuzz_byte(fuzz) : 0;
        if (h.kind <= WIRE_CHANGE || h.kind == WIRE_LOCK || h.kind == WIRE_UNLOCK)
            settle_place(&h, how);
    }
    size_t bytes = how & 16 ? 0 : fuzz_short(fuzz);
    uint8_t *data = malloc(bytes + 1); /* as long as the message: a sanitizer sees more */
    fuzz_take(fuzz, data, bytes);
    held[held_count++] = data;
    return world_deliver(&h, data, bytes, how & 1);
}

static const char *take_step(struct fuzz *fuzz)
{
    static long got[64];
    const uint8_t step = fuzz_byte(fuzz);
    if (step < KINDS_END || step == RAW)
        return message(fuzz, step);
    switch (step % 4) {
    case 0: return world_try(ask_get, got);
    case 1: return world_try(ask_amo, got);
    case 2: return world_try(put, got);
    default: return world_poll();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int opened;
    struct fuzz fuzz = {data, size};
    if (!opened++)
        world_open();
    world_reset();
    while (held_count)
        free(held[--held_count]);
    for (int i = 0; fuzz.left && i < STEPS_MOST; i++)
        if (take_step(&fuzz))
            return 0; /* the job has ended with a line */
    (void)world_poll();
    return 0;
}
