/* A job that hangs, and where oshrun says the PEs are at the time limit.
 * pes: 4
 * cores: 1
 * timeout: 120
 * oshrun: --timeout 1.5
 * patience: 3 9
 * status: 124
 * case: value
 * args: value
 * fails: PE 0,2,3 +shmem_barrier_all \(3 of 4 have come\) +[0-9.]+ s +stuck\.c:[0-9]+\n +PE 1 +shmem_long_wait_until\(flag == 7, is 3\) +[0-9.]+ s +stuck\.c:[0-9]+\nPEs 0,2,3 wait for PE 1; PE 1 waits for a store that no PE is making
 * case: collective
 * args: collective
 * fails: PE 1 +shmem_broadcastmem \(waits for PE 0\)(.|\n)*PEs? [0-9,-]+ waits? for PE
 * case: computes
 * args: computes
 * fails: PE 0-2 +shmem_finalize \(3 of 4 have come\)(.|\n)*PE 3 +is in no wait that lasts +stuck\.c:[0-9]+
 * case: left
 * args: left
 * fails: PE 0-2 +shmem_finalize \(3 of 4 have come\)(.|\n)*PE 3 +is in no wait that lasts */
#include <shmem.h>
#include <string.h>
#include <unistd.h>

static long flag = 3;
static int box[4];

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    shmem_init();
    int me = shmem_my_pe();
    if (strcmp(how, "value") == 0 && me == 1)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7);
    if (strcmp(how, "collective") == 0 && me == 1)
        shmem_broadcastmem(SHMEM_TEAM_WORLD, box, box, sizeof box, 0);
    if (strcmp(how, "left") == 0 && me == 3)
        for (;;)
            usleep(1000);
    if (strcmp(how, "computes") == 0 && me == 3)
        for (volatile int round = 0;;)
            round = !round;
    if (strcmp(how, "left") != 0 && strcmp(how, "computes") != 0)
        shmem_barrier_all();
    shmem_finalize();
    return 0;
}
