#include "uccs/mem/bounce.h"

#include "uccs/core/core.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <uccs.h>

#define SHARDS 16
#define LOOKS 16 /* a visit looks at this many blocks of a shard, so that many sent blocks do not make progress slow */

static struct shard {
    cache_aligned pthread_mutex_t lock;
    struct uccs_bounce *idle[UCCS_ARENAS][2]; /* blocks of the two common classes */
    struct uccs_bounce *sent, **last;         /* blocks under way; the one not looked at for longest is first */
    uint32_t busy;                            /* 1: `sent` is not empty; relaxed: a hint */
    uint32_t used[UCCS_ARENAS];               /* blocks outside of `idle`; changed under the lock, read without it */
} shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

/* Returns the class's index in `idle`, or -1 when idle blocks of this capacity are not kept. */
static int class_of(size_t capacity)
{
    return capacity == 0 ? 0 : capacity == UCCS_MEDIUM_MAX ? 1 : -1;
}

/* Gives the shard's idle blocks back to the arena. */
static void trim_shard(struct shard *shard, enum uccs_arena arena)
{
    struct uccs_bounce *idle[2];
    pthread_mutex_lock(&shard->lock);
    for (int cls = 0; cls < 2; cls++) {
        idle[cls] = shard->idle[arena][cls];
        shard->idle[arena][cls] = 0;
    }
    pthread_mutex_unlock(&shard->lock);
    for (int cls = 0; cls < 2; cls++)
        for (struct uccs_bounce *next; idle[cls]; idle[cls] = next) {
            next = idle[cls]->next;
            uccs_arena_give(idle[cls]);
        }
}

/* Takes a block from the arena. When the arena is full, first gives the idle blocks of all threads back to it. Returns
 * null when the arena is still full. */
static struct uccs_bounce *take_from_arena(enum uccs_arena arena, size_t bytes)
{
    struct uccs_bounce *block = uccs_arena_take(arena, bytes);
    for (int i = 0; i < SHARDS && !block; i++)
        trim_shard(&shards[i], arena);
    return block ? block : uccs_arena_take(arena, bytes);
}

static void count_used(struct shard *shard, enum uccs_arena arena, uint32_t by)
{
    atomic_store_relaxed(&shard->used[arena], shard->used[arena] + by);
}

/* Takes an idle block of the shard and counts it as used. Returns null when there is none. */
static struct uccs_bounce *take_idle(struct shard *shard, enum uccs_arena arena, int cls)
{
    pthread_mutex_lock(&shard->lock);
    struct uccs_bounce *block = cls >= 0 ? shard->idle[arena][cls] : 0;
    if (block) {
        shard->idle[arena][cls] = block->next;
        count_used(shard, arena, 1);
    }
    pthread_mutex_unlock(&shard->lock);
    return block;
}

/* Takes a new block from the arena. Counts it as used before it exists, so that a thread that waits for space sees that
 * some may come. Returns null when the arena is full. */
static struct uccs_bounce *take_new(struct shard *shard, enum uccs_arena arena, size_t bytes)
{
    pthread_mutex_lock(&shard->lock);
    count_used(shard, arena, 1);
    pthread_mutex_unlock(&shard->lock);
    struct uccs_bounce *block = take_from_arena(arena, bytes);
    if (!block) {
        pthread_mutex_lock(&shard->lock);
        count_used(shard, arena, -1u);
        pthread_mutex_unlock(&shard->lock);
    }
    return block;
}

/* Uses finished blocks again before it takes a new one. A sender whose receiver keeps up never waits, so without this
 * nobody would collect its blocks, and it would fill the region. */
struct uccs_bounce *uccs_bounce_get(enum uccs_arena arena, size_t length)
{
    uint32_t number = uccs_thread() % SHARDS;
    struct shard *shard = &shards[number];
    size_t capacity = length == 0 ? 0 : length <= UCCS_MEDIUM_MAX ? UCCS_MEDIUM_MAX : length;
    int cls = class_of(capacity);
    if (capacity > UINT32_MAX)
        return 0;
    struct uccs_bounce *block = take_idle(shard, arena, cls);
    if (lat_unlikely(!block) && uccs_bounce_collect() > 0)
        block = take_idle(shard, arena, cls);
    if (!block && !(block = take_new(shard, arena, sizeof *block + capacity)))
        return 0;
    *block = (struct uccs_bounce){.shard = number, .arena = arena, .capacity = (uint32_t)capacity};
    return block;
}

bool uccs_bounce_expected(enum uccs_arena arena, int *vain)
{
    for (int i = 0; i < SHARDS; i++)
        if (atomic_load_relaxed(&shards[i].used[arena])) {
            *vain = 0;
            return true;
        }
    return ++*vain < 2;
}

void uccs_bounce_put(struct uccs_bounce *block)
{
    struct shard *shard = &shards[block->shard];
    enum uccs_arena arena = (enum uccs_arena)block->arena;
    int cls = class_of(block->capacity);
    if (cls < 0)
        uccs_arena_give(block);
    pthread_mutex_lock(&shard->lock);
    if (cls >= 0) {
        block->next = shard->idle[arena][cls];
        shard->idle[arena][cls] = block;
    }
    count_used(shard, arena, -1u);
    pthread_mutex_unlock(&shard->lock);
}

/* Under the lock. */
static void append_sent(struct shard *shard, struct uccs_bounce *block)
{
    if (!shard->sent)
        shard->last = &shard->sent;
    block->next = 0;
    *shard->last = block;
    shard->last = &block->next;
}

void uccs_bounce_sent(struct uccs_bounce *block)
{
    struct shard *shard = &shards[block->shard];
    pthread_mutex_lock(&shard->lock);
    append_sent(shard, block);
    atomic_store_relaxed(&shard->busy, 1);
    pthread_mutex_unlock(&shard->lock);
}

/* Takes finished blocks off the shard and returns them as a list. Moves unfinished blocks behind the others. */
static struct uccs_bounce *take_done(struct shard *shard)
{
    struct uccs_bounce *done = 0, **end = &done, *last = 0;
    for (int looks = 0; looks < LOOKS && shard->sent && shard->sent != last; looks++) {
        struct uccs_bounce *block = shard->sent;
        shard->sent = block->next;
        if (!atomic_load_acquire(&block->done)) { /* release: uccs_am_done */
            last = last ? last : block;
            append_sent(shard, block);
            continue;
        }
        block->next = 0;
        *end = block;
        end = &block->next;
    }
    atomic_store_relaxed(&shard->busy, shard->sent != 0);
    return done;
}

static void settle_bounce(struct uccs_bounce *block)
{
    struct uccs_request *request = block->request;
    bool failed = block->failed;
    if (block->landed)
        block->landed(block);
    uccs_bounce_put(block);
    if (request)
        uccs_request_finish(request, failed);
}

int uccs_bounce_collect(void)
{
    int count = 0;
    for (uint32_t k = 0, mine = uccs_thread(); k < SHARDS; k++) {
        struct shard *shard = &shards[(mine + k) % SHARDS];
        if (!atomic_load_relaxed(&shard->busy) || pthread_mutex_trylock(&shard->lock) != 0)
            continue;
        struct uccs_bounce *done = take_done(shard);
        pthread_mutex_unlock(&shard->lock);
        for (struct uccs_bounce *next; done; done = next, count++) {
            next = done->next;
            settle_bounce(done);
        }
    }
    return count;
}

static bool tell_one(struct shard *shard, const struct uccs_request *request, struct uccs_reason *reason)
{
    bool known = false;
    if (pthread_mutex_trylock(&shard->lock) != 0)
        return false;
    for (const struct uccs_bounce *block = shard->sent; block && !known; block = block->next) {
        known = block->request && uccs_request_counts(request, block->request);
        if (known)
            reason->on = uccs_reason_pe(block->to);
    }
    pthread_mutex_unlock(&shard->lock);
    return known;
}

bool uccs_bounce_tell(const struct uccs_request *request, struct uccs_reason *reason)
{
    for (int i = 0; i < SHARDS; i++)
        if (tell_one(&shards[i], request, reason)) {
            snprintf(reason->text, sizeof reason->text, "a message");
            return true;
        }
    return false;
}

void uccs_bounce_close(void)
{
    for (int i = 0; i < SHARDS; i++) {
        memset(shards[i].idle, 0, sizeof shards[i].idle);
        memset(shards[i].used, 0, sizeof shards[i].used);
        shards[i].sent = 0;
        shards[i].busy = 0;
    }
}
