/* What calls of synchronisation ask of the substrate, and in which order: words and locks by which ranks meet, flushes, fences, locks,
 * MPI_Win_post and its kin, and notifications. The layer's functions run by themselves, on a window of four ranks.
 * ranks: 1 */
#include "epochs_flush.h"
#include "epochs_notify.h"
#include "epochs_posts.h"
#include "epochs_words.h"

/* ---- calls that are not ours ---- */

static int passed_on;

static int real_win(MPI_Win win)
{
    CHECK(win == WIN(9));
    passed_on++;
    return 3;
}

static int real_assert_win(int number, MPI_Win win)
{
    CHECK(win == WIN(9) && number == 6);
    passed_on++;
    return 4;
}

static int real_group(MPI_Group group, int assert, MPI_Win win)
{
    CHECK(group == GROUP(2) && assert == 6 && win == WIN(9));
    passed_on++;
    return 5;
}

static int real_lock(int type, int rank, int assert, MPI_Win win)
{
    CHECK(type == MPI_LOCK_SHARED && rank == 1 && assert == 6 && win == WIN(9));
    passed_on++;
    return 6;
}

static int real_test(MPI_Win win, int *flag)
{
    CHECK(win == WIN(9));
    *flag = 5;
    passed_on++;
    return 7;
}

static void foreign(void)
{
    int flag = 0;
    reset();
    lmpi_real.Win_complete = lmpi_real.Win_wait = lmpi_real.Win_sync = lmpi_real.Win_unlock_all = real_win;
    lmpi_real.Win_fence = lmpi_real.Win_lock_all = lmpi_real.Win_unlock = real_assert_win;
    lmpi_real.Win_post = lmpi_real.Win_start = real_group;
    lmpi_real.Win_lock = real_lock;
    lmpi_real.Win_test = real_test;
    CHECK_EQ(layer_Win_complete(WIN(9)), 3);
    CHECK_EQ(layer_Win_wait(WIN(9)), 3);
    CHECK_EQ(layer_Win_sync(WIN(9)), 3);
    CHECK_EQ(layer_Win_unlock_all(WIN(9)), 3);
    CHECK_EQ(layer_Win_fence(6, WIN(9)), 4);
    CHECK_EQ(layer_Win_lock_all(6, WIN(9)), 4);
    CHECK_EQ(layer_Win_unlock(6, WIN(9)), 4);
    CHECK_EQ(layer_Win_post(GROUP(2), 6, WIN(9)), 5);
    CHECK_EQ(layer_Win_start(GROUP(2), 6, WIN(9)), 5);
    CHECK_EQ(layer_Win_lock(MPI_LOCK_SHARED, 1, 6, WIN(9)), 6);
    CHECK_EQ(layer_Win_test(WIN(9), &flag), 7);
    CHECK(flag == 5 && passed_on == 11);
}

/* A window of a memory handle has no epochs of its own. */
static void of_handles(void)
{
    int flag;
    reset();
    FAILS(layer_Win_complete(WIN(PART)), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_wait(WIN(PART)), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_test(WIN(PART), &flag), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_unlock_all(WIN(PART)), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_fence(0, WIN(PART)), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_lock_all(0, WIN(PART)), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_unlock(MPI_PROC_NULL, WIN(PART)), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_post(GROUP(2), 0, WIN(PART)), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_start(GROUP(5), 0, WIN(PART)), MPI_ERR_RMA_SYNC);
    FAILS(layer_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, WIN(PART)), MPI_ERR_RMA_SYNC);
    NO_MORE();
}

/* ---- fences ---- */

static void all_arrive(void)
{
    for (int k = 0; k < 2; k++)
        control[ME]->round[k] = window.round;
}

static void fence_calls(void)
{
    const int all = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    reset();
    on_pause = all_arrive;
    target[FAR].far_ops = LMPI_FAR_SOME;
    window.kind = LMPI_THREAD;
    OK(layer_Win_fence(0, WIN(OURS)));
    NEXT(FLUSHED, -1, LMPI_THREAD + 8);
    NEXT(SET, FAR, LMPI_WORD(round));
    NEXT(SET, LAST, LMPI_WORD(round) + 8);
    NO_MORE();
    CHECK(window.open == LMPI_OPEN_FENCE && window.round == 1);
    window.children = &copy;
    OK(layer_Win_fence(all, WIN(COPY)));
    CHECK(window.open == 0 && window.round == 2);
    CHECK_EQ(happened, 3);
    CHECK(events[2].what == SPREAD && events[2].rank == -1);
    OK(layer_Win_fence(MPI_MODE_NOPRECEDE, WIN(OURS)));
    CHECK(window.open == LMPI_OPEN_FENCE && window.round == 3);
    FAILS(layer_Win_fence(MPI_MODE_NOCHECK, WIN(OURS)), MPI_ERR_ASSERT);
    CHECK_EQ(window.round, 3);
}

/* Calls `call` while each of other epochs is open. */
static void refuses_epochs(int (*call)(void), bool exposed_too)
{
    FAILS(call(), MPI_ERR_RMA_SYNC);
    window.open = 0;
    window.started = true;
    FAILS(call(), MPI_ERR_RMA_SYNC);
    window.started = false;
    for (window.exposed = 0; window.exposed < 2 && exposed_too; window.exposed++)
        FAILS(call(), MPI_ERR_RMA_SYNC);
    window.exposed = -1;
    for (int i = 0; i < RANKS; i++) {
        target[i].open = LMPI_OPEN_STARTED;
        FAILS(call(), MPI_ERR_RMA_SYNC);
        target[i].open = 0;
    }
    NO_MORE();
}

static int fence(void)
{
    return layer_Win_fence(0, WIN(OURS));
}

static int lock_all(void)
{
    return layer_Win_lock_all(0, WIN(OURS));
}

static void other_epochs(void)
{
    reset();
    window.open = LMPI_OPEN_LOCK_ALL;
    refuses_epochs(fence, true);
    window.open = LMPI_OPEN_LOCK_ALL;
    refuses_epochs(lock_all, false);
    on_pause = all_arrive;
    OK(fence());
    CHECK(lmpi_watch_begin(&window));
    wait_status = UCCS_ERR_FAILED;
    target[NEAR].far_ops = LMPI_FAR_SOME;
    FAILS(fence(), MPI_ERR_RMA_RANGE);
    CHECK(window.round == 2 && window.open == LMPI_OPEN_FENCE);
    RETURNS(lmpi_watch_end(&window));
}

/* ---- locks ---- */

static int how_of(int rank, int type)
{
    return (type == MPI_LOCK_SHARED ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE) + (rank < FAR ? 0 : BY_MESSAGE);
}

static void lock_one(int rank, int type, MPI_Win win)
{
    const int open = type == MPI_LOCK_SHARED ? LMPI_OPEN_SHARED : LMPI_OPEN_EXCLUSIVE;
    window.open = LMPI_OPEN_FENCE * (rank % 2);
    OK(layer_Win_lock(type, rank, 0, win));
    NEXT(ENTERED, rank, how_of(rank, type));
    if (window.children)
        NEXT(SPREAD, rank, 0);
    CHECK(target[rank].open == open && window.open == 0);
    FAILS(layer_Win_lock(type, rank, 0, win), MPI_ERR_RMA_SYNC);
    NO_MORE();
    target[rank].far_ops = rank >= FAR;
    OK(layer_Win_unlock(rank, win));
    if (rank >= FAR || window.family)
        NEXT(FLUSHED, rank, 8);
    if (window.children)
        NEXT(SPREAD, rank, 0);
    NEXT(LEFT, rank, how_of(rank, type));
    NO_MORE();
    CHECK_EQ(target[rank].open, 0);
    FAILS(layer_Win_unlock(rank, win), MPI_ERR_RMA_SYNC);
    OK(layer_Win_lock(type, rank, MPI_MODE_NOCHECK, win));
    CHECK_EQ(target[rank].open, open | LMPI_OPEN_UNCHECKED);
    OK(layer_Win_unlock(rank, win));
    CHECK_EQ(target[rank].open, 0);
    for (; seen < happened; seen++)
        CHECK(events[seen].what == SPREAD || events[seen].what == FLUSHED);
    NO_MORE();
}

/* The quick way, the one that notes that this thread is in a call, and that of a family. */
static void locks(void)
{
    for (int turn = 0; turn < 3; turn++) {
        reset();
        lmpi_life.any_calls = turn != 1;
        window.family = turn == 2;
        window.kinds = 1;
        window.children = turn == 2 ? &copy : 0;
        for (int rank = 0; rank < RANKS; rank++) {
            lock_one(rank, MPI_LOCK_SHARED, WIN(turn < 2 ? OURS : COPY));
            lock_one(rank, MPI_LOCK_EXCLUSIVE, WIN(turn < 2 ? OURS : COPY));
        }
    }
}

static void wrong_locks(void)
{
    const int wrong[] = {RANKS, RANKS + 1, -77};
    for (int turn = 0; turn < 2; turn++) {
        reset();
        lmpi_life.any_calls = turn == 0;
        for (int i = 0; i < 3; i++) {
            FAILS(layer_Win_lock(MPI_LOCK_SHARED, wrong[i], 0, WIN(OURS)), MPI_ERR_RANK);
            FAILS(layer_Win_unlock(wrong[i], WIN(OURS)), MPI_ERR_RANK);
        }
        OK(layer_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, WIN(OURS)));
        OK(layer_Win_unlock(MPI_PROC_NULL, WIN(OURS)));
        FAILS(layer_Win_lock(MPI_LOCK_SHARED + MPI_LOCK_EXCLUSIVE, ME, 0, WIN(OURS)), MPI_ERR_LOCKTYPE);
        FAILS(layer_Win_lock(MPI_LOCK_SHARED, ME, MPI_MODE_NOPUT, WIN(OURS)), MPI_ERR_ASSERT);
        window.open = LMPI_OPEN_LOCK_ALL;
        FAILS(layer_Win_lock(MPI_LOCK_SHARED, ME, 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
        FAILS(layer_Win_unlock(ME, WIN(OURS)), MPI_ERR_RMA_SYNC);
        window.open = 0;
        target[ME].open = LMPI_OPEN_STARTED;
        FAILS(layer_Win_lock(MPI_LOCK_SHARED, ME, 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
        FAILS(layer_Win_unlock(ME, WIN(OURS)), MPI_ERR_RMA_SYNC);
        NO_MORE();
        CHECK(target[ME].open == LMPI_OPEN_STARTED && window.open == 0);
    }
    reset();
    lock_status = UCCS_ERR_STATE; /* inside of a handler */
    CHECK_EQ(layer_Win_lock(MPI_LOCK_SHARED, ME, 0, WIN(OURS)), MPI_ERR_OTHER);
    CHECK(lmpi_watch_begin(&window));
    wait_status = UCCS_ERR_FAILED;
    lock_status = UCCS_OK;
    target[NEAR].far_ops = LMPI_FAR_SOME;
    target[NEAR].open = LMPI_OPEN_EXCLUSIVE;
    happened = 0;
    FAILS(layer_Win_unlock(NEAR, WIN(OURS)), MPI_ERR_RMA_RANGE);
    NEXT(FLUSHED, NEAR, 8);
    NEXT(LEFT, NEAR, UCCS_LOCK_EXCLUSIVE);
    NO_MORE();
    RETURNS(lmpi_watch_end(&window));
}

/* Those of this node at once, of others only the ones that have been used. */
static void locks_of_all(void)
{
    reset();
    window.open = LMPI_OPEN_FENCE;
    window.children = &copy;
    OK(layer_Win_lock_all(0, WIN(COPY)));
    NEXT(ENTERED, NEAR, UCCS_LOCK_SHARED);
    NEXT(ENTERED, ME, UCCS_LOCK_SHARED);
    NEXT(SPREAD, -1, 0);
    NO_MORE();
    CHECK_EQ(window.open, LMPI_OPEN_LOCK_ALL);
    FAILS(layer_Win_lock_all(0, WIN(OURS)), MPI_ERR_RMA_SYNC);
    RETURNS(lmpi_lock_late(&window, LAST));
    NEXT(ENTERED, LAST, UCCS_LOCK_GUEST + BY_MESSAGE);
    target[LAST].far_ops = LMPI_FAR_SOME;
    OK(layer_Win_unlock_all(WIN(COPY)));
    NEXT(FLUSHED, -1, 8);
    NEXT(LEFT, NEAR, UCCS_LOCK_SHARED);
    NEXT(LEFT, ME, UCCS_LOCK_SHARED);
    NEXT(LEFT, LAST, UCCS_LOCK_GUEST + BY_MESSAGE);
    NEXT(SPREAD, -1, 0);
    NO_MORE();
    CHECK(window.open == 0 && target[LAST].open == 0);
    FAILS(layer_Win_unlock_all(WIN(OURS)), MPI_ERR_RMA_SYNC);
    window.children = 0;
    OK(layer_Win_lock_all(MPI_MODE_NOCHECK, WIN(OURS)));
    CHECK_EQ(window.open, LMPI_OPEN_LOCK_ALL | LMPI_OPEN_UNCHECKED);
    for (int i = 0; i < RANKS; i++)
        target[i].open = LMPI_OPEN_LATE;
    OK(layer_Win_unlock_all(WIN(OURS)));
    NO_MORE();
    for (int i = 0; i < RANKS; i++)
        CHECK_EQ(target[i].open, 0);
    CHECK(target[RANKS].open != 0);
    FAILS(layer_Win_lock_all(MPI_MODE_NOPUT, WIN(OURS)), MPI_ERR_ASSERT);
    CHECK(lmpi_watch_begin(&window));
    wait_status = UCCS_ERR_FAILED;
    OK(layer_Win_lock_all(MPI_MODE_NOCHECK, WIN(OURS)));
    target[FAR].far_ops = LMPI_FAR_SOME;
    FAILS(layer_Win_unlock_all(WIN(OURS)), MPI_ERR_RMA_RANGE);
    CHECK_EQ(window.open, 0);
    RETURNS(lmpi_watch_end(&window));
}

int main(void)
{
    begin();
    words();
    sizes();
    barriers();
    lock_words();
    late_locks();
    groups();
    watches();
    alone();
    fences_of_flushes();
    scopes();
    families();
    foreign_flushes();
    flushes();
    flushes_fail();
    fences();
    foreign();
    of_handles();
    fence_calls();
    other_epochs();
    locks();
    wrong_locks();
    locks_of_all();
    posts();
    start_and_complete();
    started_at_once();
    wrong_starts();
    waits();
    origins();
    waits_of_targets();
    values();
    return end();
}
