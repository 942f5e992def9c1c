/* A thread that shares a core with others in progress gives the core away after a turn, as long as the others show
 * themselves. A thread that is alone does not. All threads of the test run on one core. */
#include "uccs/am/inner.h"

#include "unit/check.h"

#include <pthread.h>
#include <sched.h>

static void *show(void *unused)
{
    uccs_am_show_on_core();
    return unused;
}

static void let_another_show_itself(void)
{
    pthread_t thread; /* inherits the core */
    CHECK(pthread_create(&thread, 0, show, 0) == 0);
    pthread_join(thread, 0);
}

/* How many of so many turns end with the core given away. */
static int given(int turns)
{
    int count = 0;
    for (int i = 0; i < turns * SHARE_AFTER; i++)
        count += uccs_am_share_core(1);
    return count;
}

int main(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    uccs_am_show_on_core(); /* nobody was there before me, which counts as somebody */
    CHECK(given(SHARE_BELIEF) == SHARE_BELIEF);
    CHECK(given(10) == 0);
    let_another_show_itself();
    CHECK(!uccs_am_share_core(SHARE_AFTER - 1)); /* not before the turn's end */
    CHECK(uccs_am_share_core(1));
    CHECK(given(10) == SHARE_BELIEF);
    for (int i = 0; i < 10; i++) {
        let_another_show_itself();
        CHECK(given(1) == 1);
    }
    return 0;
}
