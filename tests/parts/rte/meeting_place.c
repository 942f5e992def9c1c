/* The barrier of a node, step by step: who is the last to arrive and what it opens, how long the others sleep before they leave a
 * record, and when one that gives up takes its arrival back. Sleep, clock and records are made up. */
#include "base/clock.h"
#include "base/futex.h"
#include "rte/rte.h"
#include "rte/stay.h"

#include "unit/check.h"

static int sleep_made_up(const uint32_t *word, uint32_t seen, const struct timespec *end);
static int wake_made_up(const uint32_t *word, int most);
static uint64_t clock_made_up(void);
static uint32_t stay_made_up(const struct node_awaited *on, const char *text, uint64_t since, uintptr_t heap,
                             size_t heap_bytes);
static void end_made_up(uint32_t stay);
#define futex_sleep sleep_made_up
#define futex_wake wake_made_up
#define clock_nanoseconds clock_made_up
#define rte_stay_begin stay_made_up
#define rte_stay_end end_made_up
#include "rte/barrier.c"

static struct node node;
static uint64_t now;
static const struct timespec limit = {.tv_sec = 77};
static const struct timespec *end_seen; /* of the long sleep */
static int answers[2], sleeps, wakes, begun, ended;
static uint32_t stay; /* the number of the record */
static void (*meanwhile)(void);
static struct node_awaited record;

static int wake_made_up(const uint32_t *word, int most)
{
    CHECK(word == &node.round && most == INT_MAX);
    wakes++;
    return 0;
}

static uint64_t clock_made_up(void)
{
    return now;
}

/* The first sleep of a wait is short, the second as long as the caller says. */
static int sleep_made_up(const uint32_t *word, uint32_t seen, const struct timespec *end)
{
    CHECK(word == &node.round && seen == 9 && sleeps < 8);
    if (sleeps % 2 == 0) {
        const uint64_t until = now + RTE_STAY_AFTER;
        CHECK((uint64_t)end->tv_sec == until / 1000000000 && (uint64_t)end->tv_nsec == until % 1000000000);
    } else {
        CHECK(begun == 1 + sleeps / 2);
        end_seen = end;
        if (meanwhile)
            meanwhile();
    }
    return answers[sleeps++ % 2];
}

static uint32_t stay_made_up(const struct node_awaited *on, const char *text, uint64_t since, uintptr_t heap,
                             size_t heap_bytes)
{
    CHECK(!text && since == now && !heap && !heap_bytes && sleeps % 2 == 1);
    record = *on;
    begun++;
    return stay;
}

static void end_made_up(uint32_t number)
{
    CHECK(number == stay && number && sleeps % 2 == 0);
    ended++;
}

static void begin(uint32_t size, uint32_t arrived, int first, int second)
{
    node = (struct node){.size = size, .first = 70001, .round = 9, .arrived = (uint64_t)9 << 32 | arrived};
    rte.node = &node;
    answers[0] = first, answers[1] = second;
    sleeps = wakes = begun = ended = 0;
    stay = 70003;
    meanwhile = 0;
    end_seen = 0;
    now = UINT64_C(5000000000) + 700000000; /* what the short sleep ends at lies in the next second */
}

/* ---- sleeps ---- */

static void short_sleeps(void)
{
    begin(2, 1, 0, ETIMEDOUT);
    CHECK(sleep_and_tell(&node, 9, &limit) && sleeps == 1 && !begun && !ended);
    begin(2, 1, EAGAIN, ETIMEDOUT);
    CHECK(sleep_and_tell(&node, 9, &limit) && sleeps == 1 && !begun);
    begin(2, 1, EINTR, ETIMEDOUT);
    CHECK(sleep_and_tell(&node, 9, &limit) && sleeps == 1 && !begun);
}

static void long_sleeps(void)
{
    begin(70002, 1, ETIMEDOUT, 0);
    CHECK(sleep_and_tell(&node, 9, &limit) && sleeps == 2 && begun == 1 && ended == 1 && end_seen == &limit);
    CHECK(record.about == NODE_ABOUT_PES && record.start == 70001 && record.stride == 1 && record.size == 70002);
    CHECK(record.object == UINT64_MAX && record.number == 9 && !record.may_end);
    begin(2, 1, ETIMEDOUT, EAGAIN);
    node.scattered = 1;
    CHECK(sleep_and_tell(&node, 9, 0) && ended == 1 && !end_seen && record.about == NODE_ABOUT_NOTHING);
    begin(2, 1, ETIMEDOUT, ETIMEDOUT);
    CHECK(!sleep_and_tell(&node, 9, &limit) && ended == 1);
    begin(2, 1, ETIMEDOUT, 0);
    stay = 0; /* no room for a record */
    CHECK(sleep_and_tell(&node, 9, &limit) && begun == 1 && !ended);
}

/* ---- giving up ---- */

static void gives_up(void)
{
    begin(70001, 70000, 0, 0);
    CHECK(barrier_withdraw(&node, 9) && node.arrived == ((uint64_t)9 << 32 | 69999));
    begin(2, 1, 0, 0);
    CHECK(barrier_withdraw(&node, 9) && node.arrived == (uint64_t)9 << 32);
    begin(70001, 70001, 0, 0); /* all have come; the last one opens the round soon */
    CHECK(!barrier_withdraw(&node, 9) && node.arrived == ((uint64_t)9 << 32 | 70001));
    begin(2, 1, 0, 0); /* of another round */
    CHECK(!barrier_withdraw(&node, 8) && !barrier_withdraw(&node, 10) && (uint32_t)node.arrived == 1);
}

/* ---- meetings ---- */

static int lasts;

static void is_last(void *argument)
{
    CHECK(argument == &lasts && node.round == 9 && !wakes);
    lasts++;
}

static void opens_round(uint32_t size)
{
    begin(size, size - 1, 0, 0);
    rte_node_barrier_last(is_last, &lasts);
    CHECK(lasts == 1 && node.round == 10 && node.arrived == (uint64_t)10 << 32 && wakes == 1 && !sleeps);
    lasts = 0;
    begin(size, size - 1, 0, 0);
    rte_node_barrier(); /* with nothing for the last to do */
    CHECK(node.round == 10 && node.arrived == (uint64_t)10 << 32 && wakes == 1 && !sleeps);
    begin(size, size - 1, 0, 0);
    CHECK(rte_node_barrier_within(5) && node.round == 10 && wakes == 1 && !sleeps);
    node.arrived = (uint64_t)(node.round = UINT32_MAX) << 32 | (size - 1);
    rte_node_barrier();
    CHECK(node.round == 0 && node.arrived == 0); /* rounds begin anew */
}

static void another_opens(void)
{
    node.arrived = (uint64_t)10 << 32;
    node.round = 10;
}

static void all_have_come(void)
{
    if (sleeps < 2)
        node.arrived = (uint64_t)9 << 32 | 3;
    else
        another_opens();
}

static void sleeps_until_it_opens(void)
{
    begin(3, 0, ETIMEDOUT, 0);
    meanwhile = another_opens;
    rte_node_barrier_last(is_last, &lasts);
    CHECK(lasts == 0 && sleeps == 2 && !wakes && node.round == 10 && node.arrived == (uint64_t)10 << 32 && !end_seen);
    begin(3, 1, ETIMEDOUT, ETIMEDOUT); /* it is too late, and nobody else has come */
    CHECK(!rte_node_barrier_within(5) && sleeps == 2 && node.arrived == ((uint64_t)9 << 32 | 1) && node.round == 9);
    CHECK(end_seen && !wakes);
    begin(3, 1, ETIMEDOUT, ETIMEDOUT); /* too late to give up: from now on without limit */
    meanwhile = all_have_come;
    CHECK(rte_node_barrier_within(5) && sleeps == 4 && !end_seen && node.round == 10);
}

static const struct timespec *soon_before, *soon_after;

static void note_end(void)
{
    static struct timespec before, after;
    before = *end_seen;
    clock_gettime(CLOCK_MONOTONIC, &after);
    soon_before = &before;
    soon_after = &after;
}

/* The limit lies so many seconds behind the call. */
static void limits(void)
{
    struct timespec before;
    begin(3, 0, ETIMEDOUT, ETIMEDOUT);
    meanwhile = note_end;
    clock_gettime(CLOCK_MONOTONIC, &before);
    CHECK(!rte_node_barrier_within(1000));
    CHECK(soon_before->tv_sec >= before.tv_sec + 1000 && soon_before->tv_sec <= soon_after->tv_sec + 1000);
}

int main(void)
{
    short_sleeps();
    long_sleeps();
    gives_up();
    opens_round(1);
    opens_round(3);
    opens_round(70001);
    sleeps_until_it_opens();
    limits();
    return 0;
}
