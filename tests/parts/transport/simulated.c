/* The network that tests take for an adapter: it moves exactly the bytes of a key's memory, refuses all others, does atomics of both
 * sizes, keeps its order, and tells flushes what has failed. In one process, which is its own peer. */
#include "transport/around.c"
#include "transport/lent.c"

#include "unit/check.h"

#include <poll.h>

#define next_random sim_random
#define transport_load_behind test_behind
static const char *test_behind(const char *outer, const struct transport **inner);

#include "transport/sim/key.c"
#include "transport/sim/plan.c"
#include "transport/sim/state.c"

#include "transport/sim/adapter.c"

#include "transport/sim/sim.c"

/* --- The transport behind it, and the events */

static const struct transport_events *inner_events;
static unsigned finishes, fails, breaks, arrivals;
static void *last_token, *awaited;
static int awaited_failed; /* -1: it has not ended */
static const char *no_lane;
static bool no_peer, inner_drained = true;
static int inner_looks;

static const char *inner_open(const struct transport_events *told, int pe, int npes, unsigned onesided)
{
    CHECK(told && pe == 3 && npes == 5 && onesided == 0);
    inner_events = told;
    return 0;
}

static const char *inner_open_lane(void *owner, void **lane)
{
    *lane = owner;
    return no_lane;
}

static void *inner_connect(void *lane, int pe, const void *at, size_t bytes)
{
    CHECK(pe == 3 && bytes == 4 && memcmp(at, "here", 4) == 0);
    return no_peer ? 0 : lane;
}

static int inner_file = -1;

static int inner_descriptor(void *lane)
{
    (void)lane;
    return inner_file;
}

static enum transport_status inner_send(void *to, const void *header, size_t header_bytes, const void *data,
                                        size_t bytes, void *token)
{
    CHECK(to && strcmp(header, "header") == 0 && header_bytes == 7 && strcmp(data, "data") == 0 && bytes == 5);
    return token == &inner_file ? TRANSPORT_PENDING : TRANSPORT_DONE;
}

static int inner_progress(void *lane)
{
    (void)lane;
    return inner_looks;
}

static int inner_arm(void *lane)
{
    (void)lane;
    return 1;
}

static int inner_is_drained(void *lane)
{
    (void)lane;
    return inner_drained;
}

static int closes, loads;
static void inner_close(void)
{
    closes++;
}

static const struct transport behind = {.name = "behind",
                                        .open = inner_open,
                                        .open_lane = inner_open_lane,
                                        .connect = inner_connect,
                                        .send = inner_send,
                                        .descriptor = inner_descriptor,
                                        .progress = inner_progress,
                                        .arm = inner_arm,
                                        .drained = inner_is_drained,
                                        .close = inner_close};

static const char *test_behind(const char *outer, const struct transport **found)
{
    CHECK(strcmp(outer, "sim") == 0);
    loads++;
    *found = &behind;
    return 0;
}

static void is_finished(void *token, int failed)
{
    finishes++;
    fails += failed != 0;
    last_token = token;
    if (token == awaited)
        awaited_failed = failed;
}

static void is_broken(void *owner, int pe, const char *why)
{
    CHECK(owner == &finishes && pe == 4 && strcmp(why, "gone") == 0);
    breaks++;
}

static void has_arrived(void *owner, const struct transport_message *message)
{
    CHECK(owner == &finishes && message->bytes == 9);
    arrivals++;
}

static const struct transport_events told = {has_arrived, is_finished, is_broken};
static void *lane, *peer;

static void begin_with(const char *settings)
{
    setenv("LATERAL_SIM", settings, 1);
    CHECK(!lateral_transport.open(&told, 3, 5, TRANSPORT_ALONE));
    CHECK(!lateral_transport.open_lane(&finishes, &lane));
    peer = lateral_transport.connect(lane, 3, "here", 4);
    CHECK(peer);
    finishes = fails = 0;
}

/* --- Settings */

static void settings(void)
{
    struct sim_plan plan;
    CHECK(!sim_plan_read(0, &plan) && plan.seed == 1 && plan.hold == 0 && plan.steps == 20 && plan.shares == 1 << 20);
    CHECK(plan.words == 12 && plan.order == 0 && plan.reach == 0);
    CHECK(!sim_plan_read("seed=5000000000,hold=2,steps=3,order=4,shares=5,words=6,,reach=7", &plan));
    CHECK(plan.seed == UINT64_C(5000000000) && plan.hold == 2 && plan.steps == 3 && plan.order == 4);
    CHECK(plan.shares == 5 && plan.words == 6 && plan.reach == 7);
    CHECK(strstr(sim_plan_read("hold=", &plan), "a number is missing"));
    CHECK(strstr(sim_plan_read("hold=7x", &plan), "a number is missing"));
    CHECK(strstr(sim_plan_read("hole=7", &plan), "takes seed"));
    CHECK(strstr(sim_plan_read("steps=1,hold", &plan), "LATERAL_SIM: words look like seed=3"));
    CHECK(strcmp(name_behind("sim:fault:ucx", "sim"), "fault:ucx") == 0);
    CHECK(strcmp(name_behind("sim:fault:ucx", "fault"), "ucx") == 0);
    CHECK(strcmp(name_behind("simx:sim:tcp", "sim"), "tcp") == 0);
    CHECK(!name_behind("sim", "sim") && !name_behind("ucx", "sim") && !name_behind(0, "sim"));
}

static void able(void)
{
    const unsigned all = TRANSPORT_KNOWN | TRANSPORT_ONESIDED | TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE;
    begin_with("words=4");
    CHECK(lateral_transport.able(peer) == all && lateral_transport.atomics(peer, 4) == TRANSPORT_ATOMICS_ALL);
    CHECK(lateral_transport.atomics(peer, 8) == 0);
    lateral_transport.close();
    begin_with("order=1,words=8");
    CHECK(lateral_transport.able(peer) == (all | TRANSPORT_ORDERS) && lateral_transport.atomics(peer, 4) == 0);
    CHECK(lateral_transport.atomics(peer, 8) == TRANSPORT_ATOMICS_ALL);
    lateral_transport.close();
    begin_with("reach=1");
    CHECK(lateral_transport.able(peer) == (all | TRANSPORT_REACHES));
    lateral_transport.close();
    no_lane = "no room";
    CHECK(strcmp(lateral_transport.open_lane(0, &lane), "no room") == 0);
    no_lane = 0;
    begin_with("");
    no_peer = true;
    CHECK(!lateral_transport.connect(lane, 3, "here", 4));
    no_peer = false;
    lateral_transport.close();
}

/* What the transport behind it raises. */
static void passes_on(void)
{
    const struct transport_message message = {.bytes = 9};
    begin_with("");
    const uint64_t handled = lateral_sim_counts.handled;
    inner_events->broken(lane, 4, "gone");
    inner_events->arrived(lane, &message);
    inner_events->finished(&closes, 1);
    CHECK(breaks == 1 && arrivals == 1 && finishes == 1 && fails == 1 && last_token == &closes);
    CHECK(lateral_sim_counts.handled == handled + 1);
    closes = 0;
    lateral_transport.close();
    CHECK(closes == 1);
}

/* --- Memory and keys */

static _Alignas(8) char memory[64];
static char bytes[64];

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 200; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Ends the life. What it shared would stay, since peers may still look at it. */
static void end_with(void *shared)
{
    lateral_transport.close();
    free(shared);
}

static struct sim_key *key_of(char *start, size_t length, void **shared)
{
    char packed[TRANSPORT_KEY];
    size_t room = sizeof packed;
    *shared = lateral_transport.share(start, length);
    CHECK(*shared && lateral_transport.pack(*shared, packed, &room) == 0 && room == sizeof(struct sim_key));
    CHECK(lateral_transport.pack(*shared, packed, &room) == 0);
    size_t little = room - 1;
    CHECK(lateral_transport.pack(*shared, packed, &little) == -1 && little == room);
    CHECK(!lateral_transport.unpack(peer, packed, room - 1) && !lateral_transport.unpack(peer, packed, room + 1));
    CHECK(!lateral_transport.unpack(peer, packed, 0));
    return lateral_transport.unpack(peer, packed, room);
}

static uint64_t at(size_t offset)
{
    return (uint64_t)(uintptr_t)memory + offset;
}

static void keys(void)
{
    void *shared, *other;
    begin_with("shares=2");
    const int before = open_files();
    struct sim_key *key = key_of(memory + 8, 32, &shared);
    CHECK(open_files() != before);
    const uint64_t refused = lateral_sim_counts.refused;
    for (size_t from = 7; from <= 41; from++)
        for (size_t length = 0; length <= 34; length++) {
            const bool within = from >= 8 && from + length <= 40;
            memset(memory, 'm', sizeof memory);
            memset(bytes, 'b', sizeof bytes);
            CHECK(lateral_transport.put(peer, key, at(from), bytes, length, 0) ==
                  (within ? TRANSPORT_DONE : TRANSPORT_FAILED));
            for (size_t i = 0; i < sizeof memory; i++)
                CHECK(memory[i] == (within && i >= from && i < from + length ? 'b' : 'm'));
            CHECK(lateral_transport.get(peer, key, at(from), bytes, length, 0) ==
                  (within ? TRANSPORT_DONE : TRANSPORT_FAILED));
        }
    CHECK(lateral_sim_counts.refused > refused);
    struct sim_key *second = key_of(memory, 8, &other);
    CHECK(second && !lateral_transport.share(memory, 8)); /* there may be two */
    lateral_transport.withdraw(shared);
    CHECK(lateral_transport.get(peer, key, at(8), bytes, 8, 0) == TRANSPORT_FAILED);
    CHECK(lateral_transport.put(peer, key, at(8), bytes, 8, 0) == TRANSPORT_FAILED);
    CHECK(lateral_transport.get(peer, second, at(0), bytes, 8, 0) == TRANSPORT_DONE);
    CHECK(lateral_transport.flush(peer, 0) == TRANSPORT_DONE); /* the put has said so itself */
    lateral_transport.forget(key);
    lateral_transport.forget(second);
    CHECK(open_files() == before);
    end_with(shared);
    free(other);
}

static void atomics(void)
{
    static const struct {
        enum transport_atomic what;
        uint64_t old, operand, compare, value;
    } rows[] = {{TRANSPORT_SWAP, 0x1234567890abcdef, 0xfedcba0987654321, 0, 0xfedcba0987654321},
                {TRANSPORT_CSWAP, 0x1234567890abcdef, 7, 0x1234567890abcdef, 7},
                {TRANSPORT_CSWAP, 0x1234567890abcdef, 7, 0x1234567890abcdee, 0x1234567890abcdef},
                {TRANSPORT_CSWAP, 0x1234567890abcdef, 7, 0x0234567890abcdef, 0x1234567890abcdef},
                {TRANSPORT_ADD, 0xffffffff, 1, 0, 0x100000000},
                {TRANSPORT_AND, 0xff00ff00ff, 0x0f0f0f0f0f, 0, 0x0f000f000f},
                {TRANSPORT_OR, 0xff00ff00ff, 0x0f0f0f0f0f, 0, 0xff0fff0fff},
                {TRANSPORT_XOR, 0xff00ff00ff, 0x0f0f0f0f0f, 0, 0xf00ff00ff0}};
    void *shared;
    begin_with("");
    struct sim_key *key = key_of(memory, 32, &shared);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t words[3] = {1, rows[i].old, 3}, old[2] = {0, 9};
        struct transport_word word = {rows[i].what, 8, rows[i].operand, rows[i].compare};
        memcpy(memory, words, sizeof words);
        CHECK(lateral_transport.atomic(peer, key, at(8), &word, old, 0) == TRANSPORT_DONE);
        memcpy(words, memory, sizeof words);
        CHECK(words[0] == 1 && words[1] == rows[i].value && words[2] == 3 && old[0] == rows[i].old && old[1] == 9);
        uint32_t half[3] = {1, (uint32_t)rows[i].old, 3}, before[2] = {0, 9};
        word = (struct transport_word){rows[i].what, 4, (uint32_t)rows[i].operand | UINT64_C(5) << 32,
                                       (uint32_t)rows[i].compare | UINT64_C(6) << 32};
        memcpy(memory, half, sizeof half);
        CHECK(lateral_transport.atomic(peer, key, at(4), &word, before, 0) == TRANSPORT_DONE);
        memcpy(half, memory, sizeof half);
        const bool low = rows[i].what == TRANSPORT_CSWAP && (uint32_t)rows[i].compare == (uint32_t)rows[i].old;
        CHECK(half[0] == 1 && half[1] == (low ? 7 : (uint32_t)rows[i].value) && half[2] == 3);
        CHECK(before[0] == (uint32_t)rows[i].old && before[1] == 9);
    }
    const struct transport_word add = {TRANSPORT_ADD, 8, 1, 0};
    const uint64_t fetches = lateral_sim_counts.fetches, all = lateral_sim_counts.atomics;
    CHECK(lateral_transport.atomic(peer, key, at(12), &add, 0, 0) == TRANSPORT_FAILED);
    CHECK(lateral_transport.atomic(peer, key, at(32), &add, bytes, 0) == TRANSPORT_FAILED);
    CHECK(lateral_transport.atomic(peer, key, at(24), &add, 0, 0) == TRANSPORT_DONE);
    CHECK(lateral_sim_counts.fetches == fetches + 1 && lateral_sim_counts.atomics == all + 3);
    lateral_transport.forget(key);
    end_with(shared);
}

/* --- Operations that are held back */

static int move_on(void)
{
    return lateral_transport.progress(lane);
}

/* Puts a letter at the place; its source is free at once or soon. */
static void put(struct sim_key *key, size_t offset, char letter)
{
    static char letters[256];
    letters[(unsigned char)letter] = letter;
    (void)lateral_transport.put(peer, key, at(offset), &letters[(unsigned char)letter], 1, &letters);
}

/* Who sleeps wakes up while something is held back. */
static bool is_readable(void)
{
    struct pollfd file = {.fd = lateral_transport.descriptor(lane), .events = POLLIN};
    return poll(&file, 1, 0) == 1;
}

static void until_flushed(int token, bool failed)
{
    static int tokens[8];
    const bool empty = !((struct sim_lane *)lane)->first;
    const enum transport_status status = lateral_transport.flush(peer, &tokens[token]);
    CHECK(status == (empty ? TRANSPORT_DONE : TRANSPORT_PENDING) && !(empty && failed));
    if (empty)
        return;
    CHECK(is_readable() && !lateral_transport.arm(lane) && !lateral_transport.drained(lane));
    awaited = &tokens[token];
    awaited_failed = -1;
    for (int i = 0; awaited_failed < 0; i++) {
        CHECK(i < 1000);
        (void)move_on();
    }
    CHECK(awaited_failed == failed);
    CHECK(!((struct sim_lane *)lane)->first && lateral_transport.arm(lane) == 1 && !is_readable());
}

static void held(void)
{
    void *shared;
    begin_with("hold=100,steps=5,order=1,seed=7");
    struct sim_key *key = key_of(memory, sizeof memory, &shared);
    for (int round = 0; round < 40; round++) {
        memset(memory, 'm', sizeof memory);
        for (size_t i = 0; i < 20; i++)
            put(key, i, 'a');
        CHECK(memory[0] == 'm' && memory[19] == 'm');
        until_flushed(0, false);
        for (size_t i = 0; i < 20; i++)
            CHECK(memory[i] == 'a');
        put(key, 0, 'b');
        lateral_transport.order(lane);
        put(key, 0, 'c');
        lateral_transport.order(lane);
        put(key, 0, 'd');
        for (char seen = 'a'; memory[0] != 'd'; seen = memory[0]) {
            (void)move_on();
            CHECK(memory[0] >= seen);
        }
        until_flushed(1, false);
        CHECK(memory[0] == 'd');
    }
    put(key, sizeof memory, 'x'); /* not there: the flush that covers it fails, and no other */
    until_flushed(2, true);
    put(key, 0, 'y');
    until_flushed(3, false);
    put(key, sizeof memory, 'x');
    put(key, 1, 'z');
    while (((struct sim_lane *)lane)->first) /* it fails before anybody asks */
        (void)move_on();
    CHECK(lateral_transport.flush(peer, 0) == TRANSPORT_FAILED && lateral_transport.flush(peer, 0) == TRANSPORT_DONE);
    uint64_t old = 0;
    const struct transport_word add = {TRANSPORT_ADD, 8, 1, 0};
    memset(memory, 0, 8);
    CHECK(lateral_transport.atomic(peer, key, at(0), &add, &old, &old) == TRANSPORT_PENDING);
    CHECK(lateral_transport.get(peer, key, at(8), bytes, 8, bytes) == TRANSPORT_PENDING);
    const unsigned before = finishes;
    until_flushed(4, false);
    CHECK(finishes == before + 3 && memory[0] == 1 && old == 0 && memcmp(bytes, memory + 8, 8) == 0);
    CHECK(lateral_transport.atomic(peer, key, at(60), &add, &old, &old) == TRANSPORT_PENDING);
    until_flushed(5, false); /* its end has told */
    CHECK(lateral_transport.atomic(peer, key, at(60), &add, 0, &old) == TRANSPORT_PENDING);
    until_flushed(6, true);
    inner_looks = 2;
    CHECK(move_on() == 2 && lateral_transport.drained(lane));
    inner_drained = false;
    CHECK(!lateral_transport.drained(lane));
    lateral_transport.forget(key);
    end_with(shared);
}

#include "simulated_lanes.h"

int main(void)
{
    loads_once();
    settings();
    able();
    passes_on();
    keys();
    atomics();
    const int before = open_files();
    held();
    lanes_of_it();
    CHECK(open_files() == before); /* all lanes are closed */
    return 0;
}
