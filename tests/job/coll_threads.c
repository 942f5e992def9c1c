/* Threads, each with teams of its own, call collectives, splits and destroys at the same time; their splits compete
 * for slots.
 *
 * pes: 1 2 4
 */
#include "coll.h"

#include <pthread.h>

enum { THREADS = 4, STEPS = 200, ELEMENTS = 3000 };

struct worker {
    pthread_t thread;
    int number;
    shmem_team_t team;
    int *source, *dest;
};

static int npes;

static void check_sum(struct worker *w, shmem_team_t team, int step, size_t n)
{
    int size = shmem_team_n_pes(team), rank = shmem_team_my_pe(team);
    for (size_t i = 0; i < n; i++)
        w->source[i] = (rank + 1) * (step + (int)i + w->number);
    REQUIRE(shmem_int_sum_reduce(team, w->dest, w->source, n) == 0, "reduce");
    for (size_t i = 0; i < n; i++)
        REQUIRE(w->dest[i] == size * (size + 1) / 2 * (step + (int)i + w->number),
                "thread %d, step %d: wrong at %zu of %zu", w->number, step, i, n);
}

static void *work(void *argument)
{
    struct worker *w = argument;
    uint64_t seed = 11 + (uint64_t)w->number;
    for (int step = 0; step < STEPS; step++) {
        shmem_team_t child;
        check_sum(w, w->team, step, draw(&seed) % ELEMENTS);
        int start = (int)(draw(&seed) % (uint64_t)npes);
        REQUIRE(shmem_team_split_strided(w->team, start, 1, npes - start, 0, 0, &child) == 0, "split");
        if (child != SHMEM_TEAM_INVALID)
            check_sum(w, child, step, 5);
        shmem_team_destroy(child);
    }
    return 0;
}

int main(void)
{
    static struct worker workers[THREADS];
    int provided;
    REQUIRE(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE, "threads");
    npes = shmem_n_pes();
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].source = shmem_malloc(ELEMENTS * sizeof(int));
        workers[i].dest = shmem_malloc(ELEMENTS * sizeof(int));
        REQUIRE(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, 0, 0, &workers[i].team) == 0, "split");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i].thread, 0, work, &workers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, 0);
    shmem_finalize();
    return 0;
}
