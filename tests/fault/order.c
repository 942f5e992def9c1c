/* Two operations of every kind with a fence, a quiet, a completed or a fenced request, or nothing between them. When the second is
 * seen behind one of the four, the first is there. An announcement arrives behind its data. With nothing between,
 * both operations arrive.
 * pes: 2
 * prints: ^PASS$
 * env: LATERAL_TRANSPORTS=fault:ucx UCX_TLS=tcp,self
 * timeout: 120
 * case: seed1
 * env: LATERAL_TRANSPORTS=fault,seed=1,hold=50,steps=10:ucx
 * case: seed2
 * env: LATERAL_TRANSPORTS=fault,seed=2,hold=90,steps=40:ucx
 * case: seed3
 * env: LATERAL_TRANSPORTS=fault,seed=3,hold=20,steps=200:ucx
 * case: ucx
 * env: LATERAL_TRANSPORTS=ucx
 * case: rdma
 * needs: ucx
 * env: LATERAL_TRANSPORTS=ucx LATERAL_WIRE=rdma
 * labels: again
 * case: wire
 * env: LATERAL_TRANSPORTS=sim,seed=1,hold=50:ucx
 * case: wire_order
 * env: LATERAL_TRANSPORTS=sim,seed=2,hold=90,steps=40,order=1:ucx
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <stdbool.h>

enum { LONG = 32768, BLOCKS = 16, ROUNDS = 2 };
enum kind { P, PUT, PUT_LONG, PUT_NBI_LONG, IPUT, SIGNAL, COUNT, COUNT_LONG, POST, SWAP, KINDS };
enum between { NOTHING, FENCE, QUIET, PE_QUIET, REQUEST, REQUEST_FENCE, BETWEENS };

/* What the kinds write at the target; the first operation of a pair has one, the second the other. */
struct area {
    long scalar, few[8], *large, *larger, *counted, strided[2 * BLOCKS], told, count, posted, swapped;
    uint64_t signal;
};

static struct area areas[2];
static shmemx_ct_t counters[2][2]; /* of a side: of COUNT and COUNT_LONG */
static long acknowledged, never, *source;

static void fill(long value)
{
    for (int i = 0; i < LONG; i++)
        source[i] = value;
}

static void issue(enum kind kind, int side, long value)
{
    struct area *to = &areas[side];
    switch (kind) {
    case P: shmem_long_p(&to->scalar, value, 1); break;
    case PUT: shmem_long_put(to->few, source, 8, 1); break;
    case PUT_LONG: shmem_long_put(to->large, source, LONG, 1); break;
    case PUT_NBI_LONG: shmem_long_put_nbi(to->larger, source, LONG, 1); break;
    case IPUT: shmem_long_iput(to->strided, source, 2, 1, BLOCKS, 1); break;
    case SIGNAL: shmem_long_put_signal(&to->told, source, 1, &to->signal, (uint64_t)value, SHMEM_SIGNAL_SET, 1); break;
    case COUNT: shmemx_long_put_ct(counters[side][0], &to->count, source, 1, 1); break;
    case COUNT_LONG: shmemx_long_put_ct(counters[side][1], to->counted, source, LONG, 1); break;
    case POST: shmem_long_atomic_set(&to->posted, value, 1); break;
    case SWAP: (void)shmem_long_atomic_swap(&to->swapped, value, 1); break;
    default: break;
    }
}

/* The same, to be completed by the request; kinds that have no such form complete themselves. */
static void issue_with(enum kind kind, int side, long value, shmemx_request_t *request)
{
    struct area *to = &areas[side];
    switch (kind) {
    case PUT: shmemx_long_put_nbe(to->few, source, 8, 1, request); break;
    case PUT_NBI_LONG: shmemx_long_put_nbe(to->larger, source, LONG, 1, request); break;
    case PUT_LONG: shmemx_long_put_nbe(to->large, source, LONG, 1, request); break;
    case IPUT: shmemx_long_iput_nbe(to->strided, source, 2, 1, BLOCKS, 1, request); break;
    case COUNT: shmemx_long_put_ct_nbe(counters[side][0], &to->count, source, 1, 1, request); break;
    case COUNT_LONG: shmemx_long_put_ct_nbe(counters[side][1], to->counted, source, LONG, 1, request); break;
    case POST: shmemx_long_atomic_set_nbe(&to->posted, value, 1, request); break;
    default: issue(kind, side, value); shmem_quiet();
    }
}

static void separate(enum between how)
{
    const int target = 1;
    if (how == FENCE)
        shmem_fence();
    else if (how == QUIET)
        shmem_quiet();
    else if (how == PE_QUIET)
        shmem_pe_quiet(&target, 1);
}

/* All words are the value. */
static bool are(const long *words, int count, int step, long value)
{
    for (int i = 0; i < count; i++)
        if (__atomic_load_n(&words[i * step], __ATOMIC_ACQUIRE) != value)
            return false;
    return true;
}

static bool is_there(enum kind kind, int side, long value)
{
    const struct area *at = &areas[side];
    switch (kind) {
    case P: return are(&at->scalar, 1, 1, value);
    case PUT: return are(at->few, 8, 1, value);
    case PUT_LONG: return are(at->large, LONG, 1, value);
    case PUT_NBI_LONG: return are(at->larger, LONG, 1, value);
    case IPUT: return are(at->strided, BLOCKS, 2, value);
    case SIGNAL: return are(&at->told, 1, 1, value);
    case COUNT: return are(&at->count, 1, 1, value);
    case COUNT_LONG: return are(at->counted, LONG, 1, value);
    case POST: return are(&at->posted, 1, 1, value);
    default: return are(&at->swapped, 1, 1, value);
    }
}

/* Something of it is there; and it is whole where it has been announced. */
static bool is_seen(enum kind kind, int side, long value, long times)
{
    const struct area *at = &areas[side];
    bool seen = false, announced = false;
    switch (kind) {
    case PUT: seen = are(&at->few[7], 1, 1, value) || are(at->few, 1, 1, value); break;
    case PUT_LONG: seen = are(&at->large[LONG - 1], 1, 1, value) || are(at->large, 1, 1, value); break;
    case PUT_NBI_LONG: seen = are(&at->larger[LONG - 1], 1, 1, value) || are(at->larger, 1, 1, value); break;
    case IPUT: seen = are(at->strided, 1, 1, value) || are(&at->strided[2 * BLOCKS - 2], 1, 1, value); break;
    case SIGNAL: announced = shmem_signal_fetch(&at->signal) == (uint64_t)value; break;
    case COUNT: announced = shmemx_ct_get(counters[side][0]) == times; break;
    case COUNT_LONG: announced = shmemx_ct_get(counters[side][1]) == times; break;
    default: return is_there(kind, side, value);
    }
    CHECK(!announced || is_there(kind, side, value));
    return seen || announced;
}

static long counted[2][KINDS]; /* how often each kind was issued on each side */

static void target(enum kind first, enum kind second, enum between how, long value)
{
    while (!is_seen(second, 1, value, counted[1][second]))
        (void)shmem_long_test(&never, SHMEM_CMP_EQ, 1);
    if (how != NOTHING && !is_there(first, 0, value)) {
        fprintf(stderr, "kind %d is seen and kind %d is not there: %d between them\n", second, first, how);
        CHECK(false);
    }
    while (!is_there(first, 0, value) || !is_there(second, 1, value))
        (void)shmem_long_test(&never, SHMEM_CMP_EQ, 1);
    CHECK(true);
    shmem_long_p(&acknowledged, value, 0);
}

static void origin(enum kind first, enum kind second, enum between how, long value)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    fill(value);
    if (how == REQUEST || how == REQUEST_FENCE) {
        issue_with(first, 0, value, &request);
        if (how == REQUEST)
            shmemx_request_wait(&request);
        else
            shmemx_request_fence(&request);
    } else {
        issue(first, 0, value);
        separate(how);
    }
    if (how == QUIET && first == PUT_LONG)
        CHECK_EQ(shmem_long_g(&areas[0].large[LONG - 1], 1), value);
    issue(second, 1, value);
    shmem_long_wait_until(&acknowledged, SHMEM_CMP_EQ, value);
    shmemx_request_wait(&request);
    shmemx_request_free(&request);
    CHECK(true);
}

int main(void)
{
    check_start();
    source = malloc(LONG * sizeof *source);
    for (int side = 0; side < 2; side++) {
        areas[side].large = shmem_malloc(LONG * sizeof(long));
        areas[side].larger = shmem_malloc(LONG * sizeof(long));
        areas[side].counted = shmem_malloc(LONG * sizeof(long));
        shmemx_ct_create(&counters[side][0]);
        shmemx_ct_create(&counters[side][1]);
    }
    shmem_barrier_all();
    long value = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (enum between how = NOTHING; how < BETWEENS; how++)
            for (enum kind first = 0; first < KINDS; first++)
                for (enum kind second = 0; second < KINDS; second++) {
                    value++;
                    counted[0][first]++;
                    counted[1][second]++;
                    if (me == 0)
                        origin(first, second, how, value);
                    else
                        target(first, second, how, value);
                }
    shmem_barrier_all();
    return check_pass();
}
