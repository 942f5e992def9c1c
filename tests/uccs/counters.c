/* Counters of the job, of groups and of one process: who may count there, values, generations, tests and waits as
 * requests, many at once, several threads.
 * pes: 1 2 3
 */
#include "check.h"

enum { ROUNDS = 20, THREADS = 3, MANY = 400 };

static uccs_context_t context;
static uccs_endpoint_t *endpoints;
static uccs_memory_t own, *memories;
static int64_t *words;

static void count_at(int rank, uccs_counter_t counter, int64_t weight)
{
    int64_t value = 100 + me;
    OK(uccs_put_short_contiguous(context, endpoints[rank], memories[rank], sizeof value * (size_t)me, &value,
                                 sizeof value, &(struct uccs_op){.counter = counter, .weight = weight}));
}

static int64_t value_of(uccs_counter_t counter)
{
    int64_t value = -1;
    OK(uccs_counter_read(counter, &value));
    return value;
}

/* Every member counts at every member, right after the opening. */
static void count_in(uccs_group_t group, uccs_counter_t counter)
{
    int members = uccs_group_size(group);
    int64_t old = -1;
    for (int rank = 0; rank < members; rank++)
        count_at(uccs_group_world_rank(group, rank), counter, uccs_group_rank(group) + 1);
    OK(uccs_counter_wait(counter, members * (members + 1) / 2));
    for (int rank = 0; rank < members; rank++)
        CHECK_EQ(words[uccs_group_world_rank(group, rank)], 100 + uccs_group_world_rank(group, rank));
    OK(uccs_barrier(group));
    OK(uccs_counter_test(counter, members * (members + 1) / 2));
    CHECK_EQ(uccs_counter_test(counter, 1000), UCCS_IN_PROGRESS);
    OK(uccs_counter_reset(counter, &old));
    CHECK_EQ(old, members * (members + 1) / 2);
    CHECK_EQ(value_of(counter), 0);
    OK(uccs_counter_reset(counter, 0));
}

/* Two groups at once, those of even and of odd ranks, and the world. Slots are used again under new generations. */
static void test_groups(void)
{
    uccs_group_t half = UCCS_GROUP_NULL, other;
    int *ranks = malloc((size_t)npes * sizeof *ranks), n = 0;
    for (int parity = 0; parity < 2; parity++) {
        n = 0;
        for (int rank = parity; rank < npes; rank += 2)
            ranks[n++] = rank;
        if (n)
            OK(uccs_group_create(UCCS_GROUP_WORLD, (size_t)n, ranks, parity == me % 2 ? &half : &other));
    }
    uccs_counter_t before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uccs_counter_t of_half = 0, of_world = 0;
        OK(uccs_counter_open_group(half, &of_half));
        OK(uccs_counter_open_group(UCCS_GROUP_WORLD, &of_world));
        CHECK(of_half && of_world && of_half != of_world && of_half != before);
        if (before)
            CHECK_EQ(uccs_counter_test(before, 0), UCCS_ERR_STALE);
        count_in(half, of_half);
        count_in(UCCS_GROUP_WORLD, of_world);
        OK(uccs_counter_shut_group(UCCS_GROUP_WORLD, of_world));
        OK(uccs_counter_shut_group(half, of_half));
        CHECK_EQ(uccs_counter_shut_group(half, of_half), UCCS_ERR_STALE);
        before = of_half;
    }
    OK(uccs_group_release(half));
    free(ranks);
}

/* My counter's value goes to all others, who count here. */
static void test_own(void)
{
    uccs_counter_t mine = 0, *all = malloc((size_t)npes * sizeof *all), many[MANY];
    for (int i = 0; i < MANY; i++)
        OK(uccs_counter_open_own(&many[i]));
    OK(uccs_counter_open_own(&mine));
    OK(uccs_allgather(UCCS_GROUP_WORLD, &mine, all, sizeof mine));
    for (int rank = 0; rank < npes; rank++)
        count_at(rank, all[rank], 10);
    OK(uccs_counter_wait(mine, 10 * npes));
    OK(uccs_counter_consume(mine, 10 * npes));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(value_of(mine), 0);
    OK(uccs_counter_shut_own(mine));
    CHECK_EQ(uccs_counter_shut_own(mine), UCCS_ERR_STALE);
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(value_of(many[i]), 0);
        OK(uccs_counter_shut_own(many[i]));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (check_near(next_pe)) { /* the origin sees that a node peer's counter is shut; a far one tells nobody */
        int64_t value = 0;
        CHECK_EQ(uccs_put_short_contiguous(context, endpoints[next_pe], memories[next_pe], 0, &value, sizeof value,
                                           &(struct uccs_op){.counter = all[next_pe]}),
                 UCCS_ERR_STALE);
    } else {
        count_at(next_pe, all[next_pe], 1);
    }
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    uccs_counter_t again = 0;
    OK(uccs_counter_open_own(&again));
    CHECK(again != mine);
    CHECK_EQ(value_of(again), 0);
    OK(uccs_counter_shut_own(again));
    free(all);
}

/* A program waits for a counter, a word, or another request, whatever comes first. */
static void test_requests(void)
{
    uccs_counter_t counter = 0;
    size_t index = 9;
    OK(uccs_counter_open_group(UCCS_GROUP_WORLD, &counter));
    for (int round = 0; round < ROUNDS; round++) {
        uccs_request_t requests[3] = {0};
        uint64_t *word = (uint64_t *)&words[npes];
        __atomic_store_n(word, 0, __ATOMIC_RELEASE);
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        OK(uccs_counter_wait_nb(counter, 2, &requests[0]));
        OK(uccs_word_wait_nb(word, 5, &requests[1]));
        CHECK_EQ(uccs_test_all(requests, 2), UCCS_IN_PROGRESS);
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        uint64_t old = 9;
        OK(uccs_atomic64(context, endpoints[next_pe], memories[next_pe], sizeof(int64_t) * (size_t)npes,
                         UCCS_ATOMIC_ADD, 5, 0, &old, 0));
        CHECK_EQ(old, 0);
        OK(uccs_wait_any(requests, 2, &index));
        CHECK_EQ(index, 1);
        CHECK_EQ(uccs_test(&requests[0]), UCCS_IN_PROGRESS);
        OK(uccs_barrier(UCCS_GROUP_WORLD)); /* nobody counts before all have looked */
        count_at(next_pe, counter, 2);
        OK(uccs_wait(&requests[0]));
        OK(uccs_counter_consume(counter, 2));
        OK(uccs_counter_wait_nb(counter, 0, &requests[2])); /* complete at once */
        OK(uccs_test(&requests[2]));
        for (int i = 0; i < 3; i++)
            OK(uccs_request_release(&requests[i]));
    }
    uccs_request_t left = UCCS_REQUEST_NULL;
    OK(uccs_counter_wait_nb(counter, 1000, &left)); /* shut first: it fails */
    OK(uccs_counter_shut_group(UCCS_GROUP_WORLD, counter));
    CHECK_EQ(uccs_wait(&left), UCCS_ERR_FAILED);
    OK(uccs_request_release(&left));
}

static void *open_and_shut(void *id)
{
    for (int round = 0; round < 200; round++) {
        uccs_counter_t mine = 0;
        uccs_request_t request = UCCS_REQUEST_NULL;
        OK(uccs_counter_open_own(&mine));
        CHECK_EQ(value_of(mine), 0);
        OK(uccs_counter_wait_nb(mine, round + 1, &request));
        count_at(me, mine, round + 1);
        OK(uccs_wait(&request));
        OK(uccs_request_release(&request));
        CHECK_EQ(value_of(mine), round + 1);
        OK(uccs_counter_shut_own(mine));
    }
    return id;
}

static void test_wrong(void)
{
    uccs_counter_t job = 0, mine = 0;
    uccs_request_t request = UCCS_REQUEST_NULL;
    uint64_t word[2] = {0};
    OK(uccs_counter_open(&job));
    OK(uccs_counter_open_own(&mine));
    CHECK_EQ(uccs_counter_open_group(UCCS_GROUP_NULL, &job), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_counter_open_group(UCCS_GROUP_WORLD, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_counter_open_own(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_counter_shut_own(job), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_counter_shut(mine), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_counter_shut_group(UCCS_GROUP_NULL, mine), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_counter_wait_nb(mine, 1, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_counter_wait_nb(0, 1, &request), UCCS_ERR_STALE);
    CHECK_EQ(uccs_counter_wait_nb(~(uccs_counter_t)0, 1, &request), UCCS_ERR_STALE);
    CHECK_EQ(uccs_counter_reset(0, 0), UCCS_ERR_STALE);
    CHECK_EQ(uccs_word_wait_nb(0, 1, &request), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_word_wait_nb((uint64_t *)((char *)word + 4), 1, &request), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_word_wait_nb(word, 1, 0), UCCS_ERR_INVALID);
    CHECK(request == UCCS_REQUEST_NULL);
    OK(uccs_counter_shut_own(mine));
    OK(uccs_counter_shut(job));
}

int main(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_memory_allocate(context, sizeof(int64_t) * (size_t)(npes + 1), &own));
    struct uccs_memory_attr attr;
    OK(uccs_memory_query(own, &attr));
    words = attr.address;
    memories = malloc((size_t)npes * sizeof(void *));
    endpoints = malloc((size_t)npes * sizeof(void *));
    check_share(context, own, memories);
    for (int rank = 0; rank < npes; rank++)
        endpoints[rank] = check_endpoint(context, rank);
    test_groups();
    test_own();
    test_requests();
    check_threads(THREADS, open_and_shut);
    test_wrong();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    uccs_request_t never = UCCS_REQUEST_NULL; /* does not keep the end waiting */
    OK(uccs_word_wait_nb((uint64_t *)words, INT64_MAX, &never));
    free(memories);
    free(endpoints);
    return check_pass();
}
