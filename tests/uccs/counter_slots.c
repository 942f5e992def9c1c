/* All slots of counters in use: the last ones count as the first, a further one finds no memory, and one that is shut is
 * there again, under another value. Members of a group whose free slots have none in common get no counter, and lose none.
 * pes: 1 3
 */
#include "check.h"

enum { OWN = 32768, JOB = 65536 };

static uccs_counter_t own[OWN + 1], job[JOB + 1];

static int64_t value_of(uccs_counter_t counter)
{
    int64_t value = -1;
    OK(uccs_counter_read(counter, &value));
    return value;
}

/* Counts at the next process, on counters whose values it has told; the same arrives here. */
static void count_around(uccs_context_t context, uccs_memory_t *all, const uccs_counter_t *counters, size_t n)
{
    uccs_counter_t *told = malloc(n * sizeof *told * (size_t)npes);
    uccs_endpoint_t next = check_endpoint(context, next_pe);
    OK(uccs_allgather(UCCS_GROUP_WORLD, counters, told, n * sizeof *told));
    for (size_t i = 0; i < n; i++) {
        const struct uccs_op op = {.counter = told[(size_t)next_pe * n + i], .weight = 5 + (int64_t)i};
        OK(uccs_put(next, all[next_pe], 0, &i, sizeof i, &op));
    }
    for (size_t i = 0; i < n; i++)
        OK(uccs_counter_wait(counters[i], 5 + (int64_t)i));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(value_of(counters[i]), 5 + (int64_t)i);
    OK(uccs_endpoint_release(next));
    free(told);
}

/* Counts of more than 32 bits, and below 0. */
static void test_wide(uccs_context_t context, uccs_memory_t *all)
{
    const int64_t much = INT64_C(5) << 32;
    uccs_counter_t mine, *told = malloc((size_t)npes * sizeof *told);
    uccs_endpoint_t next = check_endpoint(context, next_pe);
    uccs_request_t requests[3] = {0};
    static uint64_t word;
    int64_t old = 0;
    OK(uccs_counter_open_own(&mine));
    OK(uccs_allgather(UCCS_GROUP_WORLD, &mine, told, sizeof *told));
    OK(uccs_counter_wait_nb(mine, much + 7, &requests[0]));
    OK(uccs_counter_wait_nb(mine, much + 8, &requests[1]));
    OK(uccs_word_wait_nb(&word, much, &requests[2]));
    CHECK_EQ(uccs_counter_test(mine, 8), UCCS_IN_PROGRESS);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_put(next, all[next_pe], 0, "wide", 4, &(struct uccs_op){.counter = told[next_pe], .weight = much + 7}));
    OK(uccs_counter_wait(mine, much + 7));
    OK(uccs_wait(&requests[0]));
    CHECK_EQ(uccs_test(&requests[1]), UCCS_IN_PROGRESS);
    CHECK_EQ(uccs_counter_test(mine, much + 8), UCCS_IN_PROGRESS);
    CHECK_EQ(value_of(mine), much + 7);
    OK(uccs_counter_consume(mine, much));
    CHECK_EQ(value_of(mine), 7);
    __atomic_store_n(&word, much - 1, __ATOMIC_RELEASE);
    CHECK_EQ(uccs_test(&requests[2]), UCCS_IN_PROGRESS);
    __atomic_store_n(&word, much, __ATOMIC_RELEASE);
    OK(uccs_wait(&requests[2]));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD)); /* all have consumed */
    OK(uccs_put(next, all[next_pe], 0, "wide", 4, &(struct uccs_op){.counter = told[next_pe], .weight = -much}));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(uccs_counter_test(mine, 0), UCCS_IN_PROGRESS);
    OK(uccs_counter_test(mine, 7 - much));
    OK(uccs_counter_reset(mine, &old));
    CHECK_EQ(old, 7 - much);
    OK(uccs_counter_shut_own(mine));
    CHECK_EQ(uccs_wait(&requests[1]), UCCS_ERR_FAILED);
    for (int i = 0; i < 3; i++)
        OK(uccs_request_release(&requests[i]));
    OK(uccs_endpoint_release(next));
    free(told);
}

static void open_all_own(void)
{
    for (int i = 0; i < OWN; i++)
        OK(uccs_counter_open_own(&own[i]));
    own[OWN] = 77;
    CHECK_EQ(uccs_counter_open_own(&own[OWN]), UCCS_ERR_NO_MEMORY);
    CHECK_EQ(own[OWN], 77);
}

static void test_own(uccs_context_t context, uccs_memory_t *all)
{
    open_all_own();
    const uccs_counter_t some[] = {own[0],    own[1],       own[63],      own[64],     own[4095],
                                   own[4096], own[OWN / 2], own[OWN - 2], own[OWN - 1]};
    count_around(context, all, some, sizeof some / sizeof *some);
    int64_t sum = 0;
    for (int i = 0; i < OWN; i++)
        sum += value_of(own[i]);
    CHECK_EQ(sum, 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13); /* no other counter has risen */
    static const int places[] = {0, 63, 64, OWN / 2, OWN - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uccs_counter_t before = own[places[i]], after = 0;
        OK(uccs_counter_shut_own(before));
        OK(uccs_counter_open_own(&after));
        CHECK(after != before && value_of(after) == 0);
        CHECK_EQ(uccs_counter_test(before, 0), UCCS_ERR_STALE);
        CHECK_EQ(uccs_counter_open_own(&own[OWN]), UCCS_ERR_NO_MEMORY);
        own[places[i]] = after;
    }
}

/* Nobody has a free slot; then one process has, but others not; then all have the same one. */
static void test_common(void)
{
    uccs_counter_t counter = 0;
    uccs_barrier(UCCS_GROUP_WORLD);
    CHECK_EQ(uccs_counter_open_group(UCCS_GROUP_WORLD, &counter), UCCS_ERR_NO_MEMORY);
    const int mine = me == 0 ? 0 : OWN - 1; /* the first one that was opened has the last slot */
    OK(uccs_counter_shut_own(own[mine]));
    CHECK_EQ(uccs_counter_open_group(UCCS_GROUP_WORLD, &counter), npes == 1 ? UCCS_OK : UCCS_ERR_NO_MEMORY);
    if (npes == 1)
        OK(uccs_counter_shut_group(UCCS_GROUP_WORLD, counter));
    OK(uccs_counter_shut_own(own[OWN - 1 - mine]));
    for (int turn = 0; turn < 3; turn++) {
        uccs_counter_t two[2] = {0}, all[2] = {0}, third = 0;
        for (int i = 0; i < 2; i++)
            OK(uccs_counter_open_group(UCCS_GROUP_WORLD, &two[i]));
        CHECK_EQ(uccs_counter_open_group(UCCS_GROUP_WORLD, &third), UCCS_ERR_NO_MEMORY);
        CHECK_EQ(uccs_counter_open_own(&third), UCCS_ERR_NO_MEMORY);
        OK(uccs_allreduce(UCCS_GROUP_WORLD, two, all, 2, UCCS_UINT64, UCCS_AND));
        CHECK(two[0] == all[0] && two[1] == all[1] && two[0] != two[1]);
        for (int i = 0; i < 2; i++)
            OK(uccs_counter_shut_group(UCCS_GROUP_WORLD, two[i]));
    }
    for (int i = 0; i < 2; i++)
        OK(uccs_counter_open_own(&own[i ? OWN - 1 : 0])); /* there again for single processes, too */
    CHECK_EQ(uccs_counter_open_own(&own[OWN]), UCCS_ERR_NO_MEMORY);
    for (int i = 0; i < OWN; i++)
        OK(uccs_counter_shut_own(own[i]));
}

static void test_job(uccs_context_t context, uccs_memory_t *all)
{
    for (int i = 0; i < JOB; i++)
        OK(uccs_counter_open(&job[i]));
    CHECK_EQ(uccs_counter_open(&job[JOB]), UCCS_ERR_NO_MEMORY);
    const uccs_counter_t some[] = {job[0], job[1], job[JOB / 2], job[JOB - 2], job[JOB - 1]};
    OK(uccs_barrier(UCCS_GROUP_WORLD)); /* all have opened them */
    count_around(context, all, some, sizeof some / sizeof *some);
    int64_t sum = 0;
    for (int i = 0; i < JOB; i++)
        sum += value_of(job[i]);
    CHECK_EQ(sum, 5 + 6 + 7 + 8 + 9);
    const uccs_counter_t before = job[JOB / 2];
    OK(uccs_counter_shut(before));
    OK(uccs_counter_open(&job[JOB / 2]));
    CHECK_EQ(value_of(job[JOB / 2]), 0);
    CHECK_EQ(uccs_counter_open(&job[JOB]), UCCS_ERR_NO_MEMORY);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

int main(void)
{
    uccs_context_t context;
    uccs_memory_t mine, *all;
    check_start();
    all = calloc((size_t)npes, sizeof *all);
    OK(uccs_context_create(0, &context));
    OK(uccs_memory_allocate(context, 64, &mine));
    check_share(context, mine, all);
    test_wide(context, all);
    test_own(context, all);
    test_common();
    test_job(context, all);
    for (int rank = 0; rank < npes; rank++)
        OK(uccs_memory_release(all[rank]));
    OK(uccs_memory_release(mine));
    OK(uccs_context_destroy(context));
    free(all);
    return check_pass();
}
