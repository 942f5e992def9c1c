/* A PE that calls exit(0) without uccs_finalize ends the job with a line that names the PE.
 * pes: 2
 * fails: PE 1 .*exited without shmem_finalize or uccs_finalize
 * status: 1
 */
#include "check.h"

int main(void)
{
    check_start();
    if (me == 1)
        exit(0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    return check_pass();
}
