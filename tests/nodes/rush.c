/* All PEs call one worker at the same time and fetch from it, over TCP. Each gets its answers, and the worker has one descriptor for each
 * PE; the others have one for each of the few to whom they talk.
 * env: LATERAL_TRANSPORTS=tcp SHMEM_SYMMETRIC_SIZE=1m
 * oshrun: --oversubscribe
 * prints: ^PASS$
 * case: alone
 * pes: 48
 * cores: 2
 * env: LATERAL_NODE_SIZE=1
 * case: nodes
 * pes: 48
 * cores: 2
 * env: LATERAL_NODE_SIZE=8
 * case: hundreds
 * pes: 512
 * cores: 2
 * timeout: 600
 * labels: soak
 * env: LATERAL_NODE_SIZE=1
 */
#define CHECK_MOST_PES 1024
#include "../conform/check.h"

#include <dirent.h>

enum { ROUNDS = 4, OTHERS = 40 }; /* OTHERS: standard streams, memory, epoll, doors, PEs met in barriers */

static long tickets;

static int descriptors(void)
{
    DIR *open = opendir("/proc/self/fd");
    int count = -3; /* ., .. and this one */
    CHECK(open != 0);
    while (readdir(open))
        count++;
    closedir(open);
    return count;
}

int main(void)
{
    static long mine, sum;
    check_start();
    shmem_barrier_all();
    for (long i = 0, last = -1; i < ROUNDS; i++) {
        const long ticket = shmem_long_atomic_fetch_inc(&tickets, 0);
        CHECK(ticket > last && ticket < ROUNDS * npes);
        mine += last = ticket;
    }
    CHECK(descriptors() <= OTHERS + (me == 0 ? npes : 0));
    shmem_barrier_all();
    CHECK_EQ(tickets, me == 0 ? ROUNDS * npes : 0);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1);
    CHECK_EQ(sum, (long)ROUNDS * npes * (ROUNDS * npes - 1) / 2); /* each ticket once */
    return check_pass();
}
