/* What each kind of call means: which memory it uses in which way, whom it lets go on, and of whom it learns. Wrappers
 * (wrappers.py) call these before the real function, and those named _done, _waited or _end after it. */
#include "race.h"

#include "base/where.h"

#include <pshmem.h>
#include <pthread.h>
#include <stdlib.h>

#define FLAG_BYTES 512 /* somebody may wait for a word of a put of at most this size */
#define LATER 16

static struct race_access access_of(const struct race_call *call, enum race_way way, unsigned flags, uint32_t event)
{
    const void *from = where_behind_wrappers(call->from);
    return (struct race_access){way,   call->context, flags,
                                event, call->number,  (const void *)(uintptr_t)where_of(from)};
}

int race_class(shmem_ctx_t ctx)
{
    return ctx == SHMEM_CTX_DEFAULT ? 0 : 1 + (int)((uintptr_t)ctx >> 6 & 1);
}

struct race_call race_call_of(uint32_t number, const void *from, shmem_ctx_t ctx, int pe, bool tracked)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    if (!race_on || ctx == SHMEM_CTX_INVALID)
        return (struct race_call){.number = number, .pe = -1};
    if (ctx != SHMEM_CTX_DEFAULT && pshmem_ctx_get_team(ctx, &team) == 0 && team != SHMEM_TEAM_WORLD)
        pe = pshmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
    return (struct race_call){number, from, tracked ? RACE_TRACKED : race_class(ctx), pe < race_npes ? pe : -1};
}

static void touch_here(const void *at, size_t bytes, const struct race_access *access)
{
    int pe;
    size_t offset;
    if (bytes && race_find(at, &pe, &offset))
        race_touch(pe, offset, bytes, access);
    else if (bytes)
        race_touch_private(at, bytes, access);
}

static void touch_there(int pe, const void *at, size_t bytes, const struct race_access *access)
{
    size_t offset;
    if (bytes && race_find_at(at, pe, &offset))
        race_touch(pe, offset, bytes, access);
}

/* Others may wait for what is stored there. */
static void release_waiters(int pe, const void *at, size_t bytes, uint32_t word)
{
    size_t offset;
    if (!bytes || bytes > FLAG_BYTES || !race_find_at(at, pe, &offset))
        return;
    for (size_t end = offset + bytes, group = offset / 8 * 8; group < end; group += 8)
        __atomic_store_n(&race_released(pe, group)[race_me], word, __ATOMIC_RELEASE); /* acquire: race_learn */
}

void race_put(const struct race_call *call, const void *dest, const void *source, size_t bytes, bool stays, bool with)
{
    if (call->pe < 0)
        return;
    uint32_t event = race_step(true);
    struct race_access reads = access_of(call, stays ? RACE_LOCAL : RACE_MAIN, RACE_LOAD, event);
    struct race_access stores = access_of(call, with ? RACE_WITH : RACE_PUT, RACE_STORE, event);
    if (source)
        touch_here(source, bytes, &reads);
    touch_there(call->pe, dest, bytes, &stores);
    release_waiters(call->pe, dest, bytes, race_word(event, call->context, false));
}

void race_get(const struct race_call *call, const void *dest, const void *source, size_t bytes, bool stays)
{
    if (call->pe < 0)
        return;
    uint32_t event = race_step(false);
    struct race_access reads = access_of(call, stays ? RACE_LOCAL : RACE_MAIN, RACE_LOAD, event), stores = reads;
    stores.flags = RACE_STORE;
    touch_there(call->pe, source, bytes, &reads);
    if (dest)
        touch_here(dest, bytes, &stores);
}

void race_strided(const struct race_call *call, bool put, const void *dest, const void *source, ptrdiff_t dst,
                  ptrdiff_t sst, size_t block, size_t blocks, size_t size, bool with)
{
    if (call->pe < 0)
        return;
    uint32_t event = race_step(put);
    bool stays = call->context == RACE_TRACKED;
    struct race_access here = access_of(call, stays ? RACE_LOCAL : RACE_MAIN, put ? RACE_LOAD : RACE_STORE, event);
    struct race_access there = here;
    there.flags = put ? RACE_STORE : RACE_LOAD;
    there.way = put ? (with ? RACE_WITH : RACE_PUT) : here.way;
    for (size_t i = 0; i < blocks; i++) {
        const char *to = (const char *)dest + (ptrdiff_t)i * dst * (ptrdiff_t)size;
        const char *of = (const char *)source + (ptrdiff_t)i * sst * (ptrdiff_t)size;
        touch_here(put ? of : to, block * size, &here);
        touch_there(call->pe, put ? to : of, block * size, &there);
        if (put)
            release_waiters(call->pe, to, block * size, race_word(event, call->context, false));
    }
}

void race_signal(const struct race_call *call, const void *at, int operation, bool with)
{
    if (call->pe < 0)
        return;
    uint32_t event = with ? race_now() : race_step(true); /* with: the event of its data */
    const unsigned kind = operation == SHMEM_SIGNAL_ADD ? RACE_SIGNAL_ADD : RACE_SIGNAL_SET;
    struct race_access stores = access_of(call, RACE_PUT, RACE_STORE | RACE_ATOMIC | kind << RACE_KIND, event);
    touch_there(call->pe, at, sizeof(uint64_t), &stores);
    release_waiters(call->pe, at, sizeof(uint64_t), race_word(event, call->context, with));
}

void race_atomic(const struct race_call *call, const void *at, size_t bytes, unsigned kind, bool loads,
                 const void *fetch, bool stays)
{
    if (call->pe < 0)
        return;
    uint32_t event = race_step(true);
    bool returns = fetch && !stays; /* the value is there when the call returns */
    struct race_access there = access_of(call,
                                         returns ? RACE_MAIN
                                         : loads ? RACE_LOCAL
                                                 : RACE_PUT,
                                         RACE_ATOMIC | kind << RACE_KIND | (loads ? RACE_LOAD : RACE_STORE), event);
    touch_there(call->pe, at, bytes, &there);
    if (!loads)
        release_waiters(call->pe, at, bytes, race_word(event, call->context, false));
    struct race_access here = access_of(call, RACE_LOCAL, RACE_STORE, event);
    if (fetch && stays)
        touch_here(fetch, bytes, &here);
}

void race_atomic_done(const struct race_call *call, const void *at)
{
    size_t offset;
    if (call->pe >= 0 && race_find_at(at, call->pe, &offset))
        race_learn(race_released(call->pe, offset), call->pe);
}

void race_waited(const void *at, size_t bytes)
{
    int pe;
    size_t offset;
    if (!race_on || !bytes || !race_find(at, &pe, &offset))
        return;
    for (size_t group = offset / 8 * 8; group < offset + bytes; group += 8)
        race_learn(race_released(pe, group), pe);
    race_seen(pe, offset, bytes);
}

void race_counted(const struct race_call *call, const void *counter, bool with)
{
    if (call->pe < 0)
        return;
    uint32_t event = with ? race_now() : race_step(true);
    uint32_t word = race_word(event, call->context, with);
    __atomic_store_n(&race_count_words(counter, call->pe)[race_me], word, __ATOMIC_RELEASE); /* acquire: race_learn */
}

void race_count_waited(const void *counter)
{
    if (race_on)
        race_learn(race_count_words(counter, race_me), race_me);
}

/* A lock passes on what its holders knew at the same words at PE 0, whoever asks. */
void race_lock(const void *lock)
{
    size_t offset;
    if (race_on && race_find_at(lock, 0, &offset))
        race_learn(race_released(0, offset), 0);
}

void race_unlock(const void *lock)
{
    if (!race_on)
        return;
    race_quiet(0);
    release_waiters(0, lock, sizeof(long), race_word(race_step(true), 0, false));
}

/* ---- meetings ---- */

static void finish_meet(struct race_meet *meet)
{
    meet->key = 14695981039346656037u;
    for (int i = 0; i < meet->size; i++) {
        meet->rank = meet->pes[i] == race_me ? i : meet->rank;
        meet->key = (meet->key ^ (uint64_t)(meet->pes[i] + 1)) * 1099511628211u;
    }
    meet->key ^= meet->key >> 32;
    race_meet_begin(meet);
}

void race_team(struct race_meet *meet, shmem_team_t team)
{
    *meet = (struct race_meet){.size = race_on && team != SHMEM_TEAM_INVALID ? pshmem_team_n_pes(team) : 0};
    for (int i = 0; i < meet->size; i++)
        meet->pes[i] = pshmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
    if (meet->size > 0)
        finish_meet(meet);
}

void race_set(struct race_meet *meet, int start, int logstride, int size)
{
    *meet = (struct race_meet){.size = race_on ? size : 0};
    for (int i = 0; i < meet->size; i++)
        meet->pes[i] = start + (i << logstride);
    if (meet->size > 0)
        finish_meet(meet);
}

void race_reads(uint32_t call, const void *from, const void *at, size_t bytes)
{
    struct race_call one = {call, from, 0, race_me};
    struct race_access access = access_of(&one, RACE_MAIN, RACE_LOAD, race_now());
    if (race_on)
        touch_here(at, bytes, &access);
}

void race_writes(uint32_t call, const void *from, const void *at, size_t bytes)
{
    struct race_call one = {call, from, 0, race_me};
    struct race_access access = access_of(&one, RACE_MAIN, RACE_STORE, race_now());
    if (race_on)
        touch_here(at, bytes, &access);
}

/* Split-phase collectives that have begun; any request that is complete counts as theirs, which may hide a race. */
static struct race_meet later[LATER];
static int laters;
static pthread_mutex_t later_lock = PTHREAD_MUTEX_INITIALIZER;

void race_later(shmem_team_t team)
{
    struct race_meet meet;
    race_quiet(0);
    race_team(&meet, team);
    pthread_mutex_lock(&later_lock);
    if (meet.size)
        later[laters++ % LATER] = meet;
    pthread_mutex_unlock(&later_lock);
}

void race_requests_done(void)
{
    if (!race_on)
        return;
    race_quiet(RACE_TRACKED);
    pthread_mutex_lock(&later_lock);
    for (int i = 0; i < laters && i < LATER; i++)
        race_meet_end(&later[i], -1);
    laters = 0;
    pthread_mutex_unlock(&later_lock);
}
