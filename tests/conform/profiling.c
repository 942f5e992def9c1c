/* Profiling interface: this program defines shmem_ functions of its own, which count and call the pshmem_ ones. Calls through
 * plain names and generics come here; types and constants for them are in pshmem.h; pcontrol is accepted and does nothing.
 * prints: ^PASS$
 */
#include <pshmem.h>
#include "check.h"

static long puts_seen, ps_seen, adds_seen, barriers_seen, inits_seen, mallocs_seen, reductions_seen, ctx_puts_seen;

void shmem_init(void)
{
    inits_seen++;
    pshmem_init();
}

void shmem_int_put(int *dest, const int *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_int_put(dest, source, nelems, pe);
}

void shmem_ctx_int_put(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe)
{
    ctx_puts_seen++;
    pshmem_ctx_int_put(ctx, dest, source, nelems, pe);
}

void shmem_int_p(int *dest, int value, int pe)
{
    ps_seen++;
    pshmem_int_p(dest, value, pe);
}

void shmem_int_atomic_add(int *dest, int value, int pe)
{
    adds_seen++;
    pshmem_int_atomic_add(dest, value, pe);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

void *shmem_malloc(size_t size)
{
    mallocs_seen++;
    return pshmem_malloc(size);
}

int shmem_int_sum_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce)
{
    reductions_seen++;
    return pshmem_int_sum_reduce(team, dest, source, nreduce);
}

int main(void)
{
    static int word[3], one = 1, sum;
    check_start();
    CHECK_EQ(inits_seen, 1);
    shmem_int_put(&word[0], &one, 1, next_pe);
    shmem_put(&word[1], &one, 1, next_pe); /* the generic maps to the same function */
    shmem_put(SHMEM_CTX_DEFAULT, &word[2], &one, 1, next_pe);
    CHECK(puts_seen == 2 && ctx_puts_seen == 1);
    long before = barriers_seen;
    shmem_barrier_all();
    CHECK_EQ(barriers_seen, before + 1);
    CHECK(word[0] == 1 && word[1] == 1 && word[2] == 1);
    shmem_barrier_all();
    shmem_int_p(&word[0], 5, next_pe);
    pshmem_int_p(&word[1], 6, next_pe); /* not seen */
    CHECK_EQ(ps_seen, 1);
    shmem_quiet();
    shmem_int_atomic_add(&word[0], 2, next_pe);
    CHECK_EQ(adds_seen, 1);
    shmem_barrier_all();
    CHECK(word[0] == 7 && word[1] == 6);
    CHECK(shmem_int_g(&word[0], next_pe) == 7 && pshmem_int_g(&word[0], next_pe) == 7);
    int *heap = shmem_malloc(sizeof(int));
    CHECK(heap != NULL && mallocs_seen == 1);
    pshmem_free(heap);
    CHECK_EQ(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1), 0);
    CHECK_EQ(reductions_seen, 1);
    CHECK_EQ(sum, npes);
    shmem_pcontrol(0);
    shmem_pcontrol(1);
    shmem_pcontrol(2, "flush", 3.0, &sum);
    pshmem_pcontrol(-1);
    return check_pass();
}
