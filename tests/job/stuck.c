/* A job that hangs, and what oshrun says about it: at the time limit, or when it finds the deadlock itself.
 * pes: 4
 * timeout: 120
 * case: value
 * args: value
 * oshrun: --timeout 3
 * status: 124
 * fails: PE 0,2,3 +shmem_barrier_all \(3 of 4 have come\) +[0-9.]+ s +stuck\.c:[0-9]+\n +PE 1 +shmem_long_wait_until\(flag == 7, is 3\) +[0-9.]+ s +stuck\.c:[0-9]+\nPEs 0,2,3 wait for PE 1; PE 1 waits for a store that no PE is making
 * case: calls
 * args: calls
 * oshrun: --deadlock 1
 * status: 1
 * fails: deadlock for [0-9.]+ s .--deadlock.: no PE will ever go on(.|\n)*PE 0-2 +shmem_team_sync \(3 of 4 have come\)(.|\n)*PE 3 +shmem_signal_wait_until\(heap . 0x[0-9a-f]+ >= 2, is 1\)
 * case: lock
 * args: lock
 * oshrun: --deadlock 1
 * status: 1
 * fails: PE 0 +shmem_barrier_all \(1 of 4 have come\)(.|\n)*shmem_set_lock \(waits for PE [0-3]\)
 * case: collective
 * args: collective
 * oshrun: --timeout 3
 * status: 124
 * fails: PE 1 +shmem_broadcastmem \(waits for PE 0\)(.|\n)*PEs? [0-9,-]+ waits? for PE
 * case: left
 * args: left
 * oshrun: --timeout 3
 * status: 124
 * fails: PE 0-2 +shmem_finalize \(3 of 4 have come\)(.|\n)*PE 3 +is in no wait that lasts
 * case: threads
 * args: threads
 * oshrun: --deadlock 1
 * status: 1
 * fails: PE 0-3 +shmem_int_wait_until\(words . 4 bytes > 5, is -1\)(.|\n)*PE 0-3 +shmem_int_wait_until\(words . 8 bytes != 0, is 0\)
 * case: request
 * args: counter
 * oshrun: --deadlock 1
 * status: 1
 * fails: PE 0-3 +shmemx_ct_wait\([a-z]+ >= 2, is 1\) */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static long flag = 3, lock;
static int words[3] = {0, -1, 0};
static int box[4];

static void *wait_for_word(void *unused)
{
    (void)unused;
    shmem_int_wait_until(&words[1], SHMEM_CMP_GT, 5);
    return 0;
}

static void wait_in_threads(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, wait_for_word, 0);
    shmem_int_wait_until(&words[2], SHMEM_CMP_NE, 0);
    pthread_join(thread, 0);
}

static void wait_for_count(void)
{
    shmemx_ct_t ct;
    shmemx_ct_create(&ct);
    shmemx_ct_add(ct, 1, shmem_my_pe());
    shmemx_ct_wait(ct, 2);
}

int main(int argc, char **argv)
{
    int provided;
    const char *how = argc > 1 ? argv[1] : "";
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe();
    uint64_t *signal = shmem_calloc(1, sizeof *signal);
    if (strcmp(how, "value") == 0 && me == 1)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 7);
    if (strcmp(how, "calls") == 0 && me == 3) {
        shmem_signal_set(signal, 1, me);
        shmem_signal_wait_until(signal, SHMEM_CMP_GE, 2);
    } else if (strcmp(how, "calls") == 0) {
        shmem_team_sync(SHMEM_TEAM_WORLD);
    }
    if (strcmp(how, "lock") == 0) {
        if (me == 0)
            shmem_set_lock(&lock);
        shmem_sync_all();
        if (me != 0)
            shmem_set_lock(&lock); /* PE 0 keeps it */
    }
    if (strcmp(how, "collective") == 0 && me == 1)
        shmem_broadcastmem(SHMEM_TEAM_WORLD, box, box, sizeof box, 0);
    if (strcmp(how, "left") == 0 && me == 3)
        for (;;)
            usleep(1000);
    if (strcmp(how, "threads") == 0)
        wait_in_threads();
    if (strcmp(how, "counter") == 0)
        wait_for_count();
    if (strcmp(how, "left") != 0)
        shmem_barrier_all();
    shmem_finalize();
    return 0;
}
