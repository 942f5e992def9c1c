/* Memory management synchronises: no PE returns from an allocation before every PE has called it; free and a moving
 * realloc wait on entry, so what was put through the default context before them has landed.
 * prints: ^PASS$
 */
#include "check.h"

static long entered; /* PEs that came to the current call, counted on PE 0 */

/* One PE comes late; whoever returns must find that all have come. */
static void come(int round)
{
    if (round % npes == me)
        usleep(300);
    shmem_long_atomic_inc(&entered, 0);
    shmem_quiet();
}

static void all_came(int round)
{
    CHECK(shmem_long_atomic_fetch(&entered, 0) >= (long)npes * round);
}

int main(void)
{
    check_start();
    for (int round = 1; round <= 24; round++) {
        void *at;
        come(round);
        switch (round % 5) {
        case 0: at = shmem_malloc(40); break;
        case 1: at = shmem_calloc(4, 10); break;
        case 2: at = shmem_align(64, 40); break;
        case 3: at = shmem_malloc_with_hints(40, 0); break;
        default: at = shmem_realloc(NULL, 40);
        }
        CHECK(at != NULL);
        all_came(round);
        shmem_free(at);
    }
    /* A put just before free must not land in what is allocated there next. */
    for (int round = 0; round < 20; round++) {
        long *old = check_alloc(4096);
        shmem_long_p(&old[9], 77, next_pe);
        shmem_long_put_nbi(&old[10], (long[]){78}, 1, next_pe);
        shmem_free(old);
        long *fresh = shmem_calloc(512, sizeof(long));
        CHECK(fresh != NULL);
        for (int i = 0; i < 512; i++)
            CHECK_EQ(fresh[i], 0);
        shmem_free(fresh);
    }
    return check_pass();
}
