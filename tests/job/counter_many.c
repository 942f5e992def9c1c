/* Uses all 32768 counters at once, frees them and makes them again; one more ends the job with a line.
 *
 * case: all
 * pes: 1 2
 * timeout: 120
 * case: one_more
 * pes: 2
 * args: one_more
 * status: 1
 * fails: ^lateral: PE [01]: shmemx_ct_create: all 32768 counters are in use; free some
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { ALL = 32768, AGAIN = 300 };

static shmemx_ct_t cts[ALL];

static void count_in_each(void)
{
    for (long i = 0; i < ALL; i++)
        shmemx_ct_add(cts[i], i + 1, next_pe);
    for (long i = 0; i < ALL; i++) {
        shmemx_ct_wait(cts[i], i + 1);
        if (shmemx_ct_get(cts[i]) != i + 1)
            CHECK_EQ(shmemx_ct_get(cts[i]), i + 1);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    (void)argv;
    check_start();
    for (int i = 0; i < ALL; i++)
        shmemx_ct_create(&cts[i]);
    if (argc > 1) {
        shmemx_ct_t more;
        shmemx_ct_create(&more);
    }
    count_in_each();
    for (int i = 0; i < AGAIN; i++)
        shmemx_ct_free(&cts[i * 100]);
    for (int i = 0; i < AGAIN; i++) {
        shmemx_ct_create(&cts[i * 100]);
        CHECK_EQ(shmemx_ct_get(cts[i * 100]), 0);
    }
    for (int i = 0; i < ALL; i++)
        shmemx_ct_set(cts[i], 0);
    shmem_barrier_all();
    count_in_each();
    CHECK_EQ(shmemx_ct_errors(cts[5]), 0);
    return check_pass();
}
