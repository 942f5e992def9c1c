/* Memory of a far PE that the network maps: operations by loads and stores and those by messages keep their order, and mean
 * the same. What counts at a counter of a team goes by messages, which fault holds back.
 * pes: 3
 * env: LATERAL_NODE_SIZE=1 UCX_TLS=posix,self SHMEM_SYMMETRIC_SIZE=48m
 * prints: ^PASS$
 * case: posix
 * needs: ucx
 * env: LATERAL_TRANSPORTS=ucx
 * case: held
 * env: LATERAL_TRANSPORTS=sim:fault:ucx LATERAL_SIM=seed=1,hold=50,reach=1 LATERAL_FAULT=seed=2,hold=60
 * case: sysv
 * needs: ucx
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=sysv,self
 * labels: again
 * case: ordered
 * env: LATERAL_TRANSPORTS=sim:fault:ucx LATERAL_SIM=seed=3,hold=50,order=1,reach=1 LATERAL_FAULT=seed=4,hold=80
 * labels: again
 * case: messages
 * env: LATERAL_TRANSPORTS=ucx LATERAL_WIRE=messages
 * args: messages
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 40, LONGS = 1 << 14, HEAP = 48 << 20 };

static long global, *words, *large, source[LONGS], got[LONGS];
static uint64_t *signals;
static shmemx_ct_t ours, late; /* late: of a team, so that messages carry it */
static shmem_ctx_t context;
static int next;

/* --- A message, a fence, and an operation on the same words, in all forms */

static void by_p(long value)
{
    shmem_ctx_long_p(context, &words[0], value, next);
    shmem_ctx_long_p(context, &words[1], value, next);
}

static void by_put(long value)
{
    const long two[2] = {value, value};
    shmem_ctx_long_put(context, words, two, 2, next);
}

static void by_nbi(long value)
{
    static long two[2];
    two[0] = two[1] = value;
    shmem_ctx_long_put_nbi(context, words, two, 2, next);
}

static void by_request(long value)
{
    static long two[2];
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    two[0] = two[1] = value;
    shmemx_ctx_long_put_nbe(context, words, two, 2, next, &request);
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
}

static void by_strided(long value)
{
    const long three[3] = {value, 0, value};
    shmem_ctx_long_iput(context, words, three, 1, 2, 2, next);
}

static void by_atomics(long value)
{
    shmem_ctx_long_atomic_set(context, &words[0], value, next);
    shmem_ctx_long_atomic_swap(context, &words[1], value, next);
}

static void by_signal(long value)
{
    const long two[2] = {value, value};
    shmem_ctx_long_put_signal(context, words, two, 2, &signals[1], (uint64_t)value, SHMEM_SIGNAL_SET, next);
}

static void by_count(long value)
{
    const long two[2] = {value, value};
    shmemx_ctx_long_put_ct(context, ours, words, two, 2, next);
}

static void by_message(long value)
{
    const long two[2] = {value, value};
    shmemx_ctx_long_put_ct(context, late, words, two, 2, next);
}

static void (*const ways[])(long) = {by_p,       by_put,    by_nbi,   by_request, by_strided,
                                     by_atomics, by_signal, by_count, by_message};
enum { WAYS = sizeof ways / sizeof *ways };

static void check_words(long value)
{
    shmem_ctx_quiet(context);
    CHECK_EQ(shmem_long_g(&words[0], next), value);
    CHECK_EQ(shmem_long_atomic_fetch(&words[1], next), value);
}

static void test_order(void)
{
    for (long round = 1; round <= ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            by_message(-round);
            shmem_ctx_fence(context);
            ways[way](round);
            check_words(round);
            ways[way](2 * round);
            shmem_ctx_fence(context);
            by_message(3 * round);
            check_words(3 * round);
        }
    shmem_barrier_all();
    CHECK_EQ(shmemx_ct_get(ours), 2 * ROUNDS);
    CHECK_EQ(shmemx_ct_get(late), ROUNDS * (2 * WAYS + 2));
    CHECK_EQ(signals[1], 2 * ROUNDS);
}

/* --- Operations that another PE waits for: the data must be there */

static void test_arrivals(void)
{
    const int before = (me + npes - 1) % npes;
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < LONGS; i++)
            source[i] = round * i + me;
        shmem_long_put_signal(large, source, LONGS, &signals[0], 1, SHMEM_SIGNAL_ADD, next);
        shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, (uint64_t)round);
        for (int i = 0; i < LONGS; i += 61)
            CHECK_EQ(large[i], round * i + before);
        shmem_long_get(got, large, LONGS, next);
        CHECK_EQ(got[LONGS - 1], round * (LONGS - 1) + me);
        shmem_sync_all();
    }
}

static void test_counts(void)
{
    const long start = 2 * ROUNDS; /* of test_order */
    for (long round = 1; round <= ROUNDS; round++) {
        shmemx_long_put_ct(ours, &large[me], &round, 1, next);
        shmemx_ct_wait(ours, start + round);
        CHECK_EQ(large[(me + npes - 1) % npes], round);
        shmem_sync_all();
    }
}

/* All PEs add to the same words, some by messages and some not. */
static void test_atomics(void)
{
    for (int i = 0; i < 100; i++) {
        CHECK(shmem_long_atomic_fetch_inc(&global, 0) < 100 * npes);
        shmem_long_atomic_add(&words[2], 3, 0);
        shmem_set_lock(&words[4]);
        shmem_long_p(&words[3], shmem_long_g(&words[3], 0) + 1, 0);
        shmem_clear_lock(&words[4]);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&global, 0), 100 * npes);
    CHECK_EQ(shmem_long_g(&words[2], 0), 300 * npes);
    CHECK_EQ(shmem_long_g(&words[3], 0), 100 * npes);
    shmem_barrier_all();
}

/* --- Meetings. Flags of some are stored, those of others are messages. */

static void test_meetings(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        shmemx_request_t request = SHMEMX_REQUEST_NULL;
        shmem_long_p(&words[6], round, next);
        shmemx_barrier_all_nbe(&request);
        shmemx_request_wait(&request);
        shmemx_request_free(&request);
        CHECK(words[6] >= round && words[6] <= round + 1);
        shmem_long_p(&words[7], round, next);
        shmem_barrier_all();
        CHECK_EQ(words[7], round);
        shmem_sync_all();
    }
}

/* --- Maps. The heap of each other PE is mapped once, and a forked child has none. */

/* Returns how many heaps are mapped that neither core dumps nor forked children have. */
static int mapped_heaps(void)
{
    char line[512];
    int count = 0, is_heap = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file)) {
        unsigned long start, end, at;
        if (sscanf(line, "%lx-%lx rw-s %lx", &start, &end, &at) == 3)
            is_heap = end - start == HEAP;
        else if (strncmp(line, "VmFlags:", 8) == 0)
            count += is_heap && strstr(line, " dd") && strstr(line, " dc");
    }
    fclose(file);
    return count;
}

static void test_maps(int wanted)
{
    int status;
    CHECK_EQ(mapped_heaps(), wanted);
    const pid_t child = fork();
    if (child == 0)
        _exit(mapped_heaps());
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
}

/* The first operations to a PE connect and ask for its memory. */
static void meet(void)
{
    for (int round = 0; round < 3; round++) {
        for (int pe = 0; pe < npes; pe++)
            shmem_long_p(&words[5], 1, pe);
        shmem_barrier_all();
    }
}

int main(int argc, char **argv)
{
    check_start();
    const int mapped = argc < 2 || strcmp(argv[1], "messages") != 0;
    next = next_pe;
    words = shmem_calloc(8, sizeof *words);
    large = shmem_calloc(LONGS, sizeof *large);
    signals = shmem_calloc(2, sizeof *signals);
    CHECK(words && large && signals);
    shmemx_ct_create(&ours);
    CHECK_EQ(shmemx_ct_create_team(SHMEM_TEAM_WORLD, &late), 0);
    meet();
    test_maps(mapped ? npes - 1 : 0);
    context = SHMEM_CTX_DEFAULT;
    test_order();
    test_arrivals();
    test_counts();
    test_atomics();
    test_meetings();
    shmemx_ct_free(&ours);
    CHECK_EQ(shmemx_ct_free_team(SHMEM_TEAM_WORLD, &late), 0);
    shmem_free(signals);
    shmem_free(large);
    shmem_free(words);
    return check_pass();
}
