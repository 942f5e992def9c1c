/* Streams and contexts: the parts that threads have of a stream, and who gets one that is free; endpoints; what flushes wait for; ids
 * of contexts, alone and agreed on. Links, messages and the other members are the test's. */
#include "streams_stub.h"
#include "streams_contexts.h"

static struct uccs_stream *stream_of(enum uccs_scope scope, struct uccs_context *world)
{
    const struct uccs_stream_attr attr = {.scope = scope};
    struct uccs_stream *stream = 0;
    CHECK(uccs_stream_create(world, &attr, &stream) == UCCS_OK && stream->world == world && !stream->parts);
    return stream;
}

/* --- Parts */

static void test_parts(void)
{
    struct uccs_stream *stream = stream_of(UCCS_SCOPE_THREAD, 0);
    be_thread(0);
    struct uccs_part *first = uccs_deferred_begin(stream), *second;
    CHECK(first->owner == 1 && first->deferred == 1 && stream->parts == first && uccs_deferred_begin(stream) == first);
    CHECK(first->deferred == 2 && !uccs_deferred_done(stream));
    be_thread(1);
    CHECK(uccs_deferred_done(stream) && !uccs_deferred_failed(stream));
    second = uccs_deferred_begin(stream);
    CHECK(second != first && second->owner == 2 && second->next == first && stream->parts == second);
    uccs_deferred_end(second, true);
    CHECK(second->deferred == 0 && uccs_deferred_done(stream) && first->failed == 0);
    uccs_stream_rest(stream); /* it has to tell of a failure */
    CHECK(second->owner == 2 && uccs_deferred_failed(stream) && !uccs_deferred_failed(stream));
    uccs_stream_rest(stream);
    CHECK(second->owner == 0);
    be_thread(0);
    uccs_stream_rest(stream); /* its operations are under way */
    CHECK(first->owner == 1);
    uccs_deferred_end(first, false);
    CHECK(first->deferred == 1 && !uccs_deferred_done(stream));
    uccs_deferred_end(first, false);
    CHECK(uccs_deferred_done(stream) && !uccs_deferred_failed(stream));
    be_thread(2);
    CHECK(uccs_deferred_begin(stream) == second && second->owner == 3); /* the one that is free */
    uccs_deferred_end(second, false);
    be_thread(3);
    uccs_stream_rest(stream); /* it has none */
    CHECK(second->owner == 3 && first->owner == 1);
    owned_left = 0;
    OWNED_FAILS((void)uccs_deferred_begin(stream), "no memory for a stream");
    be_thread(0);
    CHECK(uccs_stream_release(stream) == UCCS_OK && owned_count == 0);
    clear();
}

/* In process scope all threads' operations count. */
static void test_scopes(void)
{
    struct uccs_stream *stream = stream_of(UCCS_SCOPE_PROCESS, 0);
    struct uccs_part *parts[3];
    CHECK(uccs_deferred_done(stream) && !uccs_deferred_failed(stream));
    for (uint32_t i = 0; i < 3; i++) {
        be_thread(i);
        parts[i] = uccs_deferred_begin(stream);
    }
    be_thread(7);
    for (int i = 0; i < 3; i++) {
        CHECK(!uccs_deferred_done(stream));
        uccs_deferred_end(parts[i], i != 1);
    }
    CHECK(uccs_deferred_done(stream) && parts[0]->failed && parts[2]->failed);
    CHECK(uccs_deferred_failed(stream) && !uccs_deferred_failed(stream) && !parts[0]->failed && !parts[2]->failed);
    be_thread(0);
    CHECK(uccs_stream_release(stream) == UCCS_OK);
    clear();
}

static struct uccs_stream *waited;
static struct uccs_part *last_part;

static void end_one(void)
{
    if (serves == 2)
        uccs_deferred_end(last_part, false);
}

/* Waits go on until what they are for is done, and no longer. */
static void test_waits(void)
{
    for (int scope = UCCS_SCOPE_PROCESS; scope <= UCCS_SCOPE_THREAD; scope++)
        for (int other = 0; other < 2; other++) {
            waited = stream_of((enum uccs_scope)scope, 0);
            be_thread(1);
            last_part = uccs_deferred_begin(waited);
            be_thread(other ? 2 : 1);
            const bool mine_too = !other, waits_for_all = scope == UCCS_SCOPE_PROCESS;
            while_served = end_one;
            serves = 0;
            uccs_deferred_wait_mine(waited);
            CHECK(serves == (mine_too ? 2 : 0));
            if (mine_too)
                (void)uccs_deferred_begin(waited);
            serves = 0;
            uccs_deferred_wait(waited);
            CHECK(serves == (mine_too || waits_for_all ? 2 : 0));
            if (last_part->deferred == 0)
                (void)atomic_fetch_add_relaxed(&last_part->deferred, 1);
            serves = 0;
            uccs_stream_order(waited);
            CHECK(serves == (mine_too ? 2 : 0));
            if (last_part->deferred == 0)
                (void)atomic_fetch_add_relaxed(&last_part->deferred, 1);
            serves = 0;
            CHECK(uccs_stream_fence(waited, 0, 0) == UCCS_OK && serves == (mine_too || waits_for_all ? 2 : 0));
            if (last_part->deferred == 0)
                (void)atomic_fetch_add_relaxed(&last_part->deferred, 1);
            serves = 0;
            CHECK(uccs_stream_release(waited) == UCCS_OK && serves == 2); /* all threads' */
            clear();
        }
    be_thread(0);
}

/* --- Tracks */

static void test_tracks(void)
{
    struct uccs_stream *stream = stream_of(UCCS_SCOPE_THREAD, 0);
    be_thread(0);
    CHECK(!uccs_stream_track(stream));
    CHECK(uccs_stream_lanes(stream) == &tracks[0].lanes && uccs_stream_lanes(stream) == &tracks[0].lanes &&
          opened == 1);
    be_thread(1);
    CHECK(!uccs_stream_track(stream) && uccs_stream_lanes(stream) == &tracks[1].lanes && opened == 2);
    CHECK(uccs_stream_track(stream) == track_at(1) && !stream->shared);
    uccs_stream_order(stream);
    CHECK(tracks[1].fenced == 1 && tracks[0].fenced == 0 && fences == 1);
    tracks[1].busy = true;
    uccs_stream_rest(stream);
    CHECK(uccs_stream_track(stream) == track_at(1));
    tracks[1].busy = false;
    uccs_stream_rest(stream);
    CHECK(!uccs_stream_track(stream));
    be_thread(2);
    CHECK(uccs_stream_lanes(stream) == &tracks[1].lanes && opened == 2); /* with the part comes its track */
    CHECK(uccs_stream_progress(stream) == 4 + 2 + 1 && looked == 1 && uccs_stream_progress(0) == 3 && looked == 1);
    CHECK(uccs_stream_release(stream) == UCCS_OK);
    clear();
    stream = stream_of(UCCS_SCOPE_PROCESS, 0);
    CHECK(!uccs_stream_track(stream) && uccs_stream_progress(stream) == 3);
    CHECK(uccs_stream_lanes(stream) == &tracks[0].lanes);
    be_thread(0);
    CHECK(uccs_stream_lanes(stream) == &tracks[0].lanes && opened == 1 && uccs_stream_track(stream) == track_at(0));
    CHECK(!stream->parts && uccs_stream_release(stream) == UCCS_OK);
    clear();
    stream = stream_of(UCCS_SCOPE_PROCESS, 0);
    steals = &stream->shared; /* two threads open one: the first one's holds */
    CHECK(uccs_stream_lanes(stream) == &tracks[TRACKS - 1].lanes && opened == 1 && !tracks[0].open);
    steals = 0;
    uccs_stream_end(stream);
    CHECK(!stream->shared && !stream->parts);
    CHECK(uccs_stream_release(stream) == UCCS_OK);
    clear();
}

/* --- Endpoints */

static void test_endpoints(struct uccs_context *world)
{
    struct uccs_stream *stream = stream_of(UCCS_SCOPE_PROCESS, world);
    uccs_endpoint_t ends[3], other;
    stream->attr.ordered = 1;
    for (int i = 0; i < 3; i++) {
        CHECK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, i + 1, &ends[i]) == UCCS_OK &&
              stream->endpoints == ends[i]);
        CHECK(ends[i]->context == world && ends[i]->stream == stream && ends[i]->ordered && ends[i]->pe == i + 1);
        CHECK(ends[i]->index == (uint32_t)i + 1 && uccs_endpoint_world_rank(ends[i]) == i + 1);
    }
    CHECK(uccs_endpoint_world_rank(0) == -1 && !owned_held);
    CHECK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, -1, &other) == UCCS_ERR_INVALID);
    CHECK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, NPES, &other) == UCCS_ERR_INVALID);
    CHECK(uccs_stream_endpoint(stream, UCCS_GROUP_NULL, 0, &other) == UCCS_ERR_INVALID);
    CHECK(uccs_stream_endpoint(0, UCCS_GROUP_WORLD, 0, &other) == UCCS_ERR_INVALID);
    CHECK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, 0, 0) == UCCS_ERR_INVALID);
    owned_left = 0;
    CHECK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, 0, &other) == UCCS_ERR_NO_MEMORY);
    uccs_users = 0;
    CHECK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, 0, &other) == UCCS_ERR_STATE);
    uccs_users = 1;
    struct uccs_endpoint stranger = {.stream = stream}, homeless = {0};
    CHECK(uccs_endpoint_release(&stranger) == UCCS_ERR_INVALID && uccs_endpoint_release(&homeless) == UCCS_ERR_INVALID);
    CHECK(uccs_endpoint_release(0) == UCCS_ERR_INVALID);
    CHECK(uccs_endpoint_release(ends[1]) == UCCS_OK && stream->endpoints == ends[2] && ends[2]->next == ends[0]);
    CHECK(uccs_endpoint_release(ends[0]) == UCCS_OK && stream->endpoints == ends[2] && !ends[2]->next && !owned_held);
    CHECK(uccs_stream_release(stream) == UCCS_OK); /* it ends the last one */
    CHECK(uccs_endpoint_create(0, UCCS_GROUP_WORLD, 0, &other) == UCCS_ERR_INVALID);
}

static void test_creation(struct uccs_context *world)
{
    uccs_stream_t stream;
    const struct uccs_stream_attr bad[] = {{.scope = (enum uccs_scope)2},
                                           {.threads = (enum uccs_thread_mode)2},
                                           {.scope = (enum uccs_scope) - 1}};
    CHECK(uccs_attr_good(UCCS_SCOPE_THREAD, UCCS_THREAD_SINGLE));
    for (int i = 0; i < 3; i++)
        CHECK(uccs_stream_create(world, &bad[i], &stream) == UCCS_ERR_INVALID);
    CHECK(uccs_stream_create(world, 0, 0) == UCCS_ERR_INVALID);
    uccs_users = 0;
    CHECK(uccs_stream_create(world, 0, &stream) == UCCS_ERR_STATE);
    uccs_users = 1;
    owned_left = 0;
    CHECK(uccs_stream_create(world, 0, &stream) == UCCS_ERR_NO_MEMORY);
    CHECK(uccs_stream_create(world, 0, &stream) == UCCS_OK && stream->attr.scope == UCCS_SCOPE_PROCESS &&
          !stream->attr.ordered);
    CHECK(uccs_stream_release(0) == UCCS_ERR_INVALID &&
          uccs_stream_release(uccs_context_stream(world)) == UCCS_ERR_INVALID);
    uccs_handlers_running = 1;
    CHECK(uccs_stream_release(stream) == UCCS_ERR_STATE);
    uccs_handlers_running = 0;
    errands = 0;
    CHECK(uccs_stream_release(stream) == UCCS_OK && errands == 1);
    CHECK(uccs_context_stream(0) == 0 && uccs_context_stream(world) == &world->stream);
}

/* --- Flushes */

static uccs_endpoint_t all[NPES];

static void settle_soon(void)
{
    settled_now = serves == 3;
}

/* A flush of all waits for messages, too; one of some for their links alone. */
static void test_flush(struct uccs_context *world, enum uccs_scope scope)
{
    struct uccs_stream *stream = stream_of(scope, world);
    for (int i = 0; i < NPES; i++)
        CHECK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, i, &all[i]) == UCCS_OK);
    collects = errands = quiets = serves = tells = 0;
    settled_now = false;
    while_served = settle_soon;
    is_late = true;
    CHECK(uccs_stream_flush(stream, 0, 0) == UCCS_OK && serves == 3 && tells == 3 && settled_scope == scope);
    is_late = false;
    CHECK(collects == 1 && errands == 1 && tracks[0].quieted == 0 && quiets > 0);
    settled_now = false;
    serves = tells = 0;
    CHECK(uccs_stream_flush(stream, all, 2) == UCCS_OK && serves == 0); /* of two near ones, which has no link */
    CHECK(uccs_stream_flush_local(stream, 0, 0) == UCCS_OK && serves == 0);
    uccs_handlers_running = 1;
    CHECK(uccs_stream_flush(stream, 0, 0) == UCCS_ERR_STATE && serves == 0);
    settled_now = true;
    CHECK(uccs_stream_flush(stream, 0, 0) == UCCS_OK);
    uccs_handlers_running = 0;
    (void)uccs_stream_lanes(stream);
    CHECK(uccs_stream_flush(stream, 0, 0) == UCCS_OK && tracks[0].quieted == 1 && !last_pes && tells == 0);
    (void)uccs_stream_lanes(stream);
    CHECK(uccs_stream_flush(stream, all, 4) == UCCS_OK && tracks[0].quieted == 2 && last_npes == 2);
    CHECK(last_few[0] == 2 && last_few[1] == 3);
    CHECK(uccs_stream_flush_local(stream, all + 1, FEW) == UCCS_OK && tracks[0].local == 1 && last_npes == FEW - 1);
    CHECK(uccs_stream_flush_local(stream, all + 2, FEW + 1) == UCCS_OK && last_npes == FEW + 1 &&
          last_few[FEW] == FEW + 2);
    CHECK(uccs_stream_flush_local(stream, 0, 0) == UCCS_OK && tracks[0].local == 3 && !last_pes);
    owned_left = 0;
    CHECK(uccs_stream_flush(stream, all, FEW + 1) == UCCS_ERR_NO_MEMORY && tracks[0].quieted == 2);
    owned_left = 0;
    CHECK(uccs_stream_flush_local(stream, all, FEW + 1) == UCCS_ERR_NO_MEMORY && tracks[0].local == 3);
    tracks[0].failed = true;
    CHECK(uccs_stream_flush(stream, all, 1) == UCCS_ERR_FAILED);
    tracks[0].failed = false;
    uccs_deferred_end(uccs_deferred_begin(stream), true);
    CHECK(uccs_stream_flush(stream, 0, 0) == UCCS_ERR_FAILED && uccs_stream_flush(stream, 0, 0) == UCCS_OK);
    if (scope == UCCS_SCOPE_THREAD)
        CHECK(!uccs_stream_track(stream) && stream->parts->owner == 0); /* the flush of all has given it back */
    serves = 0;
    CHECK(uccs_stream_release(stream) == UCCS_OK && serves == 0);
}

static void refuse(const struct uccs_stream *of, const uccs_endpoint_t *ends, size_t n)
{
    struct uccs_stream *stream = (struct uccs_stream *)(uintptr_t)of;
    uccs_request_t request = UCCS_REQUEST_NULL;
    CHECK(uccs_stream_flush(stream, ends, n) == UCCS_ERR_INVALID &&
          uccs_stream_fence(stream, ends, n) == UCCS_ERR_INVALID);
    CHECK(uccs_stream_flush_local(stream, ends, n) == UCCS_ERR_INVALID);
    CHECK(uccs_stream_flush_nb(stream, ends, n, &request) == UCCS_ERR_INVALID && request == UCCS_REQUEST_NULL);
}

static void test_flush_nb(struct uccs_context *world)
{
    struct uccs_stream *stream = stream_of(UCCS_SCOPE_PROCESS, world);
    uccs_request_t request = UCCS_REQUEST_NULL;
    struct uccs_endpoint near = {.index = 1}, far = {.index = 2, .pe = 2};
    const uccs_endpoint_t both[] = {&near, &far}, first[] = {0, &far}, last[] = {&far, 0};
    refuse(0, 0, 0), refuse(stream, 0, 1), refuse(stream, first, 2), refuse(stream, last, 2);
    settled_now = false; /* it does not wait for messages */
    CHECK(uccs_stream_flush_nb(stream, 0, 0, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_stream_flush_nb(stream, 0, 0, &request) == UCCS_OK && request == UCCS_REQUEST_DIRTY && flushed == 0);
    (void)uccs_stream_lanes(stream);
    CHECK(uccs_stream_flush_nb(stream, both, 2, &request) == UCCS_OK && flushed == 0);
    tracks[0].busy = true;
    object.dirty = 0;
    CHECK(uccs_stream_flush_nb(stream, both, 2, &request) == UCCS_OK && flushed == 1 && last_npes == 1 &&
          last_few[0] == 2);
    CHECK(request == &object && object.dirty == 1);
    no_requests = true;
    request = UCCS_REQUEST_NULL;
    CHECK(uccs_stream_flush_nb(stream, 0, 0, &request) == UCCS_ERR_NO_MEMORY && request == UCCS_REQUEST_NULL);
    no_requests = false;
    last_part = uccs_deferred_begin(stream);
    serves = 0;
    while_served = end_one;
    CHECK(uccs_stream_flush_nb(stream, 0, 0, &request) == UCCS_OK && serves == 2);
    while_served = 0;
    uccs_handlers_running = 1;
    last_part->deferred = 1;
    CHECK(uccs_stream_flush_nb(stream, 0, 0, &request) == UCCS_ERR_STATE);
    CHECK(uccs_stream_flush_local(stream, 0, 0) == UCCS_ERR_STATE);
    last_part->deferred = 0;
    uccs_handlers_running = 0;
    tracks[0].busy = false;
    const uccs_endpoint_t many[FEW + 1] = {&far, &far, &far, &far, &far, &far, &far, &far, &far,
                                           &far, &far, &far, &far, &far, &far, &far, &far};
    const size_t before = owned_count;
    CHECK(uccs_stream_flush_nb(stream, many, FEW + 1, &request) == UCCS_OK &&
          uccs_stream_fence(stream, many, FEW + 1) == UCCS_OK);
    CHECK(uccs_stream_flush(stream, many, FEW + 1) == UCCS_OK && owned_count == before && tracks[0].fenced == 1);
    CHECK(uccs_stream_release(stream) == UCCS_OK);
}

int main(void)
{
    uccs_core.npes = NPES;
    uccs_core.pes = 2;
    uccs_users = 1;
    uccs_ranks_open();
    clear();
    test_parts();
    test_scopes();
    test_waits();
    test_tracks();
    struct uccs_context *world = 0;
    CHECK(uccs_context_create(0, &world) == UCCS_OK);
    test_creation(world);
    test_endpoints(world);
    test_flush(world, UCCS_SCOPE_PROCESS);
    test_flush(world, UCCS_SCOPE_THREAD);
    test_flush_nb(world);
    settled_now = true;
    progresses = 0;
    CHECK(uccs_context_destroy(world) == UCCS_OK);
    clear();
    test_contexts();
    test_agreed();
    return 0;
}
