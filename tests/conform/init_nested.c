/* Library setup and exit: init and finalize nest and repeat; query_initialized tells the state at any time; globals keep
 * their values through all of it; every life has a working heap and the same PE numbers.
 * prints: ^PASS$
 */
#include "check.h"

static long counter;                        /* counts lives, in this PE's own global */
static long counter_start = 41;             /* initialised data, changed before the first init */
static long *into_globals = &counter_start; /* a pointer into them */

static int initialized(void)
{
    int answer = -7;
    shmem_query_initialized(&answer);
    return answer;
}

/* One life: two nested pairs; what the inner finalize leaves alone is still there. */
static void live(int life)
{
    int provided = -1;
    shmem_init();
    CHECK(initialized() != 0);
    if (life == 0)
        check_who();
    CHECK_EQ(shmem_my_pe(), me);
    CHECK_EQ(shmem_n_pes(), npes);
    CHECK_EQ(counter, life);
    CHECK_EQ(*into_globals, 42 + life);

    long *heap = check_alloc(sizeof(long));
    *heap = 5;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0);
    CHECK(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
    shmem_barrier_all();
    shmem_long_p(heap, me + 100 * life, next_pe);
    shmem_finalize(); /* as a barrier: the put has landed */
    CHECK(initialized() != 0);
    CHECK_EQ(*heap, prev_pe + 100 * life);
    shmem_barrier_all();

    shmem_long_atomic_inc(&counter, next_pe);
    shmem_barrier_all();
    CHECK_EQ(counter, life + 1);
    shmem_long_atomic_add(&counter_start, 1, next_pe);
    shmem_finalize(); /* completes what is pending */
    CHECK_EQ(initialized(), 0);
    CHECK_EQ(counter, life + 1);
    CHECK_EQ(counter_start, 43 + life);
    CHECK(into_globals == &counter_start);
}

int main(void)
{
    CHECK_EQ(initialized(), 0);
    counter_start++;
    for (int life = 0; life < 4; life++)
        live(life);
    counter += 10; /* globals are ordinary memory in between */
    CHECK_EQ(counter, 14);
    shmem_init();
    CHECK_EQ(shmem_long_g(&counter, next_pe), 14);
    CHECK(initialized() != 0);
    return check_pass();
}
