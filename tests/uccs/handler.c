/* One-sided operations in a handler do what they do elsewhere, whatever kind of memory, and however it is reached: two
 * processes whose handlers work on each other's memory at once.
 * pes: 2
 * timeout: 30
 * case: copied
 * case: executed
 * env: LATERAL_WIRE=messages
 * case: thread
 * env: LATERAL_WIRE=messages LATERAL_PROGRESS=thread
 */
#include "check.h"

enum { WORK = 1, MESSAGES = 50, WORDS = 20000 };

static uccs_context_t context;
static uccs_endpoint_t *to;
static uccs_memory_t *allocated, *registered;
static long done;

static void use(uccs_memory_t memory, int pe)
{
    static const long put[WORDS] = {5, 6, 7}; /* the same from every handler */
    long *got = malloc(sizeof put);
    uint64_t old;
    uccs_request_t request = UCCS_REQUEST_NULL;
    OK(uccs_put_large_contiguous(context, to[pe], memory, 8, put, sizeof put, 0));
    OK(uccs_get_large_contiguous(context, to[pe], memory, 8, got, sizeof put, 0));
    CHECK(memcmp(put, got, sizeof put) == 0);
    OK(uccs_atomic64(context, to[pe], memory, 0, UCCS_ATOMIC_ADD, 1, 0, &old, 0));
    CHECK(old < MESSAGES);
    OK(uccs_put_large_contiguous_nb(context, to[pe], memory, 8, put, sizeof put, &request));
    OK(uccs_fence(context));
    OK(uccs_request_release(&request));
    free(got);
}

static void work(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    int source = uccs_am_source(token);
    (void)payload, (void)length, (void)argument;
    use(allocated[source], source);
    use(registered[source], source);
    CHECK_EQ(uccs_am_short(context, to[source], WORK, UCCS_AM_USER, 0, 0, 0), UCCS_ERR_STATE);
    __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
}

int main(void)
{
    enum { BYTES = (WORDS + 1) * sizeof(long) };
    long *words = calloc(1, BYTES);
    struct uccs_memory_attr attr;
    uccs_memory_t a, r;
    check_start();
    to = calloc((size_t)npes, sizeof *to);
    allocated = calloc((size_t)npes, sizeof *allocated);
    registered = calloc((size_t)npes, sizeof *registered);
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, WORK, UCCS_AM_NETWORK_PROTOCOL, work, 0));
    for (int pe = 0; pe < npes; pe++)
        to[pe] = check_endpoint(context, pe);
    OK(uccs_memory_allocate(context, BYTES, &a));
    OK(uccs_memory_query(a, &attr));
    OK(uccs_memory_register(context, words, BYTES, &r));
    check_share(context, a, allocated);
    check_share(context, r, registered);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int i = 0; i < MESSAGES; i++)
        OK(uccs_am_short(context, to[next_pe], WORK, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0));
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < MESSAGES)
        uccs_progress();
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(words[0], MESSAGES);
    CHECK_EQ(*(long *)attr.address, MESSAGES);
    CHECK(words[1] == 5 && words[3] == 7);
    for (int pe = 0; pe < npes; pe++) {
        OK(uccs_memory_release(allocated[pe]));
        OK(uccs_memory_release(registered[pe]));
    }
    OK(uccs_memory_release(a));
    OK(uccs_memory_release(r));
    OK(uccs_context_destroy(context));
    free(words);
    free(to);
    free(allocated);
    free(registered);
    return check_pass();
}
