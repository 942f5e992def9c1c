/* The parts of running.c about endpoints, streams, progress and waits. */
#ifndef MPI_TEST_RUNNING_PROGRESS_H
#define MPI_TEST_RUNNING_PROGRESS_H
#include "running_stub.h"

static void fresh(void);

/* ---- endpoints ---- */

static uccs_endpoint_t of_other_thread;

static void another_thread(void)
{
    in_endpoint = 0;
    of_other_thread = lmpi_endpoint(2);
}

static void endpoints_of_ranks(void)
{
    fresh();
    lmpi_life.context = the_context;
    CHECK(lmpi_endpoints_begin(RANKS));
    for (int i = 0; i < RANKS; i += RANKS - 1) {
        const uccs_endpoint_t made = lmpi_endpoint(i);
        CHECK(made && made->world == i && lmpi_endpoint(i) == made);
        NEXT(MADE_ENDPOINT, i, 0);
        NO_MORE();
    }
    endpoints_fail = 1;
    CHECK(lmpi_endpoint(1) == 0 && lmpi_endpoint(0) != 0);
    endpoints_fail = 0;
    CHECK(lmpi_endpoint(1)->world == 1);
    start_over();
    in_endpoint = another_thread; /* of two threads that make one, one wins */
    const uccs_endpoint_t mine = lmpi_endpoint(2);
    CHECK(mine && mine == of_other_thread && mine == lmpi_endpoint(2));
    NEXT(MADE_ENDPOINT, 2, 0);
    NEXT(MADE_ENDPOINT, 2, 0);
    NEXT(GONE_ENDPOINT, 2, 0);
    NO_MORE();
    for (int i = 0; i < RANKS; i++)
        free(endpoints[i]);
    lmpi_endpoints_end();
    CHECK(!endpoints);
}

/* ---- streams ---- */

static void streams_of_kinds(void)
{
    fresh();
    lmpi_life.context = the_context;
    lmpi_life.ranks = RANKS;
    CHECK(lmpi_endpoints_begin(RANKS));
    for (unsigned kind = 1; kind < LMPI_KINDS; kind++) {
        streams_fail = 1;
        CHECK(lmpi_endpoint_along(kind, 0) == 0);
        NEXT(MADE_REQUEST, 0, 0);
        streams_fail = 0;
        for (int i = 0; i < RANKS; i += RANKS - 1) {
            CHECK(lmpi_endpoint_along(kind, i) == &along[kind][i] && lmpi_endpoint_along(kind, i) == &along[kind][i]);
            if (i == 0)
                NEXT(MADE_STREAM, 0, 0);
            NEXT(MADE_ENDPOINT, i, (int)kind);
        }
        NO_MORE();
        CHECK(streams[kind].stream->attr.threads == UCCS_THREAD_MULTIPLE && kind_of(streams[kind].stream) == (int)kind);
        const struct uccs_op *op = lmpi_stream_op(kind);
        CHECK(kind & LMPI_THREAD ? op == &streams[kind].op && op->request == &streams[kind].pending && !op->nonblocking
                                 : !op);
    }
    CHECK(lmpi_endpoint_along(0, 4) == lmpi_endpoint(4) && !lmpi_stream_op(0));
    free(lmpi_endpoint(4));
    start_over();
    for (unsigned kind = 0; kind < LMPI_KINDS; kind++)
        for (int to = -1; to < RANKS; to += RANKS) {
            const uccs_endpoint_t endpoint = to < 0 ? 0 : &along[kind][to];
            RETURNS(lmpi_stream_flush(kind, false, endpoint));
            NEXT(FLUSHED, to, (int)kind);
            RETURNS(lmpi_stream_flush(kind, true, endpoint));
            if (kind & LMPI_THREAD)
                NEXT(WAITED, (int)kind, 0);
            else
                NEXT(FLUSHED, to, (int)kind);
            RETURNS(lmpi_stream_flush_local(kind, endpoint));
            NEXT(FLUSHED_HERE, to, (int)kind);
        }
    NO_MORE();
    RETURNS(lmpi_streams_end());
    for (int kind = 1; kind < LMPI_KINDS; kind++) {
        NEXT(GONE_STREAM, 0, 0);
        NEXT(GONE_REQUEST, 0, 0);
        CHECK(!streams[kind].stream && !streams[kind].endpoint && !streams[kind].pending && !streams[kind].op.request);
    }
    RETURNS(lmpi_streams_end());
    NO_MORE();
    requests_fail = 1;
    CHECK(lmpi_endpoint_along(1, 0) == 0);
    requests_fail = 0;
    NO_MORE();
    RETURNS(lmpi_streams_end());
    lmpi_endpoints_end();
}

/* ---- progress ---- */

static void progress_begins(void)
{
    const struct {
        int count, slow, status;
        bool one_node;
    } rows[] = {{1, -1, 0, true},
                {16, -1, 0, true},
                {17, -1, 0, false},
                {4, 0, 0, false},
                {4, 3, 0, false},
                {4, 4, 0, true},
                {4, -1, UCCS_ERR_INVALID, false},
                {0, -1, 0, true}};
    fresh();
    lmpi_life.context = the_context;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        resources = rows[i].count;
        resource_slow = rows[i].slow;
        resource_status = rows[i].status;
        RETURNS(lmpi_progress_begin());
        CHECK(on_one_node == rows[i].one_node && serving && is_main && lmpi_progress_inside());
        NEXT(POLLER_ADDED, 0, 0);
        NEXT(REGISTERED, 0, 0);
        RETURNS(lmpi_progress_end());
        CHECK(!serving);
        NEXT(POLLER_GONE, 0, 0);
        NEXT(UNREGISTERED, 0, 0);
    }
    for (symbols_missing = 1; symbols_missing < 8; symbols_missing++) {
        RETURNS(lmpi_progress_begin());
        NEXT(POLLER_ADDED, 0, 0);
        if (symbols_missing == 4)
            NEXT(REGISTERED, 0, 0);
        CHECK_EQ(lmpi_progress_inside(), symbols_missing == 4);
        CHECK_EQ(opal_progress != 0, symbols_missing < 4);
        RETURNS(lmpi_progress_end());
        NEXT(POLLER_GONE, 0, 0);
        if (symbols_missing == 4)
            NEXT(UNREGISTERED, 0, 0);
        NO_MORE();
    }
    symbols_missing = 0;
    resource_slow = -1;
    resource_status = 0;
    level = MPI_THREAD_SERIALIZED; /* another thread may be in the MPI */
    RETURNS(lmpi_progress_begin());
    CHECK(!is_main);
    level = MPI_THREAD_SINGLE;
    RETURNS(lmpi_progress_begin());
    CHECK(is_main);
    start_over();
}

static int watched;

static void look_on(void)
{
    watched++;
}

/* A wait of the MPI's on one node looks in each round while it finds something, then seldom. */
static void looks_of_waits(void)
{
    on_one_node = serving = true;
    progress_finds = 3;
    progressed = watched = 0;
    CHECK_EQ(lmpi_progress_serve(), 3);
    CHECK(progressed == 1 && watched == 0);
    lmpi_progress_watch(look_on);
    progress_finds = 0;
    for (int i = 1; i <= 64; i++) {
        CHECK_EQ(lmpi_progress_serve(), 0);
        CHECK(progressed == 1 + i && watched == i);
    }
    for (int i = 65; i <= 160; i++) {
        CHECK_EQ(lmpi_progress_serve(), 0);
        CHECK(progressed == 65 + i / 16 - 4 && watched == i);
    }
    progress_finds = 1;
    for (int i = 0; i < 16; i++)
        lmpi_progress_serve();
    progressed = 0;
    for (int i = 0; i < 20; i++)
        CHECK_EQ(lmpi_progress_serve(), 1);
    CHECK_EQ(progressed, 20);
    on_one_node = false;
    progress_finds = progressed = 0;
    for (int i = 0; i < 200; i++)
        lmpi_progress_serve();
    CHECK_EQ(progressed, 200);
    serving = false;
    watched = 0;
    CHECK_EQ(lmpi_progress_serve(), 0);
    CHECK(progressed == 200 && watched == 0);
    serving = true;
}

/* Neither side calls the other from within. */
static void is_inside(void)
{
    in_progress = 0;
    const int before = progressed, opal = opal_progressed, saw = watched;
    CHECK_EQ(lmpi_progress_serve(), 0);
    CHECK_EQ(serve_mpi_in_waits(0), 0);
    CHECK(progressed == before && opal_progressed == opal && watched == saw);
}

static void both_ways(void)
{
    opal_progress = fake_progress;
    lmpi_life.comm = COMM(7);
    opal_progressed = probes = progressed = 0;
    in_progress = is_inside;
    lmpi_progress_serve();
    CHECK(!in_progress && progressed == 1 && opal_progressed == 0);
    in_progress = is_inside;
    RETURNS(lmpi_progress());
    CHECK(!in_progress && progressed == 2 && opal_progressed == 1 && probes == 0);
    opal_progress = 0;
    RETURNS(lmpi_progress());
    CHECK(progressed == 3 && opal_progressed == 1 && probes == 1);
    for (int i = 0; i < 8; i++) { /* who may call the MPI */
        lmpi_life.any_thread = i & 1;
        is_main = i & 2;
        lmpi_calling = i & 4;
        probes = 0;
        CHECK_EQ(serve_mpi_in_waits(0), 0);
        CHECK_EQ(probes, i != 0);
    }
    lmpi_calling = 0;
    CHECK_EQ(inside, 0);
}

/* ---- waits ---- */

static void pauses(void)
{
    struct lmpi_wait wait = {.window = 0, .rank = LMPI_SOME};
    lmpi_life.crowded = false;
    progressed = yields = naps = 0;
    now = 100;
    for (int i = 1; i <= LMPI_LOOKS; i++) {
        RETURNS(lmpi_pause(&wait));
        CHECK(wait.looks == (unsigned)i && progressed == 0);
    }
    for (int i = 1; i <= 300; i++) {
        RETURNS(lmpi_pause(&wait));
        CHECK(wait.looks == LMPI_LOOKS + (unsigned)i && progressed == i && yields == i);
    }
    CHECK(naps == 0 && wait.since == 100 && !wait.record);
    lmpi_life.crowded = true; /* others need the core */
    struct lmpi_wait other = {.window = 0, .rank = LMPI_SOME};
    progressed = yields = 0;
    for (int i = 1; i <= LMPI_LOOKS + 200; i++)
        RETURNS(lmpi_pause(&other));
    CHECK(progressed == LMPI_LOOKS + 200 && yields == LMPI_LOOKS + 200 && naps == 0);
    for (int i = 0; i < 5; i++)
        RETURNS(lmpi_pause(&other));
    CHECK(naps == 5 && yields == LMPI_LOOKS + 200);
    CHECK_EQ(waits_begun, 0);
    now = 101;
    for (int i = 0; i < 64; i++) /* it looks at the clock now and then */
        RETURNS(lmpi_pause(&other));
    CHECK(waits_begun == 1 && other.record == 1);
    for (int i = 0; i < 128; i++)
        RETURNS(lmpi_pause(&other));
    CHECK_EQ(waits_begun, 1);
    RETURNS(lmpi_wait_end(&wait));
    CHECK_EQ(waits_ended, 0);
    RETURNS(lmpi_wait_end(&other));
    CHECK_EQ(waits_ended, 1);
}

static void tells(int rank, const char *object, int who, int meeting, int stride)
{
    struct lmpi_wait wait = {.window = object ? &window : 0, .rank = rank};
    now = 50.25;
    RETURNS(lmpi_wait_tell(&wait));
    now = 50.75;
    RETURNS(lmpi_wait_tell(&wait));
    CHECK(wait.record == 0 && wait.since == 50.25);
    now = 52;
    RETURNS(lmpi_wait_tell(&wait));
    CHECK(wait.record == waits_begun && waiting_seconds == 1.75);
    CHECK(strcmp(waiting_object, object ? object : "none") == 0 && (waiting.object != 0) == (object != 0));
    CHECK(waiting.rank == who && waiting.ranks == meeting && (!meeting || waiting.stride == stride));
    CHECK_EQ(waiting.meeting, meeting ? 33 : 0);
    CHECK_EQ(waiting.place != 0, meeting != 0);
}

static void told_waits(void)
{
    struct lmpi_peer peers[4] = {{.world = 5}, {.world = 7}, {.world = 9}, {.world = 11}};
    window = (struct lmpi_window){.number = 12, .ranks = 4, .rank = 1, .peer = peers, .round = 33, .key = {{1, 2}}};
    tells(LMPI_ALL, 0, -1, 0, 0);
    tells(2, "window 12", 9, 0, 0);
    tells(0, "window 12", 5, 0, 0);
    tells(LMPI_SOME, "window 12", -1, 0, 0);
    tells(LMPI_ALL, "window 12", 5, 4, 2);
    const uint64_t place = waiting.place;
    window.key.word[1]++;
    tells(LMPI_ALL, "window 12", 5, 4, 2);
    CHECK(waiting.place != place); /* of another window */
    for (int i = 1; i < 4; i++) {  /* where they are not as far apart, no meeting is told */
        peers[i].world++;
        tells(LMPI_ALL, "window 12", -1, 0, 0);
        peers[i].world--;
    }
    for (int i = 0; i < 4; i++)
        peers[i].world = 9 - i;
    tells(LMPI_ALL, "window 12", -1, 0, 0);
    window.ranks = 1;
    tells(LMPI_ALL, "window 12", 9, 1, 1);
    window.ranks = 2;
    peers[1].world = 10;
    tells(LMPI_ALL, "window 12", 9, 2, 1);
}

#endif
