/* The near halves of one-sided operations, as thunks inline them: which bytes they move at a PE of this node, what they count, signal and
 * mark behind the data, and what they hand on to the slow halves for a PE of another node. */
#include "noted.h"
#include "refused.h"

#include "base/atomic.h"

static const void *expected[2]; /* lines that have been asked for ahead */
static int expects;

static inline void expect_stub(const void *at)
{
    expected[expects++ % 2] = at;
}

#define atomic_expect_write(at) expect_stub(at)
#include "shmem/amo.h"
#include "shmem/counter.h"
#include "shmem/request.h"
#include "shmem/rma.h"
#include "shmem/signal.h"
#include "shmem/strided.h"

enum { NPES = 3, NEAR = 2, FAR = 2, SLOT = 3, BYTES = 4096, ROOM = 64 };

static const uccs_counter live = UINT64_C(5001) << UCCS_COUNTER_SLOT_BITS | (SLOT + 1);
static const uccs_counter old = UINT64_C(4999) << UCCS_COUNTER_SLOT_BITS | (SLOT + 1);
#define CT(counter) ((shmemx_ct_t)(uintptr_t)(counter))

struct shmem_ctx_impl lat_ctx_default;
static struct shmem_ctx_impl ctx;
static _Alignas(64) char heap[NEAR][BYTES], elsewhere[ROOM], local[ROOM];
static shmemx_ct_t ct; /* of the call */
static uint64_t *const word = (uint64_t *)(void *)(heap[0] + 1024);
static int sig_op;
static bool carried;

static void far_call(const char *name, const char *call, struct shmem_ctx_impl *of, size_t bytes, int pe)
{
    CHECK(strcmp(call, "call") == 0 && of == &ctx);
    note("%s %zu to %d", name, bytes, pe);
}

static void far_move(const char *name, const char *call, struct shmem_ctx_impl *of, const void *remote,
                     const void *mine, size_t bytes, int pe)
{
    CHECK((remote == heap[0] || remote == elsewhere) && mine == local);
    far_call(name, call, of, bytes, pe);
}

static void far_end(bool blocking, const void *req)
{
    note("%s%s; ", blocking ? " blocking" : "", req ? " req" : "");
}

#define MOVES(name, remote, mine)                                                                                    \
    void lat_##name##_far(const char *call, struct shmem_ctx_impl *of, void *dest, const void *source, size_t bytes, \
                          int pe)                                                                                    \
    {                                                                                                                \
        far_move(#name, call, of, remote, mine, bytes, pe);                                                          \
        far_end(false, 0);                                                                                           \
    }
MOVES(put, dest, source)
MOVES(get, source, dest)
MOVES(put_nbi, dest, source)
MOVES(get_nbi, source, dest)

void lat_move_more(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

void lat_put_nbe_far(const char *call, struct shmem_ctx_impl *of, void *dest, const void *source, size_t bytes, int pe,
                     shmemx_request_t *req)
{
    far_move("put_nbe", call, of, dest, source, bytes, pe);
    far_end(false, req);
}

void lat_get_nbe_far(const char *call, struct shmem_ctx_impl *of, void *dest, const void *source, size_t bytes, int pe,
                     shmemx_request_t *req)
{
    far_move("get_nbe", call, of, source, dest, bytes, pe);
    far_end(false, req);
}

void lat_put_ct_far(const char *call, struct shmem_ctx_impl *of, shmemx_ct_t with, void *dest, const void *source,
                    size_t bytes, int pe, bool blocking, shmemx_request_t *req)
{
    CHECK(with == ct);
    far_move("put_ct", call, of, dest, source, bytes, pe);
    far_end(blocking, req);
}

void lat_get_ct_far(const char *call, struct shmem_ctx_impl *of, shmemx_ct_t with, void *dest, const void *source,
                    size_t bytes, int pe, bool blocking, shmemx_request_t *req)
{
    CHECK(with == ct);
    far_move("get_ct", call, of, source, dest, bytes, pe);
    far_end(blocking, req);
}

void lat_ct_far(const char *call, struct shmem_ctx_impl *of, shmemx_ct_t with, long weight, int pe)
{
    CHECK(with == ct);
    far_call("ct", call, of, (size_t)weight, pe);
    far_end(false, 0);
}

void lat_ct_behind(const char *call, struct shmem_ctx_impl *of, shmemx_ct_t with, int pe)
{
    CHECK(with == ct);
    far_call("behind", call, of, 0, pe);
    far_end(false, 0);
}

void lat_signal_far(const char *call, struct shmem_ctx_impl *of, uint64_t *sig_addr, uint64_t signal, int how, int pe)
{
    CHECK(sig_addr == word && how == sig_op);
    far_call("signal", call, of, (size_t)signal, pe);
    far_end(false, 0);
}

void lat_put_signal_far(const char *call, struct shmem_ctx_impl *of, void *dest, const void *source, size_t bytes,
                        uint64_t *sig_addr, uint64_t signal, int how, int pe, bool blocking, struct uccs_request **req)
{
    CHECK(sig_addr == word && how == sig_op && signal == 5);
    far_move("put_signal", call, of, dest, source, bytes, pe);
    far_end(blocking, req);
}

static void strides(const char *name, const char *call, struct shmem_ctx_impl *of, const void *remote, const void *mine,
                    ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size, int pe)
{
    CHECK(dst == -6 && sst == 7);
    far_move(name, call, of, remote, mine, nelems * size, pe);
    far_end(false, 0);
}

void lat_iput(const char *call, struct shmem_ctx_impl *of, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
              size_t nelems, size_t size, int pe)
{
    strides("iput", call, of, dest, source, dst, sst, nelems, size, pe);
}

void lat_iget(const char *call, struct shmem_ctx_impl *of, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
              size_t nelems, size_t size, int pe)
{
    strides("iget", call, of, source, dest, dst, sst, nelems, size, pe);
}

static shmemx_request_t request;

bool lat_iput_carry(const char *call, struct shmem_ctx_impl *of, void *dest, const void *source, ptrdiff_t dst,
                    ptrdiff_t sst, size_t nelems, size_t size, int pe, uccs_request_handle *req)
{
    CHECK(req == &request && request == 0);
    strides("iput", call, of, dest, source, dst, sst, nelems, size, pe);
    return carried;
}

bool lat_iget_carry(const char *call, struct shmem_ctx_impl *of, void *dest, const void *source, ptrdiff_t dst,
                    ptrdiff_t sst, size_t nelems, size_t size, int pe, uccs_request_handle *req)
{
    CHECK(req == &request && request == 0);
    strides("iget", call, of, source, dest, dst, sst, nelems, size, pe);
    return carried;
}

static int slow;

int lat_request_test_slow(shmemx_request_t *req)
{
    CHECK(req == &request);
    note("test; ");
    return slow;
}

#include "near_halves_moves.h"

int main(void)
{
    uccs_core = (struct uccs_core){.npes = NPES,
                                   .pes = NEAR,
                                   .size = NEAR,
                                   .heap_start = (uintptr_t)heap[0],
                                   .heap_peers = (uintptr_t)heap[0],
                                   .heap_stride = BYTES,
                                   .heap_bytes = BYTES};
    uccs_core.counters = aligned_alloc(CACHE_LINE, (size_t)NEAR * NODE_COUNTERS * CACHE_LINE);
    CHECK(uccs_core.counters);
    for (uint32_t pe = 0; pe < NEAR; pe++)
        *uccs_counter_at(pe, SLOT) = (struct uccs_counter_line){0};
    uccs_counter_generation[SLOT] = 5001;
    lat_state = LAT_RUNNING;
    for (uccs_core.stingy = 0; uccs_core.stingy < 2; uccs_core.stingy++) /* whether lines are asked for ahead */
        moves();
    too_many();
    old_counters();
    signals();
    strided();
    requests();
    reals();
    free(uccs_core.counters);
    return 0;
}
