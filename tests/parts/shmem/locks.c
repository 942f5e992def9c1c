/* Locks: which word of which PE each call changes and to what, where a lock's home is, whom a wait is for and what ends it, and in which
 * order the threads of one PE get their turns. A job of five PEs: this one, PE 1, shares memory with PE 0 alone. */
#include "refused.h"

#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/lock_turn.h"
#include "shmem/place.h"
#include "uccs/core/miss.h"
#include "uccs/core/wait.h"

enum { NPES = 5, NEAR = 2, ME = 1, FAR = 2, HOMES = 4, LOCKS = 12, MINE = ME + 1, TURN = LOCK_TAKEN | LOCK_WAITING };

static struct words {
    uint32_t tail, node;
} words[NPES][LOCKS], elsewhere; /* of each PE */
static int quiets, misses, pauses, asked, takes, gives;
static int base;               /* the PE that words[0] belongs to; locks' homes before it share words[HOMES] */
static void (*steps[8])(void); /* what each pause brings */
static struct node_awaited on; /* what the last wait was for */
static void (*when_quiet)(void), (*when_taken)(void), (*when_given)(void), (*when_asked)(void);

static enum uccs_segment find_stub(const void *addr, size_t *offset)
{
    const uintptr_t at = (uintptr_t)addr - (uintptr_t)words[ME];
    *offset = at;
    return at < sizeof words[ME] ? UCCS_HEAP : UCCS_NOWHERE;
}

void *lat_resolve(const char *call, const char *argument, const void *addr, int pe)
{
    lat_fail(call, "%s %s at PE %d", argument, addr == &elsewhere ? "elsewhere" : "wrong", pe);
}

static void once(void (**what)(void))
{
    void (*now)(void) = *what;
    *what = 0;
    if (now)
        now();
}

uint64_t lat_amo_processor(const char *call, enum uccs_atomic op, const void *dest, size_t size, uint64_t value,
                           uint64_t cond, int pe)
{
    size_t offset;
    CHECK(strncmp(call, "shmem_", 6) == 0 && strstr(call, "_lock") && size == 4);
    const int at = pe < base ? HOMES : pe - base;
    CHECK(at >= FAR && at < NPES && find_stub(dest, &offset) == UCCS_HEAP);
    asked++;
    const uint32_t before =
        uccs_atomic_apply32(op, (uint32_t *)((char *)words[at] + offset), (uint32_t)value, (uint32_t)cond);
    once(&when_asked);
    return before;
}

void lat_quiet(void)
{
    quiets++;
    if (when_quiet)
        when_quiet();
}

static void pause_stub(struct uccs_wait *wait)
{
    on = wait->on;
    CHECK(pauses < 8 && steps[pauses]); /* the wait has ended before */
    steps[pauses++]();
}

static void take_stub(void)
{
    takes++;
    once(&when_taken);
}

static void give_stub(void)
{
    gives++;
    once(&when_given);
}

static void missed_stub(void)
{
    misses++;
}

#undef pthread_mutex_lock
#undef pthread_mutex_unlock
#define pthread_mutex_lock(mutex) (refused_lock(), take_stub(), (void)(mutex))
#define pthread_mutex_unlock(mutex) (refused_unlock(), give_stub(), (void)(mutex))
#define uccs_memory_find(addr, offset) find_stub(addr, offset)
#define uccs_pause(wait) pause_stub(wait)
#define uccs_missed missed_stub
#include "shmem/lock_turn.c"
#include "shmem/lock.c"

static long *lock_of(int at)
{
    return (long *)&words[ME][at];
}

static void plan(void (*first)(void), void (*second)(void), void (*third)(void))
{
    quiets = misses = pauses = asked = takes = gives = 0;
    on = (struct node_awaited){0};
    memset(steps, 0, sizeof steps);
    steps[0] = first;
    steps[1] = second;
    steps[2] = third;
}

/* So often since the plan; nothing else has changed in the counts. */
static void came(int quiet, int miss, int pause, int far)
{
    CHECK(quiets == quiet);
    CHECK(misses == miss);
    CHECK(pauses == pause);
    CHECK(asked == far); /* atomics of a PE of another node */
}

/* The words of lock `at`: at its home the tail, which no other PE has, here and at the others the node. */
static void are(int at, uint32_t tail, uint32_t mine, uint32_t near, uint32_t far)
{
    for (int pe = 0; pe < NPES; pe++)
        CHECK(words[pe][at].tail == (pe == at % NPES ? tail : 0)); /* home: by the lock's place, PE after PE */
    CHECK(words[ME][at].node == mine);
    CHECK(words[0][at].node == near);
    CHECK(words[FAR][at].node == far);
}

static void tail_is_mine(void)
{
    CHECK(words[0][5].tail == MINE && words[ME][5].node == TURN);
}

static void free_ones(void)
{
    for (int at = 0; at < LOCKS; at++) {
        const int far = at % NPES >= FAR;
        plan(0, 0, 0);
        lat_set_lock(lock_of(at));
        are(at, MINE, TURN, 0, 0);
        came(0, 0, 0, far);
        when_quiet = at == 5 ? tail_is_mine : 0; /* what the section did completes before others see the lock free */
        lat_clear_lock(lock_of(at));
        when_quiet = 0;
        are(at, 0, 0, 0, 0);
        came(1, 0, 0, 2 * far);
        CHECK(lat_test_lock(lock_of(at)) == 0);
        are(at, MINE, LOCK_TAKEN, 0, 0);
        came(1, 0, 0, 3 * far);
        CHECK(lat_test_lock(lock_of(at)) == 1); /* this PE has it */
        are(at, MINE, LOCK_TAKEN, 0, 0);
        came(1, 1, 0, 3 * far);
        lat_clear_lock(lock_of(at));
        are(at, 0, 0, 0, 0);
        came(2, 1, 0, 4 * far);
        CHECK(takes == 0 && gives == 0);
    }
}

/* Other PEs have them. */
static void tests_of_taken_ones(void)
{
    for (int at = 0; at < LOCKS; at++) {
        plan(0, 0, 0);
        words[at % NPES][at].tail = at % 2 ? 1 : 3;
        CHECK(lat_test_lock(lock_of(at)) == 1);
        are(at, at % 2 ? 1 : 3, 0, 0, 0);
        came(0, 1, 0, at % NPES >= FAR);
        words[at % NPES][at].tail = 0;
    }
}

static void nothing_yet(void) {}

static void ahead_clears(void)
{
    atomic_fetch_and_acqrel(&words[ME][6].node, ~(uint32_t)LOCK_WAITING);
}

/* Behind PE `ahead`, which this one tells so; lock 6, whose home is here. */
static void waits_behind(int ahead)
{
    const uint32_t told = (uint32_t)MINE * LOCK_BEHIND;
    plan(nothing_yet, ahead_clears, 0);
    words[ahead][6].node = LOCK_TAKEN;
    words[ME][6].tail = (uint32_t)ahead + 1;
    lat_set_lock(lock_of(6));
    are(6, MINE, LOCK_TAKEN, ahead == 0 ? LOCK_TAKEN | told : 0, ahead == FAR ? LOCK_TAKEN | told : 0);
    came(0, 0, 2, ahead == FAR);
    CHECK(on.about == NODE_ABOUT_PES && on.start == ahead && on.size == 1);
    words[ahead][6].node = 0;
    lat_clear_lock(lock_of(6));
    are(6, 0, 0, 0, 0);
    came(1, 0, 2, ahead == FAR);
}

/* It needs no pause where the PE ahead, told of this one, has left the lock before this one looks. */
static void finds_it_left(void)
{
    plan(0, 0, 0);
    words[FAR][6].node = LOCK_TAKEN;
    words[ME][6].tail = FAR + 1;
    when_asked = ahead_clears;
    lat_set_lock(lock_of(6));
    are(6, MINE, LOCK_TAKEN, 0, LOCK_TAKEN | MINE * LOCK_BEHIND);
    came(0, 0, 0, 1);
    words[ME][6] = words[FAR][6] = (struct words){0};
}

static uint32_t behind; /* 1 + the PE */

static void behind_comes(void)
{
    CHECK(words[ME][6].node == TURN && words[ME][6].tail == behind); /* nobody behind is told of before it is known */
    words[ME][6].node |= behind * LOCK_BEHIND;
}

/* PE `pe` is behind; it may have said so already, or be about to. Its word says that it waits, and who is behind it. */
static void leaves_it_to(int pe, bool said)
{
    const uint32_t waits = TURN | LOCK_CROWD | 5 * LOCK_BEHIND, goes = LOCK_TAKEN | LOCK_CROWD | 5 * LOCK_BEHIND;
    plan(0, 0, 0);
    lat_set_lock(lock_of(6));
    plan(nothing_yet, behind_comes, 0);
    behind = (uint32_t)pe + 1;
    words[ME][6].tail = behind;
    words[pe][6].node = waits;
    if (said)
        words[ME][6].node |= behind * LOCK_BEHIND;
    lat_clear_lock(lock_of(6));
    are(6, behind, 0, pe == 0 ? goes : 0, pe == FAR ? goes : 0);
    came(1, 0, said ? 0 : 2, pe == FAR);
    CHECK(on.about == 0 && takes == 0);
    words[pe][6].node = words[ME][6].tail = 0;
}

/* The lock is left at once where nobody is behind; a last PE that is behind this one is not taken for this one. */
static void keeps_what_is_behind(void)
{
    plan(0, 0, 0);
    words[ME][6] = (struct words){.tail = 1, .node = LOCK_TAKEN | 1 * LOCK_BEHIND};
    words[0][6].node = TURN;
    lat_clear_lock(lock_of(6));
    are(6, 1, 0, LOCK_TAKEN, 0);
    words[ME][6] = (struct words){0};
    words[0][6].node = 0;
}

static void mistakes(void)
{
    static char line[100];
    static uint32_t node;
    for (node = 0; node <= LOCK_BEHIND; node += node < 5 ? 1 : 3) {
        if (node & LOCK_TAKEN)
            continue;
        plan(0, 0, 0);
        words[ME][1] = (struct words){.tail = MINE, .node = node};
        snprintf(line, sizeof line, "shmem_clear_lock: lock %p is not set by this PE", (void *)lock_of(1));
        REFUSED(lat_clear_lock(lock_of(1)), line);
        are(1, MINE, node, 0, 0);
    }
    words[ME][1] = (struct words){0};
    long *const wrong = (long *)&elsewhere;
    REFUSED(lat_set_lock(wrong), "shmem_set_lock: lock elsewhere at PE 1");
    REFUSED(lat_clear_lock(wrong), "shmem_clear_lock: lock elsewhere at PE 1");
    REFUSED(lat_test_lock(wrong), "shmem_test_lock: lock elsewhere at PE 1");
    for (lat_state = LAT_BEFORE; lat_state <= LAT_AFTER; lat_state += 2) {
        static const char *text;
        text = lat_state == LAT_BEFORE ? "called before shmem_init" : "called after the last shmem_finalize";
        plan(0, 0, 0);
        snprintf(line, sizeof line, "shmem_set_lock: %s", text);
        REFUSED(lat_set_lock(lock_of(1)), line);
        snprintf(line, sizeof line, "shmem_clear_lock: %s", text);
        REFUSED(lat_clear_lock(lock_of(1)), line);
        snprintf(line, sizeof line, "shmem_test_lock: %s", text);
        REFUSED(lat_test_lock(lock_of(1)), line);
        are(1, 0, 0, 0, 0);
        came(0, 0, 0, 0);
    }
    lat_state = LAT_RUNNING;
}

/* PE numbers of more than 16 bits. */
static void great_numbers(void)
{
    enum { BASE = 70000, I = BASE + MINE, FAR_ONE = BASE + FAR + 1, AT = 6 };
    uint32_t *tail = &words[HOMES][AT].tail, *mine = &words[ME][AT].node, *theirs = &words[FAR][AT].node;
    base = BASE;
    uccs_core.npes = 2 * BASE;
    uccs_core.first = BASE;
    uccs_core.me = BASE + ME;
    plan(0, 0, 0);
    lat_set_lock(lock_of(AT));
    CHECK(*tail == I && *mine == TURN);
    lat_clear_lock(lock_of(AT));
    CHECK(*tail == 0 && *mine == 0);
    CHECK(lat_test_lock(lock_of(AT)) == 0 && *tail == I);
    *tail = FAR_ONE;
    *mine |= FAR_ONE * LOCK_BEHIND;
    *theirs = TURN;
    lat_clear_lock(lock_of(AT));
    CHECK(*tail == FAR_ONE && *mine == 0 && *theirs == LOCK_TAKEN);
    when_asked = nothing_yet;
    plan(ahead_clears, 0, 0);
    lat_set_lock(lock_of(AT));
    CHECK(*tail == I && *theirs == (LOCK_TAKEN | (uint32_t)I * LOCK_BEHIND) && on.start == FAR_ONE - 1);
    memset(words, 0, sizeof words);
    base = 0;
    uccs_core.npes = NPES;
    uccs_core.first = 0;
    uccs_core.me = ME;
}

#include "locks_turns.h"

int main(void)
{
    uccs_core = (struct uccs_core){.npes = NPES,
                                   .me = ME,
                                   .pes = NEAR,
                                   .size = NEAR,
                                   .heap_start = (uintptr_t)words[ME],
                                   .heap_peers = (uintptr_t)words[0],
                                   .heap_stride = sizeof words[0],
                                   .heap_bytes = sizeof words[0]};
    lat_state = LAT_RUNNING;
    free_ones();
    tests_of_taken_ones();
    waits_behind(0);
    waits_behind(FAR);
    finds_it_left();
    for (int said = 0; said < 2; said++) {
        leaves_it_to(0, said);
        leaves_it_to(FAR, said);
    }
    keeps_what_is_behind();
    mistakes();
    turns();
    great_numbers();
    return 0;
}
