/* Lanes of the simulated network: settings, seeds, sleep, messages. A part of simulated.c. */

/* Wrong settings load nothing; the transport behind is loaded once. */
static void loads_once(void)
{
    setenv("LATERAL_SIM", "hold=often", 1);
    CHECK(strstr(lateral_transport.open(&told, 3, 5, 0), "a number is missing") && loads == 0);
    for (int i = 0; i < 2; i++) {
        begin_with("hold=70000,steps=70001,order=70002,shares=70003,words=70004,reach=70005");
        CHECK(loads == 1 && sim_plan.hold == 70000 && sim_plan.steps == 70001 && sim_plan.order == 70002);
        CHECK(sim_plan.shares == 70003 && sim_plan.words == 70004 && sim_plan.reach == 70005);
        lateral_transport.close();
    }
    setenv("LATERAL_SIM", "hold=often", 1);
    CHECK(strstr(lateral_transport.open(&told, 3, 5, 0), "a number is missing") && loads == 1);
}

/* Each lane of each PE has a disorder of its own, for each seed. */
static void seeds(void)
{
    void *more;
    begin_with("seed=1099511627776"); /* 2^40 */
    const uint64_t random = (UINT64_C(1) << 40) * 1000003 + 3 * 64, first = ((struct sim_lane *)lane)->random;
    CHECK(first >= random && first < random + 64);
    CHECK(!lateral_transport.open_lane(&finishes, &more));
    CHECK(((struct sim_lane *)more)->random == random + (first - random + 1) % 64);
    lateral_transport.close();
}

static void sleeps(void)
{
    int pipes[2];
    char byte = 'b';
    CHECK(pipe(pipes) == 0);
    inner_file = pipes[0];
    begin_with("hold=0");
    CHECK(!is_readable() && write(pipes[1], &byte, 1) == 1 && is_readable());
    CHECK(read(pipes[0], &byte, 1) == 1 && !is_readable());
    inner_file = -1;
    lateral_transport.close();
    close(pipes[0]);
    close(pipes[1]);
}

static void sends(void)
{
    begin_with("hold=0");
    const uint64_t sent = lateral_sim_counts.sent;
    CHECK(lateral_transport.send(peer, "header", 7, "data", 5, &inner_file) == TRANSPORT_PENDING);
    CHECK(lateral_transport.send(peer, "header", 7, "data", 5, 0) == TRANSPORT_DONE);
    CHECK(lateral_sim_counts.sent == sent + 2);
    lateral_transport.close();
}

/* What the transport behind and the adapter have moved. */
static void counts(void)
{
    void *shared;
    begin_with("hold=100,steps=1");
    struct sim_key *key = key_of(memory, sizeof memory, &shared);
    inner_looks = 2;
    CHECK(lateral_transport.get(peer, key, at(0), bytes, 8, bytes) == TRANSPORT_PENDING);
    CHECK(move_on() == 3 && move_on() == 2);
    inner_looks = 0;
    lateral_transport.forget(key);
    end_with(shared);
}

/* An atomic leaves the adapter to others. */
static void unlocks(void)
{
    const struct transport_word add = {TRANSPORT_ADD, 8, 1, 0};
    void *shared;
    char path[64];
    begin_with("hold=0");
    struct sim_key *key = key_of(memory, sizeof memory, &shared);
    CHECK(lateral_transport.atomic(peer, key, at(0), &add, 0, 0) == TRANSPORT_DONE);
    snprintf(path, sizeof path, "/proc/self/fd/%d", adapter);
    const int other = open(path, O_RDWR | O_CLOEXEC);
    CHECK(other >= 0 && flock(other, LOCK_EX | LOCK_NB) == 0);
    close(other);
    lateral_transport.forget(key);
    end_with(shared);
}

static void lanes_of_it(void)
{
    seeds();
    sleeps();
    sends();
    counts();
    unlocks();
}
