/* Threads that compute want every core, so that waits between nodes sleep until the transport has something. Each
 * operation brings its value, by every kind of wait: of a blocking call, a flush, a request.
 * pes: 2
 * env: LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self UCX_MEM_EVENTS=no
 * case: thread
 * case: poll
 * env: LATERAL_PROGRESS=poll
 */
#include "../uccs/check.h"

enum { BUSY = 8, ROUNDS = 60, BLOCK = 4096 };

static uccs_context_t context;
static uccs_stream_t stream;
static uccs_endpoint_t there;
static uccs_memory_t own, theirs;
static int stop;

static void *compute(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        ;
    return unused;
}

static void share(void)
{
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0}, both[2][UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof handle;
    const struct uccs_stream_attr attr = {.scope = UCCS_SCOPE_THREAD};
    OK(uccs_memory_allocate(context, BLOCK, &own));
    OK(uccs_memory_export(own, handle, &length));
    OK(uccs_allgather(UCCS_GROUP_WORLD, handle, both, sizeof handle));
    OK(uccs_memory_import(context, both[next_pe], length, &theirs));
    OK(uccs_stream_create(context, &attr, &stream));
    OK(uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, next_pe, &there));
}

static void work(void)
{
    static char source[BLOCK], dest[BLOCK];
    uccs_request_t request = UCCS_REQUEST_NULL;
    uint64_t old = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        memset(source + 8, round, sizeof source - 8);
        OK(uccs_put(there, theirs, 8, source + 8, sizeof source - 8, 0));
        OK(uccs_stream_flush(stream, 0, 0));
        OK(uccs_get(there, theirs, 8, dest + 8, sizeof dest - 8, 0));
        CHECK(memcmp(source + 8, dest + 8, sizeof dest - 8) == 0);
        OK(uccs_atomic64(context, there, theirs, 0, UCCS_ATOMIC_ADD, 1, 0, &old, 0));
        CHECK_EQ(old, 2 * round - 2);
        OK(uccs_atomic64(context, there, theirs, 0, UCCS_ATOMIC_ADD, 1, 0, &old,
                         &(struct uccs_op){.request = &request, .nonblocking = 1}));
        OK(uccs_wait(&request));
        CHECK_EQ(old, 2 * round - 1);
    }
    OK(uccs_request_release(&request));
}

int main(void)
{
    pthread_t busy[BUSY];
    check_start();
    OK(uccs_context_create(0, &context));
    share();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int i = 0; i < BUSY && me == 0; i++)
        CHECK(pthread_create(&busy[i], 0, compute, 0) == 0);
    work();
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < BUSY && me == 0; i++)
        CHECK(pthread_join(busy[i], 0) == 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_stream_release(stream));
    OK(uccs_memory_release(theirs));
    OK(uccs_memory_release(own));
    OK(uccs_context_destroy(context));
    return check_pass();
}
