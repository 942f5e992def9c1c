/* What lock_waits.c and its parts share: the made-up neighbours of lock.c, memory with four locks, and a call of each kind. */
#ifndef TESTS_PARTS_LOCKS_WORLD_H
#define TESTS_PARTS_LOCKS_WORLD_H

#include "parts/owned.h"

#include "uccs/am/am.h"
#include "uccs/core/work.h"
#include "uccs/object/attach.h"
#include "uccs/object/ticket.h"
#include "uccs/rma/inner.h"

/* --- What lock.c calls. The node has the PEs 4 to 7, of which this is PE 5; PE 9 is on another one. */

struct uccs_core uccs_core = {.first = 4, .pes = 4, .me = 5, .npes = 12, .spin = 100};
_Thread_local int uccs_handlers_running;

static uint32_t generation = 3;
static struct world {
    _Alignas(CACHE_LINE) char bytes[4 * UCCS_LOCK_BYTES];
} world; /* zeroed: four locks */
static struct uccs_region memory = {.near = world.bytes,
                                    .length = sizeof world.bytes,
                                    .owner = 5,
                                    .generation = 3,
                                    .now = &generation,
                                    .domain = UCCS_DOMAIN_CPU,
                                    .own = true};
static struct uccs_endpoint there = {.pe = 5};

static int serves;                   /* calls of uccs_am_serve */
static void (*meanwhile)(int serve); /* what other threads do then */
static uint32_t looks_then;          /* the wait's, at the last of them */
static struct node_awaited wait_then;
static int tells, rings_full; /* messages to owners; so many times the owner's ring is full */
static uint32_t told_index;
static int grants; /* calls of uccs_far_lock_grant */
static char far_calls[16];
static struct uccs_far_place far_place;
static struct uccs_request *far_request;
static enum uccs_lock_mode far_mode;
static bool no_object;
static struct uccs_request object;
static int begun, finished;
static struct uccs_work *added;
static int pauses;

uint32_t uccs_index_in_table(int pe)
{
    return (uint32_t)pe; /* this node is not scattered */
}

int uccs_rma_check(const struct uccs_endpoint *endpoint, const struct uccs_region *region, size_t offset, size_t length,
                   const struct uccs_op *op)
{
    CHECK(endpoint && !op && length == UCCS_LOCK_BYTES);
    if (!region || endpoint->pe != region->owner)
        return UCCS_ERR_INVALID;
    return uccs_region_check(region, offset, length);
}

int uccs_region_outside(const struct uccs_region *region, uint64_t offset, size_t length)
{
    (void)offset, (void)length;
    return region->dynamic ? UCCS_OK : UCCS_ERR_BOUNDS;
}

static struct uccs_attached_piece found;
static int found_status;

int uccs_attached_find(const struct uccs_attached *table, int owner, uint64_t start, size_t bytes,
                       struct uccs_attached_piece *piece)
{
    CHECK(table == memory.attached && owner == 5 && start == 4096 && bytes == UCCS_LOCK_BYTES);
    if (found_status == UCCS_OK)
        *piece = found;
    return found_status;
}

bool uccs_am_try(uint32_t index, uint32_t id, const void *payload, size_t length, struct uccs_block *block)
{
    CHECK(id == UCCS_INNER_LOCK && !payload && !length && !block);
    if (rings_full > 0) {
        rings_full--;
        return false;
    }
    told_index = index;
    tells++;
    return true;
}

void uccs_am_serve(struct uccs_wait *wait)
{
    CHECK(serves < 100);
    looks_then = wait->looks;
    wait_then = wait->on;
    serves++;
    if (meanwhile)
        meanwhile(serves);
    wait->looks++;
}

void uccs_stay_end(struct uccs_wait *wait)
{
    wait->stay = 0;
}

static void note_far(char call, int pe, struct uccs_far_place at, enum uccs_lock_mode mode)
{
    const size_t bytes = strlen(far_calls);
    CHECK(pe == 9 && bytes < 15);
    far_calls[bytes] = call;
    far_place = at;
    far_mode = mode;
}

void uccs_far_lock(int pe, struct uccs_far_place at, enum uccs_lock_mode mode, struct uccs_request *request)
{
    note_far('l', pe, at, mode);
    far_request = request;
    request->pending++;
}

void uccs_far_unlock(int pe, struct uccs_far_place at, enum uccs_lock_mode mode)
{
    note_far('u', pe, at, mode);
}

void uccs_far_lock_grant(void)
{
    grants++;
}

struct uccs_request *uccs_request_materialise(uccs_request_handle *handle)
{
    if (no_object)
        return NULL;
    object = (struct uccs_request){.pending = 1, .sources = 1};
    return *handle = &object;
}

void uccs_request_finish(struct uccs_request *request, bool error)
{
    CHECK(request == &object && !error && request->pending > 0);
    request->pending--;
    finished++;
}

void uccs_work_add(struct uccs_work *work)
{
    CHECK(!added);
    added = work;
}

static void test_relax(void)
{
    pauses++;
}

#define atomic_relax test_relax
#include "uccs/rma/lock.c"

static struct uccs_ticket_lock *const lock = (struct uccs_ticket_lock *)world.bytes;

static void begin(void)
{
    memset(&world, 0, sizeof world);
    memset(far_calls, 0, sizeof far_calls);
    uccs_core.spin = 100;
    memory.near = world.bytes;
    memory.owner = there.pe = 5;
    memory.dynamic = false;
    memory.domain = UCCS_DOMAIN_CPU;
    memory.own = true;
    memory.attached = NULL;
    serves = tells = rings_full = grants = begun = finished = pauses = 0;
    meanwhile = NULL;
    added = NULL;
    no_object = false;
}

static int enter(enum uccs_lock_mode mode)
{
    return uccs_lock(&there, &memory, 0, mode);
}

static int leave(enum uccs_lock_mode mode)
{
    return uccs_unlock(&there, &memory, 0, mode);
}

#endif
