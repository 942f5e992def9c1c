/* Completion queues: arguments, an empty queue, and what a handler may do.
 * pes: 1 2
 */
#include "check.h"

enum { LOOK = 1 };

static uccs_context_t context;
static uccs_queue_t queue;
static long looked;

static void look(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    struct uccs_entry entry;
    size_t count = 1;
    (void)token, (void)payload, (void)length, (void)argument;
    CHECK_EQ(uccs_queue_wait(queue, &entry, &count), UCCS_ERR_STATE);
    OK(uccs_queue_poll(queue, &entry, &count));
    CHECK_EQ(count, 0);
    __atomic_fetch_add(&looked, 1, __ATOMIC_RELEASE);
}

static void test_arguments(void)
{
    struct uccs_entry entry;
    size_t count = 1, none = 0;
    CHECK_EQ(uccs_queue_create(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_queue_release(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_queue_poll(queue, 0, &count), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_queue_poll(queue, &entry, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_queue_poll(queue, &entry, &none), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_queue_wait(0, &entry, &count), UCCS_ERR_INVALID);
    OK(uccs_queue_poll(queue, &entry, &count));
    CHECK_EQ(count, 0);
}

int main(void)
{
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, LOOK, UCCS_AM_USER, look, 0));
    OK(uccs_queue_create(&queue));
    test_arguments();
    OK(uccs_am_short(context, check_endpoint(context, next_pe), LOOK, UCCS_AM_USER, 0, 0, 0));
    while (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE))
        uccs_progress();
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_queue_release(queue));
    OK(uccs_context_destroy(context));
    return check_pass();
}
