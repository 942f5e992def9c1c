/* Split-phase reductions of many lengths against a serial loop, also in place, and the large ones of each operation.
 *
 * timeout: 120
 */
#include "../conform/check.h"

#include <complex.h>
#include <shmemx.h>

enum { MOST = 20000 };

static const size_t lengths[] = {1, 2, 3, 7, 64, 511, 512, 513, 1000, 4096, MOST};
static int *from_int, *to_int;
static double *from_double, *to_double;
static double _Complex *from_complex, *to_complex;

static int int_of(int pe, size_t i)
{
    return (int)((i * 2654435761u + (unsigned)pe * 40503u) % 100003) - 50000;
}

typedef int start_int(shmem_team_t, int *, const int *, size_t, shmemx_request_t *);

static int combine(int which, int a, int b)
{
    switch (which) {
    case 0: return a & b;
    case 1: return a | b;
    case 2: return a ^ b;
    case 3: return a < b ? a : b;
    case 4: return a > b ? a : b;
    case 5: return a + b;
    default: return (int)((unsigned)a * (unsigned)b);
    }
}

static void check_int(int which, const int *result, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int want = int_of(0, i);
        for (int pe = 1; pe < npes; pe++)
            want = combine(which, want, int_of(pe, i));
        if (result[i] != want)
            CHECK_EQ(result[i], want);
    }
    CHECK_EQ(result[n], 77);
}

/* uint32 for products: a signed overflow would be the test's own mistake. */
static void ints(size_t n, int in_place)
{
    start_int *const starts[] =
        {0, 0, 0, shmemx_int_min_reduce_nbe, shmemx_int_max_reduce_nbe, shmemx_int_sum_reduce_nbe};
    for (int which = 0; which < 7; which++) {
        shmemx_request_t one = SHMEMX_REQUEST_NULL;
        int *result = in_place ? from_int : to_int;
        for (size_t i = 0; i < n; i++)
            from_int[i] = int_of(me, i);
        result[n] = 77;
        uint32_t *to = (uint32_t *)result, *from = (uint32_t *)from_int;
        int status;
        switch (which) {
        case 0: status = shmemx_uint32_and_reduce_nbe(SHMEM_TEAM_WORLD, to, from, n, &one); break;
        case 1: status = shmemx_uint32_or_reduce_nbe(SHMEM_TEAM_WORLD, to, from, n, &one); break;
        case 2: status = shmemx_uint32_xor_reduce_nbe(SHMEM_TEAM_WORLD, to, from, n, &one); break;
        case 6: status = shmemx_uint32_prod_reduce_nbe(SHMEM_TEAM_WORLD, to, from, n, &one); break;
        default: status = starts[which](SHMEM_TEAM_WORLD, result, from_int, n, &one);
        }
        CHECK_EQ(status, 0);
        shmemx_request_wait(&one);
        check_int(which, result, n);
        shmemx_request_free(&one);
        shmem_sync_all();
    }
}

/* Small whole numbers: exact in any order. */
static void reals(size_t n, int in_place)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    double *sum = in_place ? from_double : to_double;
    double _Complex *total = in_place ? from_complex : to_complex;
    for (size_t i = 0; i < n; i++) {
        from_double[i] = int_of(me, i);
        from_complex[i] = int_of(me, i) + I * me;
    }
    CHECK_EQ(shmemx_double_sum_reduce_nbe(SHMEM_TEAM_WORLD, sum, from_double, n, &one), 0);
    CHECK_EQ(shmemx_complexd_sum_reduce_nbe(SHMEM_TEAM_WORLD, total, from_complex, n, &one), 0);
    shmemx_request_wait(&one);
    for (size_t i = 0; i < n; i++) {
        double want = 0;
        for (int pe = 0; pe < npes; pe++)
            want += int_of(pe, i);
        if (sum[i] != want || creal(total[i]) != want || cimag(total[i]) != npes * (npes - 1) / 2)
            CHECK(sum[i] == want && creal(total[i]) == want && cimag(total[i]) == npes * (npes - 1) / 2);
    }
    shmemx_request_free(&one);
    shmem_sync_all();
}

int main(void)
{
    check_start();
    from_int = check_alloc((MOST + 1) * sizeof *from_int);
    to_int = check_alloc((MOST + 1) * sizeof *to_int);
    from_double = check_alloc(MOST * sizeof *from_double);
    to_double = check_alloc(MOST * sizeof *to_double);
    from_complex = check_alloc(MOST * sizeof *from_complex);
    to_complex = check_alloc(MOST * sizeof *to_complex);
    for (size_t i = 0; i < COUNT_OF(lengths); i++)
        for (int in_place = 0; in_place < 2; in_place++) {
            ints(lengths[i], in_place);
            reals(lengths[i], in_place);
        }
    return check_pass();
}
