/* Two PEs that wait for each other's answers at the same time serve each other while they wait: their progress threads sleep.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1
 */
#define _GNU_SOURCE
#include "../conform/check.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>

enum { BATCHES = 400, ROUNDS = 200, FEW = ROUNDS / 10, CALM = 2 };

/* How often the progress thread has gone to sleep; -1: it has not got its name yet. */
static long naps(void)
{
    DIR *threads = opendir("/proc/self/task");
    long count = -1;
    for (const struct dirent *each; (each = readdir(threads));) {
        char name[300], line[128];
        snprintf(name, sizeof name, "/proc/self/task/%s/status", each->d_name);
        FILE *file = fopen(name, "r");
        bool serves = false;
        while (file && fgets(line, sizeof line, file)) {
            serves |= strcmp(line, "Name:\tlateral-serve\n") == 0;
            if (serves)
                sscanf(line, "voluntary_ctxt_switches: %ld", &count);
        }
        if (file)
            fclose(file);
    }
    closedir(threads);
    return count;
}

static long naps_of_batch(shmem_ctx_t mine)
{
    static long place;
    const long before = naps();
    for (long i = 0; i < ROUNDS; i++) {
        shmem_ctx_long_put_nbi(mine, &place, &i, 1, next_pe);
        shmem_ctx_quiet(mine);
    }
    return before < 0 ? ROUNDS : naps() - before;
}

/* On one core a thread that serves is woken in nearly every round. */
static void share_one_core(void)
{
    cpu_set_t set, one;
    CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && !CPU_COUNT(&one); core++)
        if (CPU_ISSET(core, &set))
            CPU_SET(core, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

/* Other programs may keep a PE from the core in many batches. */
int main(void)
{
    static long calm, peer_calm; /* batches in which the thread slept */
    shmem_ctx_t mine;
    share_one_core();
    check_start();
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &mine), 0);
    for (int batch = 0; batch < BATCHES && (calm < CALM || peer_calm < CALM); batch++) {
        shmem_barrier_all();
        calm += naps_of_batch(mine) < FEW;
        shmem_long_p(&peer_calm, calm, next_pe);
        shmem_barrier_all();
    }
    CHECK(calm >= CALM);
    shmem_ctx_destroy(mine);
    return check_pass();
}
