/* The parts of epochs.c about MPI_Win_flush and its kin. */
#ifndef MPI_TEST_EPOCHS_FLUSH_H
#define MPI_TEST_EPOCHS_FLUSH_H
#include "epochs_stub.h"

static int real_flushes;

static int real_flush(int rank, MPI_Win win)
{
    CHECK(rank == FAR && win == WIN(9));
    real_flushes++;
    return 3;
}

static int real_flush_all(MPI_Win win)
{
    CHECK(win == WIN(9));
    real_flushes++;
    return 4;
}

static void foreign_flushes(void)
{
    reset();
    lmpi_real.Win_flush = lmpi_real.Win_flush_local = real_flush;
    lmpi_real.Win_flush_all = lmpi_real.Win_flush_local_all = real_flush_all;
    CHECK_EQ(layer_Win_flush(FAR, WIN(9)), 3);
    CHECK_EQ(layer_Win_flush_local(FAR, WIN(9)), 3);
    CHECK_EQ(layer_Win_flush_all(WIN(9)), 4);
    CHECK_EQ(layer_Win_flush_local_all(WIN(9)), 4);
    CHECK_EQ(real_flushes, 4);
}

/* This thread knows the window, or has forgotten it. */
static void know(bool known)
{
    memset(&lmpi_last_windows, 0, sizeof lmpi_last_windows);
    lmpi_last_windows.age = known ? lmpi_windows_age : lmpi_windows_age - 1;
    lmpi_last_windows.slot[lmpi_window_slot(WIN(OURS))].handle = WIN(OURS);
    lmpi_last_windows.slot[lmpi_window_slot(WIN(OURS))].window = &window;
    lmpi_last_windows.slot[lmpi_window_slot(WIN(PART))].handle = WIN(PART);
    lmpi_last_windows.slot[lmpi_window_slot(WIN(PART))].window = &part;
}

static const int passive[] = {LMPI_OPEN_SHARED, LMPI_OPEN_EXCLUSIVE, LMPI_OPEN_SHARED | LMPI_OPEN_UNCHECKED};
static const int active[] = {0, LMPI_OPEN_STARTED, LMPI_OPEN_UNCHECKED, LMPI_OPEN_LATE, LMPI_OPEN_FENCE};

static void flushes_of(int rank)
{
    for (int i = 0; i < 5; i++) {
        target[rank].open = (uint8_t)active[i];
        FAILS(layer_Win_flush(rank, WIN(OURS)), MPI_ERR_RMA_SYNC);
        FAILS(layer_Win_flush_local(rank, WIN(OURS)), MPI_ERR_RMA_SYNC);
        FAILS(layer_Win_flush_all(WIN(OURS)), MPI_ERR_RMA_SYNC);
        FAILS(layer_Win_flush_local_all(WIN(OURS)), MPI_ERR_RMA_SYNC);
    }
    for (int i = 0; i < 3; i++) {
        target[rank].open = (uint8_t)passive[i];
        target[rank].far_ops = LMPI_FAR_SOME;
        OK(layer_Win_flush_local(rank, WIN(OURS)));
        OK(layer_Win_flush_local_all(WIN(OURS)));
        OK(layer_Win_flush(rank, WIN(OURS)));
        target[rank].far_ops = LMPI_FAR_SOME;
        OK(layer_Win_flush_all(WIN(OURS)));
        NEXT(LOCAL, rank, 0);
        NEXT(LOCAL, -1, 0);
        NEXT(FLUSHED, rank, 8);
        NEXT(FLUSHED, -1, 8);
        NO_MORE();
    }
    target[rank].open = 0;
}

static void flushes(void)
{
    reset();
    for (int known = 0; known < 2; known++) {
        know(known);
        for (int rank = 0; rank < RANKS; rank++)
            flushes_of(rank);
        window.open = LMPI_OPEN_LOCK_ALL;
        for (int rank = 0; rank < RANKS; rank++) {
            OK(layer_Win_flush(rank, WIN(OURS)));
            OK(layer_Win_flush_local(rank, WIN(OURS)));
        }
        OK(layer_Win_flush_all(WIN(OURS)));
        OK(layer_Win_flush_local_all(WIN(OURS)));
        OK(layer_Win_flush(MPI_PROC_NULL, WIN(OURS)));
        OK(layer_Win_flush_local(MPI_PROC_NULL, WIN(OURS)));
        NO_MORE();
        const int wrong[] = {RANKS, RANKS + 1, -77};
        for (int i = 0; i < 3; i++) {
            FAILS(layer_Win_flush(wrong[i], WIN(OURS)), MPI_ERR_RANK);
            FAILS(layer_Win_flush_local(wrong[i], WIN(OURS)), MPI_ERR_RANK);
        }
        part.open = LMPI_OPEN_LOCK_ALL;
        OK(layer_Win_flush_local(ME, WIN(PART)));
        FAILS(layer_Win_flush_local(FAR, WIN(PART)), MPI_ERR_RANK);
        FAILS(layer_Win_flush(RANKS, WIN(PART)), MPI_ERR_RANK);
        OK(layer_Win_flush(ME, WIN(PART)));
        part.open = window.open = 0;
        NO_MORE();
    }
}

/* What a target has refused is an error of the flush. A family with ranks on other nodes always asks. */
static void flushes_fail(void)
{
    reset();
    know(true);
    CHECK(lmpi_watch_begin(&window));
    wait_status = UCCS_ERR_FAILED;
    window.open = LMPI_OPEN_LOCK_ALL;
    target[FAR].far_ops = LMPI_FAR_SOME;
    FAILS(layer_Win_flush(FAR, WIN(OURS)), MPI_ERR_RMA_RANGE);
    target[FAR].far_ops = LMPI_FAR_SOME;
    FAILS(layer_Win_flush_all(WIN(OURS)), MPI_ERR_RMA_RANGE);
    RETURNS(lmpi_watch_end(&window));
    NEXT(FLUSHED, FAR, 8);
    NEXT(FLUSHED, -1, 8);
    window.family = true;
    window.kinds = 1;
    OK(layer_Win_flush(NEAR, WIN(OURS)));
    NEXT(FLUSHED, NEAR, 8);
    window.leaves = false;
    OK(layer_Win_flush(NEAR, WIN(OURS)));
    NO_MORE();
}

/* In thread scope a flush leaves its fence to the next load, where processors keep stores in order. */
static void fences(void)
{
    reset();
    know(true);
    window.open = LMPI_OPEN_LOCK_ALL;
    for (int kind = 0; kind < 4; kind++)
        for (int due = 0; due < 2; due++) {
            window.kind = (uint8_t)kind;
            lmpi_fence_is_due = due;
            fences_made = 0;
            OK(layer_Win_flush(NEAR, WIN(OURS)));
            CHECK_EQ(fences_made, !(LMPI_STORES_IN_ORDER && kind & LMPI_THREAD));
            CHECK_EQ(lmpi_fence_is_due, LMPI_STORES_IN_ORDER && kind & LMPI_THREAD);
        }
    lmpi_fence_is_due = true;
    fences_made = 0;
    OK(layer_Win_sync(WIN(OURS)));
    CHECK(fences_made == 1 && !lmpi_fence_is_due && progressed == 1);
    fences_made = 0;
    RETURNS(lmpi_before_load());
    CHECK_EQ(fences_made, 0);
    lmpi_fence_is_due = true;
    RETURNS(lmpi_before_load());
    CHECK(!lmpi_fence_is_due && fences_made == 1);
    for (int kind = 0; kind < 4; kind++)
        for (int due = 0; due < 2; due++) {
            window.kind = (uint8_t)kind;
            lmpi_fence_is_due = due;
            fences_made = 0;
            RETURNS(lmpi_keep_order(&window));
            CHECK(!lmpi_fence_is_due && fences_made == (due || kind & LMPI_ORDERED));
        }
    NO_MORE();
}

#endif
