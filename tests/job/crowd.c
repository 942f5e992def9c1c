/* Many more PEs than cores: start, put, barrier, lock, finish.
 * pes: 16 64 256
 * timeout: 100
 * env: SHMEM_SYMMETRIC_SIZE=1m
 * skip: tsan aarch64
 */
#include <shmem.h>
#include <stdio.h>

static long from_left, total, lock, inside;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), rounds = npes > 64 ? 3 : 20;
    for (int round = 1; round <= rounds; round++) {
        shmem_long_p(&from_left, round * 1000L + me, (me + 1) % npes);
        shmem_long_atomic_add(&total, 1, 0);
        shmem_barrier_all();
        if (from_left != round * 1000L + (me + npes - 1) % npes || (me == 0 && total != (long)round * npes)) {
            fprintf(stderr, "PE %d, round %d: %ld, total %ld\n", me, round, from_left, total);
            return 1;
        }
        shmem_barrier_all();
    }
    shmem_set_lock(&lock);
    long seen = shmem_long_g(&inside, 0);
    shmem_long_p(&inside, seen + 1, 0);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    if (me == 0 && inside != npes)
        return 2;
    shmem_finalize();
    return 0;
}
