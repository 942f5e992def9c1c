#include "mpi/window/control.h"

#include "mpi/core/process.h"
#include "mpi/window/wait.h"
#include "mpi/window/window.h"

#include <stdint.h>

static uint64_t *near_word(const struct lmpi_peer *peer, size_t at)
{
    return peer->control ? (uint64_t *)((char *)peer->control + at) : 0;
}

/* A word of another node. A failure means that the job is ending. */
static uint64_t far_word(const struct lmpi_peer *peer, size_t at, enum uccs_atomic what, uint64_t operand)
{
    uint64_t old = 0;
    int status = uccs_atomic64(lmpi_process.context, peer->endpoint, peer->memory, at, what, operand, 0, &old, 0);
    if (status != UCCS_OK)
        lmpi_unreachable("a word", peer->world, status);
    return old;
}

uint64_t lmpi_word_add(struct lmpi_peer *peer, size_t at, uint64_t value)
{
    uint64_t *word = near_word(peer, at);
    return word ? __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST) : far_word(peer, at, UCCS_ATOMIC_ADD, value);
}

void lmpi_word_store(struct lmpi_peer *peer, size_t at, uint64_t value)
{
    uint64_t *word = near_word(peer, at);
    if (word)
        __atomic_store_n(word, value, __ATOMIC_RELEASE); /* acquire: the waiting rank */
    else
        far_word(peer, at, UCCS_ATOMIC_SET, value);
}

/* Dissemination: in round k each rank tells the one 2^k further on. A word only grows, so no round of a later barrier is
 * taken for one of this. */
void lmpi_barrier(struct lmpi_window *window)
{
    uint64_t number = ++window->round;
    int ranks = window->ranks;
    struct lmpi_control *mine = window->peer[window->rank].control;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int k = 0; 1ll << k < ranks; k++) {
        struct lmpi_wait wait lmpi_scoped = {.window = window, .rank = LMPI_ALL};
        int to = (int)(((long long)window->rank + (1ll << k)) % ranks);
        lmpi_word_store(&window->peer[to], LMPI_WORD(round) + (size_t)k * sizeof(uint64_t), number);
        while (__atomic_load_n(&mine->round[k], __ATOMIC_ACQUIRE) < number) /* release: lmpi_word_store of a peer */
            lmpi_pause(&wait);
    }
}
