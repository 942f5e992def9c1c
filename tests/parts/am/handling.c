/* Who handles messages besides the calls of uccs.h: the progress thread, which peers ring for, and waits that have nothing else to do. */
#include "unit/check.h"

#include "uccs/am/inner.h"
#include "uccs/core/poll.h"
#include "uccs/core/progress.h"

static struct uccs_server *added;
static int found;
static int (*poller)(void);

static int test_poll(void)
{
    return found;
}

static uint64_t test_polls(void)
{
    return UINT64_C(0x700000005);
}

static void test_add(struct uccs_server *server)
{
    CHECK(!added);
    added = server;
}

static void test_poll_add(int (*poll)(void), enum uccs_poller_when when)
{
    CHECK(!poller && when == UCCS_POLL_IDLE);
    poller = poll;
}

static void test_poll_remove(int (*poll)(void))
{
    CHECK(poll == poller);
    poller = NULL;
}

#define uccs_am_poll_network test_poll
#define uccs_am_polls test_polls
#define uccs_progress_add test_add
#define uccs_core_poll_add test_poll_add
#define uccs_core_poll_remove test_poll_remove
#include "uccs/am/thread.c"

int main(void)
{
    uccs_am_prepare();
    CHECK(added && added->rung && added->descriptor == -1 && added->alarm == -1 && !added->tend && !added->alarmed);
    CHECK(added->polls() == UINT64_C(0x700000005) && added->serve() == UCCS_SERVED_NOTHING && !poller);
    for (found = 1; found < 3; found++)
        CHECK(added->serve() == UCCS_SERVED_SOME);
    uccs_am_start();
    CHECK(poller == test_poll);
    uccs_am_stop();
    CHECK(!poller);
    return 0;
}
