/* What this PE knows to be over: its clock, the clocks that it leaves for others, and what it learns from theirs. */
#include "race.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SNAPSHOTS 128
#define MEETINGS 256 /* places for what members of a team leave to each other */
#define AHEAD 16     /* meetings of a team by which a PE may be ahead of another: some calls wait for one PE alone */
#define TEAMS 1024   /* that this PE has met in */
#define COUNTERS 1024

/* A clock: for each PE MAIN; for each class and PE LOCAL; for each class, PE and target PUT and WITH. */
static uint32_t *mine;
static uint32_t fenced[RACE_CLASSES][RACE_PES]; /* my puts up to this event go before my later ones to the PE */
static uint32_t now;
static bool changed; /* since my last snapshot */
static struct {
    uint64_t key; /* 0: free */
    uint32_t count;
} meetings[TEAMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What a PE knew from an event on, for those that it lets go on. */
struct snapshot {
    uint32_t from; /* event; 0: being written */
    uint32_t fenced[RACE_CLASSES][RACE_PES];
    uint32_t clock[];
};

struct post {
    uint64_t key;
    uint32_t number, filler;
    uint32_t clock[];
};

static size_t main_at(int pe)
{
    return (size_t)pe;
}
static size_t local_at(int context, int pe)
{
    return (size_t)(race_npes + context * race_npes + pe);
}
static size_t put_at(enum race_way way, int context, int pe, int target)
{
    size_t n = (size_t)race_npes, c = (size_t)context, square = RACE_CLASSES * n * n;
    return n + RACE_CLASSES * n + (way == RACE_WITH ? square : 0) + (c * n + (size_t)pe) * n + (size_t)target;
}
static size_t count_entries(void)
{
    return put_at(RACE_WITH, RACE_CLASSES - 1, race_npes - 1, race_npes - 1) + 1;
}

static size_t round_bytes(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}
static size_t snapshot_bytes(void)
{
    return round_bytes(sizeof(struct snapshot) + count_entries() * sizeof(uint32_t));
}
static size_t post_bytes(void)
{
    return round_bytes(sizeof(struct post) + count_entries() * sizeof(uint32_t));
}
static size_t pe_bytes(void)
{
    return 64 + SNAPSHOTS * snapshot_bytes() + MEETINGS * AHEAD * post_bytes();
}
static size_t counters_bytes(void)
{
    return COUNTERS * (size_t)race_npes * (size_t)race_npes * sizeof(uint32_t);
}

size_t race_clock_bytes(void)
{
    return (size_t)race_npes * pe_bytes() + counters_bytes();
}

static uint32_t *snapshots_of(int pe) /* how many it has made */
{
    return race_shared((size_t)pe * pe_bytes());
}
static struct snapshot *snapshot_of(int pe, uint32_t number)
{
    return race_shared((size_t)pe * pe_bytes() + 64 + number % SNAPSHOTS * snapshot_bytes());
}
static struct post *post_of(int pe, uint64_t key, uint32_t number)
{
    size_t at = 64 + SNAPSHOTS * snapshot_bytes() + (key % MEETINGS * AHEAD + number % AHEAD) * post_bytes();
    return race_shared((size_t)pe * pe_bytes() + at);
}

uint32_t *race_count_words(const void *counter, int pe)
{
    size_t slot = ((uintptr_t)counter ^ (uintptr_t)counter >> 16) % COUNTERS;
    size_t at = (slot * (size_t)race_npes + (size_t)pe) * (size_t)race_npes * sizeof(uint32_t);
    return race_shared((size_t)race_npes * pe_bytes() + at);
}

void race_clock_reset(void)
{
    free(mine);
    mine = calloc(count_entries(), sizeof *mine);
    memset(fenced, 0, sizeof fenced);
    memset(meetings, 0, sizeof meetings);
    now = 1;
    changed = true;
}

uint32_t race_now(void)
{
    return __atomic_load_n(&now, __ATOMIC_RELAXED);
}

/* Leaves my clock, as of the event that begins now, for those that learn from it. */
static void take_snapshot(void)
{
    uint32_t *made = snapshots_of(race_me), number = *made;
    struct snapshot *snapshot = snapshot_of(race_me, number);
    __atomic_store_n(&snapshot->from, 0, __ATOMIC_SEQ_CST); /* readers look at it before and after */
    memcpy(snapshot->fenced, fenced, sizeof fenced);
    memcpy(snapshot->clock, mine, count_entries() * sizeof *mine);
    __atomic_store_n(&snapshot->from, now, __ATOMIC_SEQ_CST);
    __atomic_store_n(made, number + 1, __ATOMIC_RELEASE); /* acquire: learn_from */
    changed = false;
}

uint32_t race_step(bool release)
{
    pthread_mutex_lock(&lock);
    uint32_t event = __atomic_add_fetch(&now, 1, __ATOMIC_RELAXED);
    if (release && changed)
        take_snapshot();
    pthread_mutex_unlock(&lock);
    return event;
}

bool race_over(const struct race_cell *cell, int owner, int behind)
{
    int pe = cell->pe;
    switch ((enum race_way)cell->way) {
    case RACE_MAIN: return pe == race_me || mine[main_at(pe)] >= cell->event;
    case RACE_LOCAL: return mine[local_at(cell->context, pe)] >= cell->event;
    default: break;
    }
    if (pe == race_me && behind == cell->context && fenced[behind][owner] >= cell->event)
        return true;
    return mine[put_at(cell->way, cell->context, pe, owner)] >= cell->event;
}

bool race_met(const struct race_cell *cell)
{
    return cell->pe == race_me || mine[main_at(cell->pe)] >= cell->event;
}

static void raise_clock(size_t at, uint32_t event)
{
    if (mine[at] < event) {
        __atomic_store_n(&mine[at], event, __ATOMIC_RELAXED);
        changed = true;
    }
}

static void join_clock(const uint32_t *clock)
{
    size_t count = count_entries();
    for (size_t i = 0; i < count; i++)
        raise_clock(i, __atomic_load_n(&clock[i], __ATOMIC_RELAXED));
}

/* Learns what the PE knew at an event. Of snapshots that are gone the oldest is taken: it says too much, which hides races
 * and invents none. */
static void learn_from(int pe, uint32_t word, int owner)
{
    uint32_t event = word >> 3, made = __atomic_load_n(snapshots_of(pe), __ATOMIC_ACQUIRE);
    int context = (int)(word >> 1 & 3);
    const struct snapshot *snapshot = NULL;
    for (uint32_t back = 1; back <= made && back < SNAPSHOTS; back++) {
        const struct snapshot *one = snapshot_of(pe, made - back);
        uint32_t from = __atomic_load_n(&one->from, __ATOMIC_SEQ_CST);
        snapshot = from ? one : snapshot;
        if (from && from <= event)
            break;
    }
    if (!snapshot)
        return;
    if (pe != race_me && mine[main_at(pe)] < event - 1) {
        join_clock(snapshot->clock);
        raise_clock(main_at(pe), event - 1); /* the PE's own accesses before this event */
    }
    for (enum race_way way = RACE_PUT; way <= RACE_WITH; way++)
        raise_clock(put_at(way, context, pe, owner), snapshot->fenced[context][owner]);
    if (word & 1) {
        raise_clock(put_at(RACE_WITH, context, pe, owner), event);
        raise_clock(local_at(context, pe), event);
    }
}

void race_learn(const uint32_t *words, int owner)
{
    pthread_mutex_lock(&lock);
    for (int pe = 0; pe < race_npes; pe++) {
        uint32_t word = __atomic_load_n(&words[pe], __ATOMIC_ACQUIRE); /* release: those who release */
        if (word)
            learn_from(pe, word, owner); /* of this PE: that its puts to itself have arrived */
    }
    pthread_mutex_unlock(&lock);
}

void race_quiet_pe(int context, int pe)
{
    pthread_mutex_lock(&lock);
    raise_clock(put_at(RACE_PUT, context, race_me, pe), now);
    raise_clock(put_at(RACE_WITH, context, race_me, pe), now);
    pthread_mutex_unlock(&lock);
    race_local_done(context);
}

void race_local_done(int context)
{
    pthread_mutex_lock(&lock);
    raise_clock(local_at(context, race_me), now);
    pthread_mutex_unlock(&lock);
}

void race_quiet(int context)
{
    for (int pe = 0; pe < race_npes; pe++)
        race_quiet_pe(context, pe);
}

void race_fence(int context)
{
    pthread_mutex_lock(&lock);
    for (int pe = 0; pe < race_npes; pe++)
        fenced[context][pe] = now;
    changed = true;
    pthread_mutex_unlock(&lock);
}

/* ---- meetings ---- */

/* Returns the number of this meeting of the team. Beyond TEAMS teams share a count, which hides races. */
static uint32_t count_meeting(uint64_t key)
{
    size_t at = key % TEAMS, tries = 0;
    while (meetings[at].key && meetings[at].key != key && ++tries < TEAMS)
        at = (at + 1) % TEAMS;
    meetings[at].key = key;
    return meetings[at].count++;
}

void race_meet_begin(struct race_meet *meet)
{
    pthread_mutex_lock(&lock);
    uint32_t event = __atomic_fetch_add(&now, 1, __ATOMIC_RELAXED); /* all of mine so far */
    meet->number = count_meeting(meet->key);
    struct post *post = post_of(race_me, meet->key, meet->number);
    memcpy(post->clock, mine, count_entries() * sizeof *mine);
    post->clock[main_at(race_me)] = event;
    post->key = meet->key;
    post->number = meet->number;
    changed = true;
    take_snapshot();
    pthread_mutex_unlock(&lock);
}

/* When a later meeting, or another team with the same key, has taken the place, the latest of the PE is taken. */
static void meet_learn(const struct race_meet *meet, int pe)
{
    const struct post *post = post_of(pe, meet->key, meet->number);
    if (post->key == meet->key && post->number == meet->number) {
        join_clock(post->clock);
        return;
    }
    const struct snapshot *snapshot = snapshot_of(pe, *snapshots_of(pe) - 1);
    join_clock(snapshot->clock);
    raise_clock(main_at(pe), snapshot->from);
}

void race_meet_end(const struct race_meet *meet, int from)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the call has synchronized: its posts are there */
    pthread_mutex_lock(&lock);
    for (int rank = 0; rank < meet->size; rank++)
        if (rank != meet->rank && (from == -1 || rank == from || (from == -2 && rank < meet->rank)))
            meet_learn(meet, meet->pes[rank]);
    pthread_mutex_unlock(&lock);
}
