/* The PEs of a node meet: a futex barrier in the node's head, for start and end. Waiting PEs sleep. */
#include "rte/rte.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* False when the time is over; null waits for ever. */
static bool futex_sleep(uint32_t *word, uint32_t seen, const struct timespec *end)
{
    return syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, end, 0, FUTEX_BITSET_MATCH_ANY) == 0 || errno != ETIMEDOUT;
}

static void futex_wake_all(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}

/* The last to arrive resets the count before it opens the next round (release), so a PE that
 * comes back at once (acquire of round) counts from zero. */
static bool meet(void (*last)(void *), void *argument, const struct timespec *end)
{
    struct node *node = rte.node;
    uint32_t round = atomic_load_acquire(&node->round);
    if (atomic_fetch_add_acqrel(&node->arrived, 1) + 1 == node->size) {
        if (last)
            last(argument);
        atomic_store_relaxed(&node->arrived, 0);
        atomic_store_release(&node->round, round + 1);
        futex_wake_all(&node->round);
        return true;
    }
    while (atomic_load_acquire(&node->round) == round) /* a signal or a spurious wake looks again */
        if (!futex_sleep(&node->round, round, end))
            return false;
    return true;
}

void rte_node_barrier(void)
{
    meet(0, 0, 0);
}

void rte_node_barrier_last(void (*last)(void *), void *argument)
{
    meet(last, argument, 0);
}

bool rte_node_barrier_within(int seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    return meet(0, 0, &end);
}
