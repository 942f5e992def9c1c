/* A job that nobody can help any more: oshrun --deadlock ends it, says so, and says where the PEs are.
 * pes: 4
 * cores: 1
 * timeout: 120
 * oshrun: --deadlock 1
 * status: 1
 * case: calls
 * args: calls
 * fails: deadlock for [0-9.]+ s .--deadlock.: no PE will ever go on(.|\n)*PE 0-2 +shmem_team_sync \(3 of 4 have come\)(.|\n)*PE 3 +shmem_signal_wait_until\(heap . 0x[0-9a-f]+ >= 2, is 1\)
 * case: lock
 * args: lock
 * fails: PE 0 +shmem_barrier_all \(1 of 4 have come\)(.|\n)*shmem_set_lock \(waits for PE [0-3]\)
 * case: threads
 * args: threads
 * fails: (?=(.|\n)*PE 0-3 +shmem_int_wait_until\(words . 4 bytes > 5, is -1\))(?=(.|\n)*PE 0-3 +shmem_int_wait_until\(words . 8 bytes != 0, is 0\))
 * case: joined
 * args: joined
 * fails: deadlock for [0-9.]+ s(.|\n)*PE 0-3 +shmem_int_wait_until\(words . 4 bytes > 5, is -1\)
 * case: counter
 * args: counter
 * fails: PE 0-3 +shmemx_ct_wait\(counter 0 >= 2, is 1\) */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <string.h>

static long lock;
static int words[3] = {0, -1, 0};

static void wait_in_calls(int me)
{
    uint64_t *signal = shmem_calloc(1, sizeof *signal);
    if (me != 3)
        shmem_team_sync(SHMEM_TEAM_WORLD);
    shmem_signal_set(signal, 1, me);
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, 2);
}

/* PE 0 keeps the lock. */
static void wait_for_lock(int me)
{
    if (me == 0)
        shmem_set_lock(&lock);
    shmem_sync_all();
    if (me != 0)
        shmem_set_lock(&lock);
}

static void *wait_for_word(void *unused)
{
    (void)unused;
    shmem_int_wait_until(&words[1], SHMEM_CMP_GT, 5);
    return 0;
}

/* The first thread waits for the other alone, or for a word, too. */
static void wait_in_threads(int joined)
{
    pthread_t thread;
    pthread_create(&thread, 0, wait_for_word, 0);
    if (!joined)
        shmem_int_wait_until(&words[2], SHMEM_CMP_NE, 0);
    pthread_join(thread, 0);
}

static void wait_for_count(int me)
{
    shmemx_ct_t ct;
    shmemx_ct_create(&ct);
    shmemx_ct_add(ct, 1, me);
    shmemx_ct_wait(ct, 2);
}

int main(int argc, char **argv)
{
    int provided;
    const char *how = argc > 1 ? argv[1] : "";
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe();
    if (strcmp(how, "calls") == 0)
        wait_in_calls(me);
    if (strcmp(how, "lock") == 0)
        wait_for_lock(me);
    if (strcmp(how, "threads") == 0 || strcmp(how, "joined") == 0)
        wait_in_threads(strcmp(how, "joined") == 0);
    if (strcmp(how, "counter") == 0)
        wait_for_count(me);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
