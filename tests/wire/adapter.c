/* Memory whose atomics the network's adapter does (SHMEM_MALLOC_ATOMICS_REMOTE): none is lost, whoever issues it: PEs of other
 * nodes, PEs of the owner's node, the owner. Fences, signals, locks and data mean the same there. The simulated adapter's atomics
 * are not atomic to the processor's, so an atomic that went by the processor would be lost now and then.
 * pes: 4
 * env: UCX_TLS=tcp,self LATERAL_TRANSPORTS=sim:ucx
 * prints: ^PASS$
 * case: held
 * env: LATERAL_NODE_SIZE=2 LATERAL_TRANSPORTS=sim,seed=1,hold=50:ucx
 * args: 1
 * case: ordered
 * env: LATERAL_NODE_SIZE=2 LATERAL_TRANSPORTS=sim,seed=2,hold=60,order=1:ucx
 * args: 1
 * case: plain
 * env: LATERAL_NODE_SIZE=1
 * args: 1
 * labels: again
 * case: poll
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=sim,seed=3,hold=50:ucx LATERAL_PROGRESS=poll
 * args: 1
 * labels: again
 * case: faulty
 * env: LATERAL_NODE_SIZE=2 LATERAL_TRANSPORTS=sim,seed=4,hold=50:fault,seed=5,hold=40:ucx
 * args: 1
 * labels: again
 * case: narrow
 * env: LATERAL_NODE_SIZE=2 LATERAL_TRANSPORTS=sim,seed=5,hold=50,words=8:ucx SHMEM_DEBUG=1
 * args: 0
 * status: 0
 * fails: SHMEM_MALLOC_ATOMICS_REMOTE: a PE's network adapter lacks atomics
 * case: unshared
 * env: LATERAL_NODE_SIZE=2 LATERAL_TRANSPORTS=sim,seed=6,hold=50,shares=0:ucx SHMEM_DEBUG=1
 * args: 0
 * status: 0
 * fails: SHMEM_MALLOC_ATOMICS_REMOTE: a PE's network can register no more memory
 * case: messages
 * env: LATERAL_NODE_SIZE=2 LATERAL_WIRE=messages
 * args: 0
 * labels: again
 * case: rdma
 * needs: ucx
 * env: LATERAL_NODE_SIZE=2 LATERAL_TRANSPORTS=ucx LATERAL_WIRE=rdma
 * args: 2
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "../conform/check.h"
#include "network.h"

#include <shmemx.h>

enum { ROUNDS = 40, BYTES = 100000, REMOTE = SHMEM_MALLOC_ATOMICS_REMOTE };

static struct words {
    uint64_t sum, bits, flips, tickets, casual, hands, signal, fenced;
    uint32_t sum32, bits32, casual32;
    long lock, plain, turns;
    double real;
    char data[BYTES];
} * words;
static char source[BYTES];

static void add_all(shmem_ctx_t ctx)
{
    uint64_t got[ROUNDS];
    uint32_t got32 = 0;
    for (int i = 0; i < ROUNDS; i++) {
        shmem_uint64_atomic_inc(&words->sum, 0);
        shmem_ctx_uint64_atomic_add(ctx, &words->sum, 3, 0);
        shmem_uint64_atomic_fetch_add_nbi(&got[i], &words->sum, 2, 0);
        (void)shmem_ctx_uint64_atomic_fetch_inc(ctx, &words->sum, 0);
        shmem_uint32_atomic_add(&words->sum32, 5, 0);
        shmem_uint32_atomic_fetch_inc_nbi(&got32, &words->sum32, 0);
    }
    shmem_quiet();
    for (int i = 1; i < ROUNDS; i++)
        CHECK(got[i] > 0);
    shmem_ctx_quiet(ctx);
}

static void compare_all(void)
{
    for (int i = 0; i < ROUNDS / 4; i++) {
        uint64_t now = shmem_uint64_atomic_fetch(&words->casual, 0), was;
        while ((was = shmem_uint64_atomic_compare_swap(&words->casual, now, now + 1, 0)) != now)
            now = was;
        uint32_t now32 = shmem_uint32_atomic_fetch(&words->casual32, 0), was32;
        while ((was32 = shmem_uint32_atomic_compare_swap(&words->casual32, now32, now32 + 1, 0)) != now32)
            now32 = was32;
    }
}

static void flip_all(void)
{
    const uint64_t mine = UINT64_C(0x100010001) << me;
    for (int i = 0; i < ROUNDS; i++) {
        shmem_uint64_atomic_or(&words->bits, mine, 0);
        shmem_quiet();
        CHECK((shmem_uint64_atomic_fetch_xor(&words->bits, mine, 0) & mine) == mine);
        CHECK((shmem_uint64_atomic_fetch_or(&words->bits, mine, 0) & mine) == 0);
        CHECK((shmem_uint64_atomic_fetch_and(&words->bits, ~mine, 0) & mine) == mine);
        shmem_uint64_atomic_xor(&words->flips, mine, 0);
        shmem_uint32_atomic_or(&words->bits32, 1u << me, 0);
        shmem_fence();
        shmem_uint32_atomic_and(&words->bits32, ~(1u << me), 0);
        shmem_fence();
    }
}

/* Each value that is put is taken out once. */
static uint64_t pass_on(void)
{
    uint64_t hand = (uint64_t)me + 1;
    for (int i = 0; i < ROUNDS; i++)
        hand = shmem_uint64_atomic_swap(&words->hands, hand, 0);
    return hand;
}

static void check_sums(uint64_t hand)
{
    static long hands, total;
    hands = (long)hand;
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &total, &hands, 1);
    CHECK_EQ(total + (long)shmem_uint64_atomic_fetch(&words->hands, 0), npes * (npes + 1) / 2);
    CHECK_EQ(shmem_uint64_atomic_fetch(&words->sum, 0), ROUNDS * 7 * npes);
    CHECK_EQ(shmem_uint32_atomic_fetch(&words->sum32, 0), ROUNDS * 6 * npes);
    CHECK_EQ(shmem_uint64_atomic_fetch(&words->casual, 0), ROUNDS / 4 * npes);
    CHECK_EQ(shmem_uint32_atomic_fetch(&words->casual32, 0), ROUNDS / 4 * npes);
    CHECK_EQ(shmem_uint64_g(&words->flips, 0), 0);
    CHECK_EQ(shmem_uint64_g(&words->bits, 0), 0);
    CHECK_EQ(words->bits32, 0);
    if (me == 0)
        CHECK_EQ(words->sum, ROUNDS * 7 * npes); /* the owner's loads see it */
    shmem_barrier_all();
}

static void contend(void)
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    shmem_barrier_all();
    add_all(ctx);
    compare_all();
    flip_all();
    const uint64_t hand = pass_on();
    shmem_barrier_all();
    check_sums(hand);
    shmem_ctx_destroy(ctx);
}

/* Atomics stay behind puts, and puts behind atomics, where a fence is between. */
static void keep_order(void)
{
    for (long round = 1; round <= ROUNDS / 2; round++) {
        memset(source, (int)round, sizeof source);
        shmem_putmem_nbi(words->data, source, sizeof source, next_pe);
        shmem_fence();
        shmem_uint64_atomic_inc(&words->fenced, next_pe);
        shmem_fence();
        shmem_long_p(&words->plain, round, next_pe);
        shmem_long_wait_until(&words->plain, SHMEM_CMP_EQ, round);
        CHECK_EQ(words->fenced, round);
        CHECK(words->data[0] == (char)round && words->data[BYTES - 1] == (char)round);
        shmem_barrier_all();
    }
}

static void signal_all(void)
{
    for (uint64_t round = 1; round <= ROUNDS / 2; round++) {
        const size_t bytes = round % 2 ? sizeof source : 8;
        memset(source, (int)round, bytes);
        if (round % 4 < 2)
            shmem_putmem_signal(words->data, source, bytes, &words->signal, 2, SHMEM_SIGNAL_ADD, next_pe);
        else
            shmem_putmem_signal_nbi(words->data, source, bytes, &words->signal, 2 * round, SHMEM_SIGNAL_SET, next_pe);
        CHECK_EQ(shmem_signal_wait_until(&words->signal, SHMEM_CMP_GE, 2 * round), 2 * round);
        CHECK(words->data[0] == (char)round && words->data[bytes - 1] == (char)round);
        shmem_barrier_all();
    }
    shmem_signal_add(&words->signal, 1, next_pe);
    shmem_signal_wait_until(&words->signal, SHMEM_CMP_EQ, ROUNDS / 2 * 2 + 1);
    CHECK_EQ(shmem_uint64_atomic_fetch(&words->signal, me), ROUNDS / 2 * 2 + 1);
    shmem_barrier_all();
}

static void track_all(void)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    double old = -1;
    shmem_double_atomic_set(&words->real, 1.5 + me, next_pe);
    shmem_barrier_all();
    CHECK(words->real == 1.5 + prev_pe);
    shmem_double_atomic_fetch_nbi(&old, &words->real, next_pe);
    shmem_quiet();
    CHECK(old == 1.5 + me);
    shmem_barrier_all();
    shmemx_uint64_atomic_add_nbe(&words->tickets, 4, next_pe, &request);
    shmemx_request_wait_free(&request);
    shmem_barrier_all();
}

static void lock_all(void)
{
    for (int i = 0; i < ROUNDS / 4; i++) {
        shmem_set_lock(&words->lock);
        const long turns = shmem_long_g(&words->turns, 0);
        shmem_long_p(&words->turns, turns + 1, 0);
        shmem_clear_lock(&words->lock);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&words->turns, 0), ROUNDS / 4 * npes);
    shmem_barrier_all();
}

static void allocate(void)
{
    char *more = shmem_malloc_with_hints(3000, REMOTE), *last = shmem_malloc_with_hints(50000000, REMOTE);
    CHECK(more && last);
    memset(more, me, 3000);
    shmem_uint64_atomic_set((uint64_t *)last + 6000000, (uint64_t)me, next_pe);
    shmem_barrier_all();
    CHECK_EQ(((uint64_t *)last)[6000000], prev_pe);
    CHECK(shmem_ptr(more, me) == more);
    shmem_free(last);
    more = shmem_realloc(more, 6000);
    CHECK(more && more[2999] == me);
    shmem_long_atomic_inc((long *)(more + 3000 - 3000 % 8), next_pe);
    shmem_free(more);
}

int main(int argc, char **argv)
{
    check_start();
    CHECK(argc == 2);
    const int way = atoi(argv[1]); /* 1: the simulated adapter; 0: the processors; 2: another network */
    const volatile struct network_counts *counts = network_counts();
    words = shmem_malloc_with_hints(sizeof *words, REMOTE);
    CHECK(words != NULL);
    memset(words, 0, sizeof *words);
    shmem_barrier_all();
    contend();
    keep_order();
    signal_all();
    track_all();
    lock_all();
    allocate();
    if (way < 2)
        CHECK((counts && counts->atomics > ROUNDS * 10) == way);
    shmem_free(words);
    return check_pass();
}
