/* The simulated adapter's queue, one operation at a time, over memory that does what the test says: when an operation may move on, what it
 * waits for, who is told of a put that fails, and what a run with a seed repeats. The whole network: simulated.c. */
#include "../owned.h"

#include "transport/sim/inner.h"

#include <sys/eventfd.h>

static int wakes;

static int test_wake(int fd, eventfd_t count)
{
    CHECK(fd == 77 && count == 1);
    wakes++;
    return 0;
}

#define next_random sim_random
#define eventfd_write test_wake
#define abort() owned_fail("no memory")

#include "transport/sim/adapter.c"

#include "transport/sim/state.c"
#undef abort
#undef next_random

/* --- Memory */

static const int key_of_it;
static const struct sim_key *const key = (const struct sim_key *)&key_of_it;
static bool works = true;
static unsigned reads, writes, changes;
static char written[16];
static const struct transport_word *word_done;
static void *into;

bool sim_read(const struct sim_key *of, uint64_t there, void *here, size_t bytes)
{
    CHECK(of == key && there == 7000 && bytes == 5);
    reads++;
    into = here;
    return works;
}

bool sim_write(const struct sim_key *of, uint64_t there, const void *here, size_t bytes)
{
    CHECK(of == key && there == 7000 && bytes <= sizeof written);
    writes++;
    memcpy(written, here, bytes);
    return works;
}

bool sim_change(const struct sim_key *of, uint64_t there, const struct transport_word *word, void *old)
{
    CHECK(of == key && there == 7000);
    changes++;
    word_done = word;
    into = old;
    return works;
}

/* --- A lane with two peers */

static struct sim_lane lane;
static struct sim_peer near = {.lane = &lane}, far = {.lane = &lane};
static unsigned ends;
static void *ended;
static int end_failed;
static void (*then)(void);

static void is_finished(void *token, int failed)
{
    void (*const now)(void) = then;
    ends++;
    ended = token;
    end_failed = failed;
    then = 0;
    if (now)
        now();
}

static const struct transport_events told = {.finished = is_finished};

static void begin_lane(uint32_t hold, uint32_t steps)
{
    CHECK(!lane.first && owned_count == 0);
    sim_plan = (struct sim_plan){.hold = hold, .steps = steps};
    lane = (struct sim_lane){.random = 11, .step = 100, .wake = 77};
    lane.last = &lane.first;
    near.failed = far.failed = false;
    sim_events = &told;
    works = true;
    ends = reads = writes = changes = 0;
    wakes = 0;
    memset(&lateral_sim_counts, 0, sizeof lateral_sim_counts);
}

static size_t queued(void)
{
    size_t count = 0;
    struct sim_operation **at = &lane.first;
    for (; *at; at = &(*at)->next)
        count++;
    CHECK(lane.last == at && owned_count == count);
    return count;
}

static struct sim_operation *newest(void)
{
    struct sim_operation *operation = lane.first;
    while (operation->next)
        operation = operation->next;
    return operation;
}

static int tokens[8];
static char source[16];

/* Begins a put that has been read already, and may move on at this step. */
static void put(struct sim_peer *to, uint64_t due, size_t bytes)
{
    const enum transport_status status = sim_put(to, (void *)key, 7000, source, bytes, &tokens[7]);
    if (status == TRANSPORT_PENDING) {
        read_source(newest());
        ends--;
    }
    newest()->due = due;
}

static void flush(struct sim_peer *to, int token, uint64_t due)
{
    CHECK(sim_flush(to, &tokens[token]) == TRANSPORT_PENDING);
    newest()->due = due;
}

static bool only_end(int token, bool failed)
{
    const bool one = ends == 1 && ended == &tokens[token] && (end_failed != 0) == failed;
    ends = 0;
    return one;
}

/* --- Delays */

/* A run repeats what its seed has drawn: a share of all steps is held back, for one call of progress up to `steps`. */
static void draws(void)
{
    uint64_t state = 11;
    for (uint32_t hold = 0; hold <= 100; hold += 25) {
        begin_lane(hold, 9);
        state = 11;
        unsigned last = 0, now = 0;
        for (int i = 0; i < 2000; i++) {
            const uint64_t random = next_random(&state), held = random % 100 < hold ? 1 + (random >> 8) % 9 : 0;
            CHECK(draw_due(&lane) == 100 + held && lane.random == state);
            last += held == 9;
            now += held == 0;
        }
        CHECK((hold == 0) == (last == 0) && (hold == 100) == (now == 0));
    }
    begin_lane(100, 0);
    CHECK(draw_due(&lane) == 100);
    begin_lane(100, 1);
    CHECK(draw_due(&lane) == 101);
}

static void due(void)
{
    begin_lane(100, 9);
    put(&near, 102, 5);
    CHECK(sim_adapter_move(&lane) == 0 && lane.step == 101 && writes == 0);
    CHECK(sim_adapter_move(&lane) == 1 && lane.step == 102 && writes == 1 && queued() == 0);
}

static void so_many(void)
{
    begin_lane(100, 9);
    for (int i = 0; i < 33; i++)
        put(&near, 101, 5);
    CHECK(sim_adapter_move(&lane) == 16 && sim_adapter_move(&lane) == 16 && queued() == 1);
    CHECK(sim_adapter_move(&lane) == 1 && sim_adapter_move(&lane) == 0 && writes == 33 && queued() == 0);
}

/* --- The queue */

/* The first, one in the middle and the last leave it. */
static void leave(void)
{
    static const uint64_t orders[][3] = {{101, 102, 103}, {103, 102, 101}, {102, 101, 103}};
    for (int i = 0; i < 3; i++) {
        begin_lane(100, 9);
        for (int k = 0; k < 3; k++)
            put(&near, orders[i][k], 5);
        for (size_t left = 3; left-- > 0;)
            CHECK(sim_adapter_move(&lane) == 1 && queued() == left);
        put(&near, 0, 5);
        CHECK(queued() == 1 && sim_adapter_move(&lane) == 1 && queued() == 0);
    }
}

static void no_memory(void)
{
    begin_lane(100, 9);
    owned_left = 0;
    OWNED_FAILS(sim_get(&near, (void *)key, 7000, source, 5, &tokens[0]), "no memory");
    CHECK(queued() == 0);
}

/* Those to the same peer behind a fence, and flushes, wait; nobody else does. */
static void waits(void)
{
    begin_lane(100, 9);
    put(&near, 102, 1);
    put(&near, 101, 2);
    CHECK(sim_adapter_move(&lane) == 1 && queued() == 1 && lane.first->bytes == 1); /* no fence between the two */
    sim_order(&lane);
    put(&near, 0, 3);
    put(&far, 0, 4);
    flush(&far, 1, 0);
    flush(&near, 2, 0);
    lane.first->due = 104;
    CHECK(sim_adapter_move(&lane) == 2 && queued() == 3 && writes == 2 && only_end(1, false));
    CHECK(sim_adapter_move(&lane) == 0 && lane.step == 103);
    CHECK(sim_adapter_move(&lane) == 3 && queued() == 0 && writes == 4 && only_end(2, false));
}

static void flushes(void)
{
    begin_lane(100, 9);
    CHECK(sim_flush(&near, &tokens[0]) == TRANSPORT_DONE && queued() == 0 && wakes == 0);
    put(&near, 110, 5);
    flush(&near, 1, 105);
    for (lane.step = 105; lane.step < 109;)
        CHECK(sim_adapter_move(&lane) == 0);
    CHECK(sim_adapter_move(&lane) == 2 && only_end(1, false) && queued() == 0);
    CHECK(lateral_sim_counts.flushes == 2 && lateral_sim_counts.puts == 1);
}

/* --- Puts that fail */

static void move_failing(void)
{
    works = false;
    CHECK(sim_adapter_move(&lane) >= 1);
    works = true;
}

/* A flush that begins later tells of it, once, and so do those under way, of that peer alone. */
static void fail_before(void)
{
    begin_lane(100, 9);
    put(&near, 0, 5);
    put(&near, 200, 5);
    put(&far, 200, 5);
    move_failing();
    CHECK(ends == 0 && near.failed && !far.failed && queued() == 2);
    flush(&far, 1, 0);
    flush(&near, 2, 0);
    flush(&near, 3, 0);
    CHECK(!near.failed && !far.failed);
    lane.step = 199;
    CHECK(sim_adapter_move(&lane) == 5 && queued() == 0 && ends == 3);
    CHECK(sim_flush(&near, 0) == TRANSPORT_DONE && sim_flush(&far, 0) == TRANSPORT_DONE);
    near.failed = true;
    CHECK(sim_flush(&far, 0) == TRANSPORT_DONE && sim_flush(&near, 0) == TRANSPORT_FAILED);
    CHECK(sim_flush(&near, 0) == TRANSPORT_DONE);
}

static void fail_under_way(void)
{
    begin_lane(100, 9);
    put(&near, 0, 5);
    flush(&far, 1, 200);
    flush(&near, 2, 201);
    flush(&near, 3, 202);
    move_failing();
    CHECK(!near.failed && !far.failed && queued() == 3);
    lane.step = 199;
    CHECK(sim_adapter_move(&lane) == 1 && only_end(1, false));
    CHECK(sim_adapter_move(&lane) == 1 && only_end(2, true) && sim_adapter_move(&lane) == 1 && only_end(3, true));
    CHECK(queued() == 0 && sim_flush(&near, 0) == TRANSPORT_DONE);
}

#include "sim_adapter_each.h"

int main(void)
{
    draws();
    due();
    so_many();
    leave();
    no_memory();
    waits();
    flushes();
    fail_before();
    fail_under_way();
    one_put();
    one_get();
    one_atomic();
    at_once();
    begin_in_event();
    CHECK(owned_count == 0);
    return 0;
}
