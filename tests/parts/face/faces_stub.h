/* What lies under the public calls that faces.c tests, as a trace and as the test wants it. */
#ifndef TESTS_TRUST_FACES_STUB_H
#define TESTS_TRUST_FACES_STUB_H

#include "parts/logged.h"

#define uccs_request_done_slow test_done_slow
#define uccs_request_materialise test_materialise
#define uccs_request_free test_free
#define uccs_request_merge test_merge
#define uccs_progress test_progress
#define uccs_am_serve test_serve
#define uccs_queue_make test_queue_make
#define uccs_queue_abandon test_queue_abandon
#define uccs_queue_take test_queue_take
#define rte_stay_begin test_stay_begin
#define rte_stay_end test_stay_end
#define uccs_counter_create test_counter_create
#define uccs_counter_release test_counter_release
#define uccs_counter_agree test_counter_agree
#define uccs_counter_open_here test_counter_here
#define uccs_far_counter_clear test_counter_clear
#define uccs_coll_meet test_meet
#define uccs_far_quiet_all test_far_quiet
#define uccs_barrier test_barrier
#define uccs_allreduce test_allreduce
#define uccs_awaited_counter test_awaited_counter
#define uccs_awaited_word test_awaited_word
#define log_line test_log
#define rte_abort test_abort
#define uccs_life_embed test_embed
#define uccs_life_begin test_life_begin
#define uccs_life_end test_life_end
#define uccs_oob_open test_oob_open
#define uccs_oob_close test_oob_close
#define uccs_letter_close test_letter_close
#define uccs_am_publish test_publish
#define uccs_am_retire test_retire
#define uccs_am_start test_start
#define uccs_am_stop test_stop
#define uccs_am_drain test_drain
#define uccs_am_drop test_drop
#define uccs_stage_collect test_collect
#define uccs_contexts_close test_contexts_close
#define uccs_wait_work_finished test_finish_work
#include "base/clock.h" /* before these functions of theirs are the test's */
#include "uccs/core/fence.h"
#include "uccs/far/far.h"
#include "uccs/object/counter.h"
static uint64_t test_clock(void);
static void test_quiet(void);
static bool test_live(uccs_counter counter);
static bool test_opened(uccs_counter counter);
static int64_t test_count(uccs_counter counter);
static struct uccs_counter_line *test_mine(uccs_counter counter);
#define clock_nanoseconds test_clock
#define uccs_quiet test_quiet
#define uccs_quiet_all test_quiet
#define uccs_counter_live test_live
#define uccs_counter_opened test_opened
#define uccs_counter_get test_count
#define uccs_counter_mine test_mine
#include "uccs/face/completion.c"
#include "uccs/face/queue.c"
#include "uccs/face/waiting.c"
#define look count_look
#include "uccs/face/count.c"
#undef look

enum { N = 5 };
static struct uccs_request objects[N], spare;
static bool no_requests;
static int progresses, serves;
static void (*on_progress)(void), (*on_serve)(void);
static struct node_awaited served_for;
static char trace[600];

static void note(const char *what)
{
    const size_t at = strlen(trace);
    snprintf(trace + at, sizeof trace - at, "%s%s", at ? " " : "", what);
}

static bool traced(const char *what)
{
    const bool same = strcmp(trace, what) == 0;
    if (!same)
        fprintf(stderr, "\"%s\" against \"%s\"\n", trace, what);
    trace[0] = 0;
    return same;
}

bool test_done_slow(uccs_request_handle *handle)
{
    return !uccs_request_object(*handle) || uccs_request_object(*handle)->pending == 0;
}

struct uccs_request *test_materialise(uccs_request_handle *handle)
{
    return no_requests ? 0 : (*handle = &spare);
}

void test_free(uccs_request_handle *handle)
{
    note("free");
    *handle = UCCS_REQUEST_NULL;
}

void test_merge(uccs_request_handle *into, size_t n, uccs_request_handle *handles)
{
    CHECK(into && (handles || !n));
    note("merge");
}

int test_progress(void)
{
    progresses++;
    if (on_progress)
        on_progress();
    return 1;
}

void test_serve(struct uccs_wait *wait)
{
    CHECK(++serves < 1000);
    served_for = wait->on;
    if (on_serve)
        on_serve();
}

/* --- Queues and records */

static struct uccs_entry entries_there[N];
static size_t entries_count;

struct uccs_queue *test_queue_make(void)
{
    return no_requests ? 0 : (struct uccs_queue *)&spare;
}

void test_queue_abandon(struct uccs_queue *queue)
{
    CHECK(queue == (struct uccs_queue *)&spare);
    note("abandon");
}

size_t test_queue_take(struct uccs_queue *queue, struct uccs_entry *entries, size_t room)
{
    const size_t taken = room < entries_count ? room : entries_count;
    CHECK(queue == (struct uccs_queue *)&spare && room > 0);
    for (size_t i = 0; i < taken; i++)
        entries[i] = entries_there[i];
    entries_count -= taken;
    return taken;
}

static struct node_awaited stay_on;
static uint64_t stay_since;
static uint32_t stay_number, stay_ended;

uint32_t test_stay_begin(const struct node_awaited *on, const char *text, uint64_t since, uintptr_t heap,
                         size_t heap_bytes)
{
    CHECK(text && strcmp(text, "thing") == 0 && !heap && !heap_bytes);
    stay_on = *on;
    stay_since = since;
    return stay_number;
}

void test_stay_end(uint32_t stay)
{
    note("end");
    stay_ended = stay;
}

static uint64_t test_clock(void)
{
    return 10000000000;
}

/* --- Counters: 1 is of the job, 2 was opened, others are stale */

static struct uccs_counter_line line;
static bool no_counters;
static int barrier_status, allreduce_status;
static enum uccs_reduction allreduce_how;

static bool test_live(uccs_counter counter)
{
    return counter == 1 || counter == 2;
}

static bool test_opened(uccs_counter counter)
{
    return counter == 2;
}

static struct uccs_counter_line *test_mine(uccs_counter counter)
{
    CHECK(test_live(counter));
    return &line;
}

static int64_t test_count(uccs_counter counter)
{
    return test_mine(counter)->count;
}

uccs_counter test_counter_create(void)
{
    return no_counters ? 0 : 1;
}

uccs_counter test_counter_here(void)
{
    return no_counters ? 0 : 2;
}

void test_counter_release(uccs_counter counter)
{
    note(counter == 1 ? "release1" : "release2");
}

void test_counter_clear(uccs_counter counter)
{
    note(counter == 1 ? "clear1" : "clear2");
}

void test_meet(bool user)
{
    note(user ? "meet" : "meet-network");
}

void test_far_quiet(void)
{
    note("far-quiet");
}

static void test_quiet(void)
{
    note("quiet");
}

int test_barrier(uccs_group_t group)
{
    CHECK(group != 0);
    note("barrier");
    return barrier_status;
}

int test_allreduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how)
{
    uint64_t *to = dest;
    CHECK(group && type == UCCS_UINT64 && n <= UCCS_COUNTER_WORDS);
    memset(dest, OWNED_NOISE, UCCS_COUNTER_WORDS * sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = ((const uint64_t *)source)[i] + 100;
    allreduce_how = how;
    return allreduce_status;
}

int test_counter_agree(const struct uccs_counter_members *members, uccs_counter *counter)
{
    for (size_t n = 0; n <= UCCS_COUNTER_WORDS; n++) {
        uint64_t words[UCCS_COUNTER_WORDS + 1] = {1, 2, 3, 4, 5};
        CHECK(members->join(members->members, words, n, n % 2) == allreduce_status);
        CHECK(allreduce_how == (n % 2 ? UCCS_MAX : UCCS_AND));
        for (size_t i = 0; i <= UCCS_COUNTER_WORDS; i++)
            CHECK(words[i] == i + 1 + (i < n && allreduce_status == UCCS_OK ? 100 : 0));
    }
    *counter = members->salt;
    return allreduce_status;
}

bool test_awaited_counter(uccs_counter counter, int64_t at_least, struct uccs_request *request)
{
    CHECK(counter == 1 && at_least == 7 && request == &spare);
    return !no_counters;
}

bool test_awaited_word(const uint64_t *word, int64_t at_least, struct uccs_request *request)
{
    CHECK(word && at_least == 7 && request == &spare);
    return !no_counters;
}

#endif
