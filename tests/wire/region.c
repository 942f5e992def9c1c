/* Memory of uccs.h of a far PE that the network maps: puts, gets and atomics need nobody at the owner, who computes with its
 * progress thread off; and they keep their order with accumulates of reals, which need the owner's locks and so stay messages.
 * pes: 2
 * env: LATERAL_PROGRESS=poll LATERAL_NODE_SIZE=1 UCX_TLS=posix,self
 * prints: ^PASS$
 * case: held
 * env: LATERAL_TRANSPORTS=sim:fault:ucx LATERAL_SIM=seed=1,reach=1 LATERAL_FAULT=seed=2,hold=60
 * args: 0.4 0
 * case: posix
 * needs: ucx
 * env: LATERAL_TRANSPORTS=ucx
 * args: 0.4 0
 * case: messages
 * env: LATERAL_TRANSPORTS=sim:ucx LATERAL_WIRE=messages
 * args: 0.4 1
 */
#include "../uccs/check.h"

#include <time.h>

enum { WORDS = 1 << 12, BYTES = WORDS * 8, ROUNDS = 50, MOST_SECONDS = 30 };

static uccs_context_t context;
static uccs_endpoint_t other;
static uccs_memory_t own, theirs;
static int64_t source[WORDS], got[WORDS];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int64_t *words_of(uccs_memory_t memory)
{
    struct uccs_memory_attr attr;
    OK(uccs_memory_query(memory, &attr));
    return attr.address;
}

static void share(void)
{
    char mine[UCCS_MEMORY_HANDLE_MAX] = {0}, all[2 * UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof mine;
    OK(uccs_memory_allocate(context, BYTES, &own));
    OK(uccs_memory_export(own, mine, &length));
    OK(uccs_allgather(UCCS_GROUP_WORLD, mine, all, sizeof mine));
    OK(uccs_memory_import(context, all + (size_t)next_pe * sizeof mine, length, &theirs));
    CHECK(!words_of(theirs));
}

static uint64_t atomic(enum uccs_atomic what, size_t word, uint64_t operand)
{
    uint64_t old = 0;
    OK(uccs_atomic64(context, other, theirs, word * 8, what, operand, 0, &old, 0));
    return old;
}

/* The first operations make the connection and ask for the memory, and messages before them, of a barrier too, are answered. */
static void meet(void)
{
    for (int i = 0; i < 20; i++) {
        (void)atomic(UCCS_ATOMIC_ADD, 1, 1);
        OK(uccs_flush(context));
    }
}

/* Word 0, a real, belongs to messages and stores in turn; the later one stays. */
static void test_order(void)
{
    const struct uccs_op ordered = {.ordered = 1};
    for (int64_t round = 1; round <= ROUNDS; round++) {
        const double one = (double)round, two = 2 * one, three = 3 * one;
        double old;
        OK(uccs_accumulate(other, theirs, 0, &one, 0, 1, UCCS_DOUBLE, UCCS_REPLACE, 0));
        OK(uccs_fence(context));
        OK(uccs_put(other, theirs, 0, &two, 8, 0));
        OK(uccs_flush(context));
        OK(uccs_get(other, theirs, 0, &old, 8, 0));
        CHECK(old == two);
        OK(uccs_put(other, theirs, 0, &three, 8, 0));
        OK(uccs_accumulate(other, theirs, 0, &one, &old, 1, UCCS_DOUBLE, UCCS_SUM, &ordered));
        CHECK(old == three);
        OK(uccs_flush(context));
        const uint64_t bits = atomic(UCCS_ATOMIC_FETCH, 0, 0);
        memcpy(&old, &bits, sizeof old);
        CHECK(old == 4 * one);
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

static void disturb(void)
{
    const int64_t ready = 1, done = 2, four = 4;
    meet();
    OK(uccs_put(other, theirs, 8, &(int64_t){0}, 8, 0));
    OK(uccs_put(other, theirs, 0, &ready, 8, &(struct uccs_op){.ordered = 1}));
    OK(uccs_flush(context));
    for (int64_t round = 1; round <= ROUNDS; round++) {
        for (int64_t i = 0; i < WORDS; i++)
            source[i] = round + i;
        OK(uccs_put(other, theirs, 16, source, BYTES - 16, 0));
        OK(uccs_flush(context));
        OK(uccs_get(other, theirs, 16, got, BYTES - 16, 0));
        CHECK_EQ(got[WORDS - 3], round + WORDS - 3);
        CHECK_EQ(atomic(UCCS_ATOMIC_ADD, 1, 3), 7 * (round - 1));
        OK(uccs_accumulate(other, theirs, 8, &four, got, 1, UCCS_INT64, UCCS_SUM, 0));
        CHECK_EQ(got[0], 7 * round - 4);
    }
    OK(uccs_put(other, theirs, 0, &done, 8, 0));
    OK(uccs_flush(context));
}

/* Until the other is through, where it needs nobody here; it is not through in `seconds` where it does. */
static void compute(double seconds, int waits)
{
    const int64_t *through = words_of(own);
    while (__atomic_load_n(through, __ATOMIC_ACQUIRE) == 0)
        (void)uccs_progress();
    for (double start = now(); now() < start + seconds || (!waits && now() < start + MOST_SECONDS);)
        if (!waits && __atomic_load_n(through, __ATOMIC_ACQUIRE) == 2)
            break;
    CHECK_EQ(__atomic_load_n(through, __ATOMIC_ACQUIRE), waits ? 1 : 2);
}

int main(int argc, char **argv)
{
    check_start();
    CHECK_EQ(argc, 3);
    const double seconds = atof(argv[1]);
    const int waits = atoi(argv[2]);
    OK(uccs_context_create(0, &context));
    other = check_endpoint(context, next_pe);
    share();
    meet();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    test_order();
    words_of(own)[0] = 0;
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 1)
        compute(seconds, waits);
    else
        disturb();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 1)
        CHECK(words_of(own)[1] == 7 * ROUNDS && words_of(own)[WORDS - 1] == ROUNDS + WORDS - 3);
    OK(uccs_memory_release(theirs));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_memory_release(own));
    OK(uccs_context_destroy(context));
    return check_pass();
}
