/* Which lanes parties share, and what each has issued there: which peers and which operations its flushes concern, when its data is free, and
 * which party fails when a peer has refused something. The network carries nothing; the test answers. */
#include "carrier.h"

#include "base/env.h"
#include "uccs/core/thread.h"
#include "uccs/link/crowd.h"

static char data[65536];

/* --- Lanes */

static void allow(const char *lanes)
{
    const char *why;
    setenv("LATERAL_LANES", lanes, 1);
    CHECK(env_load(&why) == 0);
    carrier_reset();
}

static uint32_t lane_of(struct uccs_far_lanes *on)
{
    return link_lane_of(on)->number;
}

/* As many as the user wants, up to 64, or one more than there are cores; each context takes the least used one, from the last down. */
static void lanes(void)
{
    static const struct {
        const char *wanted;
        uint32_t last;
    } rows[] = {{"1", 0}, {"2", 1}, {"63", 62}, {"64", 63}, {"65", 63}, {"4294967297", 63}, {"4294967298", 63}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct uccs_far_lanes on = {0};
        allow(rows[i].wanted);
        CHECK(lane_of(&on) == rows[i].last && on.used == UINT64_C(1) << rows[i].last && link_others == rows[i].last);
        CHECK(link_lanes_open() == (on.used | 1) && link_lanes_of(&on) == on.used && link_lanes_of(0) == 1);
    }
    struct uccs_far_lanes on[7] = {{0}}, any = {0};
    allow("0");
    CHECK(link_cores >= 1 && lane_of(&any) == (link_cores < 63 ? link_cores : 63));
    allow("4");
    CHECK(lane_of(&on[0]) == 3 && lane_of(&on[1]) == 2 && lane_of(&on[2]) == 1 && lane_of(&on[3]) == 3);
    CHECK(lane_of(&on[3]) == 3 && lane_of(0) == 0);
    uccs_far_release(&on[1]);
    CHECK(lane_of(&on[4]) == 2 && lane_of(&on[5]) == 2 && lane_of(&on[6]) == 1);
    CHECK(link_lanes_open() == 15);
    carrier_reset();
    carrier.no_lane = "none";
    on[0] = (struct uccs_far_lanes){0};
    CHECK(lane_of(&on[0]) == 0 && on[0].used == 1 && link_others == 0 && link_lanes_open() == 1);
    carrier.no_lane = 0;
    on[1] = (struct uccs_far_lanes){0};
    CHECK(lane_of(&on[1]) == 0); /* for good */
}

/* Each of four threads, all alive, so that they have four numbers, finds the lane of its number. */
static void *lane_of_thread(void *threads)
{
    pthread_t next;
    struct uccs_far_lanes on = {.spread = 1};
    const uint32_t own = 1 + uccs_thread() % 3;
    CHECK(lane_of(&on) == own && on.used == UINT64_C(1) << own);
    if (--*(int *)threads)
        CHECK(pthread_create(&next, 0, lane_of_thread, threads) == 0 && pthread_join(next, 0) == 0);
    return 0;
}

/* The lanes of threads; one that joins after a fence completes what the others have before it. */
static void spread(void)
{
    struct uccs_far_lanes on = {.spread = 1};
    allow("4");
    const uint32_t mine = 1 + uccs_thread() % 3, other = mine % 3 + 1;
    CHECK(lane_of(&on) == mine && on.used == UINT64_C(1) << mine && lane_of(&on) == mine && !on.own);
    uccs_far_put_nb(&on, 1, in_heap(0), data, 8, 0, 0);
    struct uccs_far_lanes joined = {.spread = 1, .fenced = 1, .used = UINT64_C(1) << mine | UINT64_C(1) << other};
    const uint64_t before = joined.used;
    carrier.look = carrier_answer_flush;
    CHECK(lane_of(&joined) == mine && joined.used == before && link_lanes[mine].some); /* it has been there */
    joined.used = UINT64_C(1) << other;
    CHECK(lane_of(&joined) == mine && joined.used == before && link_lanes[mine].some);
    int threads = 4;
    lane_of_thread(&threads);
    allow("1");
    on = (struct uccs_far_lanes){.spread = 1};
    CHECK(lane_of(&on) == 0 && on.used == 1);
    allow("4");
}

static void tracks(void)
{
    struct link_track *track, *other;
    carrier_reset();
    carrier.look = carrier_answer_flush;
    carrier_answers = 0;
    track = link_track_open();
    other = link_track_open();
    struct uccs_far_lanes *on = link_track_lanes(track);
    struct link_lane *lane = on->own;
    CHECK(lane == &link_lanes[3] && link_track_lanes(other)->own == &link_lanes[2] && link_track_idle(track));
    CHECK(track->number == 1 && other->number == 1 && link_track_of(on) == track && !link_track_of(0));
    uccs_far_put_nb(on, 1, in_heap(0), data, 8, 0, 0);
    uccs_far_put_nb(on, 2, in_heap(0), data, 8, 0, 0);
    CHECK(!link_track_idle(track) && link_track_idle(other) && lane->touched);
    struct uccs_request all = {.pending = 1};
    link_track_flush(track, (int[]){2}, 1, &all);
    CHECK(all.pending == 2 && carrier_last()->pe == 2 && carrier_last()->header.kind == LINK_FLUSH);
    (void)link_look(lane);
    CHECK(all.pending == 1 && !link_track_idle(track) && carrier_answers == 1);
    CHECK(link_track_quiet(track, 0, 0) && carrier_answers == 2 && link_track_idle(track) && !lane->touched &&
          !lane->some);
    for (unsigned i = 0; i < carrier.count; i++)
        CHECK(carrier.left[i].header.kind != LINK_PUT || carrier.left[i].header.number == 1);
    const uint64_t epoch = lane->epoch;
    link_track_fence(track);
    CHECK(lane->epoch == epoch + 1 && !link_track_fence_changes(track, 1) && lane->epoch == epoch + 2);
    uccs_far_get_nb(on, 1, in_heap(0), data, 8193, 0, 0);
    CHECK(link_track_reads(track, 1) && !link_track_reads(track, 2) && !link_track_reads(other, 1));
    CHECK(link_track_fence_changes(track, 1) && lane->epoch == epoch + 3 && !link_track_idle(track));
    carrier_data(carrier_last(), data, 8193, 0);
    CHECK(!link_track_reads(track, 1) && link_track_idle(track));
    uccs_far_get_nb(on, 1, in_heap(0), data, 8, 0, 0);
    CHECK(!link_track_reads(track, 1) && !link_track_idle(track));
    link_track_flush(track, 0, 0, &all);
    CHECK(all.pending == 2);
    carrier_data(carrier_last(), data, 8, 0);
    CHECK(all.pending == 1 && link_track_idle(track) && !all.error);
    link_track_close(other);
    link_track_close(track);
    CHECK(!lane->tracks && carrier_answers == 2);
}

/* Many peers: their marks are found again when their table has grown. */
static void marks(void)
{
    enum { PES = 40 };
    const int npes = uccs_core.npes;
    carrier_reset();
    uccs_core.npes = PES + 1;
    CHECK(!link_lane_open(0));
    carrier.look = carrier_answer_flush;
    struct link_track *track = link_track_open();
    struct uccs_far_lanes *on = link_track_lanes(track);
    for (int round = 0; round < 2; round++)
        for (int pe = 1; pe <= PES; pe++)
            uccs_far_put_nb(on, pe, in_heap(0), data, 8, 0, 0);
    CHECK(track->count == PES && track->room >= PES);
    for (int pe = 1; pe <= PES; pe++) {
        const struct link_mark *mark = link_mark_find(track, pe);
        CHECK(mark && mark->peer->pe == pe && mark->active && mark->number.messages == 3 && mark->track == track);
    }
    CHECK(!link_mark_find(track, 0));
    carrier_answers = 0;
    CHECK(link_track_quiet(track, 0, 0) && carrier_answers == PES);
    link_track_close(track);
    carrier_reset();
    uccs_core.npes = npes;
    carrier_reset();
}

/* A track fails when the target has refused operations of it without requests, once, and no other one does. */
static void refused_tracks(void)
{
    struct uccs_far_lanes *on[2];
    struct link_track *tracks[2];
    carrier_reset();
    struct link_track *between[2];
    tracks[0] = link_track_open();
    for (int i = 0; i < 2; i++)
        between[i] = link_track_open();
    tracks[1] = link_track_open();
    for (int i = 0; i < 2; i++)
        on[i] = link_track_lanes(tracks[i]);
    CHECK(on[0]->own == &link_lanes[3] && on[1]->own == &link_lanes[3] && tracks[1]->number == 2);
    struct uccs_request all[2] = {{.pending = 1}, {.pending = 1}};
    for (int i = 0; i < 2; i++) {
        uccs_far_put_nb(on[i], 1, in_heap(0), data, 8, 0, 0);
        link_track_flush(tracks[i], 0, 0, &all[i]);
    }
    (void)link_poll(on[0]->own);
    unsigned flushes = 0, at[2] = {0};
    for (unsigned i = 0; i < carrier.count; i++)
        if (carrier.left[i].header.kind == LINK_FLUSH)
            at[flushes++] = i;
    CHECK(flushes == 2 && all[0].pending == 2 && all[1].pending == 2);
    carrier_flushed(&carrier.left[at[0]], 1, (uint16_t[]){2}, 1);
    CHECK(all[0].pending == 1 && !all[0].error && all[1].pending == 2);
    CHECK(link_mark_find(tracks[1], 1)->refused && !link_mark_find(tracks[0], 1)->refused);
    carrier_flushed(&carrier.left[at[1]], 1, 0, 0);
    CHECK(all[1].pending == 1 && all[1].error == 1 && !link_mark_find(tracks[1], 1)->refused);
    uccs_far_put_nb(on[1], 1, in_heap(0), data, 8, 0, 0);
    link_track_flush(tracks[1], 0, 0, &all[1]);
    carrier_flushed(carrier_last(), 1, 0, 0);
    CHECK(all[1].pending == 1 && all[1].error == 1 && link_track_idle(tracks[1]));
    /* an atomic that fails, with nobody to tell it to, fails the next flush */
    uint64_t old = 0;
    uccs_far_amo_nb(on[0], 1, UCCS_ATOMIC_ADD, in_heap(0), 8, 5, 0, &old, 0);
    const unsigned amo = carrier.count - 1;
    link_track_flush(tracks[0], 0, 0, &all[0]);
    CHECK(all[0].pending == 3);
    carrier_old(&carrier.left[amo], 0, true, 0);
    CHECK(all[0].pending == 2 && all[0].error == 1);
    carrier_flushed(carrier_last(), 1, 0, 0);
    CHECK(all[0].pending == 1 && all[0].error == 1);
    uccs_far_amo_nb(on[0], 1, UCCS_ATOMIC_ADD, in_heap(0), 8, 5, 0, &old, 0);
    carrier_old(carrier_last(), 0, true, 0);
    CHECK(!link_track_idle(tracks[0]));
    carrier.look = carrier_answer_flush;
    CHECK(!link_track_quiet(tracks[0], 0, 0) && link_track_quiet(tracks[0], 0, 0) && link_track_idle(tracks[0]));
    link_track_close(tracks[1]);
    link_track_close(between[1]);
    link_track_close(tracks[0]);
    link_track_close(between[0]);
    carrier_reset();
}

static void local(struct link_lane *lane)
{
    (void)lane;
    for (unsigned i = 0; i < carrier.count; i++)
        if (carrier.left[i].token && carrier.left[i].bytes == 9000) {
            struct link_token *token = carrier.left[i].token;
            carrier.left[i].token = 0;
            token->done(token, false);
        }
}

/* A track knows what the network still reads. */
static void sources(void)
{
    carrier_reset();
    struct link_track *track = link_track_open();
    struct uccs_far_lanes *on = link_track_lanes(track);
    uccs_far_put_nb(on, 1, in_heap(0), data, 8, 0, 0);
    CHECK(link_mark_find(track, 1)->holding == 0);
    carrier.sends = TRANSPORT_PENDING;
    uccs_far_put_nb(on, 1, in_heap(0), data, 9000, 0, 0);
    CHECK(link_mark_find(track, 1)->holding == 1 && link_mark_find(track, 1)->number.messages == 3);
    carrier.sends = TRANSPORT_DONE;
    const unsigned looks = carrier.looks;
    link_track_wait_local(track, (int[]){2}, 1);
    CHECK(carrier.looks == looks);
    carrier.look = local;
    link_track_wait_local(track, 0, 0);
    CHECK(link_mark_find(track, 1)->holding == 0 && carrier.looks > looks);
    CHECK(!link_track_busy(track));
    on->own->sending = 513;
    const unsigned before = carrier.looks;
    CHECK(link_track_busy(track) && carrier.looks > before);
    on->own->sending = 0;
    on->own->asking = (4 << 20) + 1;
    CHECK(link_track_busy(track));
    on->own->asking = 0;
    carrier.look = carrier_answer_flush;
    link_track_close(track);
}

/* --- Threads that wait on a lane, more than there are cores: one leads, which means that it looks */

static void leads(void)
{
    struct link_lane *lane = link_service();
    struct link_member member, other;
    struct uccs_wait wait uccs_scoped = {0};
    carrier_reset();
    const uint32_t cores = link_cores, spin = uccs_core.spin;
    link_cores = 0;
    uccs_core.spin = 1000;
    lane->news = 5;
    link_member_begin(&member, lane);
    CHECK(member.seen == 5 && !member.leads && link_waiting == 1 && link_is_crowd());
    lane->news = 6;
    link_member_pause(&member, &wait); /* there are news, so it looks at its variable first */
    CHECK(member.seen == 6 && !member.leads && carrier.looks == 0 && lane->led == 0);
    link_member_pause(&member, &wait);
    CHECK(member.leads && lane->led == 1 && carrier.looks == 0 && !link_led_here);
    link_member_pause(&member, &wait);
    CHECK(carrier.looks == 1 && link_led_here == lane);
    carrier.progresses = 1;
    link_member_pause(&member, &wait);
    CHECK(carrier.looks == 2 && lane->told == 1 &&
          lane->news == 7); /* it tells the others when it has looked at its own */
    link_member_begin(&other, lane);
    link_member_pause(&other, &wait); /* a wait within its wait: others depend on it */
    CHECK(!other.leads && carrier.looks == 3);
    link_member_end(&other);
    link_member_pause(&member, &wait);
    CHECK(carrier.looks == 4 && lane->told == 0 && link_led_here == lane);
    carrier.progresses = 1;
    link_member_pause(&member, &wait);
    CHECK(lane->told == 1);
    link_member_end(&member);
    CHECK(lane->told == 0 && lane->led == 0 && !link_led_here && link_waiting == 0);
    link_member_begin(&member, lane);
    uccs_progress_me = true;
    link_member_pause(&member, &wait); /* the progress thread looks itself */
    uccs_progress_me = false;
    CHECK(!member.leads && carrier.looks == 6);
    const uint32_t news = lane->news;
    lane->sleepers = 1; /* somebody sleeps, and nobody leads */
    link_member_end(&member);
    CHECK(lane->news == news + 1 && lane->roused == 0);
    lane->sleepers = 0;
    CHECK(link_news_await(lane, lane->news, 50000000) != 0 && lane->sleepers == 0); /* nobody leads: no sleep */
    lane->led = 1;
    CHECK(link_news_await(lane, lane->news - 1, 50000000) != 0 && lane->sleepers == 0); /* there are news */
    link_cores = cores;
    uccs_core.spin = spin;
    carrier_reset();
}

int main(void)
{
    carrier_open();
    lanes();
    spread();
    tracks();
    marks();
    refused_tracks();
    sources();
    leads();
    _exit(0);
}
