/* Library setup, the old way: start_pes needs no finalize, ignores its argument, may come twice; the end of the program
 * finalizes with a synchronisation of all PEs, so pending operations complete. With `finalize` the program finalizes itself;
 * with `exit` a PE leaves through exit() from inside a function.
 * prints: ^PE 0 saw all$
 * case: implicit
 * args: implicit
 * case: finalize
 * args: finalize
 * case: exit
 * args: exit
 */
#include "check.h"

static long arrived; /* on PE 0: who reached its end */
static const char *mode = "implicit";

/* Registered before the library starts, so that it runs after the library's own exit handler: by then every PE is
 * through its body, as the implicit end synchronises all. */
static void after_library(void)
{
    if (me != 0)
        return;
    CHECK_EQ(arrived, npes);
    printf("PE 0 saw all\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        mode = argv[1];
    atexit(after_library);
    start_pes(npes = 17);
    start_pes(0); /* no effect */
    check_who();
    CHECK(_num_pes() == npes && _my_pe() == me);
    static long ring;
    shmem_long_p(&ring, me + 1, next_pe);
    shmem_barrier_all();
    CHECK_EQ(ring, prev_pe + 1);
    usleep(me * 3000u);
    shmem_long_atomic_inc(&arrived, 0); /* pending at the end */
    if (strcmp(mode, "finalize") == 0)
        shmem_finalize();
    if (strcmp(mode, "exit") == 0)
        exit(0);
    return 0;
}
