/* All threads of all processes, the owner's too, accumulate to the same elements of one process, near and far, mapped or
 * not: nothing is lost. Compare-and-swaps of every size, plain atomics and accumulates of integers share the domain.
 * pes: 1 2 3
 * case: kernel
 * case: target
 * env: LATERAL_WIRE=messages
 * pes: 2
 */
#include "../uccs/check.h"

enum { THREADS = 3, ROUNDS = 20, N = 700, KINDS = 2, BYTES = 65536 };

/* Offsets of the arrays. Those of reals, and the odd one of integers, lie on the border of two locks. */
enum {
    WORDS = 0,
    NARROW = 6000,
    DOUBLES = 8192 + 800,
    ODD = 16384 + 8192 - 701,
    PAIRS = 32768,
    COMPLEX = 40960,
    SWAPS = 60000
};

static uccs_context_t context;
static uccs_endpoint_t zero;
static uccs_memory_t own[KINDS], *all[KINDS], memory;
static char *private_memory;

static void add(size_t offset, enum uccs_type type, const void *operand, size_t n, int fetch)
{
    static _Thread_local char old[N * 16];
    OK(uccs_accumulate(zero, memory, offset, operand, fetch ? old : 0, n, type, UCCS_SUM, 0));
}

/* Counts by compare and swap; the upper bytes of 16 follow the lower ones. */
static void count_by_swap(size_t size)
{
    unsigned char old[16] = {0}, seen[16], then[16];
    do {
        memcpy(seen, old, 16);
        memcpy(then, old, 16);
        for (size_t i = 0; i < size && ++then[i] == 0; i++)
            ;
        if (size == 16)
            memcpy(then + 8, then, 8);
        OK(uccs_compare_and_swap(zero, memory, SWAPS + 16 * size, size, then, seen, old, 0));
    } while (memcmp(old, seen, size) != 0);
}

static void *work(void *id)
{
    int64_t ones[N];
    uint8_t bytes[N];
    double reals[2 * N];
    struct {
        int value, index;
    } pair;
    for (int i = 0; i < 2 * N; i++)
        reals[i] = ones[i % N] = bytes[i % N] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        int fetch = round & 1;
        add(WORDS, UCCS_INT64, ones, N, fetch);
        OK(uccs_atomic64(context, zero, memory, WORDS + 8 * (size_t)round, UCCS_ATOMIC_ADD, 1, 0, 0, 0));
        add(NARROW, UCCS_UINT8, bytes, N, fetch);
        add(DOUBLES, UCCS_DOUBLE, reals, N, fetch);
        add(DOUBLES, UCCS_DOUBLE, reals, 1, !fetch);
        add(ODD, UCCS_INT64, ones, N, fetch);
        add(COMPLEX, UCCS_DOUBLE_COMPLEX, reals, N, fetch);
        pair.value = (int)(me * THREADS + (long)id) * ROUNDS + round;
        pair.index = -pair.value;
        OK(uccs_accumulate(zero, memory, PAIRS, &pair, 0, 1, UCCS_2INT, UCCS_MAX, 0));
        for (size_t size = 1; size <= 16; size *= 2)
            count_by_swap(size);
    }
    return 0;
}

static void fetch(size_t offset, enum uccs_type type, void *to, size_t n)
{
    OK(uccs_accumulate(zero, memory, offset, 0, to, n, type, UCCS_NO_OP, 0));
}

static void check_sums(void)
{
    const int all_rounds = npes * THREADS * ROUNDS;
    int64_t words[N], odd[N];
    uint8_t bytes[N];
    double reals[2 * N];
    int pair[2];
    fetch(WORDS, UCCS_INT64, words, N);
    fetch(NARROW, UCCS_UINT8, bytes, N);
    fetch(ODD, UCCS_INT64, odd, N);
    fetch(DOUBLES, UCCS_DOUBLE, reals, N);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(words[i], all_rounds + (i < ROUNDS ? npes * THREADS : 0));
        CHECK_EQ(bytes[i], (uint8_t)all_rounds);
        CHECK_EQ(odd[i], all_rounds);
        CHECK(reals[i] == all_rounds * (i ? 1 : 2));
    }
    fetch(COMPLEX, UCCS_DOUBLE_COMPLEX, reals, N);
    for (int i = 0; i < 2 * N; i++)
        CHECK(reals[i] == all_rounds);
    fetch(PAIRS, UCCS_2INT, pair, 1);
    CHECK(pair[0] == all_rounds - 1 && pair[1] == 1 - all_rounds);
    for (size_t size = 1; size <= 16; size *= 2) {
        uint64_t count[2] = {0};
        fetch(SWAPS + 16 * size, UCCS_UINT8, count, size);
        CHECK_EQ(count[0], size == 1 ? (uint8_t)all_rounds : all_rounds);
        CHECK(size < 16 || count[1] == count[0]);
    }
}

int main(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
    zero = check_endpoint(context, 0);
    private_memory = calloc(1, BYTES);
    OK(uccs_memory_allocate(context, BYTES, &own[0]));
    OK(uccs_memory_register(context, private_memory, BYTES, &own[1]));
    for (int kind = 0; kind < KINDS; kind++) {
        all[kind] = calloc((size_t)npes, sizeof **all);
        check_share(context, own[kind], all[kind]);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        memory = me == 0 ? own[kind] : all[kind][0];
        check_threads(THREADS, work);
        OK(uccs_flush(context));
        OK(uccs_barrier(UCCS_GROUP_WORLD));
        check_sums();
        OK(uccs_barrier(UCCS_GROUP_WORLD));
    }
    for (int kind = 0; kind < KINDS; kind++) {
        for (int pe = 0; pe < npes; pe++)
            OK(uccs_memory_release(all[kind][pe]));
        OK(uccs_memory_release(own[kind]));
        free(all[kind]);
    }
    OK(uccs_context_destroy(context));
    free(private_memory);
    return check_pass();
}
