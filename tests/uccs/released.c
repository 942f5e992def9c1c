/* An owner releases memory while an operation waits for the owner to execute it. The request reports the failure once,
 * alone or merged. A flush reports that of an operation without a request.
 * pes: 2
 * env: LATERAL_WIRE=messages
 */
#include "check.h"

#include <malloc.h>

enum { WORDS = 1000, GO = 1 };

static uccs_context_t context;
static uccs_endpoint_t other;
static long going;

/* Puts until there is no room, since the owner executes none. What finds no room keeps nothing and tells no queue. Returns the
 * number of puts that are under way. */
static size_t fill(uccs_memory_t theirs, uccs_queue_t queue)
{
    enum { TIMES = 1000, EACH = 16 };
    static long source[WORDS];
    const struct uccs_op eager = {.nonblocking = 1, .nowait = 1, .queue = queue};
    size_t under_way = 0;
    int status;
    while ((status = uccs_put(other, theirs, 0, source, sizeof source, &eager)) == UCCS_OK)
        under_way++;
    CHECK_EQ(status, UCCS_AGAIN);
    const size_t held = mallinfo2().uordblks;
    for (int i = 0; i < TIMES; i++)
        CHECK_EQ(uccs_put(other, theirs, 0, source, sizeof source, &eager), UCCS_AGAIN);
    CHECK(mallinfo2().uordblks < held + TIMES * EACH);
    return under_way;
}

/* All have failed. */
static void empty(uccs_queue_t queue, size_t under_way)
{
    struct uccs_entry entry;
    size_t count = 1;
    for (size_t i = 0; i < under_way; i++) {
        OK(uccs_queue_wait(queue, &entry, &count));
        CHECK_EQ(count, 1);
        CHECK_EQ(entry.status, UCCS_ERR_FAILED);
    }
    OK(uccs_queue_poll(queue, &entry, &count));
    CHECK_EQ(count, 0);
    OK(uccs_queue_release(queue));
}

static void use(uccs_memory_t theirs, uccs_memory_t flag)
{
    uccs_queue_t queue;
    long source[WORDS] = {1}, done = 1;
    uccs_request_t put = UCCS_REQUEST_NULL, get = UCCS_REQUEST_NULL, both = UCCS_REQUEST_NULL, fine = UCCS_REQUEST_NULL;
    const struct uccs_op later = {.nonblocking = 1};
    size_t index = 77;
    while (!__atomic_load_n(&going, __ATOMIC_ACQUIRE)) /* the owner makes no progress from now on */
        uccs_progress();
    OK(uccs_put_large_contiguous_nb(context, other, theirs, 0, source, sizeof source, &put));
    OK(uccs_get_large_contiguous_nb(context, other, theirs, 0, source, sizeof source, &get));
    OK(uccs_put_large_contiguous_nb(context, other, theirs, 0, source, 8, &both));
    OK(uccs_request_combine(&both, 1, &fine));
    OK(uccs_put(other, theirs, 0, source, 8, &later));
    OK(uccs_queue_create(&queue));
    const size_t under_way = fill(theirs, queue);
    OK(uccs_put_short_contiguous(context, other, flag, 0, &done, sizeof done, 0));
    CHECK_EQ(uccs_flush(context), UCCS_ERR_FAILED);
    OK(uccs_flush(context));
    CHECK_EQ(uccs_wait(&put), UCCS_ERR_FAILED);
    OK(uccs_wait(&put));
    OK(uccs_test(&put));
    empty(queue, under_way);
    CHECK_EQ(uccs_wait_any(&get, 1, &index), UCCS_ERR_FAILED);
    CHECK_EQ(index, 0);
    CHECK_EQ(uccs_wait_all(&both, 1), UCCS_ERR_FAILED);
    OK(uccs_wait_all(&both, 1));
    OK(uccs_request_release(&put));
    OK(uccs_request_release(&get));
    OK(uccs_request_release(&both));
}

int main(void)
{
    static long words[WORDS], mapped[1];
    long *private_words = calloc(WORDS, sizeof *private_words);
    uccs_memory_t own, flag, all[2], flags[2];
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, GO, UCCS_AM_USER, count_message, &going));
    other = check_endpoint(context, next_pe);
    OK(uccs_memory_register(context, private_words, sizeof words, &own));
    OK(uccs_memory_allocate(context, sizeof mapped, &flag));
    check_share(context, own, all);
    check_share(context, flag, flags);
    struct uccs_memory_attr attr;
    OK(uccs_memory_query(flag, &attr));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 1) {
        use(all[0], flags[0]);
        OK(uccs_memory_release(own));
    } else {
        OK(uccs_am_short(context, other, GO, UCCS_AM_USER, 0, 0, 0));
        while (!__atomic_load_n((long *)attr.address, __ATOMIC_ACQUIRE))
            ; /* no progress here */
        OK(uccs_memory_release(own));
    }
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK(private_words[0] == 0);
    for (int pe = 0; pe < 2; pe++) {
        OK(uccs_memory_release(all[pe]));
        OK(uccs_memory_release(flags[pe]));
    }
    OK(uccs_memory_release(flag));
    OK(uccs_context_destroy(context));
    free(private_words);
    return check_pass();
}
