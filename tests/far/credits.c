/* Every credit of a flow of messages comes back. As many messages find room after tens of thousands have been handled as
 * before, while the receiver is out of the library; then all of them arrive.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self UCX_MEM_EVENTS=no LATERAL_PROGRESS=poll
 * timeout: 120
 */
#include "../uccs/check.h"

#include <signal.h>
#include <time.h>

enum { TAKE = 1, MANY = 20000, LIMIT = 20 };

static const enum uccs_am_class classes[] = {UCCS_AM_NETWORK_PROTOCOL, UCCS_AM_USER};
static uccs_context_t context;
static uccs_endpoint_t peer;
static long taken;
static int64_t pids[2];
static sigset_t wake;

static void take(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    taken++;
}

static int send(int class, const struct uccs_op *op)
{
    return uccs_am_short(context, peer, TAKE + class, classes[class], &class, sizeof class, op);
}

static void take_until(long all)
{
    time_t end = time(0) + LIMIT;
    while (taken < all && time(0) < end)
        uccs_progress();
    CHECK_EQ(taken, all);
}

static void call_other(void)
{
    CHECK(kill((pid_t)pids[1 - me], SIGUSR1) == 0);
}

static void await_call(void)
{
    int number = 0;
    CHECK(sigwait(&wake, &number) == 0);
}

/* Returns how many messages of a class find room while PE 1 is away. */
static long fill(int class)
{
    const struct uccs_op op = {.nowait = 1};
    long room = 0;
    int status;
    while ((status = send(class, &op)) == UCCS_OK)
        room++;
    CHECK_EQ(status, UCCS_AGAIN);
    return room;
}

/* One round: PE 1 goes away and says so, PE 0 fills the flow, PE 1 comes back and takes the messages. Signals of the
 * system call the other PE: PE 1 must not look for messages meanwhile. */
static long test_room(int class)
{
    int64_t room = 0;
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 0) {
        await_call();
        room = fill(class);
        call_other();
        OK(uccs_flush(context));
    } else {
        call_other();
        await_call();
    }
    OK(uccs_broadcast(UCCS_GROUP_WORLD, &room, sizeof room, 0));
    if (me == 1) {
        take_until(room);
        taken = 0;
    }
    return room;
}

static void test_class(int class)
{
    long before = test_room(class);
    CHECK(before > 100);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 0) {
        for (int i = 0; i < MANY; i++)
            OK(send(class, 0));
        OK(uccs_flush(context));
    } else {
        take_until(MANY);
        taken = 0;
    }
    CHECK_EQ(test_room(class), before);
}

int main(void)
{
    sigemptyset(&wake);
    sigaddset(&wake, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &wake, 0);
    check_start();
    OK(uccs_context_create(0, &context));
    for (int class = 0; class < 2; class ++)
        OK(uccs_am_register(context, TAKE + class, classes[class], take, 0));
    peer = check_endpoint(context, 1 - me);
    int64_t pid = getpid();
    OK(uccs_allgather(UCCS_GROUP_WORLD, &pid, pids, sizeof pid));
    for (int class = 0; class < 2; class ++)
        test_class(class);
    OK(uccs_context_destroy(context));
    return check_pass();
}
