/* A handler is taken back and registered again while other threads send and make progress: it never runs between the two, and no
 * message is lost.
 * pes: 1
 */
#include "../uccs/check.h"

enum { SENDERS = 3, MESSAGES = 20000, ID = 1 };

static uccs_context_t context;
static uccs_endpoint_t self;
static long ran, late;
static int open_now, ended;

static void take(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    __atomic_fetch_add(&late, !__atomic_load_n(&open_now, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
}

static void *send(void *unused)
{
    char data[300] = "";
    for (long i = 0; i < MESSAGES; i++) {
        OK(uccs_send(self, ID, UCCS_AM_USER, data, i % 2 ? sizeof data : 8, 0));
        uccs_progress();
    }
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
    return unused;
}

static void open_handler(void)
{
    __atomic_store_n(&open_now, 1, __ATOMIC_RELEASE);
    OK(uccs_am_register(context, ID, UCCS_AM_USER, take, 0));
}

int main(void)
{
    pthread_t threads[SENDERS];
    check_start();
    OK(uccs_context_create(0, &context));
    self = check_endpoint(context, me);
    open_handler();
    for (int i = 0; i < SENDERS; i++)
        CHECK(pthread_create(&threads[i], 0, send, 0) == 0);
    while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < SENDERS) {
        OK(uccs_am_unregister(context, ID));
        __atomic_store_n(&open_now, 0, __ATOMIC_RELEASE);
        uccs_progress();
        open_handler();
        uccs_progress();
    }
    for (int i = 0; i < SENDERS; i++)
        pthread_join(threads[i], 0);
    OK(uccs_stream_flush(uccs_context_stream(context), 0, 0));
    CHECK_EQ(late, 0);
    CHECK_EQ(ran, SENDERS * MESSAGES);
    return check_pass();
}
