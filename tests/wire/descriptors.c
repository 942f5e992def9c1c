/* A PE whose limit of open files is too low for connections to all peers raises it, and talks to all of them. With the limit that it
 * had, the connections failed.
 * pes: 12
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self
 * oshrun: --oversubscribe
 * prints: ^PASS$
 */
#include "../conform/check.h"

#include <sys/resource.h>

enum { FEW = 24 }; /* a PE has 20 before its first message */

static long word;

int main(void)
{
    struct rlimit files;
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    const rlim_t hard = files.rlim_max;
    files.rlim_cur = FEW;
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    check_start();
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max == hard);
    CHECK(files.rlim_cur > FEW);
    for (int i = 1; i < npes; i++)
        shmem_long_atomic_add(&word, 1, (me + i) % npes);
    shmem_barrier_all();
    CHECK_EQ(word, npes - 1);
    return check_pass();
}
