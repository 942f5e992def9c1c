/* The parts of operating.c about put and get, and requests of them. */
#ifndef MPI_TEST_OPERATING_MOVES_H
#define MPI_TEST_OPERATING_MOVES_H
#include "operating_stub.h"

static char buffer[BYTES + 64];

static void fill(int seed)
{
    for (size_t i = 0; i < sizeof buffer; i++)
        buffer[i] = (char)(i * 3 + (size_t)seed);
}

static int put(int rank, MPI_Aint disp, int count, MPI_Datatype type)
{
    return layer_Put(buffer, count, type, rank, disp, count, type, WIN(OURS));
}

static int get(int rank, MPI_Aint disp, int count, MPI_Datatype type)
{
    return layer_Get(buffer, count, type, rank, disp, count, type, WIN(OURS));
}

/* This thread has found the window, and looked at the type, or has forgotten both. */
static void know(bool known, MPI_Datatype type)
{
    memset(&lmpi_last_windows, 0, sizeof lmpi_last_windows);
    lmpi_last_windows.age = known ? lmpi_windows_age : lmpi_windows_age - 1;
    lmpi_last_windows.slot[lmpi_window_slot(WIN(OURS))].handle = WIN(OURS);
    lmpi_last_windows.slot[lmpi_window_slot(WIN(OURS))].window = &window;
    lmpi_last_type = (struct lmpi_last_type){.type = MPI_DATATYPE_NULL};
    if (known)
        CHECK(lmpi_type(type) != 0);
}

/* Moves `count` elements there and back; what lies beside them stays. */
static void there_and_back(int rank, int disp, int count, MPI_Datatype type, int size)
{
    const size_t bytes = (size_t)(count * size), at = (size_t)disp * target[rank].unit;
    const bool asks_for = rank >= KERNEL || (rank == RANGED && !allowed);
    fill(rank + count);
    OK(put(rank, disp, count, type));
    if (asks_for && bytes)
        NEXT(PUT, rank, (int)bytes);
    CHECK(memcmp(there[rank] + AT + at, buffer, bytes) == 0);
    CHECK(there[rank][AT + at - 1] == 'a' + rank && there[rank][AT + at + bytes] == 'a' + rank);
    fill(99);
    OK(get(rank, disp, count, type));
    if (asks_for && bytes)
        NEXT(GOT, rank, (int)bytes);
    CHECK(memcmp(there[rank] + AT + at, buffer, bytes) == 0 && buffer[bytes] == (char)(bytes * 3 + 99));
    NO_MORE();
    memset(there[rank], 'a' + rank, sizeof there[rank]);
}

static void places(void)
{
    const MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
    const int sizes[] = {1, 4, 8};
    for (int turn = 0; turn < 12; turn++) {
        const int type = turn / 2 % 3, size = sizes[type], unit = turn % 4 < 2 ? 1 : 4;
        for (int rank = 0; rank < RANKS; rank++) {
            reset();
            target[rank].unit = (uint32_t)unit;
            allowed = turn < 6;
            know(turn % 2, types[type]);
            CHECK(rank != RANGED || lmpi_type(types[type])); /* else the first one goes the general way */
            there_and_back(rank, 0, 1, types[type], size);
            there_and_back(rank, 8 / unit, 3, types[type], size);
            there_and_back(rank, 0, BYTES / size, types[type], size);
            there_and_back(rank, (BYTES - 8) / unit, 8 / size, types[type], size);
            there_and_back(rank, BYTES / unit, 0, types[type], size);
            fill(1);
            FAILS(put(rank, (BYTES - 8) / unit, 8 / size + 1, types[type]), MPI_ERR_RMA_RANGE);
            FAILS(get(rank, (BYTES - 8) / unit, 8 / size + 1, types[type]), MPI_ERR_RMA_RANGE);
            FAILS(put(rank, BYTES / unit, 1, types[type]), MPI_ERR_RMA_RANGE);
            FAILS(get(rank, BYTES / unit + 1, 1, types[type]), MPI_ERR_RMA_RANGE);
            FAILS(put(rank, -1, 1, types[type]), MPI_ERR_DISP);
            FAILS(get(rank, -1, 1, types[type]), MPI_ERR_DISP);
            FAILS(put(rank, 0, -1, types[type]), MPI_ERR_COUNT);
            FAILS(get(rank, 0, -1, types[type]), MPI_ERR_COUNT);
            OK(put(rank, BYTES + 100, 0, types[type])); /* nothing, anywhere */
            FAILS(put(rank, PTRDIFF_MAX, 1, types[type]), unit > 1 ? MPI_ERR_DISP : MPI_ERR_RMA_RANGE);
            NO_MORE();
            CHECK_EQ(there[rank][AT + BYTES], 'a' + rank);
        }
    }
    allowed = true;
}

static int real_move(void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n, MPI_Datatype other,
                     MPI_Win win)
{
    CHECK(origin == buffer && count == 3 && type == MPI_INT && rank == 2 && disp == 5 && n == 12 && other == MPI_CHAR &&
          win == WIN(9));
    return 70;
}

static int real_put(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n,
                    MPI_Datatype other, MPI_Win win)
{
    return real_move((void *)(intptr_t)origin, count, type, rank, disp, n, other, win) + 1;
}

static void wrong_moves(void)
{
    MPI_Datatype loose;
    reset();
    lmpi_real.Put = real_put;
    lmpi_real.Get = real_move;
    CHECK_EQ(layer_Put(buffer, 3, MPI_INT, 2, 5, 12, MPI_CHAR, WIN(9)), 71);
    CHECK_EQ(layer_Get(buffer, 3, MPI_INT, 2, 5, 12, MPI_CHAR, WIN(9)), 70);
    for (int known = 0; known < 2; known++) {
        know(known, MPI_INT);
        FAILS(put(RANKS, 0, 1, MPI_INT), MPI_ERR_RANK);
        FAILS(put(-77, 0, 1, MPI_INT), MPI_ERR_RANK);
        FAILS(get(RANKS, 0, 1, MPI_INT), MPI_ERR_RANK);
        OK(put(MPI_PROC_NULL, -1, -1, MPI_INT));
        OK(get(MPI_PROC_NULL, -1, -1, MPI_INT));
        FAILS(layer_Put(buffer, 2, MPI_INT, ME, 0, 3, MPI_INT, WIN(OURS)), MPI_ERR_TRUNCATE);
        FAILS(layer_Put(buffer, 2, MPI_INT, ME, 0, 2, MPI_DOUBLE, WIN(OURS)), MPI_ERR_TRUNCATE);
        FAILS(layer_Put(buffer, 1, MPI_INT, ME, 0, -4, MPI_CHAR, WIN(OURS)), MPI_ERR_COUNT);
        FAILS(layer_Put(buffer, -1, MPI_INT, ME, 0, 4, MPI_CHAR, WIN(OURS)), MPI_ERR_COUNT);
        FAILS(layer_Put(buffer, 1, MPI_INT, ME, 0, 1, MPI_DATATYPE_NULL, WIN(OURS)), MPI_ERR_TYPE);
        FAILS(layer_Put(buffer, 1, MPI_DATATYPE_NULL, ME, 0, 1, MPI_INT, WIN(OURS)), MPI_ERR_TYPE);
        FAILS(put(NEAR + 4, BYTES, 1, MPI_INT), MPI_ERR_RMA_RANGE);
        window.open = 0;
        FAILS(put(ME, 0, 1, MPI_INT), MPI_ERR_RMA_SYNC);
        FAILS(get(ME, 0, 1, MPI_INT), MPI_ERR_RMA_SYNC);
        target[ME].open = LMPI_OPEN_SHARED;
        OK(put(ME, 0, 1, MPI_INT));
        OK(get(ME, 0, 1, MPI_INT));
        FAILS(get(NEAR, 0, 1, MPI_INT), MPI_ERR_RMA_SYNC);
        target[ME].open = 0;
        window.open = LMPI_OPEN_FENCE;
    }
    OK(MPI_Type_contiguous(2, MPI_INT, &loose));
    FAILS(put(ME, 0, 1, loose), MPI_ERR_TYPE); /* it is not committed */
    OK(MPI_Type_commit(&loose));
    OK(put(ME, 0, 1, loose));
    OK(MPI_Type_free(&loose));
    part.open = LMPI_OPEN_FENCE; /* of a memory handle: one target */
    OK(layer_Put(buffer, 1, MPI_INT, NEAR, 0, 1, MPI_INT, WIN(PART)));
    FAILS(layer_Put(buffer, 1, MPI_INT, KERNEL, 0, 1, MPI_INT, WIN(PART)), MPI_ERR_RANK);
    NO_MORE();
}

/* What the substrate answers. */
static void refused_moves(void)
{
    reset();
    const int statuses[] = {UCCS_ERR_STALE, UCCS_ERR_BOUNDS, UCCS_ERR_FAILED};
    for (int i = 0; i < 3; i++) {
        const int class = i ? MPI_ERR_RMA_RANGE : CLASS_OF(UCCS_ERR_STALE);
        status_of_next = statuses[i];
        fails_after = 0;
        FAILS(put(FAR, 0, 1, MPI_INT), class);
        fails_after = 0;
        FAILS(get(KERNEL, 0, 1, MPI_INT), class);
    }
}

/* ---- options of messages ---- */

static void marks(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    const struct uccs_op of_window = {.request = &request, .ordered = 1};
    reset();
    OK(put(FAR, 0, 1, MPI_INT));
    CHECK(target[FAR].far_ops == LMPI_FAR_SOME && asked.with_op && asked.op.nonblocking && !asked.op.request &&
          !asked.op.ordered);
    OK(get(FAR, 0, 1, MPI_INT));
    CHECK(target[FAR].far_ops == LMPI_FAR_SOME && asked.op.nonblocking);
    target[FAR].far_ops = LMPI_FAR_TOLD;
    OK(get(FAR, 0, 1, MPI_INT));
    CHECK_EQ(target[FAR].far_ops, LMPI_FAR_TOLD);
    OK(put(FAR, 0, 1, MPI_INT));
    CHECK_EQ(target[FAR].far_ops, LMPI_FAR_SOME);
    OK(put(KERNEL, 0, 1, MPI_INT));
    CHECK(target[KERNEL].far_ops == 0 && !asked.with_op);
    window.op = &of_window;
    OK(put(FAR, 0, 1, MPI_INT));
    CHECK(asked.op.request == &request && asked.op.ordered == 1 && asked.op.nonblocking == 1);
    CHECK_EQ(window.kinds, 0);
    start_over();
    window.open = LMPI_OPEN_LOCK_ALL; /* its lock is entered with the first operation */
    OK(put(FAR, 0, 1, MPI_INT));
    NEXT(LATE, FAR, 0);
    OK(put(FAR, 0, 1, MPI_INT));
    NEXT(PUT, FAR, 4);
    NEXT(PUT, FAR, 4);
    OK(put(KERNEL, 0, 1, MPI_INT));
    NEXT(PUT, KERNEL, 4);
    NO_MORE();
    window.family = true;
    for (int kind = 0; kind < 4; kind++) {
        twin.kind = (uint8_t)kind;
        twin.open = LMPI_OPEN_FENCE;
        OK(layer_Put(buffer, 1, MPI_INT, FAR, 0, 1, MPI_INT, WIN(COPY)));
        CHECK_EQ(window.kinds, (2u << kind) - 1);
    }
}

/* In an ordered window, and behind a flush in thread scope, operations on mapped memory come behind a fence. */
static void order(void)
{
    reset();
    for (int rank = 0; rank < RANGED + 1; rank++)
        for (int known = 0; known < 2; known++) {
            know(known, MPI_INT);
            lmpi_fence_is_due = true;
            OK(get(rank, 0, 1, MPI_INT));
            CHECK(!lmpi_fence_is_due);
            fences_made = 0;
            OK(put(rank, 0, 1, MPI_INT)); /* behind what was stored before */
            CHECK_EQ(fences_made, known && rank != RANGED);
            lmpi_fence_is_due = rank == RANGED;
            OK(put(rank, 0, 1, MPI_INT));
            CHECK(!lmpi_fence_is_due);
        }
}

/* ---- data that does not lie together ---- */

static MPI_Datatype vector_of(int count, int block, int stride, MPI_Datatype of)
{
    MPI_Datatype made;
    OK(MPI_Type_vector(count, block, stride, of, &made));
    OK(MPI_Type_commit(&made));
    return made;
}

static void strided(void)
{
    MPI_Datatype ints = vector_of(4, 1, 3, MPI_INT);
    for (int rank = 0; rank < RANKS; rank++) {
        if (rank == RANGED) /* by the general way of the substrate */
            continue;
        reset();
        fill(rank);
        OK(layer_Put(buffer, 4, MPI_INT, rank, 8, 1, ints, WIN(OURS)));
        for (size_t i = 0; i < 4; i++) {
            CHECK(memcmp(there[rank] + AT + 8 + 12 * i, buffer + 4 * i, 4) == 0);
            CHECK_EQ(there[rank][AT + 8 + 12 * i + 4], 'a' + rank);
        }
        if (rank >= KERNEL) {
            NEXT(PUTS, rank, 16);
            CHECK(asked.stride.block == 4 && asked.stride.count == 4 && asked.stride.remote_stride == 12 &&
                  asked.stride.local_stride == 4);
            CHECK(asked.offset == AT + 8 && asked.with_op == (rank == FAR));
        }
        memset(buffer, 0, sizeof buffer);
        OK(layer_Get(buffer + 4, 1, ints, rank, 8, 1, ints, WIN(OURS)));
        for (size_t i = 0; i < 4; i++)
            CHECK(memcmp(there[rank] + AT + 8 + 12 * i, buffer + 4 + 12 * i, 4) == 0 && buffer[12 * i] == 0);
        if (rank >= KERNEL)
            NEXT(GETS, rank, 16);
        NO_MORE();
        FAILS(layer_Put(buffer, 4, MPI_INT, rank, BYTES - 39, 1, ints, WIN(OURS)), MPI_ERR_RMA_RANGE);
        OK(layer_Put(buffer, 4, MPI_INT, rank, BYTES - 40, 1, ints, WIN(OURS)));
    }
    OK(MPI_Type_free(&ints));
}

/* Long pieces go one by one; the first that fails is the last. */
static void long_pieces(void)
{
    enum { LENGTH = 3 * 1200, FIRST = 1024 };
    static char large[LENGTH + 8], at_target[LENGTH + 8];
    const int lengths[] = {FIRST, FIRST + 1};
    for (int i = 0; i < 2; i++) {
        const int length = lengths[i];
        MPI_Datatype blocks = vector_of(3, length, 1200, MPI_CHAR);
        reset();
        memory[FAR] = (struct uccs_region){FAR, at_target, sizeof at_target};
        target[FAR].offset = 8;
        target[FAR].bytes = LENGTH;
        for (int k = 0; k < LENGTH; k++)
            large[k] = (char)(k * 7 + k / 256);
        memset(at_target, 0, sizeof at_target);
        OK(layer_Put(large, 1, blocks, FAR, 0, 1, blocks, WIN(OURS)));
        if (i == 0)
            NEXT(PUTS, FAR, 3 * FIRST);
        for (int k = 0; i && k < 3; k++)
            NEXT(PUT, FAR, length);
        for (int k = 0; k < 3; k++)
            CHECK(memcmp(at_target + 8 + 1200 * k, large + 1200 * k, (size_t)length) == 0 &&
                  at_target[7 + 1200 * k] == 0);
        NO_MORE();
        memset(large, 0, sizeof large);
        OK(layer_Get(large, 1, blocks, FAR, 0, 1, blocks, WIN(OURS)));
        for (int k = 0; k < 3; k++)
            CHECK(memcmp(at_target + 8 + 1200 * k, large + 1200 * k, (size_t)length) == 0);
        start_over();
        status_of_next = UCCS_ERR_FAILED;
        fails_after = i;
        FAILS(layer_Put(large, 1, blocks, FAR, 0, 1, blocks, WIN(OURS)), MPI_ERR_RMA_RANGE);
        CHECK_EQ(happened, i + 1);
        OK(MPI_Type_free(&blocks));
    }
}

/* Contents with a lower bound, and gaps at the end of an element, lie where the standard puts them. */
static void bounds(void)
{
    MPI_Datatype moved, apart;
    const int one = 1;
    const MPI_Aint at = 8;
    OK(MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &moved));
    OK(MPI_Type_commit(&moved));
    OK(MPI_Type_create_resized(MPI_INT, 0, 8, &apart));
    OK(MPI_Type_commit(&apart));
    for (int rank = 0; rank < RANKS; rank++) {
        reset();
        fill(3);
        OK(put(rank, 16, 1, moved));
        if (rank != RANGED)
            CHECK(memcmp(there[rank] + AT + 24, buffer + 8, 4) == 0 && there[rank][AT + 16] == 'a' + rank);
        OK(put(rank, 64, 2, apart));
        if (rank != RANGED)
            CHECK(memcmp(there[rank] + AT + 72, buffer + 8, 4) == 0 && there[rank][AT + 68] == 'a' + rank);
        FAILS(put(rank, BYTES - 8, 1, moved), MPI_ERR_RMA_RANGE);
        FAILS(put(rank, BYTES - 8, 2, apart), MPI_ERR_RMA_RANGE);
        OK(put(rank, BYTES - 12, 1, moved));
        OK(put(rank, BYTES - 12, 2, apart));
        start_over();
    }
    OK(MPI_Type_free(&moved));
    OK(MPI_Type_free(&apart));
}

#endif
