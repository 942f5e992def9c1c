/* Lives, lanes, peers and sleep. A part of fault_steps.c. */

/* The settings are read first; the network behind is loaded once. */
static void opens_or_not(void)
{
    wrong = "wrong";
    wanted = (struct fault_plan){.pe = -1, .fails = FAULT_OPEN, .at = 1};
    CHECK(strcmp(fault->open(&told, 3, 5, 7), "wrong") == 0 && loads == 0 && opens == 0 && !said[0]);
    wrong = 0;
    for (unsigned i = 1; i <= 2; i++) {
        begin((struct fault_plan){.pe = -1}, 3);
        CHECK(loads == 1 && opens == i && events == &told && me == 3);
        finish();
    }
    wrong = "wrong";
    CHECK(strcmp(fault->open(&told, 3, 5, 7), "wrong") == 0 && loads == 1 && opens == 2);
    wrong = 0;
}

/* Each lane of each PE has a disorder of its own, for each seed. */
static void seeds(void)
{
    static const uint64_t all[] = {1, 2, UINT64_C(1) << 40};
    static const int pes[] = {0, 1, 300, 1 << 27};
    void *more;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            const int pe = pes[k];
            begin((struct fault_plan){.pe = -1, .seed = all[i]}, pe);
            const uint64_t random = all[i] * 1000003 + (uint64_t)pe * 64;
            CHECK(mine->random >= random && mine->random < random + 64);
            const uint64_t next = (mine->random - random + 1) % 64;
            CHECK(!fault->open_lane(&owner, &more) && ((struct lane *)more)->random == random + next);
            CHECK(mine != more && mine->step == 0 && mine->owner == &owner);
            finish();
        }
}

static void made_not(void)
{
    void *more = 0;
    begin((struct fault_plan){.pe = -1}, 3);
    const size_t before = owned_count;
    owned_left = 0;
    CHECK(strcmp(fault->open_lane(&owner, &more), "no memory") == 0);
    no_lane = "no lane";
    CHECK(strcmp(fault->open_lane(&owner, &more), "no lane") == 0 && !more && owned_count == before && lanes == mine);
    no_lane = 0;
    owned_left = 0;
    CHECK(!fault->connect(mine, 4, "here", 5));
    no_peer = true;
    CHECK(!fault->connect(mine, 4, "here", 5) && owned_count == before && mine->peers == peer);
    no_peer = false;
    size_t bytes = 9;
    CHECK(fault->address(mine, said, &bytes) == 6);
    finish();
}

/* The number says which call of the kind fails; a PE that is named is the only one, PE 0 too. */
static void fails_where(void)
{
    size_t bytes = 9;
    for (int named = -1; named < 3; named++)
        for (int pe = 0; pe < 3; pe++) {
            begin((struct fault_plan){.pe = named, .fails = FAULT_ADDRESS, .at = 2}, pe);
            const bool here = named == -1 || named == pe;
            CHECK(fault->address(mine, said, &bytes) == 6);
            CHECK(fault->address(mine, said, &bytes) == (here ? -1 : 6));
            CHECK(fault->address(mine, said, &bytes) == 6);
            finish();
        }
}

/* Somebody who sleeps wakes up when the network behind has something, or a step holds something back. */
static void wakes_up(void)
{
    char byte = 'b';
    begin((struct fault_plan){.pe = -1}, 3);
    CHECK(!readable() && fault->arm(mine) == 1);
    CHECK(write(pipes[1], &byte, 1) == 1 && readable() && read(pipes[0], &byte, 1) == 1 && !readable());
    inner_armed = false;
    CHECK(fault->arm(mine) == 0);
    inner_armed = true;
    inner_count = 3;
    CHECK(fault->progress(mine) == 3 && looks == 1);
    inner_count = 0;
    CHECK(fault->progress(mine) == 0 && looks == 2 && mine->step == 2);
    CHECK(fault->drained(mine) == 1 && looks == 3);
    inner_drained = false;
    CHECK(fault->drained(mine) == 0);
    inner_drained = true;
    finish();
}

/* One of these is enough to keep the lane awake. */
static void holds(void)
{
    begin((struct fault_plan){.pe = -1, .hold = 100, .steps = 1}, 3);
    struct peer *const other = fault->connect(mine, 4, "here", 5);
    CHECK(fault->receive(mine, said, &owner, 7, &owner) == TRANSPORT_PENDING && fault->arm(mine) == 0 && readable());
    CHECK(fault->progress(mine) == 1 && fault->arm(mine) == 0 && fault->progress(mine) == 1 && only_end(&owner, false));
    CHECK(readable() && fault->arm(mine) == 1 && !readable());
    for (int i = 0; i < 2; i++) {
        CHECK(fault->send(i ? peer : other, "header", 7, 0, TRANSPORT_SHORT, &owner) == TRANSPORT_PENDING);
        CHECK(!mine->first && fault->arm(mine) == 0 && readable() && fault->progress(mine) == 1);
        CHECK(fault->progress(mine) == 1 && only_end(&owner, false) && fault->arm(mine) == 1);
    }
    mine->breaking = peer;
    CHECK(fault->arm(mine) == 0 && fault->progress(mine) == 0 && breaks == 1 && owner_told == &owner);
    CHECK(fault->arm(mine) == 1 && fault->progress(mine) == 0 && breaks == 1);
    finish();
}

static void lives(void)
{
    seeds();
    made_not();
    fails_where();
    wakes_up();
    holds();
}
