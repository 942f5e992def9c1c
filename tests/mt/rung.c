/* A process that sleeps outside of the library is woken for each message that it gets, by whoever of the node sends it, and however many
 * peers ring in turn. A thread that no ring woke would look once a second, so the limit would pass before all rounds.
 * pes: 2 5 40
 * env: LATERAL_PROGRESS=thread
 * timeout: 90
 */
#include "../uccs/check.h"

#include <time.h>

enum { ASK = 1, ANSWER = 2, OVER = 3, MESSAGES = 900 };

static uccs_context_t context;
static uccs_endpoint_t to[64];
static long answers, over;

static void ask(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)argument;
    OK(uccs_am_reply(token, ANSWER, UCCS_AM_NETWORK_PROTOCOL, data, length));
}

static void end(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)token, (void)data, (void)length, (void)argument;
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
}

static void sleep_briefly(long nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, 0);
}

/* Asks a process that sleeps, and sleeps itself until the answer has come: both threads have to be rung. */
static void ask_sleeper(int pe)
{
    const long before = __atomic_load_n(&answers, __ATOMIC_ACQUIRE);
    OK(uccs_am_short(context, to[pe], ASK, UCCS_AM_NETWORK_PROTOCOL, "hello", 6, 0));
    while (__atomic_load_n(&answers, __ATOMIC_ACQUIRE) == before)
        sleep_briefly(1000000);
}

static void open_context(void)
{
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, ASK, UCCS_AM_NETWORK_PROTOCOL, ask, 0));
    OK(uccs_am_register(context, ANSWER, UCCS_AM_NETWORK_PROTOCOL, count_message, &answers));
    OK(uccs_am_register(context, OVER, UCCS_AM_NETWORK_PROTOCOL, end, 0));
    for (int pe = 0; pe < npes; pe++)
        to[pe] = check_endpoint(context, pe);
}

int main(void)
{
    check_start();
    open_context();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    for (int i = 0; me == 0 && i < MESSAGES; i++)
        ask_sleeper(1 + i % (npes - 1));
    for (int pe = 1; me == 0 && pe < npes; pe++)
        OK(uccs_am_short(context, to[pe], OVER, UCCS_AM_NETWORK_PROTOCOL, 0, 0, 0));
    while (me != 0 && !__atomic_load_n(&over, __ATOMIC_ACQUIRE))
        sleep_briefly(3000000);
    return check_pass();
}
