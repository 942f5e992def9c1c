/* Group communication against results that each member computes alone: all operations, types and lengths, blocking and
 * not, over the world, parts of it, and groups of groups.
 * pes: 1 2 3 4 7
 * timeout: 120
 */
#include "check.h"

#include <stdbool.h>

enum { MOST = 200000 }; /* bytes per member: several pieces */

static const size_t lengths[] = {0, 1, 8, 90, 97, 4096, 65504, 65505, MOST};
static unsigned char *source, *dest;

static unsigned char byte_of(int from, int to, size_t i, int salt)
{
    return (unsigned char)(from * 31 + to * 7 + salt + (int)(i % 251));
}

static void fill(unsigned char *at, size_t length, int from, int to, int salt)
{
    for (size_t i = 0; i < length; i++)
        at[i] = byte_of(from, to, i, salt);
}

static void verify(const unsigned char *at, size_t length, int from, int to, int salt)
{
    for (size_t i = 0; i < length; i++)
        if (at[i] != byte_of(from, to, i, salt))
            CHECK_EQ(at[i], byte_of(from, to, i, salt));
    CHECK(true);
}

static void finish(bool nb, uccs_request_t *desc)
{
    if (nb)
        OK(uccs_wait(desc));
}

static void test_broadcast(uccs_group_t group, size_t length, bool nb)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    int rank = uccs_group_rank(group), size = uccs_group_size(group);
    for (int root = 0; root<size; root += size> 3 ? 2 : 1) {
        memset(dest, 0, length);
        if (rank == root)
            fill(dest, length, root, 0, 3);
        if (nb)
            OK(uccs_broadcast_nb(group, dest, length, root, &desc));
        else
            OK(uccs_broadcast(group, dest, length, root));
        finish(nb, &desc);
        verify(dest, length, root, 0, 3);
    }
    OK(uccs_request_release(&desc));
}

static void test_gather(uccs_group_t group, size_t length, bool nb)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    int rank = uccs_group_rank(group), size = uccs_group_size(group);
    fill(source, length, rank, 0, 5);
    memset(dest, 0, length * (size_t)size);
    if (nb)
        OK(uccs_allgather_nb(group, source, dest, length, &desc));
    else
        OK(uccs_allgather(group, source, dest, length));
    finish(nb, &desc);
    for (int from = 0; from < size; from++)
        verify(dest + (size_t)from * length, length, from, 0, 5);
    OK(uccs_request_release(&desc));
}

static void test_alltoall(uccs_group_t group, size_t length, bool nb)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    int rank = uccs_group_rank(group), size = uccs_group_size(group);
    for (int to = 0; to < size; to++)
        fill(source + (size_t)to * length, length, rank, to, 9);
    memset(dest, 0, length * (size_t)size);
    if (nb)
        OK(uccs_alltoall_nb(group, source, dest, length, &desc));
    else
        OK(uccs_alltoall(group, source, dest, length));
    finish(nb, &desc);
    for (int from = 0; from < size; from++)
        verify(dest + (size_t)from * length, length, from, rank, 9);
    OK(uccs_request_release(&desc));
}

#define REDUCE_TEST(name, type, tag)                                                                                  \
    static type name##_of(int rank, size_t i)                                                                         \
    {                                                                                                                 \
        return (type)((rank * 3 + (int)(i % 5) + 1) % 7 + 1);                                                         \
    }                                                                                                                 \
    static type name##_fold(enum uccs_reduction how, type a, type b, bool bits)                                       \
    {                                                                                                                 \
        switch (how) {                                                                                                \
        case UCCS_AND: return (type)(bits ? (long)a & (long)b : 0);                                                   \
        case UCCS_OR: return (type)(bits ? (long)a | (long)b : 0);                                                    \
        case UCCS_XOR: return (type)(bits ? (long)a ^ (long)b : 0);                                                   \
        case UCCS_MIN: return a < b ? a : b;                                                                          \
        case UCCS_MAX: return a > b ? a : b;                                                                          \
        case UCCS_SUM: return a + b;                                                                                  \
        case UCCS_PROD: return a * b;                                                                                 \
        default: break; /* the others are tested with accumulates */                                                  \
        }                                                                                                             \
        return 0;                                                                                                     \
    }                                                                                                                 \
    static void test_reduce_##name(uccs_group_t group, size_t n, enum uccs_reduction how, bool nb)                    \
    {                                                                                                                 \
        bool bits = (tag) != UCCS_FLOAT && (tag) != UCCS_DOUBLE;                                                      \
        type *in = (type *)source, *out = n % 2 ? (type *)source : (type *)dest;                                      \
        int rank = uccs_group_rank(group), size = uccs_group_size(group);                                             \
        uccs_request_t desc = UCCS_REQUEST_NULL;                                                                      \
        for (size_t i = 0; i < n; i++)                                                                                \
            in[i] = name##_of(rank, i);                                                                               \
        int status =                                                                                                  \
            nb ? uccs_allreduce_nb(group, in, out, n, tag, how, &desc) : uccs_allreduce(group, in, out, n, tag, how); \
        CHECK_EQ(status, !bits && how < UCCS_MIN ? UCCS_ERR_INVALID : UCCS_OK);                                       \
        finish(nb, &desc);                                                                                            \
        for (size_t i = 0; i < n && status == UCCS_OK; i++) {                                                         \
            type want = name##_of(0, i);                                                                              \
            for (int other = 1; other < size; other++)                                                                \
                want = name##_fold(how, want, name##_of(other, i), bits);                                             \
            if (out[i] != want)                                                                                       \
                CHECK_EQ(out[i], want);                                                                               \
        }                                                                                                             \
        OK(uccs_request_release(&desc));                                                                              \
    }

REDUCE_TEST(int32, int32_t, UCCS_INT32)
REDUCE_TEST(uint32, uint32_t, UCCS_UINT32)
REDUCE_TEST(int64, int64_t, UCCS_INT64)
REDUCE_TEST(uint64, uint64_t, UCCS_UINT64)
REDUCE_TEST(float, float, UCCS_FLOAT)
REDUCE_TEST(double, double, UCCS_DOUBLE)

static void test_reductions(uccs_group_t group)
{
    static const size_t counts[] = {0, 1, 6, 1001, 2048, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int how = UCCS_AND; how <= UCCS_PROD; how++)
            for (int nb = 0; nb < 2; nb++) {
                test_reduce_int32(group, counts[c], (enum uccs_reduction)how, nb);
                test_reduce_uint32(group, counts[c], (enum uccs_reduction)how, nb);
                test_reduce_int64(group, counts[c], (enum uccs_reduction)how, nb);
                test_reduce_uint64(group, counts[c], (enum uccs_reduction)how, nb);
                test_reduce_float(group, counts[c], (enum uccs_reduction)how, nb);
                test_reduce_double(group, counts[c], (enum uccs_reduction)how, nb);
            }
}

/* Nobody leaves before the last one has come: everybody says so at everybody first. */
static void test_barrier(uccs_context_t context, uccs_memory_t *all, uccs_group_t group, long round)
{
    static uccs_request_t desc;
    int size = uccs_group_size(group), rank = uccs_group_rank(group);
    long *seen;
    struct uccs_memory_attr attr;
    OK(uccs_memory_query(all[me], &attr));
    seen = attr.address;
    for (int other = 0; other < size; other++) {
        int pe = uccs_group_world_rank(group, other);
        uccs_endpoint_t endpoint = check_endpoint(context, pe);
        OK(uccs_put_short_contiguous(context, endpoint, all[pe], (size_t)rank * 8, &round, 8, 0));
        OK(uccs_endpoint_release(endpoint));
    }
    OK(uccs_flush(context)); /* a barrier completes nothing one-sided */
    if (round % 2) {
        OK(uccs_barrier(group));
    } else {
        OK(uccs_barrier_nb(group, &desc));
        OK(uccs_wait(&desc));
    }
    for (int other = 0; other < size; other++)
        CHECK(__atomic_load_n(&seen[other], __ATOMIC_RELAXED) == round);
    OK(uccs_barrier(group));
}

static void test_all(uccs_group_t group)
{
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int nb = 0; nb < 2; nb++) {
            test_broadcast(group, lengths[l], nb);
            test_gather(group, lengths[l], nb);
            test_alltoall(group, lengths[l], nb);
        }
    test_reductions(group);
}

/* Many at once, waited for in another order. */
static void test_overlap(uccs_group_t group)
{
    enum { MANY = 24 };
    static int64_t in[MANY], out[MANY];
    uccs_request_t desc[MANY] = {0};
    int size = uccs_group_size(group);
    for (int i = 0; i < MANY; i++) {
        in[i] = uccs_group_rank(group) + i;
        OK(uccs_allreduce_nb(group, &in[i], &out[i], 1, UCCS_INT64, UCCS_SUM, &desc[i]));
    }
    OK(uccs_barrier(group));
    for (int i = MANY; i-- > 0;) {
        OK(uccs_wait(&desc[i]));
        CHECK_EQ(out[i], (int64_t)size * (size - 1) / 2 + (int64_t)size * i);
        OK(uccs_request_release(&desc[i]));
    }
}

/* A collective that is under way goes on without the handle of its group. */
static void test_release_pending(void)
{
    enum { TIMES = 20 };
    for (int i = 0; i < TIMES; i++) {
        int ranks[64];
        uccs_group_t group;
        uccs_request_t request = UCCS_REQUEST_NULL;
        for (int rank = 0; rank < npes; rank++)
            ranks[rank] = rank;
        OK(uccs_group_create(UCCS_GROUP_WORLD, (size_t)npes, ranks, &group));
        OK(uccs_barrier_nb(group, &request));
        OK(uccs_group_release(group));
        void *blocks[8]; /* what the group's memory might become */
        for (int size = 0; size < 8; size++)
            blocks[size] = memset(malloc(32 + 16 * (size_t)size), 0x41, 32 + 16 * (size_t)size);
        OK(uccs_wait(&request));
        OK(uccs_request_release(&request));
        for (int size = 0; size < 8; size++)
            free(blocks[size]);
    }
}

int main(void)
{
    check_start();
    source = malloc((size_t)MOST * (size_t)npes);
    dest = malloc((size_t)MOST * (size_t)npes);
    uccs_context_t context;
    uccs_memory_t own, *all = calloc((size_t)npes, sizeof *all);
    OK(uccs_context_create(0, &context));
    OK(uccs_memory_allocate(context, (size_t)npes * 8, &own));
    check_share(context, own, all);
    test_all(UCCS_GROUP_WORLD);
    test_overlap(UCCS_GROUP_WORLD);
    test_release_pending();
    for (long round = 1; round < 300; round++)
        test_barrier(context, all, UCCS_GROUP_WORLD, round);

    int ranks[64], n = 0;
    uccs_group_t back, odd, first;
    for (int rank = npes; rank-- > 0;)
        ranks[n++] = rank;
    OK(uccs_group_create(UCCS_GROUP_WORLD, (size_t)n, ranks, &back));
    CHECK_EQ(uccs_group_rank(back), npes - 1 - me);
    CHECK_EQ(uccs_group_world_rank(back, 0), npes - 1);
    test_all(back);
    n = 0;
    for (int rank = me % 2; rank < npes;
         rank += 2) /* two groups at once, whose members pass different lists: odd or even */
        ranks[n++] = rank;
    OK(uccs_group_create(UCCS_GROUP_WORLD, (size_t)n, ranks, &odd));
    test_all(odd);
    test_overlap(odd);
    ranks[0] = 0;
    OK(uccs_group_create(odd, 1, ranks, &first));
    CHECK((first != UCCS_GROUP_NULL) == (me < 2));
    if (first) {
        test_all(first);
        OK(uccs_group_release(first));
    }
    OK(uccs_group_release(odd));
    OK(uccs_group_release(back));
    free(source);
    free(dest);
    for (int rank = 0; rank < npes; rank++)
        OK(uccs_memory_release(all[rank]));
    OK(uccs_memory_release(own));
    free(all);
    OK(uccs_context_destroy(context));
    return check_pass();
}
