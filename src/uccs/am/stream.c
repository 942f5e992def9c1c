#include "uccs/am/am.h"

#include "uccs/core/core.h"

#include <stdlib.h>

/* Returns the calling thread's part, or null when it has none. */
static struct uccs_stream_thread *my_thread(const struct uccs_stream *stream)
{
    const uint32_t me = uccs_thread() + 1;
    struct uccs_stream_thread *part = atomic_load_acquire(&stream->parts); /* release: make_thread */
    while (part && atomic_load_relaxed(&part->owner) != me)
        part = part->next;
    return part;
}

/* Takes a part that nobody owns. Returns null when there is none. */
static struct uccs_stream_thread *take_thread(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = atomic_load_acquire(&stream->parts); /* release: make_thread */
    for (; part; part = part->next) {
        uint32_t nobody = 0;
        if (!atomic_load_relaxed(&part->owner) &&
            atomic_cas_acquire(&part->owner, &nobody, uccs_thread() + 1)) /* release: uccs_stream_rest */
            return part;
    }
    return 0;
}

static struct uccs_stream_thread *make_thread(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = uccs_must_have(malloc(sizeof *part), "a stream of", uccs_core.me);
    *part = (struct uccs_stream_thread){.owner = uccs_thread() + 1,
                                        .next = atomic_load_relaxed(&stream->parts),
                                        .far.notes = 1};
    while (!atomic_cas_acqrel(&stream->parts, &part->next, part)) /* acquire: my_thread, take */
        ;
    return part;
}

static struct uccs_stream_thread *thread_of(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = my_thread(stream);
    if (lat_likely(part != 0))
        return part;
    part = take_thread(stream);
    return part ? part : make_thread(stream);
}

/* --- Other nodes */

struct proto_worker_set *uccs_stream_used(struct uccs_stream *stream)
{
    if (stream->attr.scope == UCCS_SCOPE_PROCESS)
        return &stream->shared;
    struct uccs_stream_thread *part = my_thread(stream);
    return part ? &part->far : 0;
}

struct proto_worker_set *uccs_stream_workers(struct uccs_stream *stream)
{
    return stream->attr.scope == UCCS_SCOPE_PROCESS ? &stream->shared : &thread_of(stream)->far;
}

/* --- Deferred operations */

static bool is_done(const struct uccs_stream_thread *part)
{
    return !part || atomic_load_acquire(&part->deferred) == 0; /* acqrel: uccs_deferred_end */
}

struct uccs_stream_thread *uccs_deferred_begin(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = thread_of(stream);
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
        struct uccs_stream_thread *part = my_thread(stream);
        return part && take_failed(part);
    }
    for (struct uccs_stream_thread *part = atomic_load_acquire(&stream->parts); part;
         part = part->next) /* release: make_thread */
        failed |= take_failed(part);
    return failed;
}

static bool all_done(const struct uccs_stream *stream)
{
    const struct uccs_stream_thread *part = atomic_load_acquire(&stream->parts); /* release: make_thread */
    while (part && is_done(part))
        part = part->next;
    return !part;
}

bool uccs_deferred_done(const struct uccs_stream *stream)
{
    return stream->attr.scope == UCCS_SCOPE_THREAD ? is_done(my_thread(stream)) : all_done(stream);
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
    const struct uccs_stream_thread *part = my_thread(stream);
    while (!is_done(part))
        uccs_am_serve(&wait);
}

/* --- Order and end */

void uccs_stream_order(struct uccs_stream *stream)
{
    struct proto_worker_set *far = uccs_stream_used(stream);
    uccs_deferred_wait_mine(stream);
    if (far)
        proto_fence(far);
    uccs_fence_stores(); /* acquire: the reader that sees the later store */
}

void uccs_stream_rest(struct uccs_stream *stream)
{
    struct uccs_stream_thread *part = my_thread(stream);
    if (part && is_done(part) && !atomic_load_relaxed(&part->failed) && proto_is_idle(&part->far))
        atomic_store_release(&part->owner, 0); /* acquire: take_thread */
}

void uccs_stream_end(struct uccs_stream *stream)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (!all_done(stream))
        uccs_am_serve(&wait);
    proto_release(&stream->shared);
    for (struct uccs_stream_thread *next, *part = stream->parts; part; part = next) {
        next = part->next;
        proto_release(&part->far);
        free(part);
    }
    stream->parts = 0;
}
