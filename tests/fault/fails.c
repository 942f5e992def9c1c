/* Every failure that a transport can report ends the job with a line that names a PE, and status 1.
 * pes: 3
 * status: 1
 * timeout: 30
 * cores: 1
 * env: LATERAL_TRANSPORTS=fault:ucx UCX_TLS=tcp,self
 * case: open
 * labels: more
 * env: LATERAL_TRANSPORTS=fault,fail=open,pe=1:ucx
 * fails: lateral: PE 1: the transport fault does not work here
 * case: address
 * env: LATERAL_TRANSPORTS=fault,fail=address,pe=2:ucx
 * fails: lateral: PE 2: the address of fault
 * case: connect
 * env: LATERAL_TRANSPORTS=fault,fail=connect,pe=1:ucx
 * fails: lateral: PE 1: PE [02] cannot be reached over fault
 * case: send_first
 * env: LATERAL_TRANSPORTS=fault,fail=send,pe=0:ucx
 * fails: lateral: PE 0: a message to PE [12] failed
 * case: send_later
 * env: LATERAL_TRANSPORTS=fault,fail=send,pe=2,at=57:ucx
 * fails: lateral: PE 2: a message to PE [01] failed
 * case: receive
 * env: LATERAL_TRANSPORTS=fault,fail=receive,pe=1,at=3:ucx
 * fails: lateral: PE 1: the data of .* did not come
 * case: finish
 * env: LATERAL_TRANSPORTS=fault,fail=finish,pe=1,at=9:ucx
 * fails: lateral: PE 1: PE [02] is lost: the test wants it so
 * case: break_early
 * env: LATERAL_TRANSPORTS=fault,fail=break,pe=2:ucx
 * fails: lateral: PE 2: PE [01] is lost: the test wants it so
 * case: break_busy
 * env: LATERAL_TRANSPORTS=fault,fail=break,pe=0,at=80:ucx
 * fails: lateral: PE 0: PE [12] is lost: the test wants it so
 * case: poll
 * env: LATERAL_TRANSPORTS=fault,fail=break,pe=0,at=80:ucx LATERAL_PROGRESS=poll
 * fails: lateral: PE 0: PE [12] is lost: the test wants it so
 * case: plan
 * env: LATERAL_TRANSPORTS=fault,fail=often:ucx
 * fails: lateral: PE [012]: the transport fault does not work here: LATERAL_TRANSPORTS: fail= takes
 */
#include <shmem.h>
#include <stdlib.h>

enum { LONG = 32768, FOR_EVER = 1000000 };

int main(void)
{
    static long word;
    shmem_init();
    long *large = shmem_malloc(LONG * sizeof *large), *mine = calloc(LONG, sizeof *mine);
    for (int i = 0; i < FOR_EVER; i++) {
        int pe = (shmem_my_pe() + 1 + i % 2) % shmem_n_pes();
        shmem_long_put_nbi(large, mine, LONG, pe);
        shmem_long_get(mine, large, i % 3 ? 4 : LONG, pe);
        (void)shmem_long_atomic_fetch_inc(&word, pe);
        shmem_barrier_all();
    }
    return 0;
}
