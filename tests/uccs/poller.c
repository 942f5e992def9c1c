/* Pollers of the program: every wait and test that finds nothing calls them all, on the calling thread, never inside a
 * poller or a handler; they may call the library; removed ones are not called any more.
 * pes: 1 2
 */
#include "check.h"

enum { MANY = 9, MESSAGE = 1 };

static uccs_context_t context;
static uccs_endpoint_t next;
static long calls[MANY], depth, deepest, handled;
static pthread_t caller;
static uccs_request_t moves; /* a message that another library would send: here a poller sends it */
static int sends;

static int count(void *argument)
{
    long *mine = argument;
    ++*mine;
    deepest = ++depth > deepest ? depth : deepest;
    CHECK(pthread_equal(pthread_self(), caller));
    (void)uccs_progress(); /* finds nothing, and must call no poller here */
    depth--;
    return 0;
}

/* Stands for the other library: the wait of the peer ends because a poller here has sent. */
static int send_one(void *unused)
{
    (void)unused;
    if (!sends)
        return 0;
    sends--;
    OK(uccs_am_short(context, next, MESSAGE, UCCS_AM_USER, 0, 0, &(struct uccs_op){.request = &moves}));
    return 1;
}

static int takes_itself_away(void *argument)
{
    OK(uccs_poller_remove(takes_itself_away, argument));
    ++*(long *)argument;
    return 0;
}

static void hear(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)token, (void)data, (void)length, (void)argument;
    handled++;
    long before = calls[0];
    (void)uccs_progress();
    CHECK_EQ(calls[0], before); /* a handler calls none */
}

static void test_arguments(void)
{
    CHECK_EQ(uccs_poller_add(0, 0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_poller_remove(count, &calls[0]), UCCS_ERR_INVALID);
    OK(uccs_poller_add(count, &calls[0]));
    CHECK_EQ(uccs_poller_add(count, &calls[0]), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_poller_remove(count, &calls[1]), UCCS_ERR_INVALID);
    OK(uccs_poller_remove(count, &calls[0]));
}

static void wait_for_message(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    OK(uccs_am_short(context, next, MESSAGE, UCCS_AM_USER, 0, 0, &(struct uccs_op){.request = &request}));
    OK(uccs_wait(&request));
    OK(uccs_request_release(&request));
}

static void test_calls(void)
{
    long away = 0, before;
    for (int i = 0; i < MANY; i++)
        OK(uccs_poller_add(count, &calls[i]));
    OK(uccs_poller_add(takes_itself_away, &away));
    while (calls[0] == 0)
        uccs_progress();
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(calls[i], 1);
    CHECK_EQ(away, 1);
    wait_for_message();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(away, 1);
    CHECK_EQ(deepest, 1);
    before = calls[0];
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(calls[i], before);
        OK(uccs_poller_remove(count, &calls[i]));
    }
    wait_for_message();
    (void)uccs_progress();
    CHECK_EQ(calls[0], before);
    OK(uccs_barrier(UCCS_GROUP_WORLD)); /* nobody's messages of this part come later */
}

/* Each PE waits for a message that only the poller of its neighbour sends. */
static void test_foreign_progress(void)
{
    long before = handled; /* the neighbour's poller sends only behind the barrier */
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    OK(uccs_poller_add(send_one, 0));
    sends = 1;
    while (handled == before || sends)
        uccs_progress();
    OK(uccs_wait(&moves));
    OK(uccs_request_release(&moves));
    OK(uccs_poller_remove(send_one, 0));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    CHECK_EQ(handled, before + 1);
}

int main(void)
{
    caller = pthread_self();
    test_arguments(); /* before uccs_init too */
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, MESSAGE, UCCS_AM_USER, hear, 0));
    next = check_endpoint(context, next_pe);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    test_arguments();
    test_calls();
    test_foreign_progress();
    return check_pass();
}
