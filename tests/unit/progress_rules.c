/* When the progress thread serves, sleeps and looks again, by a made-up clock, and what it looks after. */
#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/thread.h"
#include "uccs/core/bell.h"
#include "uccs/core/poller.h"
#include "uccs/core/progress.h"

#include "unit/check.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

struct uccs_core uccs_core;
_Thread_local int uccs_pollers_barred;

static uint64_t now = UINT64_C(1) << 40; /* of the made-up clock, in nanoseconds */
static const char *how = "auto";
static int joins, starts, start_error, lines;

static uint64_t told_time(void)
{
    return now;
}

static const char *told_text(enum env_id name)
{
    CHECK(name == ENV_PROGRESS);
    return how;
}

static int start_thread(pthread_t *thread, void *(*body)(void *), void *argument)
{
    (void)thread, (void)argument;
    CHECK(body != 0);
    starts++;
    return start_error;
}

static int join_thread(pthread_t thread, void **result)
{
    (void)thread, (void)result;
    struct pollfd bell_file = {.fd = uccs_bell_descriptor(), .events = POLLIN};
    CHECK(poll(&bell_file, 1, 0) == 1); /* it has been woken */
    joins++;
    return 0;
}

enum uccs_served uccs_work_serve(void)
{
    return UCCS_SERVED_NOTHING;
}

uint64_t uccs_work_polls(void)
{
    return 5;
}

static int sleep_for(struct pollfd *files, nfds_t count, const struct timespec *time, const sigset_t *signals);

#define clock_nanoseconds told_time
#define env_text told_text
#define thread_start start_thread
#define pthread_join join_thread
#define ppoll sleep_for
#define prctl(...) (void)0
#undef log_line
#define log_line(...) (void)(lines++)
#include "uccs/core/bell.c"
#include "uccs/core/progress.c"
#undef ppoll

/* --- Servers */

static struct made {
    struct uccs_server server;
    enum uccs_served gives, once; /* once: what the next look gives before that */
    uint64_t polled, per_look;    /* the program's polls, and how many come before each look */
    int served, tended, alarms;
} made[2];

#define MADE(i)                                     \
    static enum uccs_served serve##i(void)          \
    {                                               \
        const enum uccs_served once = made[i].once; \
        made[i].once = UCCS_SERVED_NOTHING;         \
        made[i].served++;                           \
        return once ? once : made[i].gives;         \
    }                                               \
    static uint64_t polls##i(void)                  \
    {                                               \
        return made[i].polled;                      \
    }                                               \
    static void alarmed##i(void)                    \
    {                                               \
        made[i].alarms++;                           \
    }
MADE(0)
MADE(1)

static void tend0(void)
{
    made[0].tended++;
}

static void begin_servers(void)
{
    memset(made, 0, sizeof made);
    made[0].server = (struct uccs_server){serve0, polls0, tend0, -1, -1, alarmed0, .rung = true};
    made[1].server = (struct uccs_server){serve1, polls1, 0, -1, -1, alarmed1, .rung = false};
    server_count = 0;
    uccs_progress_add(&made[0].server);
    uccs_progress_add(&made[1].server);
}

static void rounds(void)
{
    begin_servers();
    uccs_progress_add(&made[0].server); /* once */
    CHECK(server_count == 2 && servers[0] == &made[0].server && servers[1] == &made[1].server);
    made[0].polled = 7;
    struct round round = serve_all(0);
    CHECK(made[0].served == 1 && made[1].served == 1 && made[0].server.seen == 7 && round.open && !round.found);
    CHECK(!round.soon && !round.later && !round.attended && !round.wanted);
    round = serve_all(1); /* the program has not polled */
    CHECK(made[0].served == 2 && !made[0].server.attended && !round.attended);
    made[0].polled = 10;
    round = serve_all(4); /* too seldom */
    CHECK(made[0].served == 3 && !round.attended && made[0].server.seen == 10);
    made[0].polled = 14;
    round = serve_all(4);
    CHECK(made[0].served == 3 && made[0].tended == 1 && round.attended && !round.open && made[1].served == 4);
    made[1].polled = 1; /* the other one, for which nobody rings, and which needs no tending */
    round = serve_all(1);
    CHECK(made[0].served == 4 && made[1].served == 4 && round.attended && round.open && made[1].server.attended);
    made[0].gives = UCCS_SERVED_SOON;
    round = serve_all(0);
    CHECK(round.soon && !round.later && !round.found && made[1].served == 5);
    made[0].gives = UCCS_SERVED_NOTHING;
    made[1].gives = UCCS_SERVED_LATER;
    round = serve_all(0);
    CHECK(round.later && !round.soon && !round.found);
    made[0].gives = UCCS_SERVED_SOME;
    round = serve_all(0);
    CHECK(round.later && round.found && !round.wanted);
    made[0].server.paused = true;
    CHECK(serve_all(0).wanted);
    made[0].polled++; /* it has come back meanwhile */
    CHECK(!serve_all(0).wanted && serve_all(0).wanted);
}

static void files_to_wake(void)
{
    struct pollfd files[FILES];
    int one[2], other[2];
    begin_servers();
    CHECK(pipe(one) == 0 && pipe(other) == 0);
    made[0].server.descriptor = one[0];
    made[1].server.alarm = other[0];
    list_files(files);
    CHECK(files[0].fd == uccs_bell_descriptor() && files[1].fd == -1 && files[2].fd == one[0]);
    CHECK(files[3].fd == other[0] && files[4].fd == -1 && files[3].events == POLLIN && files[2].events == POLLIN);
    made[0].server.attended = true; /* the program looks itself */
    made[1].server.attended = true;
    list_files(files);
    CHECK(files[2].fd == -1 && files[3].fd == other[0]);
    made[0].server.attended = false;
    made[0].server.served = UCCS_SERVED_SOON; /* what is there wakes nobody */
    list_files(files);
    CHECK(files[2].fd == -1);
    made[0].polled = 3;
    look_for_pauses();
    CHECK(!made[0].server.paused && made[1].server.paused);
    for (int i = 0; i < 2; i++)
        close(one[i]), close(other[i]);
}

/* --- How long it sleeps */

static void ticks(void)
{
    struct rest rest = {.first = FIRST_TICK};
    CHECK(longest_tick(&rest) == LAST_TICK && rest.since == now);
    now += PATIENCE * LAST_TICK;
    CHECK(longest_tick(&rest) == LAST_TICK);
    now += PATIENCE * 100 * MICRO;
    CHECK(longest_tick(&rest) == LAST_TICK + 100 * MICRO && rest.since == now - PATIENCE * (LAST_TICK + 100 * MICRO));
    rest.first = 1000 * MICRO;
    CHECK(longest_tick(&rest) == 1000 * MICRO);
    now += PATIENCE * LONG_TICK;
    CHECK(longest_tick(&rest) == LONG_TICK);
    uccs_core.oversubscribed = 1;
    CHECK(longest_tick(&rest) == CROWDED_TICK);
    uccs_core.naps = 5;
    CHECK(longest_tick(&rest) == CROWDED_TICK << 2);
    CHECK(fewest_polls(LAST_TICK, 10 * LAST_TICK) == 1);
    uccs_core.oversubscribed = uccs_core.naps = 0;
    CHECK(fewest_polls(LAST_TICK, 2 * LAST_TICK - 1) == 1 && fewest_polls(LAST_TICK, 2 * LAST_TICK) == 100);
    CHECK(fewest_polls(LONG_TICK, LONG_TICK) == LONG_TICK / SELDOM);
    CHECK(fewest_polls(LONG_TICK + 1, LAST_TICK + 1) == 0 && fewest_polls(LONG_TICK + 1, LAST_TICK) == 1);
}

static void returns(void)
{
    struct rest rest = {.first = FIRST_TICK, .tick = 7, .wanted = true};
    program_is_back(&rest);
    CHECK(rest.first == FIRST_TICK && rest.tick == FIRST_TICK && !rest.wanted);
    program_is_back(&rest);
    CHECK(rest.first == 2 * FIRST_TICK && rest.tick == 2 * FIRST_TICK);
    rest.first = LONG_TICK / 2;
    program_is_back(&rest);
    CHECK(rest.first == LONG_TICK);
    rest.first = LONG_TICK / 2 - 1;
    program_is_back(&rest);
    CHECK(rest.first == LONG_TICK - 2);
}

static void times(void)
{
    struct rest rest = {.first = FIRST_TICK, .tick = FIRST_TICK, .since = 4};
    struct round round = {0};
    struct uccs_own *own = uccs_own_mine();
    CHECK(time_to_sleep(&rest, &round) == LONGEST && rest.since == 0 && rest.calm == 0);
    rest.announced = true;
    CHECK(time_to_sleep(&rest, &round) == SETTLE && rest.calm == 1);
    CHECK(time_to_sleep(&rest, &round) == LONGEST && rest.calm == 2);
    own->deaf = 1;
    CHECK(time_to_sleep(&rest, &round) == LATER);
    rest.calm = 0;
    CHECK(time_to_sleep(&rest, &round) == SETTLE);
    own->deaf = 0;
    round.later = true;
    CHECK(time_to_sleep(&rest, &round) == LATER);
    rest.calm = 0;
    CHECK(time_to_sleep(&rest, &round) == SETTLE);
    round.soon = true;
    CHECK(time_to_sleep(&rest, &round) == SETTLE);
    round = (struct round){.attended = true};
    CHECK(time_to_sleep(&rest, &round) == 2 * FIRST_TICK && rest.since == now && rest.tick == LAST_TICK);
    CHECK(time_to_sleep(&rest, &round) == LAST_TICK && rest.tick == LAST_TICK && rest.first == 2 * FIRST_TICK);
    round.soon = true;
    CHECK(time_to_sleep(&rest, &round) == SETTLE);
    now += 2 * PATIENCE * LAST_TICK;
    round.soon = false;
    CHECK(time_to_sleep(&rest, &round) == LAST_TICK && time_to_sleep(&rest, &round) == 2 * LAST_TICK);
}

static bool sleeps(struct rest *rest, bool open, bool found)
{
    return may_sleep(rest, &(struct round){.open = open, .found = found});
}

static void announcements(void)
{
    struct rest rest = {0};
    struct uccs_own *own = uccs_own_mine();
    own->asleep = 0;
    CHECK(!sleeps(&rest, true, false) && rest.announced && own->asleep == 1); /* looks again first */
    CHECK(sleeps(&rest, true, false) && rest.announced && own->asleep == 1);
    own->asleep = 0; /* somebody has rung, which the loop sees */
    CHECK(sleeps(&rest, true, false) && own->asleep == 0);
    rest.announced = false;
    CHECK(!sleeps(&rest, true, false) && own->asleep == 1);
    CHECK(!sleeps(&rest, true, true) && !rest.announced && own->asleep == 0);
    CHECK(!sleeps(&rest, false, true) && !rest.announced);
    CHECK(sleeps(&rest, false, false) && !rest.announced && own->asleep == 0); /* others look for what is rung for */
    own->asleep = 1;
    CHECK(sleeps(&rest, false, false) && own->asleep == 0);
}

/* --- The loop: what happens during each sleep */

static struct {
    int sleeps, ends;  /* after so many sleeps the thread ends */
    int rings, alarms; /* numbers of the sleeps in which somebody rings, or an alarm goes off */
    int from, to;      /* numbers of the sleeps during which the program polls */
    long times[16];    /* how long it wanted to sleep */
} script;

static int sleep_for(struct pollfd *files, nfds_t count, const struct timespec *time, const sigset_t *signals)
{
    const int number = ++script.sleeps;
    CHECK(count == 1 + 2 * (nfds_t)server_count && !signals && number < 16);
    CHECK(files[BELL].fd == uccs_bell_descriptor() && files[1].fd == -1 && files[3].fd == 66);
    CHECK(files[2].fd == (made[0].server.attended ? -1 : 55) && files[4].fd == -1);
    script.times[number] = time->tv_sec * 1000000000 + time->tv_nsec;
    CHECK(poll(&(struct pollfd){.fd = files[BELL].fd, .events = POLLIN}, 1, 0) == 0); /* rings have been taken */
    for (nfds_t i = 0; i < count; i++)
        files[i].revents = 0;
    now += (uint64_t)script.times[number];
    if (number >= script.from && number < script.to)
        made[0].polled += 100000;
    if (number == script.ends)
        ending = 1;
    if (number == script.alarms)
        files[1].revents = files[3].revents = POLLIN;
    if (number == script.rings) {
        uccs_own_mine()->asleep = 0;
        uccs_bell_ring_mine();
        files[BELL].revents = POLLIN;
        made[0].once = UCCS_SERVED_SOME;
    }
    return (number == script.alarms) + (number == script.rings);
}

static void run_loop(void)
{
    begin_servers();
    ending = 0;
    uccs_own_mine()->asleep = 0;
    memset(script.times, 0, sizeof script.times);
    script.sleeps = 0;
    uccs_pollers_barred = 0;
    made[0].server.descriptor = 55;
    made[1].server.alarm = 66;
    CHECK(serve_until_end(0) == 0 && uccs_progress_me && uccs_pollers_barred == 1);
    uccs_progress_me = false;
    CHECK(script.sleeps == script.ends);
}

static void loops(void)
{
    uccs_bell_open();
    script.ends = 6;
    script.rings = 3;
    script.alarms = 5;
    script.from = script.to = 0;
    run_loop();
    const long *times = script.times;
    CHECK(times[1] == SETTLE && times[2] == LONGEST && times[3] == LONGEST);
    CHECK(times[4] == SETTLE && times[5] == LONGEST && times[6] == LONGEST); /* what was found makes it look anew */
    CHECK(made[1].alarms == 1 && made[0].alarms == 1 && made[0].served == 9);
    CHECK(uccs_own_mine()->asleep == 1);
    script.rings = script.alarms = 0;
    script.from = 2;
    script.to = 6;
    script.ends = 8;
    run_loop(); /* nothing came while the program did not poll */
    CHECK(times[1] == SETTLE && times[2] == LONGEST &&
          times[3] == LONGEST); /* it sleeps on: nobody can tell how seldom it polls */
    script.from = 1;
    run_loop();
    CHECK(times[1] == SETTLE && times[2] == 2 * FIRST_TICK && times[3] == LAST_TICK && times[5] == LAST_TICK);
    CHECK(made[0].tended == 5 && times[7] == SETTLE && times[8] == LONGEST);
    script.from = 4;
    script.rings = 3;
    script.ends = 7;
    run_loop();
    CHECK(times[3] == LONGEST && times[4] == SETTLE && times[5] == FIRST_TICK && times[6] == 2 * FIRST_TICK);
    script.rings = 6; /* a wait that has lasted ends: the checks start anew */
    script.from = 1;
    script.to = 9;
    run_loop();
    CHECK(times[6] == LAST_TICK && times[7] == 2 * FIRST_TICK);
    uccs_bell_close();
}

/* --- A life */

static void lives(void)
{
    struct uccs_own *own = uccs_own_mine();
    static const struct {
        const char *how;
        bool several, wanted;
    } cases[] = {{"auto", false, false}, {"auto", true, true}, {"thread", false, true},
                 {"thread", true, true}, {"off", true, false}, {"off", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        how = cases[i].how;
        starts = joins = 0;
        server_count = 0;
        ending = 1;
        uccs_progress_add(&made[0].server);
        CHECK(uccs_progress_open(cases[i].several) == 0 && starts == cases[i].wanted);
        CHECK(own->threaded == cases[i].wanted && uccs_progress_on == cases[i].wanted);
        CHECK((own->bell != 0) == cases[i].wanted && ending == !cases[i].wanted);
        CHECK(server_count == 1 + cases[i].wanted &&
              servers[server_count - 1] == (cases[i].wanted ? &work : servers[0]));
        CHECK(!cases[i].wanted || (uccs_progress_open_anyway() == 0 && starts == 1 && server_count == 2));
        uccs_progress_close();
        CHECK(joins == cases[i].wanted && !uccs_progress_on && server_count == 0 && own->bell == 0);
    }
    start_error = EAGAIN;
    CHECK(uccs_progress_open_anyway() == -1 && !uccs_progress_on && lines == 1);
    CHECK(work.serve() == UCCS_SERVED_NOTHING && work.polls() == 5 && work.rung && work.descriptor == -1);
    CHECK(work.alarm == -1);
    joins = 0;
    uccs_progress_close();
    CHECK(joins == 0);
}

int main(void)
{
    uccs_core.own =
        mmap(0, 2 * (size_t)NODE_OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(uccs_core.own != MAP_FAILED);
    uccs_core.pes = 2;
    uccs_core.index = 1;
    rounds();
    files_to_wake();
    ticks();
    returns();
    times();
    announcements();
    loops();
    lives();
    return 0;
}
