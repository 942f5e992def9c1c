/* --deadlock leaves a job alone in which some thread can still act: it computes, sleeps, or waits with a time limit.
 * pes: 3
 * oshrun: --deadlock 0.3
 * cores: 1 */
#include <assert.h>
#include <shmem.h>
#include <shmemx.h>
#include <unistd.h>

static long flag;

int main(void)
{
    shmemx_ct_t ct;
    shmem_init();
    int me = shmem_my_pe(), after = (me + 1) % shmem_n_pes();
    shmemx_ct_create(&ct);
    if (me == 0)
        usleep(1500000); /* the others wait for this PE's store */
    else
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    shmem_long_p(&flag, 1, after);
    shmem_barrier_all();
    int come = me == 0 ? shmemx_ct_wait_timeout(ct, 1, 1.5) : 0; /* all others are in the barrier */
    assert(!come);
    shmem_barrier_all();
    shmemx_ct_free(&ct);
    shmem_finalize();
    return 0;
}
