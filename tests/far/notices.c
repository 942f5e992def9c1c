/* A signal or a count goes with the last message of any operation: when it has come, all of the operation is applied. And it
 * comes for operations on nothing, too.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self UCX_MEM_EVENTS=no
 * timeout: 120
 * case: plain
 * case: fault
 * env: LATERAL_TRANSPORTS=fault,seed=7,hold=40:ucx */
#include "../uccs/check.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { WORDS = 200000, FLAG = 8 * WORDS, BYTES = FLAG + 64, LIMIT = 20 };

static uccs_context_t context;
static uccs_endpoint_t peer;
static uccs_memory_t mine, theirs;
static uccs_counter_t counter;
static uint64_t *words;
static uint64_t round_now;
static uint64_t values[WORDS], fetched[WORDS];

/* PE 1 waits for the signal and the count of this round. */
static void await_notice(bool signals, bool counts)
{
    time_t end = time(0) + LIMIT;
    while (signals && __atomic_load_n(&words[WORDS], __ATOMIC_ACQUIRE) != round_now && time(0) < end)
        uccs_progress();
    if (signals)
        CHECK_EQ(words[WORDS], round_now);
    while (counts && uccs_counter_test(counter, 3) != UCCS_OK && time(0) < end)
        uccs_progress();
    if (counts)
        OK(uccs_counter_consume(counter, 3));
}

enum kind { PIECES, BLOCKS, ADD, ADD_FETCH, ADD_NONE, ATOMIC, ATOMIC_FETCH, GET, KINDS };

static int issue(enum kind kind, const struct uccs_op *op)
{
    const struct uccs_stride every_other = {8, WORDS / 2, 16, 8};
    static struct uccs_piece pieces[64];
    for (size_t i = 0; i < 64; i++)
        pieces[i] = (struct uccs_piece){i * 16384, &values[i * 2048], i == 63 ? 8 : 16384};
    switch (kind) {
    case PIECES: return uccs_put_pieces(peer, theirs, pieces, 64, op);
    case BLOCKS: return uccs_put_blocks(peer, theirs, 0, values, &every_other, op);
    case ADD: return uccs_accumulate(peer, theirs, 0, values, 0, WORDS, UCCS_UINT64, UCCS_SUM, op);
    case ADD_FETCH: return uccs_accumulate(peer, theirs, 0, values, fetched, WORDS, UCCS_UINT64, UCCS_SUM, op);
    case ADD_NONE: return uccs_accumulate(peer, theirs, 0, values, 0, 0, UCCS_UINT64, UCCS_SUM, op);
    case ATOMIC: return uccs_atomic(peer, theirs, 0, 8, UCCS_ATOMIC_ADD, 5, 0, 0, op);
    case ATOMIC_FETCH: return uccs_atomic(peer, theirs, 0, 8, UCCS_ATOMIC_ADD, 5, 0, fetched, op);
    default: return uccs_get(peer, theirs, 0, fetched, 8 * WORDS, op);
    }
}

/* What the operation has left in PE 1's memory, which was all zeros. */
static void check_words(enum kind kind)
{
    switch (kind) {
    case PIECES: CHECK(words[0] == values[0] && words[62 * 2048 + 2047] == values[62 * 2048 + 2047]); break;
    case BLOCKS: CHECK(words[0] == values[0] && words[WORDS - 2] == values[WORDS / 2 - 1] && !words[WORDS - 1]); break;
    case ADD:
    case ADD_FETCH: CHECK(words[0] == values[0] && words[WORDS - 1] == values[WORDS - 1]); break;
    case ATOMIC:
    case ATOMIC_FETCH: CHECK_EQ(words[0], 5); break;
    default: CHECK(!words[0] && !words[WORDS - 1]);
    }
}

static void do_round(enum kind kind, bool signals, bool counts, bool nonblocking)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    round_now++;
    memset(words, 0, 8 * WORDS);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    const struct uccs_signal mark = {theirs, FLAG, round_now, UCCS_SIGNAL_SET};
    const struct uccs_op op = {.request = nonblocking ? &request : 0,
                               .nonblocking = nonblocking,
                               .signal = signals ? &mark : 0,
                               .counter = counts ? counter : 0,
                               .weight = 3};
    if (me == 0) {
        OK(issue(kind, &op));
        OK(uccs_flush(context));
        if (nonblocking)
            OK(uccs_wait(&request));
    } else {
        await_notice(signals, counts);
        check_words(kind);
    }
}

int main(void)
{
    uccs_memory_t all[2];
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_memory_allocate(context, BYTES, &mine));
    peer = check_endpoint(context, 1 - me);
    check_share(context, mine, all);
    theirs = all[1 - me];
    struct uccs_memory_attr attr;
    OK(uccs_memory_query(mine, &attr));
    words = attr.address;
    for (uint64_t i = 0; i < WORDS; i++)
        values[i] = i + 1;
    OK(uccs_counter_open(&counter));
    for (int kind = 0; kind < KINDS; kind++)
        for (int how = 1; how < 4; how++)
            for (int nonblocking = 0; nonblocking < 2; nonblocking++)
                do_round((enum kind)kind, how & 1, how & 2, nonblocking);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_counter_shut(counter));
    OK(uccs_context_destroy(context));
    return check_pass();
}
