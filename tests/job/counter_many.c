/* Uses all 65536 counters at once; one more is null. Frees some and makes them again.
 * pes: 1 2
 * timeout: 120
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { ALL = 65536, AGAIN = 300 };

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

int main(void)
{
    shmemx_ct_t more;
    check_start();
    for (int i = 0; i < ALL; i++)
        shmemx_ct_create(&cts[i]);
    shmemx_ct_create(&more);
    CHECK(!more);
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
