/* Point-to-point synchronisation on one variable: wait_until and test with every comparison, and the deprecated wait,
 * for every type. Comparisons are in the variable's type, so the top bit is large where it is unsigned.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

static int truth(int less, int equal, int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return equal;
    case SHMEM_CMP_NE: return !equal;
    case SHMEM_CMP_LT: return less;
    case SHMEM_CMP_LE: return less || equal;
    case SHMEM_CMP_GT: return !less && !equal;
    default: return !less;
    }
}

static const int every_cmp[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_LT, SHMEM_CMP_LE, SHMEM_CMP_GT, SHMEM_CMP_GE};

/* Test every pair of edge values by every comparison; wait for those that hold: it returns at once. Then wait for what
 * a neighbour does. The arrival of a put of a short element is whole too, so the short types use p. */
#define KERNEL(NAME, TYPE)                                                                         \
    static TYPE NAME##_var;                                                                        \
    static void NAME##_compare(void)                                                               \
    {                                                                                              \
        const TYPE values[] = {0,                                                                  \
                               1,                                                                  \
                               2,                                                                  \
                               (TYPE)-1,                                                           \
                               (TYPE)((uint64_t)1 << (sizeof(TYPE) * 8 - 1)),                      \
                               (TYPE)(((uint64_t)1 << (sizeof(TYPE) * 8 - 1)) - 1)};               \
        for (size_t i = 0; i < COUNT_OF(values); i++)                                              \
            for (size_t k = 0; k < COUNT_OF(values); k++)                                          \
                for (size_t c = 0; c < COUNT_OF(every_cmp); c++) {                                 \
                    int want = truth(values[i] < values[k], values[i] == values[k], every_cmp[c]); \
                    NAME##_var = values[i];                                                        \
                    CHECK_EQ(shmem_##NAME##_test(&NAME##_var, every_cmp[c], values[k]), want);     \
                    if (want)                                                                      \
                        shmem_##NAME##_wait_until(&NAME##_var, every_cmp[c], values[k]);           \
                }                                                                                  \
        NAME##_var = 0;                                                                            \
    }                                                                                              \
    static void NAME##_arrive(void)                                                                \
    {                                                                                              \
        static TYPE from_each[64];                                                                 \
        shmem_barrier_all();                                                                       \
        for (int pe = 0; pe < npes; pe++)                                                          \
            shmem_##NAME##_p(&from_each[me], (TYPE)(me + 1), pe);                                  \
        for (int pe = 0; pe < npes; pe++) {                                                        \
            shmem_##NAME##_wait_until(&from_each[pe], SHMEM_CMP_NE, 0);                            \
            CHECK(from_each[pe] == (TYPE)(pe + 1));                                                \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
        for (int pe = 0; pe < npes; pe++)                                                          \
            shmem_##NAME##_p(&from_each[me], (TYPE)-1, pe);                                        \
        for (int pe = 0; pe < npes; pe++)                                                          \
            while (shmem_##NAME##_test(&from_each[pe], SHMEM_CMP_EQ, (TYPE)-1) == 0)               \
                continue;                                                                          \
        shmem_barrier_all();                                                                       \
    }
WAIT_TYPES(KERNEL)

/* wait returns when the value differs from the one given; shmem_wait and the function shmem_wait_until take longs. */
static void deprecated_waits(void)
{
    static short s = 1;
    static int i = 1;
    static long l = 1, k, m;
    static long long ll = 1;
    shmem_short_wait(&s, 0);
    shmem_int_wait(&i, 0);
    shmem_long_wait(&l, 0);
    shmem_longlong_wait(&ll, 0);
    shmem_long_p(&k, 4, next_pe);
    shmem_wait(&k, 0);
    CHECK_EQ(k, 4);
    shmem_long_p(&m, 9, next_pe);
    (shmem_wait_until)(&m, SHMEM_CMP_EQ, 9);
    CHECK_EQ(m, 9);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
#define RUN(NAME, TYPE) \
    NAME##_compare();   \
    NAME##_arrive();
    WAIT_TYPES(RUN)
    deprecated_waits();
    return check_pass();
}
