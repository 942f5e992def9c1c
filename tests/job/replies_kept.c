/* Replies of user class to a PE that is in OpenSHMEM's waits, which do not run them: more of them than a ring holds keep
 * nobody waiting. They run, in order and whole, once the PE makes progress by uccs.h. One thread
 * answers, without which there is no order among replies.
 * pes: 2
 * timeout: 30
 * env: LATERAL_MEMORY=1m LATERAL_PROGRESS=poll
 */
#include "../conform/check.h"

#include <uccs.h>

#define OK(call) CHECK_EQ((call), UCCS_OK)
enum { ASK = 1, ANSWER, ROUNDS = 4, MESSAGES = 400, LONG = 3000 };

static uccs_context_t context;
static uccs_endpoint_t other;
static long asked, answered, over;

/* The reply to every third one is long. */
static size_t reply_bytes(long number)
{
    return number % 3 ? sizeof number : LONG;
}

static void ask(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    char reply[LONG] = {0};
    long number;
    (void)argument;
    CHECK_EQ(length, sizeof number);
    memcpy(&number, data, sizeof number);
    memcpy(reply, data, sizeof number);
    reply[LONG - 1] = (char)number;
    OK(uccs_am_reply(token, ANSWER, UCCS_AM_USER, reply, reply_bytes(number)));
    shmem_long_atomic_inc(&asked, uccs_am_source(token));
}

static void answer(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    long number;
    (void)token, (void)argument;
    memcpy(&number, data, sizeof number);
    CHECK_EQ(number, answered);
    CHECK_EQ(length, reply_bytes(number));
    if (length == LONG)
        CHECK_EQ(((const char *)data)[LONG - 1], (char)number);
    answered++;
}

static void ask_all(void)
{
    long number = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < MESSAGES; i++, number++)
            OK(uccs_am_short(context, other, ASK, UCCS_AM_NETWORK_PROTOCOL, &number, sizeof number, 0));
        shmem_long_wait_until(&asked, SHMEM_CMP_GE, (long)round * MESSAGES);
    }
    CHECK(answered < number); /* some had to wait */
    while (answered < number)
        uccs_progress();
    shmem_long_p(&over, 1, 1 - me);
}

int main(void)
{
    check_start();
    OK(uccs_init());
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, ASK, UCCS_AM_NETWORK_PROTOCOL, ask, 0));
    OK(uccs_am_register(context, ANSWER, UCCS_AM_USER, answer, 0));
    OK(uccs_endpoint_create(context, UCCS_GROUP_WORLD, 1 - me, &other));
    shmem_barrier_all();
    if (me == 1)
        ask_all();
    else
        shmem_long_wait_until(&over, SHMEM_CMP_EQ, 1);
    OK(uccs_finalize());
    return check_pass();
}
