/* OpenSHMEM and uccs.h in one process: OpenSHMEM's atomics update data in the symmetric heap. Active messages hand out the
 * work; a PE answers them even while it waits in OpenSHMEM.
 *   oshcc hybrid.c -o hybrid && oshrun -n 4 ./hybrid [tasks]
 *
 * The tests run it so:
 *   args: 2000
 *   prints: verified
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <uccs.h>

enum { ASK = 1, TAKE = 2, NONE = -1 };

static uccs_context_t context;
static long tasks, next_task; /* on PE 0 */
static long task, came;       /* the task given to this PE; answers received */
static long sum;              /* symmetric: the result of all PEs, on PE 0 */
static long finished;         /* symmetric: PEs that have no more work, on PE 0 */

/* Runs on PE 0: sends the next task to the PE that asks. It is short, so it may run while PE 0 waits in OpenSHMEM. */
static void give(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    long number = __atomic_fetch_add(&next_task, 1, __ATOMIC_RELAXED);
    (void)payload, (void)length, (void)argument;
    if (number >= tasks)
        number = NONE;
    uccs_am_reply(token, TAKE, UCCS_AM_NETWORK_PROTOCOL, &number, sizeof number);
}

static void take(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)length, (void)argument;
    task = *(const long *)payload;
    __atomic_fetch_add(&came, 1, __ATOMIC_RELEASE);
}

static long ask(uccs_endpoint_t first)
{
    long before = came;
    if (uccs_am_short(context, first, ASK, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0) != UCCS_OK)
        shmem_global_exit(1);
    while (__atomic_load_n(&came, __ATOMIC_ACQUIRE) == before)
        uccs_progress();
    return task;
}

int main(int argc, char **argv)
{
    long mine = 0, number;
    uccs_endpoint_t first;
    shmem_init();
    if (uccs_init() != UCCS_OK || uccs_context_create(0, &context) != UCCS_OK)
        shmem_global_exit(1);
    tasks = argc > 1 ? atol(argv[1]) : 20000;
    uccs_am_register(context, ASK, UCCS_AM_NETWORK_PROTOCOL, give, 0);
    uccs_am_register(context, TAKE, UCCS_AM_NETWORK_PROTOCOL, take, 0);
    uccs_endpoint_create(context, UCCS_GROUP_WORLD, 0, &first);
    for (; (number = ask(first)) != NONE; mine++)
        shmem_long_atomic_add(&sum, number * number % 7, 0);
    shmem_quiet();
    shmem_long_atomic_inc(&finished, 0);
    int wrong = 0;
    if (shmem_my_pe() == 0) {
        shmem_long_wait_until(&finished, SHMEM_CMP_EQ, shmem_n_pes()); /* gives tasks to the others meanwhile */
        for (long i = 0; i < tasks; i++)
            sum -= i * i % 7;
        wrong = sum != 0;
        printf("hybrid: %ld tasks, %ld of them on PE 0, %s\n", tasks, mine, wrong ? "WRONG" : "verified");
    }
    shmem_barrier_all();
    uccs_finalize();
    shmem_finalize();
    return wrong;
}
