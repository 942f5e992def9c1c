/* Deprecated names that the standard still requires: the mpp headers, _my_pe, _num_pes, shmalloc and its kin, and the atomics
 * without `atomic` in their names. (start_pes: start_pes.c; wait: p2p_one.c; active sets: set_*.c; constants: constants.c)
 * prints: ^PASS$
 */
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include "check.h"

static void numbers(void)
{
    CHECK_EQ(_my_pe(), me);
    CHECK_EQ(_num_pes(), npes);
}

static void memory(void)
{
    CHECK(shmalloc(0) == NULL);
    long *at = shmalloc(10 * sizeof(long));
    CHECK(at != NULL);
    for (int i = 0; i < 10; i++)
        at[i] = i;
    shmem_barrier_all();
    shmem_long_p(&at[9], 99, next_pe);
    at = shrealloc(at, 1000 * sizeof(long));
    CHECK(at != NULL && at[8] == 8 && at[9] == 99);
    long *aligned = shmemalign(1024, 5);
    CHECK(aligned != NULL && (uintptr_t)aligned % 1024 == 0);
    shfree(aligned);
    shfree(at);
    shfree(NULL);
}

#define INTEGER_KERNEL(NAME, TYPE)                            \
    static void NAME##_integer(TYPE *x)                       \
    {                                                         \
        *x = 10;                                              \
        shmem_barrier_all();                                  \
        shmem_##NAME##_add(x, 5, next_pe);                    \
        shmem_fence();                                        \
        shmem_##NAME##_inc(x, next_pe);                       \
        shmem_fence();                                        \
        CHECK(shmem_##NAME##_fadd(x, 4, next_pe) == 16);      \
        CHECK(shmem_##NAME##_finc(x, next_pe) == 20);         \
        CHECK(shmem_##NAME##_cswap(x, 20, 1, next_pe) == 21); \
        CHECK(shmem_##NAME##_cswap(x, 21, 1, next_pe) == 21); \
        shmem_barrier_all();                                  \
        CHECK(*x == 1);                                       \
        shmem_barrier_all();                                  \
    }
#define EXCHANGE_KERNEL(NAME, TYPE)                                  \
    static void NAME##_exchange(TYPE *x)                             \
    {                                                                \
        shmem_##NAME##_set(x, 3, next_pe);                           \
        shmem_quiet();                                               \
        CHECK(shmem_##NAME##_fetch(x, next_pe) == 3);                \
        CHECK(shmem_##NAME##_swap(x, (TYPE)(me + 1), next_pe) == 3); \
        shmem_barrier_all();                                         \
        CHECK(*x == (TYPE)(prev_pe + 1));                            \
        shmem_barrier_all();                                         \
    }
#define INTEGER_TYPES(X) X(int, int) X(long, long) X(longlong, long long)
#define EXCHANGE_TYPES(X) X(float, float) X(double, double) INTEGER_TYPES(X)
INTEGER_TYPES(INTEGER_KERNEL)
EXCHANGE_TYPES(EXCHANGE_KERNEL)

int main(void)
{
    check_start();
    numbers();
    memory();
    static _Alignas(16) char global[16];
    void *heap = check_alloc(16);
#define RUN_INTEGER(NAME, TYPE)     \
    NAME##_integer((TYPE *)global); \
    NAME##_integer(heap);
#define RUN_EXCHANGE(NAME, TYPE)     \
    NAME##_exchange((TYPE *)global); \
    NAME##_exchange(heap);
    INTEGER_TYPES(RUN_INTEGER)
    EXCHANGE_TYPES(RUN_EXCHANGE)
    shmem_free(heap);
    return check_pass();
}
