/* The links, messages and groups of streams.c, and the files that it tests. */
#ifndef TESTS_TRUST_STREAMS_STUB_H
#define TESTS_TRUST_STREAMS_STUB_H

#include "parts/owned.h"

#define watch_fail owned_fail
#define link_track_open test_track_open
#define link_track_close test_track_close
#define link_track_lanes test_track_lanes
#define link_track_fence test_track_fence
#define link_track_flush test_track_flush
#define link_track_quiet test_track_quiet
#define link_track_wait_local test_track_wait_local
#define link_track_idle test_track_idle
#define link_lane_of test_lane_of
#define link_look test_look
#define uccs_am_serve test_serve
#define uccs_am_settled test_settled
#define uccs_am_tell_unsettled test_tell_unsettled
#define uccs_am_publish test_publish
#define uccs_am_retire test_retire
#define uccs_progress test_progress
#define uccs_stage_collect test_collect
#define uccs_late_now test_late_now
#define uccs_request_materialise test_materialise
#define uccs_allreduce test_allreduce
#include "uccs/core/errand.h" /* before these functions of theirs are the test's */
#include "uccs/core/fence.h"
#define uccs_errands_run test_errands
#define uccs_quiet test_quiet
#define uccs_fence_stores test_fence
static int test_errands(void);
static void test_quiet(void);
static void test_fence(void);
#include "uccs/am/stream.c"
#include "uccs/face/agree.c"
#include "uccs/face/context.c"
#define making making_streams
#include "uccs/face/stream.c"
#undef making

enum { TRACKS = 8, NEAR = 1, FAR = 3, NPES = 24 };

static struct {
    bool open, busy, failed;
    int fenced, quieted, local;
    struct uccs_far_lanes lanes;
} tracks[TRACKS];
static int opened, flushed, serves, collects, errands, tells, published, retired, progresses, looked, quiets, fences;
static bool settled_now, is_late, no_requests;
static enum uccs_scope settled_scope;
static const int *last_pes;
static size_t last_npes;
static int last_few[40];
static void (*while_served)(void);
static struct link_track **steals; /* another thread sets it while this one opens its track */
static struct uccs_request object;

static size_t number_of(const struct link_track *track)
{
    const size_t at = (size_t)((const char *)track - (const char *)tracks) / sizeof *tracks;
    CHECK(at < TRACKS && tracks[at].open);
    return at;
}

static struct link_track *track_at(int at)
{
    return (struct link_track *)&tracks[at];
}

static void note_peers(const int *pes, size_t npes)
{
    last_pes = pes;
    last_npes = npes;
    for (size_t i = 0; pes && i < npes; i++)
        last_few[i] = pes[i];
}

struct link_track *test_track_open(void)
{
    int at = 0;
    while (at < TRACKS && tracks[at].open)
        at++;
    CHECK(at < TRACKS);
    tracks[at].open = true;
    opened++;
    if (steals) {
        *steals = track_at(TRACKS - 1);
        tracks[TRACKS - 1].open = true;
    }
    return track_at(at);
}

void test_track_close(struct link_track *track)
{
    memset(&tracks[number_of(track)], 0, sizeof *tracks);
}

struct uccs_far_lanes *test_track_lanes(struct link_track *track)
{
    return &tracks[number_of(track)].lanes;
}

void test_track_fence(struct link_track *track)
{
    tracks[number_of(track)].fenced++;
}

void test_track_flush(struct link_track *track, const int *pes, size_t npes, struct uccs_request *request)
{
    CHECK(request == &object && number_of(track) < TRACKS);
    note_peers(pes, npes);
    flushed++;
}

bool test_track_quiet(struct link_track *track, const int *pes, size_t npes)
{
    note_peers(pes, npes);
    tracks[number_of(track)].quieted++;
    return !tracks[number_of(track)].failed;
}

void test_track_wait_local(struct link_track *track, const int *pes, size_t npes)
{
    note_peers(pes, npes);
    tracks[number_of(track)].local++;
}

bool test_track_idle(struct link_track *track)
{
    return !tracks[number_of(track)].busy;
}

struct link_lane *test_lane_of(struct uccs_far_lanes *on)
{
    return (struct link_lane *)on;
}

int test_look(struct link_lane *lane)
{
    CHECK(lane != 0);
    looked++;
    return 4;
}

void test_serve(struct uccs_wait *wait)
{
    (void)wait;
    CHECK(++serves < 1000 && !owned_held);
    if (while_served)
        while_served();
}

bool test_settled(const struct uccs_context *context, enum uccs_scope scope)
{
    CHECK(context != 0);
    settled_scope = scope;
    return settled_now;
}

void test_tell_unsettled(const struct uccs_context *context)
{
    CHECK(context != 0);
    tells++;
}

void test_publish(struct uccs_context *context)
{
    CHECK(context && !owned_held);
    published++;
}

void test_retire(struct uccs_context *context)
{
    CHECK(context && owned_held == 1 && owned_locks[0] == &ending);
    retired++;
}

int test_progress(void)
{
    progresses++;
    return progresses < 3;
}

int test_collect(void)
{
    collects++;
    return 2;
}

static int test_errands(void)
{
    errands++;
    return 1;
}

static void test_quiet(void)
{
    quiets++;
}

static void test_fence(void)
{
    fences++;
}

bool test_late_now(struct uccs_late *late)
{
    (void)late;
    return is_late;
}

struct uccs_request *test_materialise(uccs_request_handle *handle)
{
    return no_requests ? 0 : (*handle = &object);
}

/* --- What the others of a group say, in turn */

static uint64_t said[200], heard[200];
static int said_status[200], asked;

int test_allreduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how)
{
    uint64_t mine;
    CHECK(group && n == 1 && type == UCCS_UINT64 && how == UCCS_AND && asked < 200);
    memcpy(&mine, source, sizeof mine);
    heard[asked] = mine;
    mine &= said[asked];
    memcpy(dest, &mine, sizeof mine);
    return said_status[asked++];
}

static void clear(void)
{
    CHECK(owned_count == 0 && owned_held == 0);
    opened = flushed = serves = collects = errands = tells = published = retired = progresses = looked = quiets =
        fences = asked = 0;
    settled_now = true;
    while_served = 0;
    for (int i = 0; i < TRACKS; i++)
        CHECK(!tracks[i].open);
    for (int i = 0; i < 200; i++) {
        said[i] = UINT64_MAX;
        said_status[i] = UCCS_OK;
    }
}

/* Acts as another thread. */
static void be_thread(uint32_t number)
{
    uccs_thread_mine = number + 1;
}

#endif
