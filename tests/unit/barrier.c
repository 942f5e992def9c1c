/* The node's barrier with a limit of time: whoever gives up takes its arrival back, so either all pass or nobody does. Two
 * threads stand for two PEs; both have no time at all, so they mostly miss each other and sometimes just meet. */
#include "rte/rte.h"

#include "unit/check.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define ROUNDS 20000

static pthread_barrier_t together;
static bool passed[2];

static void wander(uint64_t *state)
{
    for (uint64_t i = next_random(state) % 400; i > 0; i--)
        atomic_relax();
}

static void *meet_often(void *me)
{
    uint64_t state = (uintptr_t)me;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&together);
        wander(&state);
        passed[(uintptr_t)me] = rte_node_barrier_within(0);
        pthread_barrier_wait(&together);
        CHECK(passed[0] == passed[1]);
    }
    rte_node_barrier(); /* one that has no limit works after all those that were given up */
    return me;
}

int main(void)
{
    pthread_t thread;
    alarm(50);
    rte.node = aligned_alloc(CACHE_LINE, sizeof *rte.node);
    CHECK(rte.node);
    *rte.node = (struct node){.size = 2};
    CHECK(!rte_node_barrier_within(0) && !rte_node_barrier_within(0)); /* alone, twice: not counted as two */
    pthread_barrier_init(&together, 0, 2);
    CHECK(pthread_create(&thread, 0, meet_often, (void *)1) == 0);
    meet_often((void *)0);
    pthread_join(thread, 0);
    return 0;
}
