/* Messages; see inner.h. */
#include "uccs/coll/inner.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/am/am.h"
#include "uccs/core/doorbell.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 128

/* Buckets of messages by key, with a lock each. */
static struct bucket {
    cache_aligned pthread_mutex_t lock;
    struct uccs_tagged *first;
} buckets[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static struct bucket *bucket_of(const struct uccs_tag *key)
{
    uint64_t hash =
        (key->group ^ key->sequence * 0x9E3779B97F4A7C15u ^ (uint64_t)key->source << 32) * 0x9E3779B97F4A7C15u;
    return &buckets[(hash >> 32 ^ key->round * 31) % BUCKETS];
}

static bool same_tag(const struct uccs_tag *a, const struct uccs_tag *b)
{
    return a->group == b->group && a->sequence == b->sequence && a->source == b->source && a->round == b->round &&
           a->piece == b->piece;
}

static bool try_short(uint32_t index, const struct uccs_tag *key, const void *data, size_t length)
{
    char payload[UCCS_SHORT_MAX];
    memcpy(payload, key, sizeof *key);
    if (length)
        memcpy(payload + sizeof *key, data, length);
    return uccs_am_try(index, UCCS_INNER_TAGGED, payload, sizeof *key + length, 0);
}

static void block_landed(struct uccs_bounce *block)
{
    (void)atomic_fetch_sub_acqrel((uint32_t *)block->cookie, 1); /* acquire: the sender, which waits for its messages */
}

static bool try_staged(uint32_t index, const struct uccs_tag *key, const void *data, size_t length, uint32_t *out)
{
    struct uccs_bounce *block = uccs_bounce_get(UCCS_ARENA_LIBRARY, sizeof *key + length);
    if (!block) /* collectives of several groups may fill the library's room */
        block = uccs_bounce_get(UCCS_ARENA_PROGRAM, sizeof *key + length);
    if (!block)
        return false;
    memcpy(block->payload, key, sizeof *key);
    if (length)
        memcpy(block->payload + sizeof *key, data, length);
    if (out) {
        block->landed = block_landed;
        block->cookie = out;
        (void)atomic_fetch_add_relaxed(out, 1); /* before the receiver can get it */
    }
    if (uccs_am_try(index, UCCS_INNER_TAGGED, 0, sizeof *key + length, block))
        return true;
    if (out)
        (void)atomic_fetch_sub_acqrel(out, 1);
    uccs_bounce_put(block);
    return false;
}

bool uccs_tagged_try(int pe, const struct uccs_tag *key, const void *data, size_t length, uint32_t *out)
{
    struct uccs_tag full = *key;
    uint32_t index = uccs_index(pe);
    full.source = (uint32_t)uccs_core.me;
    return out || length > TAGGED_INLINE ? try_staged(index, &full, data, length, out)
                                         : try_short(index, &full, data, length);
}

/* Files a message. A staged message stays in its block; a short one is copied. */
void uccs_tagged_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const struct uccs_tag *key = payload;
    uccs_am_insist(token, length, sizeof *key, &key->source);
    struct uccs_bounce *block = uccs_am_hold(token);
    size_t bytes = length - sizeof *key;
    struct uccs_tagged *message = malloc(sizeof *message + (block ? 0 : bytes));
    (void)argument;
    if (!message) {
        log_line("uccs: no memory for a message of PE %d", uccs_am_source(token));
        rte_abort(LAT_EXIT);
    }
    memcpy(&message->key, payload, sizeof message->key);
    const char *data = (const char *)payload + sizeof message->key;
    if (!block && bytes)
        memcpy(message->copy, data, bytes);
    message->data = block ? data : message->copy;
    message->length = bytes;
    message->block = block;
    struct bucket *bucket = bucket_of(&message->key);
    pthread_mutex_lock(&bucket->lock);
    message->next = bucket->first;
    atomic_store_relaxed(&bucket->first, message); /* the lock publishes it; relaxed: the hint in take */
    pthread_mutex_unlock(&bucket->lock);
}

struct uccs_tagged *uccs_tagged_take(const struct uccs_tag *key)
{
    struct bucket *bucket = bucket_of(key);
    if (!atomic_load_relaxed(&bucket->first)) /* a hint: the caller looks again */
        return 0;
    pthread_mutex_lock(&bucket->lock);
    struct uccs_tagged *before = 0, *message = bucket->first;
    while (message && !same_tag(&message->key, key)) {
        before = message;
        message = message->next;
    }
    if (message && before)
        before->next = message->next;
    else if (message)
        atomic_store_relaxed(&bucket->first, message->next);
    pthread_mutex_unlock(&bucket->lock);
    return message;
}

void uccs_tagged_drop(struct uccs_tagged *message)
{
    uint32_t source = uccs_index((int)message->key.source);
    if (message->block) {
        uccs_am_done(message->block);
        if (source < uccs_core.pes)
            uccs_doorbell_wake_if_tasks(source);
    }
    free(message);
}

void uccs_tagged_close(void)
{
    for (int i = 0; i < BUCKETS; i++) {
        struct uccs_tagged *next;
        for (struct uccs_tagged *at = buckets[i].first; at; at = next) {
            next = at->next;
            uccs_tagged_drop(at);
        }
        buckets[i].first = 0;
    }
}
