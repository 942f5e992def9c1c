/* PEs that talk over different transports cannot understand each other: the job ends with one line.
 * pes: 2
 * needs: ucx
 * env: LATERAL_NODE_SIZE=1 UCX_TLS=tcp,self
 * fails: talks over [tu]c[px], and this one over [tu]c[px]: set LATERAL_TRANSPORTS in all of them
 */
#include "../conform/check.h"

#include <stdlib.h>

static long word;

int main(void)
{
    const char *pe = getenv("LATERAL_PE");
    CHECK(pe);
    setenv("LATERAL_TRANSPORTS", *pe == '0' ? "ucx" : "tcp", 1);
    check_start();
    if (me == 0)
        shmem_long_p(&word, 1, 1);
    shmem_barrier_all();
    return check_pass();
}
