#include "uccs/stage.h"

#include "uccs/region.h"

#include <pthread.h>
#include <uccs.h>

#define SHARDS 16

static struct shard {
    cache_aligned pthread_mutex_t lock;
    struct uccs_block *idle[2]; /* of the two common classes */
    struct uccs_block *sent;    /* under way */
    uint32_t busy;              /* there are some; relaxed: a hint */
} shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static uint32_t my_shard(void)
{
    static uint32_t threads;
    static _Thread_local uint32_t mine;
    if (!mine)
        mine = atomic_fetch_add_relaxed(&threads, 1) + 1;
    return mine % SHARDS;
}

static int class_of(size_t capacity)
{
    return capacity == 0 ? 0 : capacity == UCCS_MEDIUM_MAX ? 1 : -1;
}

struct uccs_block *uccs_stage_get(size_t length)
{
    uint32_t number = my_shard();
    struct shard *shard = &shards[number];
    size_t capacity = length == 0 ? 0 : length <= UCCS_MEDIUM_MAX ? UCCS_MEDIUM_MAX : length;
    struct uccs_block *block = 0;
    int cls = class_of(capacity);
    if (capacity > UINT32_MAX)
        return 0;
    if (cls >= 0) {
        pthread_mutex_lock(&shard->lock);
        block = shard->idle[cls];
        if (block)
            shard->idle[cls] = block->next;
        pthread_mutex_unlock(&shard->lock);
    }
    if (!block)
        block = uccs_region_take(sizeof *block + capacity);
    if (block)
        *block = (struct uccs_block){.shard = number, .capacity = (uint32_t)capacity};
    return block;
}

void uccs_stage_put(struct uccs_block *block)
{
    struct shard *shard = &shards[block->shard];
    int cls = class_of(block->capacity);
    if (cls < 0) {
        uccs_region_give(block);
        return;
    }
    pthread_mutex_lock(&shard->lock);
    block->next = shard->idle[cls];
    shard->idle[cls] = block;
    pthread_mutex_unlock(&shard->lock);
}

void uccs_stage_sent(struct uccs_block *block)
{
    struct shard *shard = &shards[block->shard];
    pthread_mutex_lock(&shard->lock);
    block->next = shard->sent;
    shard->sent = block;
    atomic_store_relaxed(&shard->busy, 1);
    pthread_mutex_unlock(&shard->lock);
}

static struct uccs_block *take_done(struct shard *shard)
{
    struct uccs_block *done = 0, **at = &shard->sent;
    while (*at) {
        struct uccs_block *block = *at;
        if (!atomic_load_acquire(&block->done)) { /* release: am.c, handled */
            at = &block->next;
            continue;
        }
        *at = block->next;
        block->next = done;
        done = block;
    }
    atomic_store_relaxed(&shard->busy, shard->sent != 0);
    return done;
}

static void settle(struct uccs_block *block)
{
    if (block->request) {
        uccs_request_finish(block->request, false);
        atomic_fetch_sub_acqrel(block->unsettled, 1); /* acquire: uccs_am_settled */
    }
    uccs_stage_put(block);
}

int uccs_stage_collect(void)
{
    int count = 0;
    for (uint32_t k = 0, first = my_shard(); k < SHARDS; k++) {
        struct shard *shard = &shards[(first + k) % SHARDS];
        if (!atomic_load_relaxed(&shard->busy) || pthread_mutex_trylock(&shard->lock) != 0)
            continue;
        struct uccs_block *done = take_done(shard);
        pthread_mutex_unlock(&shard->lock);
        for (; done; count++) {
            struct uccs_block *next = done->next;
            settle(done);
            done = next;
        }
    }
    return count;
}

void uccs_stage_close(void)
{
    for (int i = 0; i < SHARDS; i++) {
        shards[i].idle[0] = shards[i].idle[1] = shards[i].sent = 0;
        shards[i].busy = 0;
    }
}
