/* A put right after create counts, also at a PE that has not created its counter yet, and also in a slot that was used
 * before.
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { SENT = 50, LIVES = 6 };

int main(void)
{
    static long words[SENT];
    check_start();
    for (int life = 0; life < LIVES; life++) {
        shmemx_ct_t first, second;
        if (me == npes - 1)
            usleep(20000);
        shmemx_ct_create(&first);
        shmemx_ct_create(&second);
        for (long i = 0; i < SENT; i++)
            for (int pe = 0; pe < npes; pe++) {
                shmemx_long_put_ct(first, &words[i], &i, 1, pe);
                shmemx_ct_add(second, 2, pe);
            }
        shmemx_ct_wait(first, (long)SENT * npes);
        shmemx_ct_wait(second, 2L * SENT * npes);
        CHECK_EQ(shmemx_ct_get(first), (long)SENT * npes);
        CHECK_EQ(shmemx_ct_get(second), 2L * SENT * npes);
        for (long i = 0; i < SENT; i++)
            CHECK_EQ(words[i], i);
        shmemx_ct_free(life % 2 ? &first : &second); /* the order of freeing decides which slot comes next */
        shmemx_ct_free(life % 2 ? &second : &first);
        CHECK(!first && !second);
    }
    return check_pass();
}
