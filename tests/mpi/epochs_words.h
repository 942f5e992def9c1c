/* The parts of epochs.c that are below MPI's calls: words and locks by which ranks meet, groups, what is complete when. */
#ifndef MPI_TEST_EPOCHS_WORDS_H
#define MPI_TEST_EPOCHS_WORDS_H
#include "epochs_stub.h"

#define LONG_AGO (UINT64_C(5) << 32) /* calls */

/* ---- words ---- */

static void words(void)
{
    reset();
    for (int rank = 0; rank < RANKS; rank++) {
        const size_t at = LMPI_WORD(round) + 24;
        control[rank]->round[3] = LONG_AGO + 40;
        CHECK_EQ(lmpi_word_add(&peer[rank], at, 2), LONG_AGO + 40);
        CHECK_EQ(control[rank]->round[3], LONG_AGO + 42);
        CHECK_EQ(lmpi_word_swap_if(&peer[rank], at, LONG_AGO + 41, 5), LONG_AGO + 42);
        CHECK_EQ(lmpi_word_load(&peer[rank], at), LONG_AGO + 42);
        CHECK_EQ(lmpi_word_swap_if(&peer[rank], at, LONG_AGO + 42, LONG_AGO + 5), LONG_AGO + 42);
        CHECK_EQ(lmpi_word_load(&peer[rank], at), LONG_AGO + 5);
        RETURNS(lmpi_word_store(&peer[rank], at, LONG_AGO + 77));
        CHECK_EQ(control[rank]->round[3], LONG_AGO + 77);
        CHECK(control[rank]->round[2] == 0 && control[rank]->round[4] == 0);
        CHECK_EQ(happened, rank < FAR ? 0 : 4); /* by messages to other nodes alone */
        happened = 0;
    }
    CHECK_EQ(aborts, 0);
    atomic_status = UCCS_ERR_STALE;
    CHECK_EQ(lmpi_word_load(&peer[FAR], 0), 0);
    CHECK(aborts == 1 && abort_code == 1);
    CHECK(strcmp(said, "lateral-mpi: rank 41: a word of rank 12 cannot be reached: stale\n") == 0);
    CHECK_EQ(lmpi_word_load(&peer[NEAR], LMPI_WORD(round) + 24), LONG_AGO + 77);
    CHECK_EQ(aborts, 1);
}

static void sizes(void)
{
    for (int ranks_of = 1; ranks_of < 40; ranks_of++) {
        const size_t bytes = lmpi_control_bytes(ranks_of);
        CHECK_EQ(bytes % 64, 0);
        CHECK(bytes >= sizeof(struct lmpi_control) + 8 * (size_t)ranks_of);
        CHECK(bytes < sizeof(struct lmpi_control) + 8 * (size_t)ranks_of + 64);
        CHECK_EQ(lmpi_notify_word(ranks_of, 0), bytes);
        CHECK_EQ(lmpi_notify_word(ranks_of, 5), bytes + 40);
    }
    CHECK(LMPI_WORD(posts) == sizeof(struct lmpi_control) && post_word(3) == LMPI_WORD(posts) + 24);
}

static int rounds_due;

/* The others arrive one after the other, and in each round with too small a number first. */
static void arrive(void)
{
    uint64_t *round = control[ME]->round;
    for (int k = 0; k < rounds_due; k++)
        if (round[k] < window.round) {
            round[k]++;
            return;
        }
    CHECK(!"the barrier waits for nobody");
}

static void barriers(void)
{
    const int rounds[] = {0, 0, 1, 2, 2};
    for (int n = 2; n <= RANKS; n++) {
        reset();
        window.ranks = n;
        window.round = LONG_AGO + 6;
        on_pause = arrive;
        rounds_due = rounds[n];
        for (int k = 0; k < 2; k++)
            control[ME]->round[k] = LONG_AGO + 5;
        const int before = fences_made;
        RETURNS(lmpi_barrier(&window));
        CHECK_EQ(fences_made, before + 1);
        CHECK_EQ(window.round, LONG_AGO + 7);
        CHECK_EQ(slow, 2 * rounds[n]);
        for (int k = 0; k < rounds[n]; k++)
            CHECK_EQ(control[(ME + (1 << k)) % n]->round[k], LONG_AGO + 7);
        CHECK(control[FAR]->round[1] == 0 && control[ME]->round[2] == 0 && control[NEAR]->round[2] == 0);
        CHECK_EQ(happened, (n > 2) + (n > 3));
    }
    reset();
    window.ranks = 1;
    window.rank = 0;
    RETURNS(lmpi_barrier(&window));
    CHECK(window.round == 1 && slow == 0 && control[NEAR]->round[0] == 0);
}

/* ---- locks of ranks ---- */

static void lock_words(void)
{
    const enum uccs_lock_mode modes[] = {UCCS_LOCK_SHARED, UCCS_LOCK_EXCLUSIVE, UCCS_LOCK_GUEST};
    reset();
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < 3; i++) {
            const int how = (int)modes[i] + (rank < FAR ? 0 : BY_MESSAGE);
            RETURNS(lmpi_lock_enter(&peer[rank], modes[i]));
            NEXT(ENTERED, rank, how);
            RETURNS(lmpi_lock_leave(&peer[rank], modes[i]));
            NEXT(LEFT, rank, how);
            CHECK_EQ(lmpi_calling, 0);
        }
    NO_MORE();
    CHECK_EQ(aborts, 0);
    lock_status = UCCS_ERR_STALE;
    RETURNS(lmpi_lock_enter(&peer[NEAR], UCCS_LOCK_SHARED));
    CHECK(aborts == 1 && abort_code == 1);
    CHECK(strcmp(said, "lateral-mpi: rank 41: the lock of rank 10 cannot be reached: stale\n") == 0);
    RETURNS(lmpi_lock_leave(&peer[LAST], UCCS_LOCK_SHARED));
    CHECK_EQ(aborts, 2);
}

static void late_locks(void)
{
    const struct {
        int rank, window, target;
        bool enters;
    } rows[] = {{FAR, 0, 0, true},
                {LAST, LMPI_OPEN_LOCK_ALL, LMPI_OPEN_SHARED, true},
                {FAR, LMPI_OPEN_UNCHECKED, 0, false},
                {NEAR, 0, 0, false},
                {NEAR, LMPI_OPEN_UNCHECKED, 0, false},
                {FAR, 0, LMPI_OPEN_LATE, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reset();
        window.open = (uint8_t)rows[i].window;
        target[rows[i].rank].open = (uint8_t)rows[i].target;
        RETURNS(lmpi_lock_late(&window, rows[i].rank));
        CHECK_EQ(target[rows[i].rank].open, rows[i].target | LMPI_OPEN_LATE);
        if (rows[i].enters)
            NEXT(ENTERED, rows[i].rank, UCCS_LOCK_GUEST + BY_MESSAGE);
        NO_MORE();
        RETURNS(lmpi_lock_late(&window, rows[i].rank));
        NO_MORE();
    }
}

/* ---- groups ---- */

static int groups_freed;

static int fake_free_group(MPI_Group *group)
{
    CHECK(*group == GROUP(2));
    groups_freed++;
    return MPI_SUCCESS;
}

static void groups(void)
{
    struct lmpi_ranks kept = {.group = MPI_GROUP_NULL};
    reset();
    lmpi_groups_age = LONG_AGO + 3; /* groups have been freed */
    lmpi_real.Group_free = fake_free_group;
    translated = 0;
    const struct lmpi_ranks *found = lmpi_ranks(&window, GROUP(2), &kept);
    CHECK(found == &kept && found->n == 3 && found->group == GROUP(2));
    CHECK(found->rank[0] == 3 && found->rank[1] == 0 && found->rank[2] == 1);
    CHECK(lmpi_ranks(&window, GROUP(2), &kept) == &kept);
    CHECK_EQ(translated, 1); /* it is kept */
    CHECK(lmpi_ranks(&window, MPI_GROUP_NULL, &kept) == 0);
    CHECK(lmpi_ranks(&window, GROUP(4), &kept) == 0);
    CHECK(lmpi_ranks(&window, GROUP(6), &kept) == 0);
    CHECK(lmpi_ranks(&window, GROUP(9), &kept) == 0);
    CHECK(kept.group == GROUP(2) && kept.n == 3); /* what is refused changes nothing */
    MPI_Group group = GROUP(2);
    translated = 0;
    OK(layer_Group_free(&group));
    CHECK_EQ(groups_freed, 1);
    CHECK(lmpi_ranks(&window, GROUP(2), &kept) == &kept);
    CHECK_EQ(translated, 1); /* the handle may mean another */
    CHECK(lmpi_ranks(&window, GROUP(5), &kept) == &kept && kept.n == 0);
    CHECK(lmpi_ranks(&window, GROUP(3), &kept) == &kept && kept.n == 1 && kept.rank[0] == 0);
    free(kept.rank);
}

/* ---- completion ---- */

static void watches(void)
{
    reset();
    RETURNS(lmpi_watch_end(&window));
    CHECK(lmpi_watch_begin(&window) && window.watch && window.op == &window.watch->op);
    CHECK(window.op->request == &window.watch->request && window.watch->request);
    RETURNS(lmpi_watch_end(&window));
    CHECK(!window.watch && requests_released == 1);
    reset();
    request_status = UCCS_ERR_NO_MEMORY;
    CHECK(!lmpi_watch_begin(&window) && !window.watch && !window.op);
    reset();
    CHECK(lmpi_watch_begin(&window));
    target[FAR].far_ops = LMPI_FAR_SOME;
    OK(lmpi_complete_at(&window, FAR));
    wait_status = UCCS_ERR_FAILED;
    OK(lmpi_complete_at(&window, FAR)); /* nothing is under way */
    target[FAR].far_ops = LMPI_FAR_SOME;
    CHECK_EQ(lmpi_complete_at(&window, FAR), MPI_ERR_RMA_RANGE);
    target[FAR].far_ops = LMPI_FAR_SOME;
    CHECK_EQ(lmpi_complete_all(&window), MPI_ERR_RMA_RANGE);
    RETURNS(lmpi_watch_end(&window));
    target[FAR].far_ops = LMPI_FAR_SOME;
    OK(lmpi_complete_all(&window));
}

static int marks(void)
{
    int all = 0;
    for (int i = 0; i < RANKS; i++)
        all = 10 * all + target[i].far_ops;
    return all;
}

static void mark(int first, int second, int third, int last)
{
    target[0].far_ops = (uint8_t)first;
    target[1].far_ops = (uint8_t)second;
    target[2].far_ops = (uint8_t)third;
    target[3].far_ops = (uint8_t)last;
}

/* A window without a family waits for the ranks that its operations went to. */
static void alone(void)
{
    enum { THREADS = 8 };
    reset();
    mark(0, 0, 1, 0);
    OK(lmpi_complete_at(&window, LAST));
    NO_MORE();
    OK(lmpi_complete_at(&window, FAR));
    NEXT(FLUSHED, FAR, THREADS);
    NO_MORE();
    CHECK_EQ(marks(), 0);
    mark(0, 0, 2, 1);
    OK(lmpi_complete_at(&window, FAR)); /* an answer may tell that all are complete */
    NEXT(LOCAL, FAR, 0);
    NEXT(FLUSHED, FAR, THREADS);
    NO_MORE();
    CHECK_EQ(marks(), 1);
    OK(lmpi_complete_at(&window, NEAR)); /* where nothing went */
    RETURNS(lmpi_complete_local(&window, NEAR));
    NO_MORE();
    mark(2, 0, 0, 0);
    OK(lmpi_complete_at(&window, NEAR));
    NEXT(LOCAL, NEAR, 0);
    NEXT(FLUSHED, NEAR, THREADS);
    mark(2, 0, 2, 1);
    OK(lmpi_complete_all(&window));
    NEXT(FLUSHED, -1, THREADS);
    NO_MORE();
    CHECK_EQ(marks(), 0);
    OK(lmpi_complete_all(&window));
    OK(lmpi_complete_threads(&window, -1));
    OK(lmpi_complete_stored(&window, -1));
    NO_MORE();
    for (int i = 0; i < RANKS; i += RANKS - 1) {
        mark(i == 0, 0, 0, i != 0);
        OK(lmpi_complete_stored(&window, -1));
        NEXT(FLUSHED, -1, THREADS);
        NO_MORE();
    }
    mark(1, 0, 0, 0);
    OK(lmpi_complete_stored(&window, NEAR));
    NEXT(FLUSHED, NEAR, THREADS);
    window.leaves = false; /* all ranks are on this node */
    mark(1, 1, 1, 1);
    OK(lmpi_complete_all(&window));
    NO_MORE();
    CHECK_EQ(marks(), 1111);
    window.leaves = true;
    lmpi_life.any_thread = true;
    OK(lmpi_complete_all(&window));
    NEXT(FLUSHED, -1, THREADS);
    CHECK_EQ(marks(), 1111); /* another thread may wait for them */
}

/* Stores come before what a flush tells; one that gives a lock back, or meets others, leaves the fence to that. */
static void fences_of_flushes(void)
{
    reset();
    fences_made = 0;
    OK(lmpi_complete_at(&window, NEAR));
    CHECK_EQ(fences_made, 1);
    OK(lmpi_complete_all(&window));
    CHECK_EQ(fences_made, 2);
    OK(lmpi_complete_threads(&window, -1));
    CHECK_EQ(fences_made, 3);
    OK(lmpi_complete_stored(&window, -1));
    CHECK_EQ(fences_made, 3);
}

/* The scope of a window's own flushes is the thread, of those behind epochs never. */
static void scopes(void)
{
    reset();
    for (int kind = 0; kind < 4; kind++) {
        const int threads = kind + (kind & LMPI_THREAD ? 0 : 8);
        window.kind = (uint8_t)kind;
        mark(0, 0, 1, 0);
        OK(lmpi_complete_at(&window, FAR));
        NEXT(FLUSHED, FAR, threads);
        mark(0, 0, 1, 0);
        OK(lmpi_complete_all(&window));
        NEXT(FLUSHED, -1, threads);
        mark(0, 0, 1, 0);
        OK(lmpi_complete_threads(&window, -1));
        NEXT(FLUSHED, -1, kind + 8);
        mark(0, 0, 1, 0);
        OK(lmpi_complete_stored(&window, FAR));
        NEXT(FLUSHED, FAR, kind + 8);
        mark(0, 0, 1, 0);
        RETURNS(lmpi_complete_local(&window, FAR));
        NEXT(LOCAL, FAR, kind);
        RETURNS(lmpi_complete_local(&window, -1));
        NEXT(LOCAL, -1, kind);
        RETURNS(lmpi_complete_local(&window, LAST));
        NO_MORE();
    }
    window.of_first = true; /* its words lie elsewhere */
    window.kind = 0;
    OK(lmpi_complete_at(&window, FAR));
    NEXT(FLUSHED, -1, 8);
    NO_MORE();
}

/* A family waits for each kind that one of its members has used. */
static void families(void)
{
    reset();
    window.family = true;
    window.kinds = 1u << 0 | 1u << 3;
    window.kind = 3;
    copy.kind = 0;
    OK(lmpi_complete_at(&window, LAST));
    NEXT(FLUSHED, -1, 0); /* of another kind: its endpoint is not known here */
    NEXT(FLUSHED, LAST, 3);
    NO_MORE();
    OK(lmpi_complete_at(&copy, LAST)); /* its parent's kinds */
    NEXT(FLUSHED, LAST, 8);
    NEXT(FLUSHED, -1, 11);
    NO_MORE();
    RETURNS(lmpi_complete_local(&copy, FAR));
    NEXT(LOCAL, FAR, 0);
    NEXT(LOCAL, -1, 3);
    NO_MORE();
    OK(lmpi_complete_at(&part, FAR)); /* of a memory handle: its own operations */
    NO_MORE();
    target[FAR].far_ops = LMPI_FAR_SOME;
    OK(lmpi_complete_at(&part, FAR));
    NEXT(FLUSHED, FAR, 8);
    NO_MORE();
    window.leaves = copy.leaves = false;
    OK(lmpi_complete_at(&copy, FAR));
    NO_MORE();
    window.kinds = 0;
    window.leaves = copy.leaves = true;
    OK(lmpi_complete_at(&copy, FAR));
    NO_MORE();
}

#endif
