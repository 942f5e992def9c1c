#include "mpi/window/control.h"

#include "base/siphash.h"
#include "mpi/window/window.h"

#include <stdint.h>
#include <stdio.h>

/* Nanoseconds. A wait begins to tell of itself when it has lasted so long. Then it goes on in parts that the substrate itself does not tell of. */
#define LONG 500000000
#define PART 200000000

static uint64_t *near_word(const struct lmpi_peer *peer, size_t at)
{
    return peer->control ? (uint64_t *)((char *)peer->control + at) : 0;
}

/* Changes a word of another node. A failure means that the job is ending. */
static void change_far_word(const struct lmpi_peer *peer, uccs_memory_t memory, size_t at, enum uccs_atomic what,
                            uint64_t operand)
{
    uint64_t old = 0;
    int status = uccs_atomic64(lmpi_process.context, peer->endpoint, memory, at, what, operand, 0, &old, 0);
    if (status != UCCS_OK)
        lmpi_unreachable("a word", peer->world, status);
}

void lmpi_word_add(const struct lmpi_peer *peer, size_t at, uint64_t value)
{
    uint64_t *word = near_word(peer, at);
    if (word)
        __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST); /* acquire: lmpi_await of the peer */
    else
        change_far_word(peer, peer->memory, peer->at + at, UCCS_ATOMIC_ADD, value);
}

void lmpi_word_store(const struct lmpi_peer *peer, size_t at, uint64_t value)
{
    uint64_t *word = near_word(peer, at);
    if (word)
        __atomic_store_n(word, value, __ATOMIC_RELEASE); /* acquire: lmpi_await of the peer */
    else
        change_far_word(peer, peer->memory, peer->at + at, UCCS_ATOMIC_SET, value);
}

void lmpi_post_store(const struct lmpi_peer *peer, int rank, uint64_t value)
{
    if (peer->posts.near)
        __atomic_store_n(&peer->posts.near[rank], value, __ATOMIC_RELEASE); /* acquire: lmpi_await of the peer */
    else
        change_far_word(peer, peer->posts.memory, (size_t)rank * sizeof value, UCCS_ATOMIC_SET, value);
}

/* --- Waits that last */

/* Returns how far the window's ranks are apart in the world, or 0 when that differs. */
static int stride_of(const struct lmpi_window *window)
{
    if (window->shift != LMPI_SCATTERED)
        return 1;
    const int first = lmpi_window_world(window, 0), stride = lmpi_window_world(window, 1) - first;
    for (int i = 2; i < window->ranks; i++)
        if (lmpi_window_world(window, i) - first != i * stride)
            return 0;
    return stride;
}

/* The window's key is a secret; its hash, which names the window to all its ranks, is none. */
static void describe_barrier(const struct lmpi_window *window, struct uccs_waiting *what)
{
    static const uint64_t label = UINT64_C(0x7761697473); /* nothing else is hashed that is one such word */
    what->stride = stride_of(window);
    if (what->stride <= 0)
        return;
    what->rank = lmpi_window_world(window, 0);
    what->ranks = window->ranks;
    what->place = siphash(window->key, &label, sizeof label);
    what->meeting = window->round;
}

static int begin_record(const struct lmpi_window *window, int rank)
{
    char text[32];
    struct uccs_waiting what = {.object = text, .rank = -1};
    snprintf(text, sizeof text, "window %d", window->number);
    if (rank == LMPI_ALL)
        describe_barrier(window, &what);
    else if (rank >= 0)
        what.rank = lmpi_window_world(window, rank);
    return uccs_waiting_begin(&what, LONG * 1e-9);
}

void lmpi_await_slow(const uint64_t *word, uint64_t least, const struct lmpi_window *window, int rank)
{
    const struct uccs_condition condition = {.word = word, .at_least = (int64_t)least};
    int record = 0, status;
    lmpi_calling++;
    for (int64_t part = LONG; (status = uccs_wait_conditions(&condition, 1, 1, part, 0, 0)) == UCCS_IN_PROGRESS;
         part = PART)
        record = record ? record : begin_record(window, rank);
    uccs_waiting_end(record);
    lmpi_calling--;
    if (status != UCCS_OK) /* the program calls from a handler of an active message */
        lmpi_unreachable("a word", lmpi_process.rank, status);
}

/* --- Meetings */

/* Dissemination: in round k each rank tells the one 2^k further on. A word only grows, so no round of a later barrier is
 * taken for one of this. */
void lmpi_barrier(struct lmpi_window *window)
{
    uint64_t number = ++window->round;
    int ranks = window->ranks;
    const struct lmpi_control *mine = window->peer[window->rank].control;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int k = 0; 1ll << k < ranks; k++) {
        int to = (int)(((long long)window->rank + (1ll << k)) % ranks);
        lmpi_word_store(lmpi_peer(window, to), LMPI_WORD(round) + (size_t)k * sizeof(uint64_t), number);
        lmpi_await(&mine->round[k], number, window, LMPI_ALL);
    }
}
