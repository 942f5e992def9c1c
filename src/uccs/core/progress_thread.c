#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/process.h"
#include "rte/node.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* Nanoseconds. */
#define MICRO 1000L
#define FIRST_TICK (50 * MICRO) /* checks whether the program still polls come at this distance first, if it matters */
#define LAST_TICK (200 * MICRO) /* they get rarer, up to this, or up to CROWDED_TICK on a crowded node */
#define PATIENCE 8              /* and up to so great a part of the time for which the program has polled */
#define LONG_TICK (4000 * MICRO)
#define CROWDED_TICK (1000 * MICRO)
#define SELDOM (4 * MICRO)   /* a program that polls less often than this on average computes, too */
#define LATER (1000 * MICRO) /* of UCCS_SERVED_LATER */
#define SETTLE (50 * MICRO)  /* after this the stores of a sender that missed `asleep` are visible */
#define LONGEST (1000 * 1000 * MICRO)

enum { DOORBELL, FILES = 1 + 2 * UCCS_PROGRESS_SERVED_MOST };

static struct uccs_progress_source *sources[UCCS_PROGRESS_SERVED_MOST];
static int source_count;
static pthread_t thread;
static uint32_t ending; /* release: uccs_progress_thread_close; acquire: serve_until_end */

/* What a round has found, and how long the thread may sleep. */
struct round {
    bool found, soon, later;
    bool wanted;   /* something came while the program did not poll */
    bool attended; /* the program polls a source */
    bool open;     /* nobody but the thread looks for what peers of the node ring for */
};

uint64_t uccs_progress_finds;
bool uccs_progress_attended;

static struct uccs_progress_source tasks = {.serve = uccs_tasks_serve,
                                            .polls = uccs_tasks_polls,
                                            .descriptor = -1,
                                            .alarm = -1,
                                            .rung = true};

/* --- One round */

/* `few`: the program is polling if it has polled so often since the last round; 0: too much time has passed to tell. */
static void look_at(struct uccs_progress_source *source, uint64_t few, struct round *round)
{
    source->attended = few && source->polls() - source->seen >= few;
    if (source->attended) {
        round->attended = uccs_progress_attended = true;
        round->open &= !source->rung;
        if (source->tend)
            source->tend();
        return;
    }
    source->served = source->serve();
    if (source->served == UCCS_SERVED_SOME) {
        round->found = true;
        uccs_progress_finds++;
        round->wanted |= source->paused && source->polls() == source->seen;
    }
    round->soon |= source->served == UCCS_SERVED_SOON;
    round->later |= source->served == UCCS_SERVED_LATER;
}

static struct round serve_all(uint64_t few)
{
    struct round round = {.open = true};
    uccs_progress_attended = false;
    for (int i = 0; i < source_count; i++)
        look_at(sources[i], few, &round);
    for (int i = 0; i < source_count; i++)
        sources[i]->seen = sources[i]->polls(); /* the thread's own polls do not count */
    return round;
}

/* --- Sleeping */

/* Lists what can wake the thread: the doorbell, alarms, and descriptors of sources that the thread looks after. */
static void list_files(struct pollfd *files)
{
    files[DOORBELL] = (struct pollfd){.fd = uccs_doorbell_descriptor(), .events = POLLIN};
    for (int i = 0; i < source_count; i++) {
        bool mine = !sources[i]->attended && sources[i]->served == UCCS_SERVED_NOTHING;
        files[1 + 2 * i] = (struct pollfd){.fd = sources[i]->alarm, .events = POLLIN};
        files[2 + 2 * i] = (struct pollfd){.fd = mine ? sources[i]->descriptor : -1, .events = POLLIN};
    }
}

/* Returns true when somebody has rung. */
static bool sleep_on_files(long nanoseconds)
{
    struct pollfd files[FILES];
    const struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    list_files(files);
    if (ppoll(files, (nfds_t)(1 + 2 * source_count), &time, 0) <= 0)
        return false;
    if (files[DOORBELL].revents)
        uccs_doorbell_drain();
    for (int i = 0; i < source_count; i++)
        if (files[1 + 2 * i].revents)
            sources[i]->alarmed();
    return files[DOORBELL].revents != 0;
}

/* The program does not poll if it has not done so while the thread slept. */
static void look_for_pauses(void)
{
    for (int i = 0; i < source_count; i++)
        sources[i]->paused = sources[i]->polls() == sources[i]->seen;
}

/* State of the thread between rounds. */
struct pace {
    long first;     /* the distance at which checks begin */
    long tick;      /* until the next check whether the program still polls */
    uint64_t since; /* the program has polled since then; 0: it does not */
    bool wanted;    /* something has come since the program stopped polling */
    uint32_t calm;  /* sleeps since something was found */
    bool announced; /* `asleep` was set before the last round */
};

/* A program that shares its core with many others polls only when it has its turn. */
static long first_tick(void)
{
    return FIRST_TICK << uccs_core.naps;
}

/* A check takes the program's core for some microseconds, on a virtual machine for twenty, as long as a message takes. A program
 * that has polled for long probably goes on. If it stops, its peers wait for a small part of that time; and when a wait that
 * has lasted ends, the waiter rings (wait_record.c), and the checks start anew. */
static long longest_tick(struct pace *pace)
{
    const uint64_t time = clock_nanoseconds();
    pace->since = pace->since ? pace->since : time;
    const uint64_t part = (time - pace->since) / PATIENCE;
    const long least = pace->first > LAST_TICK ? pace->first : LAST_TICK;
    if (uccs_core.oversubscribed)
        return CROWDED_TICK << uccs_core.naps / 2; /* the threads of hundreds of PEs on a core would fill it */
    if (part > LONG_TICK)
        return LONG_TICK;
    return part > (uint64_t)least ? (long)part : least;
}

/* The program polls again. If nothing came while it did not, nobody will mind much when its next pause is noticed late. */
static void program_is_back(struct pace *pace)
{
    pace->first = pace->wanted ? first_tick() : 2 * pace->first < LONG_TICK ? 2 * pace->first : LONG_TICK;
    pace->tick = pace->first;
    pace->wanted = false;
}

static long time_to_sleep(struct pace *pace, const struct round *round)
{
    long time = pace->announced && !pace->calm++ ? SETTLE : LONGEST;
    if (atomic_load_relaxed(&uccs_pe_shared_mine()->deaf) && time > LATER)
        time = LATER;
    if (round->later && time > LATER)
        time = LATER;
    if (round->soon)
        time = SETTLE;
    if (!round->attended) {
        pace->since = 0;
        return time;
    }
    if (!pace->since)
        program_is_back(pace);
    const long most = longest_tick(pace);
    time = time < pace->tick ? time : pace->tick;
    pace->tick = 2 * pace->tick < most ? 2 * pace->tick : most;
    return time;
}

/* Returns how often a program that polls has done so at least, after a sleep that was meant to last for `time`; 0: nobody can
 * tell. A PE that computes and waits in turns shorter than a long tick is found out by its few polls. On a core of many PEs turns are
 * as long as such sleeps, so there one poll tells. */
static uint64_t fewest_polls(long time, uint64_t took)
{
    if (time > LONG_TICK && took > LAST_TICK && !uccs_core.naps)
        return 0;
    return uccs_core.oversubscribed || took < 2 * LAST_TICK ? 1 : took / SELDOM;
}

/* Returns true when the thread has asked to be woken before the round that found nothing; false: it must look again. */
static bool may_sleep(struct pace *pace, const struct round *round)
{
    uint32_t *asleep = &uccs_pe_shared_mine()->asleep;
    bool wanted = round->open && !round->found;
    if (wanted && !pace->announced)
        atomic_store_seqcst(asleep, 1); /* then look again; partner: uccs_doorbell_wake */
    else if (!wanted && atomic_load_relaxed(asleep))
        atomic_store_relaxed(asleep, 0); /* a peer may ring meanwhile, which only wakes the thread once too often */
    bool before = pace->announced;
    pace->announced = wanted;
    return !round->found && (before || !wanted);
}

static void *serve_until_end(void *unused)
{
    struct pace pace = {.first = first_tick(), .tick = first_tick()};
    uint64_t few = 0;
    (void)unused;
    uccs_progress_thread_me = true;
    uccs_progress_barred++;
    prctl(PR_SET_NAME, NODE_SERVER);        /* debuggers show it; launch/deadlock.c knows it */
    prctl(PR_SET_TIMERSLACK, MICRO);        /* else short sleeps take twice as long */
    while (!atomic_load_acquire(&ending)) { /* release: uccs_progress_thread_close */
        struct round round = serve_all(few);
        few = 1;
        pace.wanted |= round.wanted;
        if (round.found)
            pace.calm = 0;
        if (!may_sleep(&pace, &round))
            continue;
        long time = time_to_sleep(&pace, &round);
        const uint64_t before = clock_nanoseconds();
        if (sleep_on_files(time) && pace.since) {
            pace.tick = pace.first;
            pace.since = clock_nanoseconds();
        }
        few = fewest_polls(time, clock_nanoseconds() - before);
        look_for_pauses();
        pace.announced =
            pace.announced && atomic_load_relaxed(&uccs_pe_shared_mine()->asleep); /* who rang has cleared it */
        pace.calm = pace.announced ? pace.calm : 0;
    }
    return 0;
}

/* --- Life */

/* Adds the tasks behind the sources that bring what tasks wait for. */
static void list_sources(void)
{
    (void)uccs_progress_add(&tasks);
    source_count = 0;
    for (struct uccs_progress_source *source; (source = uccs_progress_served(source_count));)
        sources[source_count++] = source;
}

int uccs_progress_thread_start(void)
{
    if (atomic_load_relaxed(&uccs_progress_thread_on))
        return 0;
    list_sources();
    uccs_doorbell_open();
    ending = 0;
    atomic_store_relaxed(&uccs_progress_thread_on, true);
    int error = thread_start(&thread, serve_until_end, 0);
    if (error) {
        atomic_store_relaxed(&uccs_progress_thread_on, false);
        log_line("cannot start the thread that answers messages: %s", strerror(error));
    }
    return error ? -1 : 0;
}

int uccs_progress_thread_open(bool several)
{
    const char *how = env_text(ENV_PROGRESS);
    bool automatic = strcmp(how, "auto") == 0, wanted = strcmp(how, "thread") == 0 || (automatic && several);
    atomic_store_relaxed(&uccs_pe_shared_mine()->threaded, wanted);
    return wanted ? uccs_progress_thread_start() : 0;
}

void uccs_progress_thread_close(void)
{
    if (atomic_load_relaxed(&uccs_progress_thread_on)) {
        atomic_store_release(&ending, 1); /* acquire: serve_until_end */
        uccs_doorbell_ring_mine();
        pthread_join(thread, 0);
    }
    atomic_store_relaxed(&uccs_progress_thread_on, false);
    uccs_doorbell_close();
    for (struct uccs_progress_source *source; (source = uccs_progress_served(0));)
        uccs_progress_remove(source);
}
