/* Counters of arrivals.c: waits, what members agree on, counts and handles of more than 32 bits, and arrivals that come between two looks. */
#ifndef TESTS_PARTS_SHMEM_ARRIVALS_COUNTS_H
#define TESTS_PARTS_SHMEM_ARRIVALS_COUNTS_H

static void waits(void)
{
    for (int count = 5; count <= 8; count++) { /* for at least 7 */
        const int missing = count < 7 ? 7 - count : 0;
        set_count(count);
        paused_plan(2, arrive);
        if (missing == 2) {
            arrive();
        }
        CHECK(lat_ct_wait(CT(live), 7) == (count < 7 ? 7 : count));
        PAUSED(missing ? 2 : 0);
        set_count(count < 6 ? 6 : count);
        paused_plan(3, arrive);
        lat_ct_consume(CT(live), 7);
        CHECK(count_of(0) == (count <= 7 ? 0 : 1));
        PAUSED(missing ? 3 : 0);
    }
    shmemx_ct_t other = CT(UINT64_C(1) << UCCS_COUNTER_SLOT_BITS | (SLOT + 5)), cts[] = {other, CT(live)};
    const long values[] = {1, 3};
    set_count(2);
    paused_plan(2, arrive);
    CHECK(lat_ct_wait_any(cts, values, 2) == 1);
    PAUSED(2);
    CHECK(lat_ct_wait_any(cts, values, 2) == 1 && lat_ct_wait_any(cts, values, 0) == SIZE_MAX);
    lat_ct_set(other, 1);
    CHECK(lat_ct_wait_any(cts, values, 2) == 0 && lat_ct_wait_any(cts, values, 2) == 1);
    PAUSED(2);
    lat_ct_set(other, 0);
}

static void later(void)
{
    now += 1000;
}

/* The clock is read every 64 looks, and with each one once the wait yields. */
static void waits_with_a_limit(void)
{
    for (int spin = 0; spin <= 100; spin += 100) {
        uccs_core.spin = (uint32_t)spin;
        set_count(0);
        now = 5000;
        paused_plan(2, later);
        CHECK(lat_ct_wait_timeout(CT(live), 1, 1e-6) == 0);
        PAUSED(spin ? 64 : 2);
        paused_plan(70, later);
        CHECK(lat_ct_wait_timeout(CT(live), 1, 1e-6) == 0);
        PAUSED(spin ? 100 : 70);
        paused_plan(3, arrive);
        CHECK(lat_ct_wait_timeout(CT(live), 1, 1e-6) == 1);
        PAUSED(3);
        CHECK(lat_ct_wait_timeout(CT(live), 1, -1) == 1 && lat_ct_wait_timeout(CT(live), 2, 0) == 0);
        CHECK(lat_ct_wait_timeout(CT(live), 2, -1) == 0);
        PAUSED(3);
    }
    uccs_core.spin = 0;
    set_count(0);
}

/* Every word of every member, this one's as well, and no more words than are asked for. */
static void members_agree(void)
{
    struct uccs_team team = {.rank = 1, .size = 3};
    for (int n = 1; n <= 2; n++)
        for (int greatest = 0; greatest < 3; greatest++) {
            uint64_t words[3] = {greatest == 1 ? 9 : 2, greatest == 1 ? 8 : 1, 77};
            for (int rank = 0; rank < 3; rank += 2)
                for (int i = 0; i < 2; i++)
                    given[rank][i] = greatest == rank ? (uint64_t)(9 - i) : (uint64_t)(2 - i);
            CHECK(join(&team, words, (size_t)n, true) == UCCS_OK);
            CHECK(words[0] == 9 && words[1] == (n == 2 ? 8 : greatest == 1 ? 8 : 1) && words[2] == 77);
        }
    for (int n = 1; n <= 2; n++)
        for (int without = 0; without < 3; without++) { /* this member lacks a bit */
            uint64_t words[3] = {without == 1 ? 0xd : 0xf, without == 1 ? 0x7 : 0xf, 77};
            for (int rank = 0; rank < 3; rank += 2) {
                given[rank][0] = without == rank ? 0xd : 0xf;
                given[rank][1] = without == rank ? 0x7 : 0xf;
            }
            CHECK(join(&team, words, (size_t)n, false) == UCCS_OK);
            CHECK(words[0] == 0xd && words[1] == (n == 2 ? 0x7 : without == 1 ? 0x7 : 0xf) && words[2] == 77);
        }
}

static void great_counts(void)
{
    const long much = (1L << 32) + 3;
    shmemx_ct_t ct = 0;
    made = UINT64_C(4097) << UCCS_COUNTER_SLOT_BITS | (SLOT + 1);
    lat_ct_create(&ct);
    CHECK(ct == CT(made));
    ct = 0;
    agrees = UCCS_OK;
    CHECK(lat_ct_create_team(SHMEM_TEAM_WORLD, &ct) == 0 && ct == CT(made));
    made = live;
    paused_plan(0, 0);
    set_count(much);
    CHECK(lat_ct_wait(CT(live), 5) == much && lat_ct_get(CT(live)) == much);
    misses = 0;
    lat_ct_consume(CT(live), much);
    CHECK(count_of(0) == 0);
    set_count(much);
    lat_ct_consume(CT(live), 1);
    CHECK(count_of(0) == much - 1 && lat_ct_fetch_reset(CT(live)) == much - 1);
    PAUSED(0);
}

static void takes_one(void)
{
    uccs_counter_mine(live)->count--;
}

/* A swap that fails looks at the new count: enough of it is taken without a pause, too little is waited for. */
static void arrivals_between(void)
{
    paused_plan(1, arrive);
    set_count(8);
    when_swapped = takes_one; /* another thread; 7 are left, just enough */
    lat_ct_consume(CT(live), 7);
    CHECK(count_of(0) == 0);
    PAUSED(0);
    set_count(7);
    when_swapped = takes_one;
    lat_ct_consume(CT(live), 7);
    CHECK(count_of(0) == 0);
    PAUSED(1);
    uccs_core.spin = 0;
    now = 5000;
    set_count(0);
    paused_plan(1, later);
    when_timed = arrive; /* when the time is over, before the last look */
    CHECK(lat_ct_wait_timeout(CT(live), 1, 1e-6) == 1 && !when_timed);
    PAUSED(1);
    set_count(0);
    /* Of three that all have come, each in its turn. */
    const uccs_counter second = UINT64_C(1) << UCCS_COUNTER_SLOT_BITS | (SLOT + 5);
    static shmemx_ct_t cts[3];
    static const long values[] = {0, 0, 0};
    cts[0] = cts[2] = CT(live);
    cts[1] = CT(second);
    const size_t first = lat_ct_wait_any(cts, values, 3);
    for (size_t i = 1; i < 7; i++)
        CHECK(lat_ct_wait_any(cts, values, 3) == (first + i) % 3);
    /* The one behind the last one found has not come: it is the next but one. */
    const size_t at = (first + 6) % 3, next = (at + 1) % 3, after = (at + 2) % 3;
    long wants[3] = {0, 0, 0};
    wants[next] = 1;
    CHECK(lat_ct_wait_any(cts, wants, 3) == after);
    PAUSED(1);
}

static void not_running(void)
{
    static char mine[8];
    shmemx_request_t req = 0;
    lat_state = LAT_AFTER;
    static int pe;
    for (pe = FAR; pe >= 1; pe--) { /* PE 1 comes here for memory that is not mapped */
        REFUSED(lat_put_ct_far("call", &ctx, CT(live), heap[0], mine, 8, pe, true, 0),
                "call: called after the last shmem_finalize");
        REFUSED(lat_get_ct_far("call", &ctx, CT(live), mine, heap[0], 8, pe, false, &req),
                "call: called after the last shmem_finalize");
    }
    lat_state = LAT_RUNNING;
    CHECK(req == 0 && count_of(1) == 0);
    NOTED("");
}

#endif
