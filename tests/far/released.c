/* An owner on another node releases memory. Every holder of a handle learns of it before the release returns. An
 * operation that was on its way changes nothing, and its request reports the failure once, and no other request does. So does a
 * flush of its stream, and no flush of another stream, although they share a worker.
 * pes: 2
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self UCX_MEM_EVENTS=no LATERAL_PROGRESS=poll LATERAL_LANES=2
 */
#include "../uccs/check.h"

#include <time.h>

enum { GO = 1, ROUNDS = 5, BYTES = 100000 };

static uccs_context_t context;
static uccs_endpoint_t other;
static long going;
static char *mine, *local;
static uccs_stream_t streams[2];
static uccs_endpoint_t ends[2]; /* of the streams */
static uccs_memory_t alive;     /* of the other process, for all rounds */

/* One that the owner has not seen yet when the memory goes; or the word of its end was faster. */
static void expect_failure(int status, uccs_request_t *desc)
{
    if (status == UCCS_OK) {
        CHECK_EQ(uccs_wait(desc), UCCS_ERR_FAILED);
        OK(uccs_wait(desc)); /* told once */
        OK(uccs_test(desc));
    } else {
        CHECK_EQ(status, UCCS_ERR_STALE);
    }
}

/* The owner refuses the put of the first stream alone. */
static void expect_flushes(int status, long round)
{
    uccs_request_t flush = UCCS_REQUEST_NULL;
    if (status == UCCS_OK && round % 2) {
        OK(uccs_stream_flush(streams[1], 0, 0));
        CHECK_EQ(uccs_stream_flush(streams[0], &ends[0], 1), UCCS_ERR_FAILED);
    } else if (status == UCCS_OK) {
        OK(uccs_stream_flush_nb(streams[0], 0, 0, &flush));
        OK(uccs_stream_flush(streams[1], 0, 0));
        CHECK_EQ(uccs_wait(&flush), UCCS_ERR_FAILED);
        OK(uccs_request_release(&flush));
    }
    OK(uccs_stream_flush(streams[0], 0, 0));
}

static void use_too_late(uccs_memory_t memory, long round)
{
    uccs_request_t put = UCCS_REQUEST_NULL, get = UCCS_REQUEST_NULL, good = UCCS_REQUEST_NULL;
    const struct uccs_op later = {.nonblocking = 1};
    uint64_t old = 5;
    while (__atomic_load_n(&going, __ATOMIC_ACQUIRE) < round)
        uccs_progress();
    int status = uccs_put_large_contiguous_nb(context, other, memory, 0, local, round % 2 ? 8 : BYTES, &put);
    OK(uccs_put_large_contiguous_nb(context, other, alive, 0, local, 8, &good));
    int second = uccs_get_large_contiguous_nb(context, other, memory, 0, local, round % 2 ? 8 : BYTES, &get);
    int third = uccs_put(ends[0], memory, 0, local, 8, &later);
    OK(uccs_put(ends[1], alive, 0, local, 8, &later));
    CHECK_EQ(uccs_atomic64(context, other, memory, 0, UCCS_ATOMIC_ADD, 1, 0, &old, 0), UCCS_ERR_STALE);
    CHECK_EQ(old, 5);
    OK(uccs_wait(&good));
    expect_failure(status, &put);
    expect_failure(second, &get);
    OK(uccs_flush(context)); /* the requests have told */
    expect_flushes(third, round);
    if (uccs_put_short_contiguous(context, other, memory, 0, local, 8, 0) == UCCS_OK)
        CHECK_EQ(uccs_flush(context),
                 UCCS_ERR_FAILED); /* the word comes by another worker than the answers, and maybe later */
    OK(uccs_request_release(&put));
    OK(uccs_request_release(&get));
    OK(uccs_request_release(&good));
}

static void do_round(int kind, long round)
{
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0}, both[2 * UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof handle;
    uccs_memory_t own, theirs, again = 0;
    struct uccs_memory_attr attr;
    if (kind)
        OK(uccs_memory_register(context, mine, BYTES, &own));
    else
        OK(uccs_memory_allocate(context, BYTES, &own));
    OK(uccs_memory_query(own, &attr));
    memset(attr.address, 7, BYTES);
    OK(uccs_memory_export(own, handle, &length));
    OK(uccs_allgather(UCCS_GROUP_WORLD, handle, both, sizeof handle));
    OK(uccs_memory_import(context, both + (size_t)next_pe * sizeof handle, length, &theirs));
    OK(uccs_put_short_contiguous(context, other, theirs, 0, "\7\7\7\7", 4, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 1) {
        use_too_late(theirs, round);
    } else {
        OK(uccs_am_short(context, other, GO, UCCS_AM_USER, 0, 0, 0));
        nanosleep(&(struct timespec){0, 100000000}, 0); /* nobody serves here: what comes stays on the wire */
        char *at = attr.address;
        OK(uccs_memory_release(own));
        if (kind)
            for (int i = 0; i < BYTES; i++)
                CHECK(at[i] == 7);
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 1) {
        CHECK_EQ(uccs_memory_import(context, both + (size_t)next_pe * sizeof handle, length, &again), UCCS_ERR_STALE);
        CHECK(!again);
        OK(uccs_memory_release(own));
    }
    OK(uccs_memory_release(theirs));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

static void open_streams(uccs_memory_t *own)
{
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0}, both[2 * UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof handle;
    OK(uccs_memory_allocate(context, BYTES, own));
    OK(uccs_memory_export(*own, handle, &length));
    OK(uccs_allgather(UCCS_GROUP_WORLD, handle, both, sizeof handle));
    OK(uccs_memory_import(context, both + (size_t)next_pe * sizeof handle, length, &alive));
    for (int i = 0; i < 2; i++) {
        OK(uccs_stream_create(context, 0, &streams[i]));
        OK(uccs_stream_endpoint(streams[i], UCCS_GROUP_WORLD, next_pe, &ends[i]));
    }
}

int main(void)
{
    uccs_memory_t own;
    check_start();
    mine = malloc(BYTES);
    local = calloc(1, BYTES);
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, GO, UCCS_AM_USER, count_message, &going));
    other = check_endpoint(context, next_pe);
    open_streams(&own);
    for (long round = 1; round <= ROUNDS; round++)
        do_round(round > 2, round);
    OK(uccs_memory_release(alive));
    OK(uccs_memory_release(own));
    for (int i = 0; i < 2; i++)
        OK(uccs_stream_release(streams[i]));
    OK(uccs_context_destroy(context));
    free(mine);
    free(local);
    return check_pass();
}
