/* Calls that find no memory: each call of uccs.h is made again and again while one more allocation of this thread succeeds. It
 * says UCCS_ERR_NO_MEMORY and changes nothing until it has what it needs; then it works. Over nodes these are the one-sided
 * operations, and what they need.
 * pes: 2
 * skip: asan-ubsan tsan
 * prints: ^PASS$
 * case: node
 * case: nodes
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=tcp
 * args: nodes
 */
#include "check.h"

#include <errno.h>
#include <stdbool.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static __thread long allowed = -1; /* allocations before the one that fails; negative: none fails */
static __thread bool refused;

static bool refuses(void)
{
    if (allowed < 0 || allowed-- > 0)
        return false;
    refused = true;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return refuses() ? 0 : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    return refuses() ? 0 : __libc_calloc(n, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return refuses() ? 0 : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return refuses() ? 0 : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **made, size_t alignment, size_t bytes)
{
    void *memory = aligned_alloc(alignment, bytes);
    if (!memory)
        return ENOMEM;
    *made = memory;
    return 0;
}

/* Allocations count within the call alone. */
static int counted(int status)
{
    allowed = -1;
    return status;
}

static void count_from(int times)
{
    refused = false;
    allowed = times;
}

enum { HANDLER = 1, BYTES = 4096 };

static uccs_context_t context;
static uccs_endpoint_t peer;
static uccs_memory_t mine, theirs, dynamic, locks;
static uccs_counter_t counter;
static char there[BYTES], here[BYTES], handle[UCCS_MEMORY_HANDLE_MAX];
static size_t handle_bytes = sizeof handle;
static uint64_t word;
static long completed;

static void handler(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
}

static void complete(void *argument, int status)
{
    (void)argument;
    CHECK_EQ(status, UCCS_OK);
    __atomic_add_fetch(&completed, 1, __ATOMIC_RELAXED);
}

/* --- One call each. It undoes what it has made. */

#define MAKES(name, type, make, release)     \
    static int name(void)                    \
    {                                        \
        type made = 0;                       \
        int status = counted(make);          \
        CHECK(!made == (status != UCCS_OK)); \
        if (made)                            \
            OK(release);                     \
        return status;                       \
    }
MAKES(makes_request, uccs_request_t, uccs_request_create(&made), uccs_request_release(&made))
MAKES(makes_queue, uccs_queue_t, uccs_queue_create(&made), uccs_queue_release(made))
MAKES(makes_stream, uccs_stream_t, uccs_stream_create(context, &(struct uccs_stream_attr){.ordered = 1}, &made),
      uccs_stream_release(made))
MAKES(registers_memory, uccs_memory_t, uccs_memory_register(context, here, sizeof here, &made),
      uccs_memory_release(made))
MAKES(allocates_memory, uccs_memory_t, uccs_memory_allocate(context, 256, &made), uccs_memory_release(made))
MAKES(imports_memory, uccs_memory_t, uccs_memory_import(context, handle, handle_bytes, &made),
      uccs_memory_release(made))
MAKES(makes_dynamic, uccs_memory_t, uccs_memory_dynamic(context, &made), uccs_memory_release(made))

static int makes_context(void)
{
    uccs_context_t made = 0;
    int status = counted(uccs_context_create(&(struct uccs_context_attr){.id = 7}, &made));
    CHECK(!made == (status != UCCS_OK));
    if (made)
        OK(uccs_context_destroy(made));
    return status;
}

static int makes_group(void)
{
    uccs_group_t made = 0;
    int status = counted(uccs_group_create(UCCS_GROUP_WORLD, 1, &me, &made));
    CHECK(!made == (status != UCCS_OK));
    if (made)
        OK(uccs_group_release(made));
    return status;
}

static int makes_endpoint(void)
{
    uccs_endpoint_t made = 0;
    int status = counted(uccs_endpoint_create(context, UCCS_GROUP_WORLD, next_pe, &made));
    CHECK(!made == (status != UCCS_OK));
    if (made)
        OK(uccs_endpoint_release(made));
    return status;
}

static int attaches_memory(void)
{
    int status = counted(uccs_memory_attach(dynamic, here, sizeof here));
    if (status == UCCS_OK)
        OK(uccs_memory_detach(dynamic, here));
    return status;
}

static int opens_own_counter(void)
{
    uccs_counter_t made = 0;
    int status = counted(uccs_counter_open_own(&made));
    CHECK(!made == (status != UCCS_OK));
    if (made)
        OK(uccs_counter_shut_own(made));
    return status;
}

/* Whatever the call returned: its request completes, and can be released. */
static int finishes(int status, uccs_request_t *request)
{
    (void)counted(status);
    OK(uccs_wait(request));
    OK(uccs_request_release(request));
    return status;
}

/* An operation that is refused leaves the request of its options alone. */
static int operation_finishes(int status, uccs_request_t *request)
{
    (void)counted(status);
    CHECK(status == UCCS_OK || !*request);
    return finishes(status, request);
}

static int waits_for_counter(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    return finishes(uccs_counter_wait_nb(counter, 0, &request), &request);
}

static int waits_for_word(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    int status = counted(uccs_word_wait_nb(&word, (int64_t)word + 1, &request));
    __atomic_add_fetch(&word, 1, __ATOMIC_RELEASE); /* acquire: the wait */
    return finishes(status, &request);
}

static int flushes_later(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    uccs_stream_t stream;
    const long times = allowed;
    allowed = -1;
    OK(uccs_stream_create(context, 0, &stream));
    allowed = times;
    int status = finishes(uccs_stream_flush_nb(stream, 0, 0, &request), &request);
    OK(uccs_stream_release(stream));
    return status;
}

static int puts_with_request(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &request};
    return operation_finishes(uccs_put(peer, theirs, 0, there, 64, &op), &request);
}

static int puts_with_both_requests(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL, local = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &request, .local = &local, .nonblocking = 1, .ordered = 1};
    int status = counted(uccs_put(peer, theirs, 0, there, sizeof there, &op));
    CHECK(status == UCCS_OK || (!local && !request));
    OK(uccs_wait(&local));
    OK(uccs_request_release(&local));
    return finishes(status, &request);
}

static int puts_with_callback(void)
{
    const struct uccs_op op = {.complete = complete};
    const long before = __atomic_load_n(&completed, __ATOMIC_RELAXED);
    int status = counted(uccs_put(peer, theirs, 0, there, 64, &op));
    const long wanted = before + (status == UCCS_OK);
    while (__atomic_load_n(&completed, __ATOMIC_RELAXED) < wanted)
        uccs_progress();
    CHECK_EQ(completed, wanted);
    return status;
}

static int puts_with_entry(void)
{
    uccs_queue_t queue;
    struct uccs_entry entry;
    size_t count = 1;
    const long times = allowed;
    allowed = -1;
    OK(uccs_queue_create(&queue));
    allowed = times;
    const struct uccs_op op = {.queue = queue, .tag = here};
    int status = counted(uccs_put(peer, theirs, 0, there, 64, &op));
    if (status == UCCS_OK) {
        OK(uccs_queue_wait(queue, &entry, &count));
        CHECK(count == 1 && entry.tag == here && entry.status == UCCS_OK);
    }
    OK(uccs_queue_release(queue));
    return status;
}

static int gets_pieces(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &request, .nonblocking = 1};
    const struct uccs_piece pieces[2] = {{.offset = 0, .local = here, .length = 8},
                                         {.offset = 100, .local = here + 100, .length = 300}};
    return finishes(uccs_get_pieces(peer, theirs, pieces, 2, &op), &request); /* the first one may be under way */
}

static int puts_blocks(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &request};
    const struct uccs_stride rows = {.block = 8, .count = 20, .remote_stride = 16, .local_stride = 8};
    return operation_finishes(uccs_put_blocks(peer, theirs, 0, there, &rows, &op), &request);
}

static int gets_waiting(void)
{
    return counted(uccs_get(peer, theirs, 0, here, 64, 0));
}

static int gets_blocks(void)
{
    const struct uccs_stride rows = {.block = 8, .count = 20, .remote_stride = 16, .local_stride = 8};
    return counted(uccs_get_blocks(peer, theirs, 0, here, &rows, 0));
}

static int puts_and_signals(void)
{
    const struct uccs_signal signal = {.memory = theirs, .offset = 512, .value = 1};
    return counted(uccs_put(peer, theirs, 0, there, 64, &(struct uccs_op){.signal = &signal, .counter = counter}));
}

static int adds_unseen(void)
{
    return counted(uccs_atomic(peer, theirs, 0, 8, UCCS_ATOMIC_ADD, 0, 0, 0, 0));
}

static int sums(void)
{
    static int64_t zeros[64];
    return counted(uccs_accumulate(peer, theirs, 0, zeros, 0, 64, UCCS_INT64, UCCS_SUM, 0));
}

static int adds(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    uint64_t old;
    const struct uccs_op op = {.request = &request, .nonblocking = 1};
    return operation_finishes(uccs_atomic(peer, theirs, 0, 8, UCCS_ATOMIC_ADD, 0, 0, &old, &op), &request);
}

static int accumulates(void)
{
    static int64_t zeros[64], old[64];
    uccs_request_t request = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &request, .nonblocking = 1};
    return operation_finishes(uccs_accumulate(peer, theirs, 0, zeros, old, 64, UCCS_INT64, UCCS_SUM, &op), &request);
}

static int locks_later(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    int status = counted(uccs_lock_nb(peer, locks, 0, UCCS_LOCK_SHARED, &request));
    const bool got = status == UCCS_OK;
    status = finishes(status, &request);
    if (got)
        OK(uccs_unlock(peer, locks, 0, UCCS_LOCK_SHARED));
    return status;
}

static int sends(size_t bytes)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &request};
    return operation_finishes(uccs_send(peer, HANDLER, UCCS_AM_NETWORK_PROTOCOL, there, bytes, &op), &request);
}

static int sends_short(void)
{
    return sends(16);
}

static int sends_long(void)
{
    return sends(sizeof there);
}

static int combines(void)
{
    uccs_request_t into = UCCS_REQUEST_NULL, parts[2] = {UCCS_REQUEST_NULL, UCCS_REQUEST_NULL};
    const long times = allowed;
    allowed = -1;
    OK(uccs_request_create(&parts[0]));
    OK(uccs_request_create(&parts[1]));
    allowed = times;
    int status = counted(uccs_request_combine(&into, 2, parts));
    for (int i = 0; i < 2; i++)
        if (parts[i])
            OK(uccs_request_release(&parts[i]));
    return finishes(status, &into);
}

struct call {
    const char *name;
    int (*call)(void);
};

static const struct call others[] = {
    {"context", makes_context},
    {"group", makes_group},
    {"request", makes_request},
    {"queue", makes_queue},
    {"endpoint", makes_endpoint},
    {"register", registers_memory},
    {"allocate", allocates_memory},
    {"import", imports_memory},
    {"dynamic", makes_dynamic},
    {"attach", attaches_memory},
    {"own counter", opens_own_counter},
    {"counter wait", waits_for_counter},
    {"word wait", waits_for_word},
    {"lock", locks_later},
    {"short message", sends_short},
    {"long message", sends_long},
    {"combine", combines},
};

/* One-sided operations, and what they need. */
static const struct call operations[] = {
    {"stream", makes_stream},
    {"flush", flushes_later},
    {"put, request", puts_with_request},
    {"put, both requests", puts_with_both_requests},
    {"put, callback", puts_with_callback},
    {"put, entry", puts_with_entry},
    {"pieces", gets_pieces},
    {"blocks", puts_blocks},
    {"atomic", adds},
    {"accumulate", accumulates},
    {"get", gets_waiting},
    {"get blocks", gets_blocks},
    {"put, signal and count", puts_and_signals},
    {"atomic alone", adds_unseen},
    {"sum", sums},
};

/* Returns how often the call was refused memory. */
static int starve(const char *name, int (*call)(void))
{
    int times = 0;
    for (;; times++) {
        count_from(times);
        int status = call();
        if (!refused) {
            CHECK_EQ(status, UCCS_OK);
            return times;
        }
        if (status != UCCS_ERR_NO_MEMORY && status != UCCS_OK)
            fprintf(stderr, "%s, allocation %d: %s\n", name, times, uccs_status_text(status));
        CHECK(status == UCCS_ERR_NO_MEMORY || status == UCCS_OK);
    }
}

static int starve_all(const struct call *calls, size_t n)
{
    int starved = 0;
    for (size_t i = 0; i < n; i++) {
        OK(calls[i].call()); /* connects, and fills the free lists */
        starved += starve(calls[i].name, calls[i].call) > 0;
    }
    return starved;
}

int main(int argc, char **argv)
{
    (void)argv;
    uccs_memory_t all[2], lock_of[2], own_locks;
    int starved = 0;
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, HANDLER, UCCS_AM_NETWORK_PROTOCOL, handler, 0));
    OK(uccs_counter_open(&counter));
    OK(uccs_memory_register(context, there, sizeof there, &mine));
    OK(uccs_memory_allocate(context, UCCS_LOCK_BYTES, &own_locks));
    OK(uccs_memory_dynamic(context, &dynamic));
    peer = check_endpoint(context, next_pe);
    check_share(context, mine, all);
    check_share(context, own_locks, lock_of);
    theirs = all[next_pe];
    locks = lock_of[next_pe];
    char own[UCCS_MEMORY_HANDLE_MAX] = {0}, of_all[2][UCCS_MEMORY_HANDLE_MAX];
    OK(uccs_memory_export(mine, own, &handle_bytes));
    OK(uccs_allgather(UCCS_GROUP_WORLD, own, of_all, sizeof own));
    memcpy(handle, of_all[next_pe], sizeof handle);
    const bool nodes = argc > 1;
    if (!nodes || me == 0) /* a thread that serves its peer's operations must not lack memory */
        starved += starve_all(operations, sizeof operations / sizeof *operations);
    if (!nodes)
        starved += starve_all(others, sizeof others / sizeof *others);
    CHECK(nodes && me ? !starved : starved > 5);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    return check_pass();
}
