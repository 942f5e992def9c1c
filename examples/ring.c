/* A token goes once round all PEs; each adds its number before passing it on.
 * Shows: a symmetric global variable, p, wait_until.
 *   oshcc ring.c -o ring && oshrun -n 4 ./ring
 *
 * The tests run it so:
 *   prints: verified
 */
#include <shmem.h>
#include <stdio.h>

static long token; /* globals and statics are symmetric: each PE has one, all PEs reach it */

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    int next = (me + 1) % pes;

    if (me == 0)
        shmem_long_p(&token, 1, next); /* starts at 1: zero means "not here yet" */
    shmem_long_wait_until(&token, SHMEM_CMP_NE, 0);
    if (me != 0)
        shmem_long_p(&token, token + me, next);

    int wrong = 0;
    if (me == 0) {
        long expected = 1 + (long)pes * (pes - 1) / 2;
        wrong = token != expected;
        printf("ring: %d PEs, token %ld, %s\n", pes, token, wrong ? "WRONG" : "verified");
    }
    shmem_finalize();
    return wrong;
}
