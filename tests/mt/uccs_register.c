/* A handler that is registered again and again while messages arrive: every call gets the argument of the registration
 * whose function it is.
 * pes: 1
 */
#include "../uccs/check.h"

enum { MESSAGES = 200000, REGISTRATIONS = 2000000, ID = 1 };

static uccs_context_t context;
static int first_argument, second_argument;
static long ran, mixed, registrations;
static int stop;

static void check_argument(const void *argument, const void *wanted)
{
    __atomic_fetch_add(&mixed, argument != wanted, __ATOMIC_RELAXED);
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
}

static void first(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)token, (void)data, (void)length;
    check_argument(argument, &first_argument);
}

static void second(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)token, (void)data, (void)length;
    check_argument(argument, &second_argument);
}

static void *register_both(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        uccs_am_register(context, ID, UCCS_AM_USER, first, &first_argument);
        uccs_am_register(context, ID, UCCS_AM_USER, second, &second_argument);
        __atomic_fetch_add(&registrations, 2, __ATOMIC_RELAXED);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_am_register(context, ID, UCCS_AM_USER, first, &first_argument));
    uccs_endpoint_t self = check_endpoint(context, me);
    for (int i = 0; i < 2; i++) /* two, so that writers meet too */
        CHECK(pthread_create(&threads[i], 0, register_both, 0) == 0);
    long sent = 0;
    for (; sent < MESSAGES || __atomic_load_n(&registrations, __ATOMIC_RELAXED) < REGISTRATIONS; sent++) {
        OK(uccs_am_short(context, self, ID, UCCS_AM_USER, 0, 0, 0));
        uccs_progress();
    }
    OK(uccs_flush(context));
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    CHECK_EQ(ran, sent);
    CHECK_EQ(mixed, 0);
    return check_pass();
}
