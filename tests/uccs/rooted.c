/* Gather, scatter, reduce and scan against results that each member computes alone: every root, several lengths, in place and
 * not, blocking and not, over the world and parts of it. Sums of doubles of unlike size show the order of a fold in their
 * bits.
 * pes: 1 2 3 4 7
 * timeout: 120
 */
#include "check.h"

#include <stdbool.h>

enum { MOST = 30000 }; /* doubles of a member: several pieces */

static const size_t lengths[] = {0, 1, 8, 97, 4096, 65503, 65505, 140000};
static const size_t counts[] = {0, 1, 6, 2048, 2049, 8191, MOST};
static unsigned char *blocks, *mine;
static double *in, *out, *want;

static unsigned char byte_of(int from, int to, size_t i)
{
    return (unsigned char)(from * 31 + to * 7 + 5 + (int)(i % 251));
}

static void fill(unsigned char *at, size_t length, int from, int to)
{
    for (size_t i = 0; i < length; i++)
        at[i] = byte_of(from, to, i);
}

static void verify(const unsigned char *at, size_t length, int from, int to)
{
    for (size_t i = 0; i < length; i++)
        if (at[i] != byte_of(from, to, i))
            CHECK_EQ(at[i], byte_of(from, to, i));
    CHECK(true);
}

static void finish(bool nb, uccs_request_t *desc)
{
    if (nb)
        OK(uccs_wait(desc));
}

static void test_gather(uccs_group_t group, size_t length, int root, bool nb)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    int rank = uccs_group_rank(group), size = uccs_group_size(group);
    void *dest = rank == root ? blocks : 0;
    fill(mine, length, rank, root);
    memset(blocks, 0, length * (size_t)size);
    if (nb)
        OK(uccs_gather_nb(group, mine, dest, length, root, &desc));
    else
        OK(uccs_gather(group, mine, dest, length, root));
    finish(nb, &desc);
    for (int from = 0; rank == root && from < size; from++)
        verify(blocks + (size_t)from * length, length, from, root);
    OK(uccs_request_release(&desc));
}

static void test_scatter(uccs_group_t group, size_t length, int root, bool nb)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    int rank = uccs_group_rank(group), size = uccs_group_size(group);
    for (int to = 0; rank == root && to < size; to++)
        fill(blocks + (size_t)to * length, length, root, to);
    memset(mine, 0, length);
    const void *source = rank == root ? blocks : 0;
    if (nb)
        OK(uccs_scatter_nb(group, source, mine, length, root, &desc));
    else
        OK(uccs_scatter(group, source, mine, length, root));
    finish(nb, &desc);
    verify(mine, length, root, rank);
    OK(uccs_request_release(&desc));
}

static double value_of(int rank, size_t i)
{
    static const double sizes[] = {1e16, 1, -1e16, .1, 1e-3, 3};
    return sizes[((size_t)rank + i) % 6] * (1 + (double)(i % 13));
}

/* The left fold of members 0 .. last. */
static void model(size_t n, int last)
{
    for (size_t i = 0; i < n; i++) {
        want[i] = value_of(0, i);
        for (int rank = 1; rank <= last; rank++)
            want[i] += value_of(rank, i);
    }
}

static void verify_fold(const double *have, size_t n)
{
    CHECK(n == 0 || memcmp(have, want, n * sizeof *want) == 0);
}

static double *fill_in(size_t n, int rank, bool in_place)
{
    for (size_t i = 0; i < n; i++)
        in[i] = value_of(rank, i);
    memset(out, 0, n * sizeof *out);
    return in_place ? in : out;
}

static void test_reduce(uccs_group_t group, size_t n, int root, bool in_place, bool nb)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    int rank = uccs_group_rank(group), size = uccs_group_size(group);
    double *to = fill_in(n, rank, in_place);
    void *dest = rank == root ? to : 0;
    if (nb)
        OK(uccs_reduce_nb(group, in, dest, n, UCCS_DOUBLE, UCCS_SUM, root, &desc));
    else
        OK(uccs_reduce(group, in, dest, n, UCCS_DOUBLE, UCCS_SUM, root));
    finish(nb, &desc);
    model(n, size - 1);
    if (rank == root)
        verify_fold(to, n);
    for (size_t i = 0; i < n && rank != root; i++) /* a source is never written */
        if (in[i] != value_of(rank, i))
            CHECK(in[i] == value_of(rank, i));
    OK(uccs_request_release(&desc));
}

static void test_scan(uccs_group_t group, size_t n, bool in_place, bool nb)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    int rank = uccs_group_rank(group);
    double *to = fill_in(n, rank, in_place);
    if (nb)
        OK(uccs_scan_nb(group, in, to, n, UCCS_DOUBLE, UCCS_SUM, &desc));
    else
        OK(uccs_scan(group, in, to, n, UCCS_DOUBLE, UCCS_SUM));
    finish(nb, &desc);
    model(n, rank);
    verify_fold(to, n);
    OK(uccs_request_release(&desc));
}

static void test_all(uccs_group_t group)
{
    for (int form = 0; form < 4; form++) {
        const bool nb = form % 2, in_place = form / 2;
        for (int root = 0; root < uccs_group_size(group); root++) {
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths && !in_place; l++) {
                test_gather(group, lengths[l], root, nb);
                test_scatter(group, lengths[l], root, nb);
            }
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                test_reduce(group, counts[c], root, in_place, nb);
        }
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            test_scan(group, counts[c], in_place, nb);
    }
}

/* All four at once, many times, waited for in another order. */
static void test_overlap(uccs_group_t group)
{
    enum { MANY = 12 };
    static int64_t gathered[MANY][64], given[MANY][64], got[MANY], sums[MANY], scans[MANY], own[MANY];
    uccs_request_t desc[MANY][4] = {0};
    int size = uccs_group_size(group), rank = uccs_group_rank(group);
    for (int i = 0; i < MANY; i++) {
        const int root = i % size;
        own[i] = rank + i;
        for (int to = 0; to < size; to++)
            given[i][to] = 100 * i + to;
        OK(uccs_gather_nb(group, &own[i], gathered[i], 8, root, &desc[i][0]));
        OK(uccs_scan_nb(group, &own[i], &scans[i], 1, UCCS_INT64, UCCS_SUM, &desc[i][1]));
        OK(uccs_scatter_nb(group, given[i], &got[i], 8, root, &desc[i][2]));
        OK(uccs_reduce_nb(group, &own[i], &sums[i], 1, UCCS_INT64, UCCS_MAX, root, &desc[i][3]));
    }
    OK(uccs_barrier(group));
    for (int i = MANY; i-- > 0;) {
        for (int k = 0; k < 4; k++) {
            OK(uccs_wait(&desc[i][k]));
            OK(uccs_request_release(&desc[i][k]));
        }
        CHECK_EQ(got[i], 100 * i + rank);
        CHECK_EQ(scans[i], (int64_t)rank * (rank + 1) / 2 + (int64_t)(rank + 1) * i);
        if (rank == i % size)
            CHECK_EQ(sums[i], size - 1 + i);
        for (int from = 0; rank == i % size && from < size; from++)
            CHECK_EQ(gathered[i][from], from + i);
    }
}

static void test_errors(void)
{
    double one = 1, two;
    const uccs_group_t world = UCCS_GROUP_WORLD;
    CHECK_EQ(uccs_gather(UCCS_GROUP_NULL, &one, &two, 8, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_gather(world, &one, &two, 8, npes), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_gather(world, 0, &two, 8, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_gather(world, &one, 0, 8, me), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_scatter(world, &one, &two, 8, -1), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_scatter(world, &one, 0, 8, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_scatter(world, 0, &two, 8, me), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_reduce(world, &one, &two, 1, UCCS_DOUBLE, UCCS_SUM, npes), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_reduce(world, &one, 0, 1, UCCS_DOUBLE, UCCS_SUM, me), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_reduce(world, &one, &two, 1, UCCS_DOUBLE, UCCS_XOR, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_reduce(world, &one, &two, SIZE_MAX, UCCS_DOUBLE, UCCS_SUM, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_scan(world, &one, 0, 1, UCCS_DOUBLE, UCCS_SUM), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_scan(world, &one, &two, 1, UCCS_DOUBLE, UCCS_AND), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_scan_nb(world, &one, &two, 1, UCCS_DOUBLE, UCCS_SUM, 0), UCCS_ERR_INVALID);
}

int main(void)
{
    check_start();
    blocks = malloc(140000 * (size_t)npes);
    mine = malloc(140000);
    in = malloc(MOST * sizeof *in);
    out = malloc(MOST * sizeof *out);
    want = malloc(MOST * sizeof *want);
    test_errors();
    test_all(UCCS_GROUP_WORLD);
    test_overlap(UCCS_GROUP_WORLD);

    int ranks[64], n = 0;
    uccs_group_t back, odd;
    for (int rank = npes; rank-- > 0;)
        ranks[n++] = rank;
    OK(uccs_group_create(UCCS_GROUP_WORLD, (size_t)n, ranks, &back));
    test_all(back);
    n = 0;
    for (int rank = me % 2; rank < npes; rank += 2)
        ranks[n++] = rank;
    OK(uccs_group_create(UCCS_GROUP_WORLD, (size_t)n, ranks, &odd));
    test_all(odd);
    test_overlap(odd);
    OK(uccs_group_release(odd));
    OK(uccs_group_release(back));
    free(blocks);
    free(mine);
    free(in);
    free(out);
    free(want);
    return check_pass();
}
