/* OpenSHMEM and OpenMP: each thread sends its share of a vector to the next PE by a context of its own, so no thread waits
 * for the operations of another. docs/guide/hybrids.md explains it. */
#include <omp.h>
#include <shmem.h>
#include <stdio.h>

enum { N = 1 << 16 };

static double mine[N], theirs[N]; /* symmetric */

int main(void)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (provided < SHMEM_THREAD_MULTIPLE)
        shmem_global_exit(1);
    const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
#pragma omp parallel
    {
        const size_t threads = (size_t)omp_get_num_threads(), id = (size_t)omp_get_thread_num();
        const size_t from = N * id / threads, to = N * (id + 1) / threads;
        shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
        (void)shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx); /* without a context of its own it uses the default one */
        for (size_t i = from; i < to; i++)
            mine[i] = me + 1.0;
        shmem_ctx_double_put_nbi(ctx, &theirs[from], &mine[from], to - from, next);
        shmem_ctx_quiet(ctx);
        if (ctx != SHMEM_CTX_DEFAULT)
            shmem_ctx_destroy(ctx);
    }
    shmem_barrier_all(); /* one thread calls it, when all have come to the end of the region */
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += theirs[i];
    printf("PE %d: %.0f from PE %d\n", me, sum / N, (int)(sum / N) - 1);
    shmem_finalize();
    return 0;
}
