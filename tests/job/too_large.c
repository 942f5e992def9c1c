/* Sizes whose sum over the PEs is more than a file can hold: one line, and status 1 instead of a crash. With 4 PEs of
 * nearly 2^62 bytes the sum passes 2^64.
 * pes: 1 2 4
 * fails: set SHMEM_SYMMETRIC_SIZE or LATERAL_MEMORY smaller
 * status: 1
 * case: memory
 * env: LATERAL_MEMORY=4611686018427387903
 * case: heap
 * env: SHMEM_SYMMETRIC_SIZE=4611686018427387903
 * case: both
 * env: SHMEM_SYMMETRIC_SIZE=4611686018427387903 LATERAL_MEMORY=4611686018427387903
 */
#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
