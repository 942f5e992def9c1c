/* UCX_TLS names shared memory alone, which cannot tell of a lost peer and has no use for TCP's variables: UCX says nothing,
 * unless the user has chosen what it says.
 * pes: 2
 * needs: ucx
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=sysv,self
 * case: unasked
 * prints: \A(?![\s\S]*UCX)[\s\S]*^PASS$
 * case: asked
 * env: UCX_LOG_LEVEL=error
 * prints: UCX +ERROR +no active messages transport
 */
#include "../conform/check.h"

int main(void)
{
    static long place;
    check_start();
    shmem_long_p(&place, me + 1, next_pe);
    shmem_barrier_all();
    CHECK_EQ(place, prev_pe + 1);
    return check_pass();
}
