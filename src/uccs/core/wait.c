#include "uccs/core/wait.h"

#include "uccs/core/bell.h"
#include "uccs/core/errand.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define YIELDS_BEFORE_SLEEP 500 /* some milliseconds on a crowded node */
#define SLEEP_NANOSECONDS 50000
#define YIELDS_A_STAY 8              /* after so many yields a waiter looks at the clock */
#define NOBODY 700                   /* nanoseconds: a yield that takes less has found nobody who wants the core */
#define LOOKS_ALONE 32               /* looks of a waiter alone on its core until it yields again */
#define QUICK_LOOKS 16               /* before the first linger */
#define LOOKS_A_STOP 16              /* atomic_linger lasts as long as this many looks */
#define LINGERING (5 * LOOKS_A_STOP) /* a short answer to what was just sent comes before this many looks, if at once */

_Thread_local uint8_t uccs_misses;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* --- Pollers */

static int (*pollers[2][UCCS_POLLERS])(void); /* release: uccs_core_poll_add; acquire: uccs_poll */
uint32_t uccs_endless;
static pthread_mutex_t pollers_lock = PTHREAD_MUTEX_INITIALIZER; /* taken by writers */

/* Adds `by` to the pollers of this kind. While there is an UCCS_POLL_ALWAYS poller, every wait takes the slow path;
 * while there is a poller of any kind, every test that found nothing does. */
static void count_poller(enum uccs_poller_when when, int by)
{
    if (when == UCCS_POLL_IDLE) {
        (void)atomic_fetch_add_relaxed(&uccs_idlers, (uint32_t)by);
        return;
    }
    (void)atomic_fetch_add_relaxed(&uccs_endless, (uint32_t)by);
    (void)atomic_fetch_add_relaxed(&uccs_working, (uint32_t)by);
}

static void replace_poller(enum uccs_poller_when when, int (*old)(void), int (*new)(void))
{
    for (int i = 0; i < UCCS_POLLERS; i++)
        if (pollers[when][i] == old) {
            atomic_store_release(&pollers[when][i], new); /* acquire: uccs_poll */
            count_poller(when, new ? 1 : -1);
            return;
        }
}

void uccs_core_poll_add(int (*poll)(void), enum uccs_poller_when when)
{
    pthread_mutex_lock(&pollers_lock);
    replace_poller(when, 0, poll);
    pthread_mutex_unlock(&pollers_lock);
}

void uccs_core_poll_remove(int (*poll)(void))
{
    pthread_mutex_lock(&pollers_lock);
    replace_poller(UCCS_POLL_ALWAYS, poll, 0);
    replace_poller(UCCS_POLL_IDLE, poll, 0);
    pthread_mutex_unlock(&pollers_lock);
}

int uccs_poll(enum uccs_poller_when when)
{
    int found = 0;
    for (int i = 0; i < UCCS_POLLERS; i++) {
        int (*poll)(void) = atomic_load_acquire(&pollers[when][i]); /* release: replace_poller */
        if (poll)
            found |= poll();
    }
    return found;
}

/* --- Work */

/* Work in the order in which it was started; this order is the same at all members of a group. */
static struct uccs_work *first, **last = &first;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static bool called;       /* peers know that work is pending; under the list's lock */
static uint64_t advances; /* by threads of the program; relaxed: a hint */

/* What a walk along the list has found. */
struct walk {
    bool labours; /* the walker runs labours */
    bool found;   /* a piece was finished, or a labour run */
    bool again;   /* a piece wants to be looked at soon, or its labour is due */
};

/* Runs the labour without the list's lock. The list may have changed on return. */
static void do_labour(struct uccs_work *work)
{
    void (*labour)(struct uccs_work *) = work->labour;
    work->labour = 0;
    work->busy = true; /* so no other thread advances it or takes it off the list */
    pthread_mutex_unlock(&list);
    labour(work);
    pthread_mutex_lock(&list);
    work->busy = false;
}

/* Returns the place of the next piece to advance behind an unfinished one. */
static struct uccs_work **go_past(struct uccs_work *work, struct walk *walk)
{
    walk->again |= work->again || work->labour;
    if (!work->labour || !walk->labours)
        return &work->next;
    do_labour(work);
    walk->found = true;
    return &first;
}

/* Advances the piece at `*at`, and takes it off the list when it is finished. Its own advance may have freed it then,
 * so afterwards this function touches only its place. Returns the place of the next piece to advance. */
static struct uccs_work **advance_one(struct uccs_work **at, struct walk *walk)
{
    struct uccs_work *work = *at, *next = work->next;
    if (work->busy)
        return &work->next;
    work->labour = 0;
    work->again = false;
    if (!work->advance(work))
        return go_past(work, walk);
    *at = next;
    if (!next)
        last = at;
    walk->found = true;
    atomic_fetch_sub_acqrel(&uccs_working, 1);
    return at;
}

/* Advances the work. Under the list's lock, which it releases. */
static void walk_and_unlock(struct walk *walk)
{
    uccs_pollers_barred++;
    for (struct uccs_work **at = &first; *at;)
        at = advance_one(at, walk);
    uccs_pollers_barred--;
    if (called && !first) {
        called = false;
        uccs_bell_work_ends();
    }
    pthread_mutex_unlock(&list);
}

static void advance_all(void)
{
    struct walk walk = {.labours = true};
    if (pthread_mutex_trylock(&list) != 0)
        return;
    atomic_store_relaxed(&advances, atomic_load_relaxed(&advances) + 1);
    walk_and_unlock(&walk);
}

/* Looks at what peers have posted already: they ring only those that had work pending by then. A labour is left to the
 * progress thread. */
static void begin_work(void)
{
    struct walk walk = {0};
    pthread_mutex_lock(&list);
    walk_and_unlock(&walk);
    if (walk.again)
        uccs_bell(uccs_core.index);
}

void uccs_work_add(struct uccs_work *work)
{
    work->next = 0;
    work->labour = 0;
    work->busy = false;
    pthread_mutex_lock(&list);
    *last = work;
    last = &work->next;
    atomic_fetch_add_relaxed(&uccs_working, 1);
    if (uccs_progress_on && !called) {
        called = true;
        uccs_bell_work_begins();
    }
    pthread_mutex_unlock(&list);
    if (uccs_progress_on)
        begin_work();
}

int uccs_work_slow(void)
{
    int found = uccs_poll(UCCS_POLL_ALWAYS) | uccs_errands_run();
    if (uccs_work_is_left())
        advance_all();
    return found;
}

enum uccs_served uccs_work_serve(void)
{
    struct walk walk = {.labours = true};
    if (!uccs_work_is_left())
        return UCCS_SERVED_NOTHING;
    pthread_mutex_lock(&list);
    walk_and_unlock(&walk);
    if (walk.found)
        return UCCS_SERVED_SOME;
    return walk.again ? UCCS_SERVED_LATER : UCCS_SERVED_NOTHING;
}

bool uccs_work_tell(const struct uccs_request *request, struct uccs_told *told)
{
    bool known = false;
    if (pthread_mutex_trylock(&list) != 0)
        return false;
    for (const struct uccs_work *work = first; work && !known; work = work->next)
        known = work->tell && work->tell(work, request, told);
    pthread_mutex_unlock(&list);
    return known;
}

uint64_t uccs_work_polls(void)
{
    return atomic_load_relaxed(&advances);
}

void uccs_work_finish(void)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (uccs_work_is_left())
        uccs_pause(&wait);
}

/* --- Waiting */

/* A look costs as much as many tests that only load their variable. Tests that come every QUICK nanoseconds or faster
 * omit SKIPPED looks in a row, so a message that comes in then waits a few microseconds longer at most. */
#define SKIPPED 40
#define QUICK 300

_Thread_local uint32_t uccs_omitted;
static _Thread_local struct {
    uint32_t skipped; /* tests between the last two looks */
    uint64_t looked;  /* time of the last look in nanoseconds */
} tests;

static void plan_next_look(int found)
{
    const uint64_t time = now();
    bool quick = time - tests.looked < (uint64_t)QUICK * (tests.skipped + 1);
    tests.looked = time;
    uccs_omitted = tests.skipped = quick && !found ? SKIPPED : 0;
}

/* Returns non-zero when a poller found something, else 0. */
static int look_after_test(void)
{
    bool work = uccs_work_is_left();
    int found = atomic_load_relaxed(&uccs_working) ? uccs_work_slow() : 0;
    found |= uccs_poll(UCCS_POLL_IDLE);
    found |= uccs_pollers();
    if (!work)
        plan_next_look(found);
    return found;
}

lat_cold void uccs_missed_slow(bool yield)
{
    int found = look_after_test();
    if (yield && !found)
        sched_yield();
}

/* A yield costs more than a look at a network, and a message that comes meanwhile waits for its end. So a waiter whose yield
 * has found nobody looks some times before the next one: a thread that comes to want the core waits some microseconds
 * longer. */
static uint64_t yield_core(void)
{
    static _Thread_local uint32_t alone;
    if (!atomic_load_relaxed(&uccs_endless)) { /* a look is a load */
        sched_yield();
        return 0;
    }
    if (alone) {
        alone--;
        return 0;
    }
    const uint64_t start = now();
    sched_yield();
    const uint64_t took = now() - start;
    alone = took < NOBODY ? LOOKS_ALONE : 0;
    return took;
}

uint64_t uccs_yield_slow(struct uccs_wait *wait)
{
    if (uccs_pollers())
        return 0;
    uint32_t yields = ++wait->looks - uccs_core.spin;
    if (lat_unlikely(yields % YIELDS_A_STAY == 0))
        uccs_stay(wait);
    if (!uccs_core.oversubscribed || yields < YIELDS_BEFORE_SLEEP)
        return yield_core();
    if (wait->looks == UINT32_MAX)
        wait->looks--;
    const uint64_t start = now();
    struct timespec time = {0, SLEEP_NANOSECONDS};
    nanosleep(&time, 0);
    return now() - start;
}

void uccs_wait_open(void)
{
#if defined(__x86_64__)
    uccs_core.stingy = __builtin_cpu_is("intel") != 0;
#endif
    uccs_core.quick_looks = uccs_core.stingy ? QUICK_LOOKS : UINT32_MAX;
}

/* Handles the first look, and all that come after the quick ones. */
static void spin_slowly(struct uccs_wait *wait)
{
    if (wait->looks == 0) {
        atomic_settle();
        wait->looks = 1;
    } else if (uccs_core.stingy && wait->looks < LINGERING) {
        atomic_linger();
        wait->looks += LOOKS_A_STOP;
    } else {
        wait->looks++;
    }
}

/* The waiter comes here at the first look, at slow looks, when it has work to advance, and when it shall yield. */
lat_cold void uccs_pause_slow(struct uccs_wait *wait)
{
    if (wait->looks < uccs_core.spin && !atomic_load_relaxed(&uccs_working)) {
        spin_slowly(wait);
        return;
    }
    int found = atomic_load_relaxed(&uccs_working) ? uccs_work_slow() : 0;
    found |= uccs_poll(UCCS_POLL_IDLE);
    if (!found)
        uccs_yield(wait);
}
