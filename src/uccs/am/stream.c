#include "uccs/am/stream.h"

#include "uccs/am/am.h"
#include "uccs/core/thread.h"
#include "uccs/core/fail.h"

#include <stdlib.h>

/* Returns the calling thread's part, or null when it has none. */
static struct uccs_stream_thread *mine(const struct uccs_stream *stream)
{
    const uint32_t me = uccs_thread() + 1;
    struct uccs_stream_thread *part = atomic_load_acquire(&stream->parts); /* release: make */
    while (part && atomic_load_relaxed(&part->owner) != me)
        part = part->next;
    return part;
}

/* Takes a part that nobody owns. Returns null when there is none. */
static struct uccs_stream_thread *take(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = atomic_load_acquire(&stream->parts); /* release: make */
    for (; part; part = part->next) {
        uint32_t nobody = 0;
        if (!atomic_load_relaxed(&part->owner) &&
            atomic_cas_acquire(&part->owner, &nobody, uccs_thread() + 1)) /* release: uccs_stream_rest */
            return part;
    }
    return 0;
}

static struct uccs_stream_thread *make(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = malloc(sizeof *part);
    if (!part)
        uccs_fail("no memory for a stream");
    *part = (struct uccs_stream_thread){.owner = uccs_thread() + 1, .next = atomic_load_relaxed(&stream->parts)};
    while (!atomic_cas_acqrel(&stream->parts, &part->next, part)) /* acquire: mine, take */
        ;
    return part;
}

static struct uccs_stream_thread *part_of(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = mine(stream);
    if (lat_likely(part != 0))
        return part;
    part = take(stream);
    return part ? part : make(stream);
}

/* --- Other nodes */

static struct link_track *share(struct uccs_stream *stream)
{
    struct link_track *track = link_track_open(), *first = 0;
    if (!track || atomic_cas_acqrel(&stream->shared, &first, track)) /* acquire: uccs_stream_track */
        return track;
    link_track_close(track);
    return first;
}

struct link_track *uccs_stream_track(struct uccs_stream *stream)
{
    if (stream->attr.scope == UCCS_SCOPE_PROCESS)
        return atomic_load_acquire(&stream->shared); /* acqrel: share */
    const struct uccs_stream_thread *part = mine(stream);
    return part ? part->track : 0;
}

struct uccs_far_lanes *uccs_stream_lanes(struct uccs_stream *stream)
{
    if (stream->attr.scope == UCCS_SCOPE_PROCESS) {
        struct link_track *track = atomic_load_acquire(&stream->shared); /* acqrel: share */
        track = track ? track : share(stream);
        return track ? link_track_lanes(track) : 0;
    }
    struct uccs_stream_thread *part = part_of(stream);
    if (!part->track)
        atomic_store_release(&part->track, link_track_open()); /* acquire: uccs_stream_end */
    return part->track ? link_track_lanes(part->track) : 0;
}

/* --- Deferred operations */

static bool is_done(const struct uccs_stream_thread *part)
{
    return !part || atomic_load_acquire(&part->deferred) == 0; /* acqrel: uccs_deferred_end */
}

struct uccs_stream_thread *uccs_deferred_begin(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = part_of(stream);
    (void)atomic_fetch_add_relaxed(&part->deferred, 1); /* before the message that carries the operation */
    return part;
}

void uccs_deferred_end(struct uccs_stream_thread *part, bool failed)
{
    if (lat_unlikely(failed))
        atomic_store_relaxed(&part->failed, 1);
    (void)atomic_fetch_sub_acqrel(&part->deferred, 1); /* acquire: is_done */
}

static bool take_failed(struct uccs_stream_thread *part)
{
    return atomic_load_relaxed(&part->failed) && atomic_exchange_acqrel(&part->failed, 0);
}

bool uccs_deferred_failed(const struct uccs_stream *stream)
{
    bool failed = false;
    if (stream->attr.scope == UCCS_SCOPE_THREAD) {
        struct uccs_stream_thread *part = mine(stream);
        return part && take_failed(part);
    }
    for (struct uccs_stream_thread *part = atomic_load_acquire(&stream->parts); part;
         part = part->next) /* release: make */
        failed |= take_failed(part);
    return failed;
}

static bool all_done(const struct uccs_stream *stream)
{
    const struct uccs_stream_thread *part = atomic_load_acquire(&stream->parts); /* release: make */
    while (part && is_done(part))
        part = part->next;
    return !part;
}

bool uccs_deferred_done(const struct uccs_stream *stream)
{
    return stream->attr.scope == UCCS_SCOPE_THREAD ? is_done(mine(stream)) : all_done(stream);
}

void uccs_deferred_wait(const struct uccs_stream *stream)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (!uccs_deferred_done(stream))
        uccs_am_serve(&wait);
}

void uccs_deferred_wait_mine(const struct uccs_stream *stream)
{
    struct uccs_wait wait uccs_scoped = {0};
    const struct uccs_stream_thread *part = mine(stream);
    while (!is_done(part))
        uccs_am_serve(&wait);
}

/* --- Order and end */

void uccs_stream_order(struct uccs_stream *stream)
{
    struct link_track *track = uccs_stream_track(stream);
    uccs_deferred_wait_mine(stream);
    if (track)
        link_track_fence(track);
    uccs_fence_stores(); /* acquire: the reader that sees the later store */
}

void uccs_stream_rest(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = mine(stream);
    if (part && is_done(part) && !atomic_load_relaxed(&part->failed) && (!part->track || link_track_idle(part->track)))
        atomic_store_release(&part->owner, 0); /* acquire: take */
}

void uccs_stream_end(struct uccs_stream *stream)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (!all_done(stream))
        uccs_am_serve(&wait);
    if (stream->shared)
        link_track_close(stream->shared);
    for (struct uccs_stream_thread *next, *part = stream->parts; part; part = next) {
        struct link_track *track = atomic_load_acquire(&part->track); /* release: uccs_stream_lanes */
        next = part->next;
        if (track)
            link_track_close(track);
        free(part);
    }
    stream->parts = 0;
    stream->shared = 0;
}
