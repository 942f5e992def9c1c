/* Environment variables: an invalid SHMEM_SYMMETRIC_SIZE makes init_thread return nonzero or ends the program; either way it
 * does not go on as if nothing were.
 * pes: 1 2
 * fails: SYMMETRIC_SIZE
 * case: word
 * env: SHMEM_SYMMETRIC_SIZE=abc
 * case: negative
 * env: SHMEM_SYMMETRIC_SIZE=-5
 * case: negative_suffix
 * env: SHMEM_SYMMETRIC_SIZE=-1m
 * case: suffix_alone
 * env: SHMEM_SYMMETRIC_SIZE=m
 * case: nan
 * env: SHMEM_SYMMETRIC_SIZE=nan
 * case: infinite
 * env: SHMEM_SYMMETRIC_SIZE=inf
 * case: old_name
 * env: SMA_SYMMETRIC_SIZE=junk
 * case: beyond
 * env: SHMEM_SYMMETRIC_SIZE=99999999999999999999999T
 */
#include "check.h"

int main(void)
{
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) != 0) {
        fprintf(stderr, "init_thread refused the SHMEM_SYMMETRIC_SIZE\n");
        return 1;
    }
    printf("started with a size that is none\n");
    return 0;
}
