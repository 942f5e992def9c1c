/* The parts of operating.c about accumulates, swaps, and what of them the processor does. */
#ifndef MPI_TEST_OPERATING_UPDATES_H
#define MPI_TEST_OPERATING_UPDATES_H
#include "operating_moves.h"

static int combine(int rank, MPI_Aint disp, int count, MPI_Datatype type, MPI_Op op)
{
    return layer_Accumulate(buffer, count, type, rank, disp, count, type, op, WIN(OURS));
}

static char old[BYTES];

static int fetch_add(int rank, MPI_Aint disp, int count, MPI_Datatype type, MPI_Op op)
{
    return layer_Get_accumulate(buffer, count, type, old, count, type, rank, disp, count, type, op, WIN(OURS));
}

static int int_at(int rank, int disp)
{
    int value;
    memcpy(&value, there[rank] + AT + disp, sizeof value);
    return value;
}

static void put_int(int rank, int disp, int value)
{
    memcpy(there[rank] + AT + disp, &value, sizeof value);
}

/* Integers rise, at the first and the last place, and at no other. */
static void sums(void)
{
    const int places_of[] = {0, 4, BYTES - 8};
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < 3; i++) {
            const int two[2] = {5, 7}, at = places_of[i];
            reset();
            know(i, MPI_INT);
            memcpy(buffer, two, sizeof two);
            put_int(rank, at, 100);
            put_int(rank, at + 4, 200);
            OK(combine(rank, at, 2, MPI_INT, MPI_SUM));
            NEXT(UPDATED, rank, 8);
            CHECK(int_at(rank, at) == 105 && int_at(rank, at + 4) == 207 && there[rank][AT + at - 1] == 'a' + rank);
            CHECK(asked.type == UCCS_INT32 && asked.how == UCCS_SUM && asked.n == 2 && asked.with_operand &&
                  !asked.with_result);
            CHECK(asked.offset == AT + (size_t)at && asked.with_op == (rank == FAR) &&
                  asked.op.nonblocking == (rank == FAR));
            CHECK_EQ(target[rank].far_ops, rank == FAR ? LMPI_FAR_SOME : 0);
            OK(fetch_add(rank, at, 2, MPI_INT, MPI_SUM));
            NEXT(UPDATED, rank, 8);
            CHECK(asked.with_result && ((int *)old)[0] == 105 && ((int *)old)[1] == 207 && int_at(rank, at) == 110);
            CHECK_EQ(target[rank].far_ops, rank == FAR ? LMPI_FAR_TOLD : 0);
            OK(fetch_add(rank, at, 2, MPI_INT, MPI_NO_OP));
            NEXT(UPDATED, rank, 8);
            CHECK(asked.how == UCCS_NO_OP && !asked.with_operand && ((int *)old)[0] == 110 && int_at(rank, at) == 110);
            NO_MORE();
        }
}

/* In an ordered window, and behind a flush in thread scope, they come behind a fence. */
static void order_of_updates(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        for (int kind = 0; kind < 4; kind++) {
            reset();
            window.kind = (uint8_t)kind;
            fences_made = 0;
            OK(combine(rank, 0, 1, MPI_INT, MPI_SUM));
            CHECK_EQ(fences_made, (kind & LMPI_ORDERED) != 0);
            fences_made = 0;
            OK(fetch_add(rank, 0, 1, MPI_INT, MPI_SUM));
            CHECK_EQ(fences_made, (kind & LMPI_ORDERED) != 0);
        }
}

static int swap(int rank, MPI_Aint disp, MPI_Datatype type);
static int fetch(int rank, MPI_Aint disp, MPI_Datatype type);

static void order_of_words(void)
{
    for (int rank = 0; rank <= RANGED; rank++)
        for (int kind = 0; kind < 4; kind++) {
            reset();
            window.kind = (uint8_t)kind;
            fences_made = 0;
            OK(fetch(rank, 0, MPI_INT));
            OK(swap(rank, 0, MPI_INT));
            CHECK_EQ(fences_made, kind & LMPI_ORDERED ? 2 : 0);
            lmpi_fence_is_due = true;
            OK(fetch(rank, 0, MPI_INT));
            CHECK(!lmpi_fence_is_due);
        }
}

/* Bytes change as pairs of words where they can. */
static void pairs(void)
{
    const int lengths[] = {15, 16, 17, 32, 64};
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < 5; i++) {
            const bool whole = lengths[i] % 16 == 0;
            reset();
            fill(i);
            OK(combine(rank, 0, lengths[i], MPI_BYTE, MPI_REPLACE));
            CHECK(asked.type == (whole ? UCCS_DOUBLE_COMPLEX : UCCS_INT8) &&
                  asked.n == (size_t)(whole ? lengths[i] / 16 : lengths[i]));
            CHECK(memcmp(there[rank] + AT, buffer, (size_t)lengths[i]) == 0 &&
                  there[rank][AT + lengths[i]] == 'a' + rank);
            OK(combine(rank, 0, 4, MPI_INT, MPI_REPLACE)); /* those have a type */
            CHECK(asked.type == UCCS_INT32 && asked.n == 4);
        }
}

/* The same type may mean something else to the next operation. */
static void kept_operations(void)
{
    const struct {
        MPI_Datatype type;
        MPI_Op op;
        enum uccs_type as;
        enum uccs_reduction how;
    } rows[] = {{MPI_INT, MPI_SUM, UCCS_INT32, UCCS_SUM},
                {MPI_UNSIGNED, MPI_SUM, UCCS_UINT32, UCCS_SUM},
                {MPI_UNSIGNED, MPI_REPLACE, UCCS_UINT32, UCCS_REPLACE},
                {MPI_INT, MPI_REPLACE, UCCS_INT32, UCCS_REPLACE},
                {MPI_INT, MPI_MAX, UCCS_INT32, UCCS_MAX},
                {MPI_INT, MPI_MAX, UCCS_INT32, UCCS_MAX},
                {MPI_DOUBLE, MPI_MAX, UCCS_DOUBLE, UCCS_MAX}};
    reset();
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            OK(combine(ME, 0, 1, rows[i].type, rows[i].op));
            CHECK(asked.type == rows[i].as && asked.how == rows[i].how && asked.n == 1);
        }
}

static int real_update(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n,
                       MPI_Datatype other, MPI_Op op, MPI_Win win)
{
    CHECK(origin == buffer && count == 3 && type == MPI_INT && rank == 2 && disp == 5 && n == 12 && other == MPI_CHAR &&
          op == MPI_SUM && win == WIN(9));
    return 72;
}

static int real_fetch_update(const void *origin, int count, MPI_Datatype type, void *result, int m,
                             MPI_Datatype result_type, int rank, MPI_Aint disp, int n, MPI_Datatype other, MPI_Op op,
                             MPI_Win win)
{
    CHECK(result == old && m == 6 && result_type == MPI_SHORT);
    return real_update(origin, count, type, rank, disp, n, other, op, win) + 1;
}

static void wrong_updates(void)
{
    reset();
    lmpi_real.Accumulate = real_update;
    lmpi_real.Get_accumulate = real_fetch_update;
    CHECK_EQ(layer_Accumulate(buffer, 3, MPI_INT, 2, 5, 12, MPI_CHAR, MPI_SUM, WIN(9)), 72);
    CHECK_EQ(layer_Get_accumulate(buffer, 3, MPI_INT, old, 6, MPI_SHORT, 2, 5, 12, MPI_CHAR, MPI_SUM, WIN(9)), 73);
    for (int rank = 0; rank < RANKS; rank++) {
        FAILS(combine(rank, BYTES, 1, MPI_INT, MPI_SUM), MPI_ERR_RMA_RANGE);
        FAILS(combine(rank, BYTES - 3, 1, MPI_INT, MPI_SUM), MPI_ERR_RMA_RANGE);
        FAILS(combine(rank, BYTES - 4, 2, MPI_INT, MPI_SUM), MPI_ERR_RMA_RANGE);
        FAILS(combine(rank, BYTES + 1, 1, MPI_CHAR, MPI_SUM), MPI_ERR_RMA_RANGE);
        FAILS(combine(rank, -1, 1, MPI_INT, MPI_SUM), MPI_ERR_DISP);
        FAILS(combine(rank, 0, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
        FAILS(combine(rank, 0, 1, MPI_INT, MPI_NO_OP), MPI_ERR_OP);
        FAILS(combine(rank, 0, 1, MPI_DOUBLE, MPI_BAND), MPI_ERR_OP);
        FAILS(combine(rank, 0, 1, MPI_BYTE, MPI_SUM), MPI_ERR_OP);
        FAILS(combine(rank, 0, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
        FAILS(combine(rank, 0, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
        OK(combine(rank, 0, 0, MPI_INT, MPI_SUM));
        FAILS(layer_Accumulate(buffer, 1, MPI_INT, rank, 0, 2, MPI_INT, MPI_SUM, WIN(OURS)), MPI_ERR_TRUNCATE);
        FAILS(layer_Accumulate(buffer, 1, MPI_INT, rank, 0, 1, MPI_UNSIGNED, MPI_SUM, WIN(OURS)), MPI_ERR_TYPE);
        FAILS(layer_Accumulate(buffer, 2, MPI_SHORT, rank, 0, 1, MPI_INT, MPI_SUM, WIN(OURS)), MPI_ERR_TYPE);
        FAILS(layer_Accumulate(buffer, -1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, WIN(OURS)), MPI_ERR_COUNT);
        FAILS(layer_Get_accumulate(buffer, 1, MPI_INT, old, 2, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, WIN(OURS)),
              MPI_ERR_TRUNCATE);
        FAILS(layer_Get_accumulate(buffer, 1, MPI_INT, old, 1, MPI_FLOAT, rank, 0, 1, MPI_INT, MPI_SUM, WIN(OURS)),
              MPI_ERR_TYPE);
        FAILS(layer_Get_accumulate(buffer, 1, MPI_INT, old, 1, MPI_DATATYPE_NULL, rank, 0, 1, MPI_INT, MPI_SUM,
                                   WIN(OURS)),
              MPI_ERR_TYPE);
        OK(layer_Get_accumulate(0, 0, MPI_DATATYPE_NULL, old, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_NO_OP, WIN(OURS)));
        NEXT(UPDATED, rank, 4);
        window.open = 0;
        FAILS(combine(rank, 0, 1, MPI_INT, MPI_SUM), MPI_ERR_RMA_SYNC);
        target[rank].open = LMPI_OPEN_SHARED;
        OK(combine(rank, 0, 1, MPI_INT, MPI_SUM));
        NEXT(UPDATED, rank, 4);
        window.open = LMPI_OPEN_FENCE;
        NO_MORE();
    }
    FAILS(combine(RANKS, 0, 1, MPI_INT, MPI_SUM), MPI_ERR_RANK);
    FAILS(combine(-77, 0, 1, MPI_INT, MPI_SUM), MPI_ERR_RANK);
    OK(combine(MPI_PROC_NULL, 0, 1, MPI_INT, MPI_NO_OP));
    fails_after = 0;
    status_of_next = UCCS_ERR_STALE;
    FAILS(combine(KERNEL, 0, 1, MPI_INT, MPI_SUM), CLASS_OF(UCCS_ERR_STALE));
}

/* Two elements that lie apart, here or there, are two updates; the first that fails is the last. Long ones are complete here when the
 * call returns. */
static void apart(void)
{
    static int large[1025];
    MPI_Datatype gaps = vector_of(2, 1, 3, MPI_INT);
    for (int rank = 0; rank < RANKS; rank += FAR) {
        reset();
        const int two[4] = {5, 6, 7, 8};
        memcpy(buffer, two, sizeof two);
        put_int(rank, 0, 100);
        put_int(rank, 12, 200);
        OK(layer_Get_accumulate(buffer, 2, MPI_INT, old, 1, gaps, rank, 0, 1, gaps, MPI_SUM, WIN(OURS)));
        NEXT(UPDATED, rank, 4);
        NEXT(UPDATED, rank, 4);
        NO_MORE();
        CHECK(int_at(rank, 0) == 105 && int_at(rank, 12) == 206 && ((int *)old)[0] == 100 && ((int *)old)[3] == 200);
        OK(layer_Get_accumulate(buffer, 1, gaps, old, 2, MPI_INT, rank, 16, 2, MPI_INT, MPI_SUM, WIN(OURS)));
        NEXT(UPDATED, rank, 4);
        NEXT(UPDATED, rank, 4);
        OK(layer_Get_accumulate(buffer, 2, MPI_INT, old, 1, gaps, rank, 16, 2, MPI_INT, MPI_SUM, WIN(OURS)));
        NEXT(UPDATED, rank, 4);
        NEXT(UPDATED, rank, 4);
        NO_MORE();
        fails_after = 0;
        status_of_next = UCCS_ERR_FAILED;
        FAILS(layer_Accumulate(buffer, 2, MPI_INT, rank, 0, 1, gaps, MPI_SUM, WIN(OURS)), CLASS_OF(UCCS_ERR_FAILED));
        CHECK_EQ(happened, 1);
    }
    OK(MPI_Type_free(&gaps));
    reset();
    memory[FAR] = (struct uccs_region){FAR, calloc(1, 8192), 8192};
    target[FAR].bytes = 8000;
    OK(layer_Accumulate(large, 1024, MPI_INT, FAR, 0, 1024, MPI_INT, MPI_SUM, WIN(OURS)));
    CHECK(asked.op.nonblocking && asked.bytes == 4096);
    OK(layer_Accumulate(large, 1025, MPI_INT, FAR, 0, 1025, MPI_INT, MPI_SUM, WIN(OURS)));
    CHECK(!asked.op.nonblocking && asked.bytes == 4100);
    free(memory[FAR].bytes);
}

/* ---- one word ---- */

/* What the processor does on mapped memory, the substrate does elsewhere, on words that lie across, and of other operations. */
static void words_of(int rank, MPI_Datatype type, int size)
{
    const bool direct = rank <= ME || rank == RANGED;
    const int places_of[] = {0, 8, BYTES - size, 1};
    for (int i = 0; i < 4; i++) {
        uint64_t value = 0, operand = UINT64_C(0x1122334455667788), before = 0, word = UINT64_C(0xf0e0d0c0b0a09080),
                 result = UINT64_MAX;
        char *at = there[rank] + AT + places_of[i];
        const bool plain = direct && i < 3;
        reset();
        memcpy(at, &word, (size_t)size);
        memcpy(&before, at, (size_t)size);
        OK(layer_Fetch_and_op(&operand, &result, type, rank, places_of[i], MPI_SUM, WIN(OURS)));
        memcpy(&value, at, (size_t)size);
        CHECK(memcmp(&result, &before, (size_t)size) == 0 && happened == !plain);
        const uint64_t sum = before + (size == 8 ? operand : (uint32_t)operand);
        CHECK(memcmp(&value, &sum, (size_t)size) == 0);
        CHECK(size == 8 || result >> 32 == UINT32_MAX); /* no more than a word of it */
        OK(layer_Fetch_and_op(0, &result, type, rank, places_of[i], MPI_NO_OP, WIN(OURS)));
        CHECK(memcmp(&result, &sum, (size_t)size) == 0 && memcmp(at, &sum, (size_t)size) == 0);
        OK(layer_Fetch_and_op(&operand, &result, type, rank, places_of[i], MPI_REPLACE, WIN(OURS)));
        CHECK(memcmp(&result, &sum, (size_t)size) == 0 && memcmp(at, &operand, (size_t)size) == 0);
        CHECK_EQ(happened, plain ? 0 : 3);
        OK(layer_Compare_and_swap(&word, &sum, &result, type, rank, places_of[i], WIN(OURS)));
        CHECK(memcmp(&result, &operand, (size_t)size) == 0 && memcmp(at, &operand, (size_t)size) == 0);
        OK(layer_Compare_and_swap(&word, &operand, &result, type, rank, places_of[i], WIN(OURS)));
        CHECK(memcmp(&result, &operand, (size_t)size) == 0 && memcmp(at, &word, (size_t)size) == 0);
        CHECK_EQ(happened, plain ? 0 : 5);
        OK(layer_Fetch_and_op(&operand, &result, type, rank, places_of[i], MPI_MAX, WIN(OURS)));
        CHECK_EQ(happened, plain ? 1 : 6);
        CHECK_EQ(target[rank].far_ops, rank == FAR ? LMPI_FAR_TOLD : 0);
        CHECK(asked.how == UCCS_MAX && asked.op.nonblocking == (rank == FAR) && asked.with_op == (rank == FAR));
    }
}

static int real_fetch(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op,
                      MPI_Win win)
{
    CHECK(origin == buffer && result == old && type == MPI_INT && rank == 3 && disp == 4 && op == MPI_SUM &&
          win == WIN(9));
    return 74;
}

static int real_swap(const void *origin, const void *compare, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                     MPI_Win win)
{
    CHECK(origin == buffer && compare == buffer + 4 && result == old && type == MPI_INT && rank == 3 && disp == 4 &&
          win == WIN(9));
    return 75;
}

static int swap(int rank, MPI_Aint disp, MPI_Datatype type)
{
    return layer_Compare_and_swap(buffer, buffer + 8, old, type, rank, disp, WIN(OURS));
}

static int fetch(int rank, MPI_Aint disp, MPI_Datatype type)
{
    return layer_Fetch_and_op(buffer, old, type, rank, disp, MPI_SUM, WIN(OURS));
}

static void wrong_words(void)
{
    MPI_Datatype pair;
    reset();
    lmpi_real.Fetch_and_op = real_fetch;
    lmpi_real.Compare_and_swap = real_swap;
    CHECK_EQ(layer_Fetch_and_op(buffer, old, MPI_INT, 3, 4, MPI_SUM, WIN(9)), 74);
    CHECK_EQ(layer_Compare_and_swap(buffer, buffer + 4, old, MPI_INT, 3, 4, WIN(9)), 75);
    OK(MPI_Type_contiguous(1, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    for (int rank = 0; rank < RANKS; rank++)
        for (int two = 0; two < 2; two++) {
            int (*const call)(int, MPI_Aint, MPI_Datatype) = two ? swap : fetch;
            FAILS(call(rank, BYTES, MPI_INT), MPI_ERR_RMA_RANGE);
            FAILS(call(rank, BYTES - 3, MPI_INT), MPI_ERR_RMA_RANGE);
            FAILS(call(rank, BYTES + 4, MPI_LONG), MPI_ERR_RMA_RANGE);
            FAILS(call(rank, -4, MPI_INT), MPI_ERR_DISP);
            FAILS(call(rank, 0, pair), MPI_ERR_TYPE);
            FAILS(call(rank, 0, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
            window.open = 0;
            FAILS(call(rank, 0, MPI_INT), MPI_ERR_RMA_SYNC);
            target[rank].open = LMPI_OPEN_EXCLUSIVE;
            OK(call(rank, 0, MPI_INT));
            target[rank].open = 0;
            window.open = LMPI_OPEN_FENCE;
            FAILS(call(RANKS, 0, MPI_INT), MPI_ERR_RANK);
            FAILS(call(-77, 0, MPI_INT), MPI_ERR_RANK);
            OK(call(MPI_PROC_NULL, 0, MPI_INT));
        }
    FAILS(swap(ME, 0, MPI_DOUBLE), MPI_ERR_TYPE);
    target[FAR].far_ops = 0;
    OK(swap(FAR, 0, MPI_INT));
    CHECK_EQ(target[FAR].far_ops, LMPI_FAR_TOLD);
    start_over();
    target[ME].direct = 0; /* in another domain than the processor's atomics */
    OK(fetch(ME, 0, MPI_INT));
    OK(swap(ME, 0, MPI_INT));
    NEXT(UPDATED, ME, 4);
    NEXT(SWAPPED, ME, 4);
    OK(swap(ME, 0, MPI_SHORT));
    NEXT(SWAPPED, ME, 2);
    OK(fetch(NEAR, 0, MPI_SHORT));
    OK(fetch(NEAR, 0, MPI_FLOAT)); /* no integer of that size */
    CHECK_EQ(happened, 5);
    fails_after = 0;
    status_of_next = UCCS_ERR_STALE;
    FAILS(swap(FAR, 0, MPI_INT), CLASS_OF(UCCS_ERR_STALE));
    OK(MPI_Type_free(&pair));
}

static void all_words(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        words_of(rank, MPI_INT, 4);
        words_of(rank, MPI_UNSIGNED_LONG, 8);
    }
}

#endif
