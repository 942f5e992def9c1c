/* Collectives: reductions over teams: and, or, xor on 14 types, min and max on 24, sum and prod on these and the complex
 * ones. In place and apart, several lengths; comparisons and wrap-around as the type has them.
 * prints: ^PASS$
 */
#include "teams.h"
#include "types.h"

enum { ROOM = 11 };

#define KERNEL(NAME, TYPE, OP)                                                         \
    static void NAME##_##OP(shmem_team_t team, TYPE *dest, TYPE *source, size_t count) \
    {                                                                                  \
        int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);                 \
        if (dest != source)                                                            \
            for (int i = 0; i < ROOM; i++)                                             \
                dest[i] = (TYPE)77;                                                    \
        ready(team);                                                                   \
        for (int i = 0; i < ROOM; i++)                                                 \
            source[i] = i < (int)count ? ARG_##OP(TYPE, mine, i) : (TYPE)77;           \
        CHECK_EQ(shmem_##NAME##_##OP##_reduce(team, dest, source, count), 0);          \
        for (int i = 0; dest != source && i < ROOM; i++)                               \
            source[i] = (TYPE)55;                                                      \
        for (int i = 0; i < ROOM; i++) {                                               \
            TYPE want = i < (int)count ? ARG_##OP(TYPE, 0, i) : (TYPE)77;              \
            for (int p = 1; i < (int)count && p < n; p++)                              \
                want = (TYPE)STEP_##OP(want, ARG_##OP(TYPE, p, i));                    \
            CHECK(dest[i] == want);                                                    \
        }                                                                              \
        ready(team);                                                                   \
    }                                                                                  \
    static void NAME##_##OP##_test(TYPE *heap)                                         \
    {                                                                                  \
        static TYPE dest[ROOM], source[ROOM];                                          \
        ON_EACH_TEAM(team)                                                             \
        {                                                                              \
            NAME##_##OP(team, dest, source, ROOM - 2);                                 \
            NAME##_##OP(team, heap, heap, ROOM);                                       \
        }                                                                              \
        shmem_barrier_all();                                                           \
    }
REDUCE_BIT_TYPES(BIT_KERNELS)
REDUCE_ORDER_TYPES(ORDER_KERNELS)
REDUCE_SUM_TYPES(SUM_KERNELS)

/* Lengths from none to many, apart and in place. */
static void lengths(long *dest, long *source)
{
    static const size_t length[] = {0, 1, 2, 100, 1000, 8192, 50001};
    for (size_t s = 0; s < COUNT_OF(length); s++)
        ON_EACH_TEAM(team)
        {
            long n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team), wrong = 0;
            for (int in_place = 0; in_place < 2; in_place++) {
                long *to = in_place ? source : dest;
                dest[length[s]] = source[length[s]] = -1;
                ready(team);
                for (size_t i = 0; i < length[s]; i++)
                    source[i] = (long)i * (mine + 1);
                CHECK_EQ(shmem_long_sum_reduce(team, to, source, length[s]), 0);
                for (size_t i = 0; i < length[s]; i++)
                    wrong += to[i] != (long)i * (n * (n + 1) / 2);
                CHECK_EQ(wrong, 0);
                CHECK_EQ(to[length[s]], -1);
                ready(team);
            }
        }
    CHECK_EQ(shmem_long_max_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0), 0);
    shmem_barrier_all();
}

/* Unsigned sums wrap in their own width; complex numbers multiply as such; long doubles keep their precision. */
static void particular(void)
{
    static uint8_t byte[2];
    static uint16_t half[2];
    static double _Complex z[2];
    static long double fine[2];
    byte[0] = 200;
    half[0] = 40000;
    z[0] = I;
    fine[0] = 1 + 0x1p-60L;
    shmem_barrier_all();
    CHECK_EQ(shmem_uint8_sum_reduce(SHMEM_TEAM_WORLD, &byte[1], &byte[0], 1), 0);
    CHECK_EQ(byte[1], (uint8_t)(200 * npes));
    CHECK_EQ(shmem_uint16_prod_reduce(SHMEM_TEAM_WORLD, &half[1], &half[0], 1), 0);
    unsigned product = 1;
    for (int pe = 0; pe < npes; pe++)
        product = product * 40000 & 0xffff;
    CHECK_EQ(half[1], product);
    CHECK_EQ(shmem_complexd_prod_reduce(SHMEM_TEAM_WORLD, &z[1], &z[0], 1), 0);
    const double _Complex powers[] = {1, I, -1, -I};
    CHECK(z[1] == powers[npes % 4]);
    CHECK_EQ(shmem_longdouble_max_reduce(SHMEM_TEAM_WORLD, &fine[1], &fine[0], 1), 0);
    CHECK(fine[1] == 1 + 0x1p-60L);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    teams_create();
    void *heap = check_alloc(ROOM * sizeof(double _Complex));
#define RUN_BIT(NAME, TYPE) \
    NAME##_and_test(heap);  \
    NAME##_or_test(heap);   \
    NAME##_xor_test(heap);
#define RUN_ORDER(NAME, TYPE) \
    NAME##_min_test(heap);    \
    NAME##_max_test(heap);
#define RUN_SUM(NAME, TYPE) \
    NAME##_sum_test(heap);  \
    NAME##_prod_test(heap);
    REDUCE_BIT_TYPES(RUN_BIT)
    REDUCE_ORDER_TYPES(RUN_ORDER)
    REDUCE_SUM_TYPES(RUN_SUM)
    long *dest = check_alloc(50002 * sizeof(long)), *source = check_alloc(50002 * sizeof(long));
    lengths(dest, source);
    shmem_free(source);
    shmem_free(dest);
    shmem_free(heap);
    particular();
    teams_destroy();
    return check_pass();
}
