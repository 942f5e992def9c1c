/* The parts of epochs.c about MPI_Win_post, start, complete, wait and test. */
#ifndef MPI_TEST_EPOCHS_POSTS_H
#define MPI_TEST_EPOCHS_POSTS_H
#include "epochs_stub.h"

enum { POSTS = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT };

/* Posts go to the word of this rank at each member. */
static void posts(void)
{
    reset();
    window.open = LMPI_OPEN_FENCE;
    peer[3].posts_made = 8;
    fences_made = 0;
    OK(layer_Win_post(GROUP(2), 0, WIN(OURS)));
    NEXT(SET, 3, (int)post_word(ME));
    NO_MORE();
    CHECK_EQ(fences_made, 1); /* behind stores to the window */
    CHECK(control[3]->posts[ME] == 9 && control[0]->posts[ME] == 1 && control[ME]->posts[ME] == 1);
    CHECK(control[FAR]->posts[ME] == 0 && control[0]->posts[0] == 0);
    CHECK(window.exposed == 3 && window.open == 0 && peer[3].posts_made == 9);
    FAILS(layer_Win_post(GROUP(2), 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
    window.exposed = 0; /* to nobody, and not ended */
    FAILS(layer_Win_post(GROUP(2), 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
    window.exposed = -1;
    window.open = LMPI_OPEN_LOCK_ALL;
    FAILS(layer_Win_post(GROUP(2), 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
    window.open = 0;
    FAILS(layer_Win_post(GROUP(4), 0, WIN(OURS)), MPI_ERR_GROUP);
    FAILS(layer_Win_post(GROUP(3), MPI_MODE_NOPRECEDE, WIN(OURS)), MPI_ERR_ASSERT);
    CHECK_EQ(window.exposed, -1);
    window.children = &copy;
    OK(layer_Win_post(GROUP(3), POSTS, WIN(COPY)));
    NEXT(SPREAD, -1, 0);
    NO_MORE();
    CHECK(window.exposed == 1 && control[0]->posts[ME] == 2);
    free(window.post_ranks.rank);
}

/* ---- start and complete ---- */

static int posting; /* the member that posts next */

static void post_next(void)
{
    static const int order[] = {3, 0, 1};
    CHECK(posting < 3);
    for (int i = 0; i < posting; i++)
        CHECK_EQ(target[order[i]].open, LMPI_OPEN_STARTED);
    for (int i = posting; i < 3; i++)
        CHECK_EQ(target[order[i]].open, 0); /* not before its post */
    control[ME]->posts[order[posting++]]++;
}

static void start_and_complete(void)
{
    reset();
    window.open = LMPI_OPEN_FENCE;
    on_pause = post_next;
    posting = 0;
    OK(layer_Win_start(GROUP(2), MPI_MODE_NOCHECK, WIN(OURS)));
    CHECK(slow == 3 && posting == 3 && window.started && window.open == 0);
    CHECK(target[0].open == LMPI_OPEN_STARTED && target[FAR].open == 0);
    CHECK(peer[3].posts_taken == 1 && peer[0].posts_taken == 1 && peer[FAR].posts_taken == 0);
    FAILS(layer_Win_start(GROUP(3), 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
    target[3].far_ops = LMPI_FAR_SOME;
    OK(layer_Win_complete(WIN(OURS)));
    NEXT(FLUSHED, -1, 8);
    NEXT(ADDED, 3, LMPI_WORD(completes));
    NO_MORE();
    CHECK(control[3]->completes == 1 && control[0]->completes == 1 && control[ME]->completes == 1);
    CHECK(control[FAR]->completes == 0 && !window.started);
    for (int i = 0; i < RANKS; i++)
        CHECK_EQ(target[i].open, 0);
    FAILS(layer_Win_complete(WIN(OURS)), MPI_ERR_RMA_SYNC);
    free(window.start_ranks.rank);
}

/* Posts that are there already are taken at once, also behind 2^32 of them. */
static void started_at_once(void)
{
    const uint32_t before[] = {0, 5, 65534, 65535, 65536, 0x7fffffff, 0xfffffffe, 0xffffffff};
    for (int i = 0; i < 8; i++) {
        reset();
        window.children = &copy;
        peer[0].posts_taken = before[i];
        control[ME]->posts[0] = (uint64_t)before[i] + 1;
        OK(layer_Win_start(GROUP(3), 0, WIN(COPY)));
        CHECK_EQ(slow, 0);
        CHECK_EQ(peer[0].posts_taken, (uint32_t)(before[i] + 1));
        NEXT(SPREAD, -1, 0);
        OK(layer_Win_complete(WIN(COPY)));
        NEXT(SPREAD, -1, 0);
        NO_MORE();
        control[ME]->posts[0] += 40000; /* more than are due */
        OK(layer_Win_start(GROUP(3), 0, WIN(OURS)));
        CHECK_EQ(slow, 0);
        free(window.start_ranks.rank);
    }
}

static void wrong_starts(void)
{
    reset();
    FAILS(layer_Win_start(GROUP(3), MPI_MODE_NOPUT, WIN(OURS)), MPI_ERR_ASSERT);
    FAILS(layer_Win_start(GROUP(4), 0, WIN(OURS)), MPI_ERR_GROUP);
    window.open = LMPI_OPEN_LOCK_ALL;
    FAILS(layer_Win_start(GROUP(3), 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
    window.open = 0;
    for (int i = 0; i < RANKS; i++) {
        const int is_member = i != FAR;
        target[i].open = LMPI_OPEN_SHARED; /* a lock of the program's */
        posting = 0;
        if (is_member)
            FAILS(layer_Win_start(GROUP(2), 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
        target[i].open = 0;
        CHECK_EQ(window.started, 0);
    }
    target[FAR].open = LMPI_OPEN_SHARED; /* of no member */
    on_pause = post_next;
    posting = 0;
    OK(layer_Win_start(GROUP(2), 0, WIN(OURS)));
    CHECK_EQ(target[FAR].open, LMPI_OPEN_SHARED);
    CHECK(lmpi_watch_begin(&window));
    wait_status = UCCS_ERR_FAILED;
    target[FAR].far_ops = LMPI_FAR_SOME;
    FAILS(layer_Win_complete(WIN(OURS)), MPI_ERR_RMA_RANGE);
    CHECK(!window.started && control[0]->completes == 1);
    CHECK_EQ(target[FAR].open, LMPI_OPEN_SHARED);
    RETURNS(lmpi_watch_end(&window));
    OK(layer_Win_start(GROUP(5), 0, WIN(OURS))); /* to nobody */
    CHECK(window.started);
    OK(layer_Win_complete(WIN(OURS)));
    free(window.start_ranks.rank);
}

/* ---- wait and test ---- */

static void complete_next(void)
{
    control[ME]->completes++;
}

static void waits(void)
{
    int flag = 7;
    reset();
    FAILS(layer_Win_wait(WIN(OURS)), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_test(WIN(OURS), &flag), MPI_ERR_RMA_SYNC);
    CHECK_EQ(flag, 7);
    control[ME]->completes = window.completes = 5;
    window.exposed = 2;
    on_pause = complete_next;
    OK(layer_Win_wait(WIN(OURS)));
    CHECK(slow == 2 && window.completes == 7 && window.exposed == -1);
    window.exposed = 2;
    for (int left = 2; left > 0; left--) {
        OK(layer_Win_test(WIN(OURS), &flag));
        CHECK(flag == 0 && window.exposed == 2 && window.completes == 7);
        CHECK_EQ(progressed, 3 - left);
        control[ME]->completes++;
    }
    OK(layer_Win_test(WIN(OURS), &flag));
    CHECK(flag == 1 && window.exposed == -1 && window.completes == 9 && progressed == 2);
    window.exposed = 0; /* to nobody */
    OK(layer_Win_wait(WIN(OURS)));
    CHECK(window.exposed == -1 && window.completes == 9 && slow == 2);
    window.exposed = 0;
    OK(layer_Win_test(WIN(OURS), &flag));
    CHECK(flag == 1 && window.exposed == -1);
    NO_MORE();
}

#endif
