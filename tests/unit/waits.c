/* How a thread waits and tests: how often it looks, when it yields, sleeps, and leaves a record of its wait, by a made-up clock. */
#include "waits_world.h"

/* Returns how often each has happened since, in this order; each up to 99. */
static int events(void)
{
    const int code = ((yields * 100 + looks) * 100 + idles) * 100 + pollers;
    yields = looks = idles = pollers = 0;
    return code;
}

enum { YIELD = 1000000, LOOK = 10000, IDLE = 100, POLLER = 1 };

/* --- Tests */

static void tests_that_find_nothing(void)
{
    uccs_misses = 0;
    for (int i = 1; i <= 512; i++) {
        uccs_missed();
        CHECK(events() == (i % 256 == 0 ? YIELD + IDLE : 0));
    }
    uccs_core.oversubscribed = 1; /* others want its core */
    uccs_missed();
    CHECK(events() == YIELD + IDLE);
    finds_idle = 1; /* it found something: it goes on */
    uccs_missed();
    CHECK(events() == IDLE);
    finds_idle = 0;
    finds_poller = uccs_pollers_there = 1;
    uccs_missed();
    CHECK(events() == IDLE + POLLER);
    finds_poller = 0;
    uccs_due = finds_look = 1;
    uccs_missed();
    CHECK(events() == LOOK + IDLE + POLLER);
    finds_look = 0;
    uccs_missed();
    CHECK(events() == YIELD + LOOK + IDLE + POLLER);
    uccs_due = uccs_pollers_there = uccs_core.oversubscribed = 0;
}

static void fetches(void)
{
    uccs_misses = 0;
    for (int i = 1; i <= 512; i++) {
        uccs_fetched();
        CHECK(events() == (i % 256 == 0 ? YIELD + IDLE : 0));
    }
    uccs_core.oversubscribed = 1;
    for (int i = 1; i <= 256; i++) {
        uccs_fetched();
        CHECK(events() == (i % 64 == 0 ? YIELD + IDLE : 0));
    }
    uccs_core.oversubscribed = 0;
}

/* While there are pollers and no work, tests that follow each other quickly omit most looks. */
static void omitted_looks(void)
{
    void (*const tests[])(void) = {uccs_missed, uccs_fetched};
    for (int which = 0; which < 2; which++) {
        uccs_misses = 1;
        uccs_omitted = 0;
        uccs_due_idle = 1;
        now += 1000000000;
        tests[which]();
        CHECK(events() == IDLE && uccs_omitted == 0); /* it came late */
        now += QUICK - 1;
        tests[which]();
        CHECK(events() == IDLE && uccs_omitted == SKIPPED);
        for (int i = SKIPPED; i-- > 0;) {
            tests[which]();
            CHECK(events() == 0 && uccs_omitted == (uint32_t)i);
        }
        now += (SKIPPED + 1) * QUICK - 1;
        tests[which]();
        CHECK(events() == IDLE && uccs_omitted == SKIPPED);
        uccs_due = 1; /* work comes first */
        tests[which]();
        CHECK(events() == LOOK + IDLE && uccs_omitted == SKIPPED);
        uccs_due = 0;
        for (int i = SKIPPED; i-- > 0;)
            tests[which]();
        now += (SKIPPED + 1) * QUICK;
        tests[which]();
        CHECK(events() == IDLE && uccs_omitted == 0);
        finds_idle = 1; /* more may come */
        tests[which]();
        CHECK(events() == IDLE && uccs_omitted == 0);
        finds_idle = 0;
        uccs_due = uccs_due_endless = 1; /* a poller that never ends */
        uccs_due_idle = 0;
        tests[which]();
        CHECK(events() == LOOK + IDLE && uccs_omitted == SKIPPED);
        tests[which]();
        CHECK(events() == 0);
        uccs_due = uccs_due_endless = uccs_omitted = 0;
    }
}

/* --- Waits */

static void naps(void)
{
    CHECK(uccs_wait_naps(0) == 0 && uccs_wait_naps(3) == 0 && uccs_wait_naps(4) == 1 && uccs_wait_naps(7) == 1);
    CHECK(uccs_wait_naps(8) == 2 && uccs_wait_naps(15) == 2 && uccs_wait_naps(16) == 3 && uccs_wait_naps(1024) == 9);
    uccs_core.naps = 2;
    CHECK(uccs_wait_sleep(50, 0) == 50 && uccs_wait_sleep(50, 7) == 50 && uccs_wait_sleep(50, 8) == 100);
    CHECK(uccs_wait_sleep(50, 15) == 100 && uccs_wait_sleep(50, 16) == 200 && uccs_wait_sleep(50, 24) == 200);
    CHECK(uccs_wait_sleep(50, 1000000) == 200);
    uccs_core.naps = 0;
    CHECK(uccs_wait_sleep(50, 1000) == 50);
}

static void spinning(void)
{
    struct uccs_wait wait = {0};
    uccs_core.spin = 1000;
    uccs_core.stingy = 0;
    uccs_core.quick_looks = 10;
    for (uint32_t i = 1; i <= 1000; i++) {
        uccs_pause(&wait);
        CHECK(wait.looks == i && events() == 0);
    }
    uccs_pause(&wait);
    CHECK(wait.looks == 1001 && events() == YIELD + IDLE);
    wait.looks = 4; /* work is due: a look at once */
    uccs_due = 1;
    uccs_pause(&wait);
    CHECK(events() == LOOK + IDLE && wait.looks == 5);
    finds_look = 1;
    uccs_pause(&wait);
    CHECK(events() == LOOK + IDLE && wait.looks == 5);
    finds_look = 0;
    finds_idle = 1;
    wait.looks = 1000;
    uccs_pause(&wait);
    CHECK(events() == LOOK + IDLE && wait.looks == 1000);
    finds_idle = 0;
    uccs_due = 0;
    uccs_core.stingy = 1; /* it lets time pass instead of some looks */
    wait.looks = 11;
    uccs_pause(&wait);
    CHECK(wait.looks == 11 + LOOKS_A_STOP && events() == 0);
    wait.looks = LINGERING - 1;
    uccs_pause(&wait);
    CHECK(wait.looks == LINGERING - 1 + LOOKS_A_STOP);
    wait.looks = LINGERING;
    uccs_pause(&wait);
    CHECK(wait.looks == LINGERING + 1);
    wait.looks = 0;
    uccs_pause(&wait);
    CHECK(wait.looks == 1);
    uccs_core.spin = 5;
    uccs_core.quick_looks = 100;
    for (uint32_t i = 2; i <= 5; i++) {
        uccs_pause(&wait);
        CHECK(wait.looks == i && events() == 0);
    }
    uccs_pause(&wait);
    CHECK(wait.looks == 6 && events() == YIELD + IDLE);
}

static void yielding(void)
{
    struct uccs_wait wait = {.looks = 3};
    uccs_core.spin = 5;
    CHECK(uccs_yield(&wait) == 0 && uccs_yield(&wait) == 0 && wait.looks == 5 && events() == 0);
    CHECK(uccs_yield(&wait) == 0 && wait.looks == 6 && events() == YIELD);
    uccs_pollers_there = finds_poller = 1; /* the program's pollers come first */
    CHECK(uccs_yield(&wait) == 0 && wait.looks == 6 && events() == POLLER);
    finds_poller = 0;
    CHECK(uccs_yield(&wait) == 0 && wait.looks == 7 && events() == YIELD + POLLER);
    uccs_pollers_there = 0;
    for (int i = 3; i <= 24; i++) { /* every eighth looks at the clock */
        wait.since = 0;
        uccs_yield(&wait);
        CHECK((wait.since != 0) == (i % YIELDS_A_STAY == 0));
    }
    (void)events();
    uccs_due = uccs_due_endless = 1; /* a look costs less than a yield */
    yield_takes = NOBODY - 1;
    CHECK(uccs_yield(&wait) == NOBODY - 1 && events() == YIELD);
    for (int i = 0; i < LOOKS_ALONE; i++)
        CHECK(uccs_yield(&wait) == 0 && events() == 0);
    yield_takes = NOBODY; /* somebody has had the core */
    CHECK(uccs_yield(&wait) == NOBODY && events() == YIELD && uccs_yield(&wait) == NOBODY && events() == YIELD);
    uccs_due = uccs_due_endless = 0;
    yield_takes = 0;
}

static void sleeping(void)
{
    struct uccs_wait wait = {.since = now};
    uccs_core.spin = 0;
    uccs_core.oversubscribed = 1;
    uccs_core.naps = 1;
    for (int i = 1; i < YIELDS_BEFORE_SLEEP; i++)
        CHECK(uccs_yield(&wait) == 0 && slept.tv_nsec == 0 && events() == YIELD);
    for (int i = 0; i < 24; i++) {
        const long wanted = i < SLEEPS_ALIKE ? SLEEP_NANOSECONDS : 2 * SLEEP_NANOSECONDS;
        CHECK(uccs_yield(&wait) == (uint64_t)wanted && slept.tv_nsec == wanted && slept.tv_sec == 0 && events() == 0);
    }
    wait.looks = UINT32_MAX - 1; /* it never begins anew */
    CHECK(uccs_yield(&wait) == 2 * SLEEP_NANOSECONDS && wait.looks == UINT32_MAX - 1);
    uccs_core.oversubscribed = 0; /* with a core of its own it goes on yielding */
    CHECK(uccs_yield(&wait) == 0 && events() == YIELD);
    uccs_core.naps = 0;
    wait.looks = 1;
    uccs_core.oversubscribed = 1;
    CHECK(uccs_yield(&wait) == 0 && events() == YIELD);
    uccs_core.oversubscribed = 0;
}

static void opening(void)
{
    uccs_core.stingy = 5;
    uccs_wait_open();
    CHECK(uccs_core.quick_looks == (uccs_core.stingy ? QUICK_LOOKS : UINT32_MAX));
    uccs_due = uccs_due_endless = 3;
    uccs_wait_work_finished(); /* there is none */
    CHECK(events() == 0);
    uccs_due_endless = 0;
    uccs_due = 1;
    last_look = 3;
    CHECK((uccs_wait_work_finished(), uccs_due == 0 && looks == 3));
    last_look = 0;
    (void)events();
}

/* --- Records of waits that last */

static uint64_t value_at(const void *at, int kind)
{
    struct node_awaited on = uccs_await_variable(at, kind, "!=", 7);
    CHECK(on.object == (uintptr_t)at && on.number == 7 && on.compare[0] == '!' && on.compare[1] == '=');
    CHECK(on.about == NODE_ABOUT_VARIABLE && on.kind == kind);
    return value_of(&on);
}

static void values(void)
{
    static const struct {
        int16_t i16, u16;
    } halves = {-2, -3};
    static const int32_t words[] = {-4, -5};
    static const int64_t large = INT64_MIN + 6;
    CHECK(value_at(&halves.i16, KIND_I16) == (uint64_t)-2 && value_at(&halves.u16, KIND_U16) == 0xfffd);
    CHECK(value_at(&words[0], KIND_I32) == (uint64_t)-4 && value_at(&words[1], KIND_U32) == 0xfffffffb);
    CHECK(value_at(&large, KIND_I64) == (uint64_t)large && value_at(&large, KIND_U64) == (uint64_t)large);
    CHECK(value_of(&(struct node_awaited){.about = NODE_ABOUT_PES}) == 0);
    const struct node_awaited one = uccs_await_pe(9);
    CHECK(one.about == NODE_ABOUT_PES && one.start == 9 && one.stride == 1 && one.size == 1);
}

static uint64_t variable = 11;

static void forget_stays(uint32_t gives)
{
    memset(&stays, 0, sizeof stays);
    stays.gives = gives;
    rings = 0;
}

/* A wait for a variable: after a millisecond its end is told, after half a second it leaves a record. */
static void recorded(void)
{
    struct uccs_wait wait = {.on = uccs_await_variable(&variable, KIND_U64, "==", 12)};
    const uint64_t start = now;
    forget_stays(70005);
    uccs_stay(&wait);
    CHECK(wait.since == start && !wait.stay);
    now = start + LASTS;
    uccs_stay(&wait);
    CHECK(!wait.stay);
    now++;
    uccs_stay(&wait);
    CHECK(wait.stay == UCCS_LASTS && stays.begun == 0);
    now = start + RTE_STAY_AFTER;
    uccs_stay(&wait);
    CHECK(wait.stay == UCCS_LASTS && stays.begun == 0);
    now++;
    uccs_stay(&wait);
    CHECK(wait.stay == 70005 && stays.begun == 1 && stays.since == start && stays.value == 11 && stays.looked == 1);
    CHECK(stays.on.about == NODE_ABOUT_VARIABLE && stays.on.object == (uintptr_t)&variable && !stays.on.may_end);
    CHECK(stays.last == 70005 && stays.text[0] == 0);
    variable = 13;
    for (int i = 1; i <= 2 * LOOKS_A_RENEWAL; i++)
        uccs_stay(&wait);
    CHECK(stays.begun == 1 && stays.renewed == 0 && stays.looked == 1 + 2 * LOOKS_A_RENEWAL && stays.value == 13);
    CHECK(stays.launcher == 2);
    uccs_wait_end(&wait);
    CHECK(stays.ended == 1 && stays.last == 70005 && wait.stay == 0 && rings == 0);
    uccs_wait_end(&wait);
    CHECK(stays.ended == 1);
}

static int tellings;

static void tell(const void *what, struct uccs_told *told)
{
    CHECK(what == &variable && told->value == 0 && told->text[0] == 0 && told->on.about == 0);
    told->on = uccs_await_pe(4);
    told->value = (uint64_t)++tellings;
    strcpy(told->text, tellings == 1 ? "first" : "later");
}

/* A wait that a function tells about: it is asked again now and then. */
static void told_by_function(void)
{
    struct uccs_wait wait = {.since = now, .on = uccs_await_told(tell, &variable)};
    forget_stays(6);
    now += RTE_STAY_AFTER + 1;
    uccs_pollers_there = 1; /* they may end the wait */
    uccs_stay(&wait);
    uccs_pollers_there = 0;
    CHECK(stays.begun == 1 && strcmp(stays.text, "first") == 0 && stays.value == 1 && wait.stay == 6);
    CHECK(stays.on.about == NODE_ABOUT_PES && stays.on.start == 4 && stays.on.may_end == 1);
    for (int i = 1; i <= 2 * LOOKS_A_RENEWAL; i++)
        uccs_stay(&wait);
    CHECK(stays.renewed == 2 && stays.looked == 3 && strcmp(stays.text, "later") == 0 && stays.value == 3);
    CHECK(stays.on.start == 4 && stays.on.may_end == 1 && stays.launcher == 2);
    uccs_wait_end(&wait);
    CHECK(stays.ended == 1);
}

/* There is no room for a record; a progress thread is told of the end. */
static void no_record(void)
{
    struct uccs_wait wait = {.since = now};
    forget_stays(0);
    now += RTE_STAY_AFTER + 1;
    uccs_stay(&wait);
    uccs_stay(&wait);
    CHECK(stays.begun == 2 && stays.looked == 0 && wait.stay == UCCS_LASTS);
    uccs_progress_on = true;
    uccs_wait_end(&wait);
    CHECK(stays.ended == 0 && rings == 1 && wait.stay == 0);
    wait.stay = UCCS_LASTS;
    uccs_progress_me = true;
    uccs_wait_end(&wait);
    CHECK(rings == 1 && wait.stay == 0);
    uccs_progress_on = uccs_progress_me = false;
}

/* --- Waits that are told of after some seconds: the first looks read the clock, then few */

static void late_waits(void)
{
    struct uccs_late late = {0};
    now = 1000 * CLOCK_SECOND;
    for (int i = 1; i < FIRST_LOOKS; i++)
        CHECK(!uccs_late_now(&late));
    now += 3 * CLOCK_SECOND;
    CHECK(!uccs_late_now(&late) && late.looks == FIRST_LOOKS); /* three are not more than three */
    now += CLOCK_SECOND;
    for (int i = FIRST_LOOKS + 1; i < LATER_LOOKS; i++)
        CHECK(!uccs_late_now(&late));
    CHECK(uccs_late_now(&late) && late.told);
    for (int i = 0; i < 2 * LATER_LOOKS; i++)
        CHECK(!uccs_late_now(&late)); /* once */
    late = (struct uccs_late){0};
    for (int i = 1; i < FIRST_LOOKS; i++)
        CHECK(!uccs_late_now(&late));
    now += 4 * CLOCK_SECOND;
    CHECK(uccs_late_now(&late));
    patience = 0; /* never */
    late = (struct uccs_late){0};
    CHECK(!uccs_late_now(&late));
    now += 1000 * CLOCK_SECOND;
    CHECK(!uccs_late_now(&late));
    uccs_late_handler(5, 6, 7);
    CHECK(strstr(said, "message of PE 5 waits for handler 6 of context 7,"));
}

int main(void)
{
    uccs_core.heap_start = 0x1000;
    uccs_core.heap_bytes = 0x200;
    uccs_poll_table[UCCS_POLL_IDLE][0] = idle;
    tests_that_find_nothing();
    fetches();
    omitted_looks();
    naps();
    spinning();
    yielding();
    sleeping();
    opening();
    values();
    recorded();
    told_by_function();
    no_record();
    late_waits();
    return 0;
}
