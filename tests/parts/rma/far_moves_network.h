/* The network that far_moves.c makes up: it writes down what it is asked for, and completes what is pending when somebody waits. */
#ifndef TESTS_TRUST_FAR_MOVES_NETWORK_H
#define TESTS_TRUST_FAR_MOVES_NETWORK_H

#include "uccs/rma/inner.h"

#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

enum { PE = 3, MOST = 16 };

static struct asked {
    const char *what;
    struct uccs_far_place at;
    const void *local;
    size_t bytes, count; /* of a block, and blocks; of an atomic its operation and size */
    bool later, ordered, counts, signals;
    uccs_request_t *request;
    struct uccs_request *here;
    struct uccs_far_with with, also;
} asked[MOST];
static int times, fences, change_fences, waits, looks, pauses;
static bool good = true, busy, reads, never_waited;
static struct uccs_request *pending;
static uint64_t old_value;

static struct asked *note(const char *what, struct uccs_far_lanes *on, int pe, struct uccs_far_place at,
                          const void *local, uccs_request_t *request, struct uccs_request *here,
                          const struct uccs_far_with *with)
{
    struct asked *one = &asked[times++];
    CHECK(times <= MOST && pe == PE && on);
    *one = (struct asked){.what = what, .at = at, .local = local, .request = request, .here = here};
    never_waited = link_never_waits;
    for (const struct uccs_far_with *each = with; each; each = each->also)
        *(each->what == FAR_COUNT ? &one->counts : &one->signals) = true;
    one->with = with ? *with : (struct uccs_far_with){0};
    one->also = with && with->also ? *with->also : (struct uccs_far_with){0};
    return one;
}

static void far_put(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                    const struct uccs_far_with *with, uccs_request_t *request)
{
    note("put", on, pe, to, source, request, NULL, with)->bytes = bytes;
}

static void far_put_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                       const struct uccs_far_with *with, uccs_request_t *request)
{
    note("behind", on, pe, to, source, request, NULL, with)->bytes = bytes;
}

static void far_put_local(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                          const struct uccs_far_with *with, uccs_request_t *request, struct uccs_request *here)
{
    note("put later", on, pe, to, source, request, here, with)->bytes = bytes;
}

static void far_put_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source,
                           const struct uccs_far_blocks *blocks, bool later, const struct uccs_far_with *with,
                           uccs_request_t *request)
{
    struct asked *one = note("put blocks", on, pe, to, source, request, NULL, with);
    one->bytes = blocks->block;
    one->count = blocks->count;
    one->later = later;
}

static bool far_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                    uccs_counter counter)
{
    CHECK(counter == 0);
    note("get", on, pe, from, dest, NULL, NULL, NULL)->bytes = bytes;
    return good;
}

/* What a get or a fetch that is waited for leaves pending; the next pause completes it. */
static void begin_one(uccs_request_t *request)
{
    pending = request ? uccs_request_object(*request) : NULL;
    if (pending)
        uccs_request_begin(pending);
}

static void far_get_local(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                          const struct uccs_far_with *with, bool ordered, uccs_request_t *request,
                          struct uccs_request *here)
{
    struct asked *one = note("get later", on, pe, from, dest, request, here, with);
    one->bytes = bytes;
    one->ordered = ordered;
    begin_one(request);
}

static void far_get_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                           const struct uccs_far_blocks *blocks, bool ordered, uccs_request_t *request,
                           struct uccs_request *here)
{
    struct asked *one = note("get blocks", on, pe, from, dest, request, here, NULL);
    one->bytes = blocks->block;
    one->count = blocks->count;
    one->ordered = ordered;
    begin_one(request);
}

static bool far_change_fetch(struct uccs_far_lanes *on, int pe, struct uccs_far_place at,
                             const struct uccs_change *change, const void *operand, void *result)
{
    CHECK(result);
    note("change now", on, pe, at, operand, NULL, NULL, NULL)->count = change->n;
    return good;
}

static void far_change(struct uccs_far_lanes *on, int pe, struct uccs_far_place at, const struct uccs_change *change,
                       const void *operand, void *result, bool later, const struct uccs_far_with *with,
                       uccs_request_t *request, struct uccs_request *here)
{
    struct asked *one = note(result ? "fetch change" : "change", on, pe, at, operand, request, here, with);
    one->count = change->n;
    one->later = later;
}

static bool far_amo_fetch(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                          uint64_t value, uint64_t cond, uint64_t *old)
{
    struct asked *one = note("atomic now", on, pe, at, NULL, NULL, NULL, NULL);
    one->bytes = size;
    one->count = op;
    CHECK(value == 5 && cond == 6);
    *old = old_value;
    return good;
}

static void far_amo_local(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op, struct uccs_far_place at,
                          void *fetch, const struct uccs_far_with *with, uccs_request_t *request,
                          struct uccs_request *here)
{
    struct asked *one = note("fetch atomic", on, pe, at, fetch, request, here, with);
    one->bytes = op->size;
    one->count = op->what;
    CHECK(op->operand == 5 && op->compare == 6);
}

static void far_amo_post(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                         uint64_t value, uint64_t cond, bool later, const struct uccs_far_with *with,
                         uccs_request_t *request)
{
    struct asked *one = note("atomic", on, pe, at, NULL, request, NULL, with);
    one->bytes = size;
    one->count = op;
    one->later = later;
    CHECK(value == 5 && cond == 6);
}

static char lanes_there, track_there;

static struct uccs_far_lanes *the_lanes(struct uccs_stream *stream)
{
    (void)stream;
    return (struct uccs_far_lanes *)(void *)&lanes_there;
}

static struct link_track *the_track(const struct uccs_far_lanes *on)
{
    CHECK((const void *)on == &lanes_there);
    return (struct link_track *)(void *)&track_there;
}

static void fence(struct link_track *track)
{
    CHECK(track);
    fences++;
}

static bool fence_changes(struct link_track *track, int pe)
{
    CHECK(track && pe == PE);
    change_fences++;
    return reads;
}

static void wait_reads(struct link_track *track, int pe)
{
    CHECK(track && pe == PE && reads);
    waits++;
}

static bool has_reads(struct link_track *track, int pe)
{
    CHECK(track && pe == PE);
    return reads;
}

static bool is_busy(struct link_track *track)
{
    return track && busy;
}

static struct link_lane *the_lane(struct uccs_far_lanes *on)
{
    return (struct link_lane *)(void *)on;
}

static int look(struct link_lane *lane)
{
    CHECK(lane);
    return looks++;
}

static void pause_once(struct link_lane *lane, struct uccs_wait *wait)
{
    CHECK(lane && wait && ++pauses < 100);
    while (pending && atomic_load_acquire(&pending->pending) != 1)
        uccs_request_finish(pending, !good);
}

static void far_lock(int pe, struct uccs_far_place at, enum uccs_lock_mode mode, struct uccs_request *request)
{
    note("lock", (struct uccs_far_lanes *)(void *)&lanes_there, pe, at, NULL, NULL, request, NULL)->count = mode;
    pending = request;
    uccs_request_begin(request);
}

static void far_unlock(int pe, struct uccs_far_place at, enum uccs_lock_mode mode)
{
    note("unlock", (struct uccs_far_lanes *)(void *)&lanes_there, pe, at, NULL, NULL, NULL, NULL)->count = mode;
}

static bool released_meanwhile;
static struct uccs_region memory;

static void serve(struct uccs_wait *wait)
{
    struct uccs_told told = {0};
    if (wait->on.about != UCCS_ABOUT_TOLD) {
        pauses++;
        return;
    }
    CHECK(pending);
    ((void (*)(const void *, struct uccs_told *))(uintptr_t)wait->on.number)((const void *)(uintptr_t)wait->on.object,
                                                                             &told);
    CHECK(strcmp(told.text, "a lock of PE 3") == 0);
    memory.heard += released_meanwhile;
    if (++pauses == 3)
        uccs_request_finish(pending, !good);
}

static int grants, tries, full; /* full: so many times the ring has no room */

static void grant(void)
{
    grants++;
}

static bool try_message(uint32_t index, uint32_t id, const void *payload, size_t length, struct uccs_block *block)
{
    CHECK(index == PE && id == UCCS_INNER_LOCK && !payload && !length && !block);
    tries++;
    return full-- <= 0;
}

#define uccs_far_lock_grant grant
#define uccs_am_try try_message
#define uccs_far_lock far_lock
#define uccs_far_unlock far_unlock
#define uccs_am_serve serve
#define uccs_far_put far_put
#define uccs_far_put_nb far_put_nb
#define uccs_far_put_local far_put_local
#define uccs_far_put_blocks far_put_blocks
#define uccs_far_get far_get
#define uccs_far_get_local far_get_local
#define uccs_far_get_blocks_local far_get_blocks
#define uccs_far_change_fetch far_change_fetch
#define uccs_far_change far_change
#define uccs_far_amo_fetch far_amo_fetch
#define uccs_far_amo_local far_amo_local
#define uccs_far_amo_post far_amo_post
#define uccs_stream_lanes the_lanes
#define link_track_of the_track
#define link_track_fence fence
#define link_track_fence_changes fence_changes
#define link_track_wait_reads wait_reads
#define link_track_reads has_reads
#define link_track_busy is_busy
#define link_lane_of the_lane
#define link_look look
#define link_pause pause_once
#include "uccs/rma/nodes.c"
#define place_of lock_place_of
#include "uccs/rma/lock.c"
#undef place_of

#endif
