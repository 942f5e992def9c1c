/* Split-phase collectives of phases.c: whom they wake, the brief ones, and what they tell and refuse. */
#ifndef TESTS_PARTS_SHMEM_PHASES_BRIEF_H
#define TESTS_PARTS_SHMEM_PHASES_BRIEF_H

/* The thread that stores what others may wait for wakes them, if it is the last one and there are such threads. */
static void wakes(void)
{
    for (int late = 0; late < 4; late++)
        for (int workers = 0; workers < 3; workers++) {
            plan();
            uccs_own_of(0)->workers = (uint32_t)workers;
            others(TEAM_POSTED, late & 1 ? -1 : 0, late & 2 ? -1 : 0);
            fcollect_started(8);
            CHECK(bells == (late == 0 && workers));
            bells = 0;
            others_now(TEAM_POSTED, 0, 0);
            others_now(TEAM_COPIED, late & 1 ? -1 : 0, late & 2 ? -1 : 0);
            CHECK(!advances() && bells == 0);
            op->work.labour(&op->work);
            op->work.labour = 0;
            CHECK(advances() == (late == 0));
            CHECK(bells == (late == 0 && workers));
            if (late) {
                others_now(TEAM_COPIED, 0, 0);
                is_over();
            }
        }
    for (int root = 0; root < SIZE; root++) {
        plan();
        uccs_own_of(0)->workers = 1;
        others(TEAM_POSTED, -(root == ME), -(root == ME));
        broadcast_started(root);
        CHECK(bells == (root == ME)); /* nobody waits for the post of who receives, and all for the root's */
        others_now(TEAM_POSTED, 0, 0);
        CHECK(!advances());
        op->work.labour(&op->work);
        bells = 0;
        others_now(TEAM_COPIED, 0, 0);
        is_over();
        CHECK(bells == 1);
    }
}

/* Completes what has been started, by turns of the others. */
static void done_with(void)
{
    others_now(TEAM_POSTED, 0, 0);
    others_now(TEAM_COPIED, 0, 0);
    if (!advances()) {
        op->work.labour(&op->work);
        CHECK(advances());
    }
}

static void fcollect_is_brief(size_t bytes, bool brief)
{
    plan();
    fcollect_started(bytes);
    CHECK(op->brief == brief && (op->turn != 0) == (brief && bytes));
    done_with();
}

static void reduce_is_brief(enum kind kind, size_t n, bool brief)
{
    plan();
    CHECK(lat_reduce_nbe("call", SHMEM_TEAM_WORLD, dest, source, n, kind, FOLD_MAX, &handle) == 0);
    CHECK(op->brief == brief);
    done_with();
}

/* What one member does for all is at most the work of waking a thread, and only where there are threads. */
static void which_are_brief(void)
{
    const size_t most = BRIEF / SIZE / SIZE;
    CHECK(BRIEF == 131072);
    threads(false, true);
    fcollect_is_brief(1, false);
    CHECK(group->brief == 0);
    threads(true, false); /* all members ask about the first one */
    fcollect_is_brief(0, true);
    CHECK(group->brief == 0);
    fcollect_is_brief(1, true);
    CHECK(group->brief == 1);
    fcollect_is_brief(most, true);
    fcollect_is_brief(most + 1, false);
    CHECK(group->brief == 2);
    reduce_is_brief(KIND_I64, BRIEF / SIZE / 16, true);
    reduce_is_brief(KIND_I64, BRIEF / SIZE / 16 + 1, false);
    reduce_is_brief(KIND_I16, BRIEF / SIZE / 4, true);
    reduce_is_brief(KIND_I16, BRIEF / SIZE / 4 + 1, false);
    plan();
    broadcast_started(0);
    CHECK(!op->brief && op->turn == 0);
    done_with();
}

static uint64_t *word_of_brief(void)
{
    return line_of(0, TEAM_BRIEF) + 1;
}

static void share_of(struct operation *of, int rank)
{
    CHECK(of == op && rank == shares++);         /* each member's, once */
    CHECK(*word_of_brief() == 2 * op->turn - 1); /* it is claimed while they are copied */
    CHECK(group->copied == op->number - 1);
}

/* The brief word is so much ahead of what it is while this operation is the next one. */
static void brief_word_is(int64_t ahead)
{
    *word_of_brief() = 2 * (op->turn - 1) + (uint64_t)ahead;
}

static void a_brief_sync(void)
{
    plan();
    uccs_own_of(0)->workers = 1;
    *word_of_brief() = 77;
    const uint64_t copied = *line_of(ME, TEAM_COPIED);
    others(TEAM_POSTED, 0, 0);
    sync_started();
    CHECK(op->brief && op->turn == 0 && fences == 1);
    others_now(TEAM_POSTED, -1, 0);
    CHECK(!advances() && fences == 2);
    others_now(TEAM_POSTED, 0, -1);
    CHECK(!advances());
    others_now(TEAM_POSTED, 0, 0);
    group->copied--;
    CHECK(!advances());
    group->copied++;
    is_over();
    CHECK(bells == 0 && *line_of(ME, TEAM_COPIED) == copied && *word_of_brief() == 77);
}

/* `ahead`: the word when this member looks; claims: it does the shares then. */
static void a_brief_copy(int ahead, bool claims, bool done)
{
    plan();
    uccs_own_of(0)->workers = 1;
    fcollect_started(8);
    op->share = share_of;
    brief_word_is(ahead);
    others_now(TEAM_POSTED, 0, -1);
    CHECK(!advances() && shares == 0);
    group->copied--;
    others_now(TEAM_POSTED, 0, 0);
    CHECK(!advances() && shares == 0);
    group->copied++;
    if (!done) {
        CHECK(!advances() && shares == 0 && group->copied == op->number - 1);
        CHECK(*word_of_brief() == 2 * (op->turn - 1) + (uint64_t)ahead);
        brief_word_is(2); /* the claimer is through */
    }
    const uint64_t turn = op->turn, was = *word_of_brief();
    is_over();
    CHECK(shares == (claims ? SIZE : 0));
    CHECK(*word_of_brief() == (claims ? 2 * turn : was));
    CHECK(bells == 0 && fences >= 4);
}

static void brief_ones(void)
{
    const uint64_t before = group->brief;
    a_brief_sync();
    CHECK(group->brief == before);
    a_brief_copy(0, true, true);
    a_brief_copy(1, false, false);  /* another one has it */
    a_brief_copy(-1, false, false); /* the one before is not done */
    a_brief_copy(-2, false, false);
    a_brief_copy(2, false, true);
    a_brief_copy(3, false, true); /* the next one has begun */
    CHECK(group->brief == before + 6);
    plan();
    fcollect_started(8); /* every member's share */
    brief_word_is(0);
    for (int rank = 0; rank < SIZE; rank++) {
        memset(memory[FROM + rank] + (source - memory[FROM + ME]), 'a' + rank, 8);
        memset(memory[FROM + rank] + (dest - memory[FROM + ME]), '.', 32);
    }
    others_now(TEAM_POSTED, 0, 0);
    is_over();
    for (int rank = 0; rank < SIZE; rank++)
        CHECK(memcmp(memory[FROM + rank] + (dest - memory[FROM + ME]), "aaaaaaaabbbbbbbbcccccccc....", 28) == 0);
}

/* The globals of programs that differ: others' memory is looked for by name, this one's dest is what the program gave. */
static void a_brief_copy_elsewhere(void)
{
    plan();
    CHECK(lat_fcollect_nbe("call", SHMEM_TEAM_WORLD, outside[1], outside[0], 8, &handle) == 0);
    brief_word_is(0);
    for (int rank = 0; rank < SIZE; rank++) {
        memset(memory[FROM + rank] + 64, 'f' + rank, 8);
        memset(memory[FROM + rank] + 8192, '.', 32);
    }
    others_now(TEAM_POSTED, 0, 0);
    is_over();
    for (int rank = 0; rank < SIZE; rank++)
        CHECK(memcmp(rank == ME ? outside[1] : memory[FROM + rank] + 8192, "ffffffffgggggggghhhhhhhh", 24) == 0);
    CHECK(memory[FROM + ME][8192] == '.' && outside[1][24] == 0);
    threads(false, false);
}

/* Member -1: nobody is named. */
static void tells_of(int rank)
{
    struct uccs_told told = {.value = 5};
    CHECK(op->work.tell(&op->work, (const struct uccs_request *)memory, &told));
    CHECK(strcmp(told.text, op->call) == 0 && told.value == 5);
    CHECK(told.on.about == (rank < 0 ? 0 : NODE_ABOUT_PES));
    CHECK(rank < 0 || (told.on.start == FIRST + FROM + rank && told.on.size == 1));
}

static void tells(void)
{
    struct uccs_told told = {0};
    plan();
    fcollect_started(8);
    CHECK(!op->work.tell(&op->work, (const struct uccs_request *)memory, &told) && !told.text[0] && !told.on.about);
    counts = true;
    tells_of(0);
    others_now(TEAM_COPIED, 0, 0);
    others_now(TEAM_POSTED, 0, -1);
    tells_of(2);
    others_now(TEAM_POSTED, 0, 0);
    tells_of(-1);
    CHECK(!advances());
    op->work.labour(&op->work);
    others_now(TEAM_COPIED, 0, -1);
    others_now(TEAM_POSTED, -1, 0);
    CHECK(!advances() && op->shared);
    tells_of(2);
    others_now(TEAM_COPIED, -1, 0);
    tells_of(0);
    others_now(TEAM_COPIED, 0, 0);
    tells_of(-1);
    group->far = true; /* over several nodes other members do not show here */
    others_now(TEAM_COPIED, -1, 0);
    tells_of(-1);
    group->far = false;
    others_now(TEAM_COPIED, 0, 0);
    is_over();
    for (int root = 0; root < SIZE; root++) {
        plan();
        broadcast_started(root);
        tells_of(root == ME ? -1 : root);
        others_now(TEAM_POSTED, root == 0 ? 0 : -1, root == 2 ? 0 : -1);
        tells_of(-1); /* the root alone is waited for */
        CHECK(!advances());
        op->work.labour(&op->work);
        CHECK(advances() == (root != ME));
        if (root == ME) {
            tells_of(0);
            others_now(TEAM_COPIED, 0, -1);
            tells_of(2);
            others_now(TEAM_COPIED, 0, 0);
            is_over();
        }
    }
    counts = false;
}

static void is_started(const char *call, enum nbe_what what, size_t bytes, size_t n, int root, bool quiet)
{
    CHECK(strcmp(op->call, call) == 0 && op->what == what && op->bytes == bytes && op->n == n);
    CHECK(op->root == root && op->quiet == quiet && op->team == &lat_team_world && op->request == &request);
    CHECK(what == NBE_BARRIER || (op->dest == dest && op->source == source && op->share));
    CHECK(op->looked == 0 && !op->shared && !op->copied && !op->work.labour && !op->work.again);
    done_with();
}

static void all_arguments(void)
{
    plan();
    sync_started();
    is_started("shmemx_team_sync_nbe", NBE_BARRIER, 0, 0, -1, false);
    plan();
    lat_barrier_all_nbe(&handle);
    is_started("shmemx_barrier_all_nbe", NBE_BARRIER, 0, 0, -1, true);
    for (int root = 0; root < SIZE; root++) {
        plan();
        broadcast_started(root);
        is_started("call", NBE_BROADCAST, 8, 0, root, false);
    }
    plan();
    fcollect_started(8);
    is_started("call", NBE_FCOLLECT, 8, 0, -1, false);
    plan();
    CHECK(lat_alltoall_nbe("call", SHMEM_TEAM_WORLD, dest, source, 4, &handle) == 0);
    memset(dest, '.', 16);
    for (int rank = 0; rank < SIZE; rank++)
        memcpy(memory[FROM + rank] + (source - memory[FROM + ME]), (char[]){"aaaabbbbcccc"}, 12);
    is_started("call", NBE_ALLTOALL, 4, 0, -1, false);
    CHECK(memcmp(dest, "bbbbbbbbbbbb....", 16) == 0);
    plan();
    CHECK(lat_reduce_nbe("call", SHMEM_TEAM_WORLD, dest, source, 5, KIND_I32, FOLD_MAX, &handle) == 0);
    CHECK(op->kind == KIND_I32 && op->op == FOLD_MAX);
    is_started("call", NBE_REDUCE, 0, 5, -1, false);
}

static void over_several_nodes(void)
{
    plan();
    uccs_own_of(0)->workers = 1;
    threads(true, true);
    group->far = true;
    others(TEAM_POSTED, 0, 0);
    sync_started();
    CHECK(!op->brief && bells == 0); /* no progress thread looks at lines of other nodes */
    others_now(TEAM_COPIED, 0, 0);
    CHECK(!advances() && ends == 0 && group->pending == 1);
    over_nodes = true;
    CHECK(advances() && ends == 1 && frees == 1 && group->pending == 0);
    group->far = false;
}

static void mistakes(void)
{
    lat_state = LAT_BEFORE;
    REFUSED(lat_team_sync_nbe(SHMEM_TEAM_WORLD, &handle), "shmemx_team_sync_nbe: called before shmem_init");
    lat_state = LAT_RUNNING;
    CHECK(lat_team_sync_nbe(SHMEM_TEAM_INVALID, &handle) == -1);
    CHECK(lat_broadcast_nbe("call", SHMEM_TEAM_INVALID, dest, source, 8, -1, &handle) == -1);
    CHECK(lat_fcollect_nbe("call", SHMEM_TEAM_INVALID, dest, source, 8, &handle) == -1);
    CHECK(lat_alltoall_nbe("call", SHMEM_TEAM_INVALID, dest, source, 8, &handle) == -1);
    CHECK(lat_reduce_nbe("call", SHMEM_TEAM_INVALID, dest, source, 8, KIND_I8, FOLD_MAX, &handle) == -1);
    CHECK(mallocs == 0 && !handle && !op && group->posted == 0);
    REFUSED(lat_broadcast_nbe("call", SHMEM_TEAM_WORLD, dest, source, 8, -1, &handle),
            "call: PE_root -1 is out of range, the team has PEs 0 to 2");
    REFUSED(lat_broadcast_nbe("call", SHMEM_TEAM_WORLD, dest, source, 8, SIZE, &handle),
            "call: PE_root 3 is out of range, the team has PEs 0 to 2");
    REFUSED(lat_reduce_nbe("call", SHMEM_TEAM_WORLD, dest, source, (size_t)1 << 61, KIND_I64, FOLD_MAX, &handle),
            "call: 2305843009213693952 elements of 8 bytes are more than memory can hold; was the number negative?");
    CHECK(mallocs == 0);
    no_memory = true;
    REFUSED(lat_team_sync_nbe(SHMEM_TEAM_WORLD, &handle), "shmemx_team_sync_nbe: no memory for a request");
    no_memory = false;
    no_request = true;
    REFUSED(lat_team_sync_nbe(SHMEM_TEAM_WORLD, &handle), "shmemx_team_sync_nbe: no memory for a request");
    no_request = false;
    release(last); /* the job would have ended */
    CHECK(group->posted == 0 && group->pending == 0 && !op && *line_of(ME, TEAM_POSTED) == 0);
}

#endif
