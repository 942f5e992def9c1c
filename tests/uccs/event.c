/* A process sleeps in its own poll() and is woken: by messages of user class, by the completion of its own message, by a
 * collective that others end. The time limit of the poll() is the test's: a lost wake-up fails it. Progress of one context
 * runs no handler of another one.
 * pes: 2
 * case: started
 * case: thread
 * env: LATERAL_PROGRESS=thread
 */
#include "check.h"

#include <poll.h>

enum { BALL = 1, ROUNDS = 400, LIMIT_MS = 20000 };

static uccs_context_t context, second;
static uccs_endpoint_t other;
static int event;
static long balls, seconds;

static void catch (uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length;
    ++*(long *)argument;
}

static int has_balls(const void *wanted)
{
    return balls >= *(const long *)wanted;
}

static int is_complete(const void *request)
{
    return uccs_test((uccs_request_t *)(uintptr_t)request) == UCCS_OK;
}

static void sleep_until(int (*holds)(const void *), const void *what)
{
    while (!holds(what))
        if (uccs_progress() == 0 && uccs_event_arm() == UCCS_OK && !holds(what)) {
            struct pollfd file = {.fd = event, .events = POLLIN};
            CHECK_EQ(poll(&file, 1, LIMIT_MS), 1);
        }
}

static void throw(const struct uccs_op *op)
{
    OK(uccs_send(other, BALL, UCCS_AM_USER, 0, 0, op));
}

static void play(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        if (me == 0)
            throw(0);
        sleep_until(has_balls, &round);
        if (round % 50 == me)
            usleep(3000); /* the other one is fast asleep */
        if (me == 1)
            throw(0);
    }
}

static void sleep_for_requests(void)
{
    const long wanted = ROUNDS + 50;
    for (int round = 0; round < 50; round++) {
        uccs_request_t handled = UCCS_REQUEST_NULL, met = UCCS_REQUEST_NULL;
        throw(&(struct uccs_op){.request = &handled});
        sleep_until(is_complete, &handled);
        if (round % 10 == me)
            usleep(3000);
        OK(uccs_barrier_nb(UCCS_GROUP_WORLD, &met));
        sleep_until(is_complete, &met);
        OK(uccs_request_release(&handled));
        OK(uccs_request_release(&met));
    }
    sleep_until(has_balls, &wanted);
}

/* A message to each context; the first one's progress leaves the second one's where it is. The first ball tells that the other process
 * is out of the barrier, whose wait runs the handlers of both. */
static void apart(void)
{
    uccs_endpoint_t there = check_endpoint(second, 1 - me);
    CHECK_EQ(uccs_context_progress(0), 0);
    throw(0);
    while (balls < 1)
        uccs_context_progress(context);
    OK(uccs_send(there, BALL, UCCS_AM_USER, 0, 0, 0));
    throw(0);
    while (balls < 2)
        uccs_context_progress(context);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(uccs_context_progress(context), 0);
    CHECK_EQ(seconds, 0);
    while (seconds == 0)
        uccs_context_progress(second);
    CHECK_EQ(seconds, 1);
}

int main(void)
{
    check_start();
    CHECK_EQ(uccs_event_descriptor(0), UCCS_ERR_INVALID);
    CHECK_EQ(uccs_event_arm(), UCCS_ERR_STATE);
    OK(uccs_context_create(0, &context));
    OK(uccs_context_create(&(struct uccs_context_attr){.id = 1}, &second));
    OK(uccs_am_register(context, BALL, UCCS_AM_USER, catch, &balls));
    OK(uccs_am_register(second, BALL, UCCS_AM_USER, catch, &seconds));
    other = check_endpoint(context, 1 - me);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    apart();
    OK(uccs_event_descriptor(&event));
    CHECK_EQ(event >= 0, 1);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    balls = 0;
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    play();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    sleep_for_requests();
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    return check_pass();
}
