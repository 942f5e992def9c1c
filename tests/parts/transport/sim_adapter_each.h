/* Each operation: its steps, and what it tells when. A part of sim_adapter.c. */

/* A source is free from DONE or its event on; the put happens later, and nobody hears of it again. */
static void one_put(void)
{
    bool seen[2] = {false, false};
    for (uint64_t seed = 1; seed < 20; seed++) {
        begin_lane(100, 9);
        lane.random = seed;
        uint64_t state = seed;
        const uint64_t held = 101 + (next_random(&state) >> 8) % 9;
        memset(source, 's', sizeof source);
        memset(written, 'w', sizeof written);
        const enum transport_status status = sim_put(&near, (void *)key, 7000, source, 5, &tokens[0]);
        const bool pending = next_random(&state) % 2;
        CHECK(status == (pending ? TRANSPORT_PENDING : TRANSPORT_DONE) && wakes == 1 && ends == 0);
        CHECK(owned_bytes(lane.first) == sizeof *lane.first + 5);
        seen[pending] = true;
        if (pending) {
            CHECK(lane.first->due == held);
            lane.step = held - 1;
            memset(source, 'l', sizeof source);
            CHECK(sim_adapter_move(&lane) >= 1 && only_end(0, false) && queued() == 1 && writes == 0);
        }
        const char letter = pending ? 'l' : 's';
        memset(source, 'x', sizeof source);
        CHECK(lane.first->due > lane.step && lane.first->due <= lane.step + 9);
        lane.step = lane.first->due - 1;
        CHECK(sim_adapter_move(&lane) == 1 && writes == 1 && ends == 0 && queued() == 0);
        CHECK(written[0] == letter && written[4] == letter && written[5] == 'w' && !near.failed);
    }
    CHECK(seen[0] && seen[1]);
}

static void one_get(void)
{
    for (int fails = 0; fails < 2; fails++) {
        begin_lane(100, 9);
        CHECK(sim_get(&near, (void *)key, 7000, source, 5, &tokens[0]) == TRANSPORT_PENDING);
        CHECK(reads == 0 && wakes == 1 && owned_bytes(lane.first) == sizeof *lane.first);
        works = !fails;
        lane.first->due = 0;
        CHECK(sim_adapter_move(&lane) == 1 && reads == 1 && into == source && only_end(0, fails) && queued() == 0);
        CHECK(!near.failed && lateral_sim_counts.gets == 1); /* its end has told */
    }
}

static void one_atomic(void)
{
    static const struct transport_word word = {TRANSPORT_ADD, 8, 1, 0};
    for (int way = 0; way < 4; way++) {
        const bool fails = way & 1, fetches = way & 2;
        void *const old = fetches ? source : 0;
        begin_lane(100, 9);
        CHECK(sim_atomic(&near, (void *)key, 7000, &word, old, &tokens[0]) == TRANSPORT_PENDING && changes == 0);
        works = !fails;
        lane.first->due = 0;
        CHECK(sim_adapter_move(&lane) == 1 && changes == 1 && into == old && word_done == &word);
        CHECK(only_end(0, fails) && queued() == 0 && near.failed == (fails && !fetches));
        CHECK(lateral_sim_counts.atomics == 1 && lateral_sim_counts.fetches == fetches);
    }
}

/* With nothing to hold back they are done when they return, unless others are before them. */
static void at_once(void)
{
    static const struct transport_word word = {TRANSPORT_ADD, 8, 1, 0};
    for (int fails = 0; fails < 2; fails++) {
        const enum transport_status status = fails ? TRANSPORT_FAILED : TRANSPORT_DONE;
        begin_lane(0, 9);
        works = !fails;
        CHECK(sim_put(&near, (void *)key, 7000, source, 5, &tokens[0]) == status && writes == 1);
        CHECK(sim_get(&near, (void *)key, 7000, source, 5, &tokens[0]) == status && reads == 1);
        CHECK(sim_atomic(&near, (void *)key, 7000, &word, source, &tokens[0]) == status && changes == 1);
        CHECK(queued() == 0 && ends == 0 && wakes == 0 && lateral_sim_counts.puts == 1);
        CHECK(lateral_sim_counts.gets == 1 && lateral_sim_counts.atomics == 1);
    }
    begin_lane(100, 9);
    put(&near, 105, 5);
    sim_plan.hold = 0;
    put(&near, 105, 5);
    CHECK(sim_atomic(&near, (void *)key, 7000, &word, source, &tokens[0]) == TRANSPORT_PENDING && changes == 0);
    CHECK(newest()->due == lane.step && queued() == 3);
    lane.step = 104;
    CHECK(sim_adapter_move(&lane) == 3 && queued() == 0 && only_end(0, false));
}

/* The end of an operation may begin another one, which may move on in the same call. */
static void begin_another(void)
{
    sim_get(&near, (void *)key, 7000, source, 5, &tokens[1]);
    newest()->due = 0;
}

static void begin_in_event(void)
{
    begin_lane(100, 9);
    sim_get(&near, (void *)key, 7000, source, 5, &tokens[0]);
    newest()->due = 0;
    then = begin_another;
    CHECK(sim_adapter_move(&lane) == 2 && ends == 2 && ended == &tokens[1] && queued() == 0);
}
