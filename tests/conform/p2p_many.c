/* Point-to-point synchronisation on many variables: wait_until and test of all, any, some, and their vector forms, for
 * every standard AMO type: masks, empty sets, return values, indices; with values a neighbour sends.
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

enum { MANY = 7 };
static const int no_one[MANY] = {1, 1, -1, 2, 1, 7, 1};   /* any nonzero value excludes */
static const int odd_ones[MANY] = {1, 0, 3, 0, -5, 0, 1}; /* leaves 1, 3 and 5 */

/* The indices are within the mask, each once. */
static void check_indices(const size_t *indices, size_t count, const int *status)
{
    int seen[MANY] = {0};
    for (size_t i = 0; i < count; i++) {
        CHECK(indices[i] < MANY);
        CHECK(status == NULL || status[indices[i]] == 0);
        CHECK_EQ(seen[indices[i]]++, 0);
    }
}

#define EMPTY(NAME, TYPE)                                                                       \
    static void NAME##_empty(TYPE *x, const TYPE *values)                                       \
    {                                                                                           \
        size_t got[MANY];                                                                       \
        for (int none = 0; none < 2; none++) {                                                  \
            size_t n = none ? 0 : MANY;                                                         \
            const int *status = none ? NULL : no_one;                                           \
            const int cmp = SHMEM_CMP_EQ;                                                       \
            shmem_##NAME##_wait_until_all(x, n, status, cmp, 77);                               \
            shmem_##NAME##_wait_until_all_vector(x, n, status, cmp, values);                    \
            CHECK(shmem_##NAME##_wait_until_any(x, n, status, cmp, 77) == SIZE_MAX);            \
            CHECK(shmem_##NAME##_wait_until_any_vector(x, n, status, cmp, values) == SIZE_MAX); \
            CHECK(shmem_##NAME##_wait_until_some(x, n, got, status, cmp, 77) == 0);             \
            CHECK(shmem_##NAME##_wait_until_some_vector(x, n, got, status, cmp, values) == 0);  \
            CHECK(shmem_##NAME##_test_all(x, n, status, cmp, 77) == 1);                         \
            CHECK(shmem_##NAME##_test_all_vector(x, n, status, cmp, values) == 1);              \
            CHECK(shmem_##NAME##_test_any(x, n, status, cmp, 77) == SIZE_MAX);                  \
            CHECK(shmem_##NAME##_test_any_vector(x, n, status, cmp, values) == SIZE_MAX);       \
            CHECK(shmem_##NAME##_test_some(x, n, got, status, cmp, 77) == 0);                   \
            CHECK(shmem_##NAME##_test_some_vector(x, n, got, status, cmp, values) == 0);        \
        }                                                                                       \
        shmem_##NAME##_wait_until_all(NULL, 0, NULL, SHMEM_CMP_EQ, 1);                          \
        CHECK(shmem_##NAME##_test_any(NULL, 0, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX);             \
    }
STANDARD_AMO_TYPES(EMPTY)

/* One value for all: nothing holds, then something, then everything within the mask. */
#define SCALAR(NAME, TYPE)                                                                                  \
    static void NAME##_scalar(TYPE *x)                                                                      \
    {                                                                                                       \
        size_t got[MANY];                                                                                   \
        for (int i = 0; i < MANY; i++)                                                                      \
            x[i] = 0;                                                                                       \
        CHECK(shmem_##NAME##_test_all(x, MANY, NULL, SHMEM_CMP_EQ, 0) == 1);                                \
        CHECK(shmem_##NAME##_test_any(x, MANY, NULL, SHMEM_CMP_GT, 0) == SIZE_MAX);                         \
        CHECK(shmem_##NAME##_test_some(x, MANY, got, NULL, SHMEM_CMP_NE, 0) == 0);                          \
        x[3] = 2;                                                                                           \
        CHECK(shmem_##NAME##_test_all(x, MANY, odd_ones, SHMEM_CMP_GT, 0) == 0);                            \
        CHECK(shmem_##NAME##_test_any(x, MANY, NULL, SHMEM_CMP_GT, 0) == 3);                                \
        CHECK(shmem_##NAME##_wait_until_any(x, MANY, odd_ones, SHMEM_CMP_GT, 0) == 3);                      \
        CHECK(shmem_##NAME##_wait_until_some(x, MANY, got, odd_ones, SHMEM_CMP_GT, 0) == 1 && got[0] == 3); \
        x[0] = x[1] = x[5] = 2;                                                                             \
        CHECK(shmem_##NAME##_test_all(x, MANY, NULL, SHMEM_CMP_EQ, 2) == 0);                                \
        CHECK(shmem_##NAME##_test_all(x, MANY, odd_ones, SHMEM_CMP_EQ, 2) == 1);                            \
        shmem_##NAME##_wait_until_all(x, MANY, odd_ones, SHMEM_CMP_EQ, 2);                                  \
        CHECK(shmem_##NAME##_test_some(x, MANY, got, odd_ones, SHMEM_CMP_EQ, 2) == 3);                      \
        check_indices(got, 3, odd_ones);                                                                    \
        CHECK(shmem_##NAME##_wait_until_some(x, MANY, got, NULL, SHMEM_CMP_GE, 2) == 4);                    \
        check_indices(got, 4, NULL);                                                                        \
    }
STANDARD_AMO_TYPES(SCALAR)

/* A value for each, from private memory. */
#define VECTOR(NAME, TYPE)                                                                               \
    static void NAME##_vector(TYPE *x)                                                                   \
    {                                                                                                    \
        const TYPE values[MANY] = {10, 11, 12, 13, 14, 15, 16};                                          \
        size_t got[MANY];                                                                                \
        for (int i = 0; i < MANY; i++)                                                                   \
            x[i] = (TYPE)(i == 2 ? 12 : i == 5 ? 15 : 13 + (i == 3));                                    \
        CHECK(shmem_##NAME##_test_all_vector(x, MANY, NULL, SHMEM_CMP_EQ, values) == 0);                 \
        CHECK(shmem_##NAME##_test_any_vector(x, MANY, odd_ones, SHMEM_CMP_EQ, values) == 5);             \
        CHECK(shmem_##NAME##_wait_until_any_vector(x, MANY, odd_ones, SHMEM_CMP_EQ, values) == 5);       \
        CHECK(shmem_##NAME##_test_some_vector(x, MANY, got, NULL, SHMEM_CMP_EQ, values) == 2);           \
        CHECK(got[0] + got[1] == 7);                                                                     \
        check_indices(got, 2, NULL);                                                                     \
        CHECK(shmem_##NAME##_wait_until_some_vector(x, MANY, got, odd_ones, SHMEM_CMP_EQ, values) == 1); \
        CHECK(got[0] == 5);                                                                              \
        for (int i = 0; i < MANY; i++)                                                                   \
            x[i] = (TYPE)(values[i] + i);                                                                \
        CHECK(shmem_##NAME##_test_all_vector(x, MANY, NULL, SHMEM_CMP_GE, values) == 1);                 \
        CHECK(shmem_##NAME##_test_any_vector(x, MANY, NULL, SHMEM_CMP_LT, values) == SIZE_MAX);          \
        CHECK(shmem_##NAME##_test_some_vector(x, MANY, got, NULL, SHMEM_CMP_GT, values) == MANY - 1);    \
        check_indices(got, MANY - 1, NULL);                                                              \
        shmem_##NAME##_wait_until_all_vector(x, MANY, NULL, SHMEM_CMP_GE, values);                       \
        NAME##_empty(x, values);                                                                         \
    }
STANDARD_AMO_TYPES(VECTOR)

/* A neighbour raises the variables one by one; any and some take each exactly once, the mask remembers which. */
#define ARRIVE(NAME, TYPE)                                                                    \
    static void NAME##_arrive(TYPE *x)                                                        \
    {                                                                                         \
        int status[MANY] = {0};                                                               \
        size_t got[MANY], taken = 0;                                                          \
        for (int i = 0; i < MANY; i++)                                                        \
            x[i] = 0;                                                                         \
        shmem_barrier_all();                                                                  \
        for (int i = 0; i < MANY; i++)                                                        \
            shmem_##NAME##_atomic_set(&x[(i * 3) % MANY], (TYPE)(me + 1), next_pe);           \
        while (taken < 3) {                                                                   \
            size_t i = shmem_##NAME##_wait_until_any(x, MANY, status, SHMEM_CMP_NE, 0);       \
            CHECK(i < MANY && status[i] == 0 && x[i] == (TYPE)(prev_pe + 1));                 \
            status[i] = 1;                                                                    \
            taken++;                                                                          \
        }                                                                                     \
        while (taken < MANY) {                                                                \
            size_t n = shmem_##NAME##_wait_until_some(x, MANY, got, status, SHMEM_CMP_NE, 0); \
            CHECK(n >= 1 && n <= MANY - taken);                                               \
            check_indices(got, n, status);                                                    \
            for (size_t i = 0; i < n; i++)                                                    \
                status[got[i]] = 1;                                                           \
            taken += n;                                                                       \
        }                                                                                     \
        shmem_##NAME##_wait_until_all(x, MANY, NULL, SHMEM_CMP_EQ, (TYPE)(prev_pe + 1));      \
        shmem_barrier_all();                                                                  \
    }
STANDARD_AMO_TYPES(ARRIVE)

/* Every satisfied entry is returned sooner or later, also when an earlier one always is. */
static void no_starvation(void)
{
    static long x[MANY];
    const long values[MANY] = {1, 9, 9, 1, 9, 9, 1};
    int seen[4][MANY] = {{0}};
    x[0] = x[3] = x[6] = 1;
    for (int call = 0; call < 2000; call++) {
        size_t got[4] = {shmem_long_wait_until_any(x, MANY, NULL, SHMEM_CMP_EQ, 1),
                         shmem_long_test_any(x, MANY, NULL, SHMEM_CMP_EQ, 1),
                         shmem_long_wait_until_any_vector(x, MANY, NULL, SHMEM_CMP_EQ, values),
                         shmem_long_test_any_vector(x, MANY, NULL, SHMEM_CMP_EQ, values)};
        for (int form = 0; form < 4; form++) {
            CHECK(got[form] == 0 || got[form] == 3 || got[form] == 6);
            seen[form][got[form]]++;
        }
    }
    for (int form = 0; form < 4; form++)
        CHECK(seen[form][0] > 0 && seen[form][3] > 0 && seen[form][6] > 0);
}

/* The same when calls on two sets take turns: neither may lead the other back to one entry for ever. */
static void no_starvation_in_turns(void)
{
    static int a[MANY], b[MANY];
    int seen[2][MANY] = {{0}};
    a[0] = a[3] = a[6] = 1;
    b[2] = 1;
    for (int call = 0; call < 2000; call++) {
        seen[0][shmem_int_test_any(a, MANY, NULL, SHMEM_CMP_EQ, 1)]++;
        CHECK(shmem_int_wait_until_any(b, MANY, NULL, SHMEM_CMP_EQ, 1) == 2);
        seen[1][shmem_int_wait_until_any(a, MANY, NULL, SHMEM_CMP_EQ, 1)]++;
        CHECK(shmem_int_test_any(b, MANY, NULL, SHMEM_CMP_EQ, 1) == 2);
    }
    for (int form = 0; form < 2; form++)
        CHECK(seen[form][0] > 0 && seen[form][3] > 0 && seen[form][6] > 0);
}

int main(void)
{
    check_start();
    void *heap = check_alloc(MANY * 8);
#define RUN(NAME, TYPE)  \
    NAME##_scalar(heap); \
    NAME##_vector(heap); \
    NAME##_arrive(heap);
    STANDARD_AMO_TYPES(RUN)
    shmem_free(heap);
    no_starvation();
    no_starvation_in_turns();
    return check_pass();
}
