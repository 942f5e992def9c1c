/* While the target is out of the library an operation with nowait returns UCCS_AGAIN instead of waiting: for room, in one of
 * many messages, or, when it is ordered, for a long get before it. Then all of them arrive. A get counts by itself.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self UCX_MEM_EVENTS=no LATERAL_PROGRESS=poll
 */
#include "../uccs/check.h"

#include <signal.h>

enum { BYTES = 1 << 20, PIECES = 200, PIECE = 4096, LIMIT = 40, GET = 256 << 10 };

static uccs_context_t context;
static uccs_endpoint_t peer;
static uccs_memory_t own, theirs;
static sigset_t wake;
static char source[BYTES], dest[GET];

static void too_long(int number)
{
    static const char line[] = "an operation with nowait waits\n";
    (void)number;
    (void)!write(2, line, sizeof line - 1);
    _exit(1);
}

static void share(void)
{
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0}, both[2][UCCS_MEMORY_HANDLE_MAX];
    size_t length = sizeof handle;
    OK(uccs_memory_allocate(context, BYTES, &own));
    OK(uccs_memory_export(own, handle, &length));
    OK(uccs_allgather(UCCS_GROUP_WORLD, handle, both, sizeof handle));
    OK(uccs_memory_import(context, both[1 - me], length, &theirs));
}

/* Returns the status of PIECES puts in one operation. */
static int put_pieces(void)
{
    const struct uccs_op op = {.nonblocking = 1, .nowait = 1};
    struct uccs_piece pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++)
        pieces[i] = (struct uccs_piece){.offset = GET + i * PIECE / 2,
                                        .local = source + GET + i * PIECE / 2,
                                        .length = PIECE / 2};
    return uccs_put_pieces(peer, theirs, pieces, PIECES, &op);
}

static void fill(int64_t receiver, uccs_counter_t counter)
{
    const struct uccs_op ordered = {.nonblocking = 1, .nowait = 1, .ordered = 1};
    const struct uccs_op get = {.nonblocking = 1, .nowait = 1, .counter = counter};
    long puts = 0;
    int status = UCCS_OK;
    alarm(LIMIT);
    OK(uccs_get(peer, theirs, 0, dest, sizeof dest, &get));
    CHECK_EQ(uccs_put(peer, theirs, 0, source, 8, &ordered), UCCS_AGAIN);
    while (status == UCCS_OK && puts < 1000000) {
        status = put_pieces();
        puts += status == UCCS_OK;
    }
    CHECK_EQ(status, UCCS_AGAIN);
    CHECK_EQ(uccs_put(peer, theirs, 0, source, sizeof source, &(struct uccs_op){.nonblocking = 1, .nowait = 1}),
             UCCS_AGAIN);
    alarm(0);
    CHECK(kill((pid_t)receiver, SIGUSR1) == 0);
    OK(uccs_flush(context));
    while ((status = uccs_put(peer, theirs, 0, source, 8, &ordered)) == UCCS_AGAIN)
        ;
    OK(status);
    OK(uccs_flush(context));
}

int main(void)
{
    struct uccs_memory_attr attr;
    uccs_counter_t counter;
    int number;
    sigemptyset(&wake);
    sigaddset(&wake, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &wake, 0);
    signal(SIGALRM, too_long);
    check_start();
    OK(uccs_context_create(0, &context));
    OK(uccs_counter_open(&counter));
    share();
    peer = check_endpoint(context, 1 - me);
    memset(source, 7, sizeof source);
    int64_t pids[2], pid = getpid();
    OK(uccs_allgather(UCCS_GROUP_WORLD, &pid, pids, sizeof pid));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 0)
        fill(pids[1], counter);
    else
        CHECK(sigwait(&wake, &number) == 0);
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    if (me == 1) {
        OK(uccs_memory_query(own, &attr));
        CHECK(memcmp(attr.address, source, 8) == 0);
        CHECK(memcmp((char *)attr.address + GET, source + GET, (size_t)PIECES * PIECE / 2) == 0);
        OK(uccs_counter_wait(counter, 1));
    }
    OK(uccs_counter_shut(counter));
    OK(uccs_memory_release(theirs));
    OK(uccs_memory_release(own));
    OK(uccs_context_destroy(context));
    return check_pass();
}
