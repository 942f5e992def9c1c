/* Split-phase collectives that no PE waits for: finalize does this PE's share, so that they complete at the other PEs;
 * also after the request was freed, and in two lives of the library.
 * timeout: 30
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { EACH = 5000 };

static long from[EACH], to[EACH * 16];

static void life(long number)
{
    shmemx_request_t left = SHMEMX_REQUEST_NULL, freed = SHMEMX_REQUEST_NULL;
    for (int i = 0; i < EACH; i++)
        from[i] = number * 100 + me;
    memset(to, 0, sizeof to);
    shmem_barrier_all();
    CHECK_EQ(shmemx_long_fcollect_nbe(SHMEM_TEAM_WORLD, to, from, EACH, &left), 0);
    shmemx_barrier_all_nbe(&freed);
    shmemx_barrier_all_nbe(&left);
    shmemx_request_free(&freed);
    if (me == 0) { /* the others are in finalize, or on their way */
        shmemx_request_wait(&left);
        for (int i = 0; i < EACH * npes; i++)
            CHECK_EQ(to[i], number * 100 + i / EACH);
    }
    shmemx_request_free(&left);
    shmem_finalize();
}

int main(void)
{
    check_start();
    life(1);
    shmem_init();
    life(2);
    shmem_init();
    for (int i = 0; i < EACH * npes; i++) /* finalize of the life before completed it */
        CHECK_EQ(to[i], 200 + i / EACH);
    return check_pass();
}
