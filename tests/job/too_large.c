/* Sizes whose sum over the PEs is more than a file can hold: one line, and status 1 instead of a crash. With 4 PEs of
 * nearly 2^62 bytes the sum passes 2^64. So is a sum beyond the limit of a file's size (ulimit -f), which would end a process by a signal.
 * pes: 1 2 4
 * fails: set SHMEM_SYMMETRIC_SIZE or LATERAL_MEMORY smaller
 * status: 1
 * case: memory
 * env: LATERAL_MEMORY=4611686018427387903
 * case: heap
 * env: SHMEM_SYMMETRIC_SIZE=4611686018427387903
 * case: both
 * env: SHMEM_SYMMETRIC_SIZE=4611686018427387903 LATERAL_MEMORY=4611686018427387903
 * case: file
 * args: file
 */
#include <shmem.h>

#include <sys/resource.h>

int main(int count, char **words)
{
    (void)words;
    if (count > 1)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 30, 1 << 30});
    shmem_init();
    shmem_finalize();
    return 0;
}
