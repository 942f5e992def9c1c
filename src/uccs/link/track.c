/* Fences and flushes of tracks; see link.h. Any thread, unless a comment says otherwise. */
#include "uccs/link/inner.h"

#include <stdlib.h>

static void enlist(struct link_track *track, struct link_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->numbered = (uint16_t)(lane->numbered % (LINK_REQUEST - 1) + 1); /* 0 is no track */
    track->number = lane->numbered;
    track->next = lane->tracks;
    lane->tracks = track;
    pthread_mutex_unlock(&lane->lock);
}

static void strike(struct link_track *track, struct link_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    struct link_track **at = &lane->tracks;
    while (*at != track)
        at = &(*at)->next;
    *at = track->next;
    pthread_mutex_unlock(&lane->lock);
}

struct link_track *link_track_open(void)
{
    struct link_track *track = calloc(1, sizeof *track);
    if (!track)
        return 0;
    track->lanes.track = track;
    enlist(track, link_lane_of(&track->lanes));
    return track;
}

struct uccs_far_lanes *link_track_lanes(struct link_track *track)
{
    return &track->lanes;
}

static struct link_lane *lane_of(const struct link_track *track)
{
    return track->lanes.own;
}

/* --- Fences and flushes; any thread */

void link_track_fence(struct link_track *track)
{
    struct link_lane *lane = lane_of(track);
    pthread_mutex_lock(&lane->lock);
    lane->epoch++;
    pthread_mutex_unlock(&lane->lock);
}

static bool is_reading(struct link_track *track, int pe)
{
    const struct link_mark *mark = link_mark_find(track, pe);
    return mark && mark->reading;
}

bool link_track_fence_changes(struct link_track *track, int pe)
{
    struct link_lane *lane = lane_of(track);
    pthread_mutex_lock(&lane->lock);
    lane->epoch++;
    bool reads = is_reading(track, pe);
    pthread_mutex_unlock(&lane->lock);
    return reads;
}

/* Returns false without memory. */
static bool watch_asks(struct link_mark *mark, struct uccs_request *request)
{
    struct link_wake *wake = mark->asking ? malloc(sizeof *wake) : 0;
    if (!wake)
        return !mark->asking;
    *wake = (struct link_wake){mark->peer->lane->asked, mark->asking, request, mark->wakes};
    mark->wakes = wake;
    uccs_request_begin(request);
    return true;
}

static bool flush_mark(struct link_mark *mark, struct uccs_request *request, bool waits)
{
    if (!watch_asks(mark, request))
        return false;
    if (!link_mark_applied(mark)) {
        link_flush_peer(mark->peer, mark->number, request, mark, waits);
    } else if (!mark->asking && mark->refused) {
        uccs_request_begin(request);
        uccs_request_finish(request, link_mark_take_refused(mark));
    }
    return true;
}

/* Goes through the active marks: all of the track, or those of some PEs. */
struct walk {
    const int *pes; /* null: all */
    size_t npes, i;
    struct link_mark *next;
};

static struct walk walk_of(const struct link_track *track, const int *pes, size_t npes)
{
    return (struct walk){pes, npes, 0, track->active};
}

/* Returns null at the end. */
static struct link_mark *step(struct link_track *track, struct walk *walk)
{
    struct link_mark *mark = 0;
    while (walk->pes && walk->i < walk->npes && !mark) {
        mark = link_mark_find(track, walk->pes[walk->i++]);
        mark = mark && mark->active ? mark : 0;
    }
    if (!walk->pes && walk->next) {
        mark = walk->next;
        walk->next = mark->next_active;
    }
    return mark;
}

static bool flush(struct link_track *track, const int *pes, size_t npes, struct uccs_request *request, bool waits)
{
    struct link_lane *lane = lane_of(track);
    pthread_mutex_lock(&lane->lock);
    link_track_tidy(track);
    struct walk walk = walk_of(track, pes, npes);
    bool good = true;
    for (struct link_mark *mark; good && (mark = step(track, &walk));)
        good = link_send_reserve(lane) && flush_mark(mark, request, waits);
    link_flush_touched(lane, 0, false);
    uccs_eventcount_unlock(&lane->events, &lane->lock);
    return good;
}

bool link_track_flush(struct link_track *track, const int *pes, size_t npes, struct uccs_request *request)
{
    return flush(track, pes, npes, request, false);
}

static bool is_local(struct link_track *track, const int *pes, size_t npes)
{
    struct link_lane *lane = lane_of(track);
    uint32_t busy = 0;
    pthread_mutex_lock(&lane->lock);
    struct walk walk = walk_of(track, pes, npes);
    for (struct link_mark *mark; (mark = step(track, &walk));)
        busy |= mark->asking | mark->holding;
    pthread_mutex_unlock(&lane->lock);
    return !busy;
}

void link_track_wait_local(struct link_track *track, const int *pes, size_t npes)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(link_reason, 0)};
    while (!is_local(track, pes, npes))
        link_pause(lane_of(track), &wait);
}

/* `all` has an owner and no parent, so nobody frees it. */
bool link_track_quiet(struct link_track *track, const int *pes, size_t npes)
{
    struct uccs_request all = {.pending = 1};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(link_reason, 0)};
    struct link_lane *lane = lane_of(track);
    struct uccs_follower me;
    if (!flush(track, pes, npes, &all, true))
        uccs_fail("no memory for a flush");
    uccs_follower_begin(&me, &lane->events, &lane->lock);
    while (atomic_load_acquire(&all.pending) != 1) /* acqrel: uccs_request_finish */
        link_follow(&me, lane, &wait);
    uccs_follower_end(&me);
    pthread_mutex_lock(&lane->lock);
    link_track_tidy(track);
    link_flush_touched(lane, 0, false);
    pthread_mutex_unlock(&lane->lock);
    return !all.error; /* the count published it */
}

bool link_track_idle(struct link_track *track)
{
    struct link_lane *lane = lane_of(track);
    pthread_mutex_lock(&lane->lock);
    link_track_tidy(track);
    bool idle = !track->active;
    pthread_mutex_unlock(&lane->lock);
    return idle;
}

bool link_track_reads(struct link_track *track, int pe)
{
    struct link_lane *lane = lane_of(track);
    pthread_mutex_lock(&lane->lock);
    bool reads = is_reading(track, pe);
    pthread_mutex_unlock(&lane->lock);
    return reads;
}

void link_track_wait_reads(struct link_track *track, int pe)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(link_reason, 0)};
    while (link_track_reads(track, pe))
        link_pause(lane_of(track), &wait);
}

bool link_track_busy(struct link_track *track)
{
    struct link_lane *lane = lane_of(track);
    if (!link_busy(lane) && !link_ask_busy(lane))
        return false;
    (void)link_look(lane); /* so that a caller who tries again makes progress */
    return true;
}

void link_track_close(struct link_track *track)
{
    (void)link_track_quiet(track, 0, 0);
    link_track_wait_local(track, 0, 0); /* the transport may hold a message longer than its target needs to apply it */
    strike(track, lane_of(track));
    link_pool_leave(track->lanes.used);
    for (uint32_t i = 0; i < track->room; i++)
        for (struct link_mark *next, *mark = track->heads[i]; mark; mark = next) {
            next = mark->next;
            free(mark);
        }
    free(track->heads);
    free(track);
}
