/* A free list of numbers. The head holds the first free object's number + 1 and a tag that every get
 * raises: a get that read an old head cannot take an object that went and came back meanwhile (ABA), as the
 * tag differs, unless 2^32 gets fall between its load and its compare and swap.
 *
 * Chunk k holds first * 2^k objects, so a number finds its chunk by its highest bit, and the table is
 * small and never moves. Each object has a header that the user does not see: a get reads the `next` of
 * an object that another thread may just have taken, which is harmless because nothing else lies there.
 *
 * All changes of the head are read-modify-writes, so each get synchronises with every put before it: what the
 * last user of an object wrote is visible to the next. */
#include "base/pool.h"

#include "base/atomic.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS 32
#define IN_USE UINT32_MAX

struct header {
    uint32_t number;
    uint32_t next; /* number + 1 of the next free object, 0 at the end; IN_USE outside of the pool */
    uint64_t unused;
};
_Static_assert(sizeof(struct header) == 16, "keeps the payload aligned to 16");

struct pool {
    cache_aligned uint64_t head; /* tag << 32 | number + 1 */
    cache_aligned size_t stride; /* this line: constant but for growth */
    uint32_t shift;              /* objects of chunk 0: 1 << shift */
    uint32_t most;
    uint32_t capacity; /* release by grow, acquire by pool_capacity */
    int chunks;        /* under the lock */
    pthread_mutex_t lock;
    char *chunk[CHUNKS];
};

static struct header *header_at(const struct pool *p, uint32_t number)
{
    uint32_t group = (number >> p->shift) + 1;
    unsigned k = 31u - (unsigned)__builtin_clz(group);
    uint32_t start = ((UINT32_C(1) << k) - 1) << p->shift;
    char *chunk = atomic_load_relaxed(&p->chunk[k]); /* the number came through the head, and the chunk before it */
    return (struct header *)(chunk + (size_t)(number - start) * p->stride);
}

static struct header *header_of(const void *object)
{
    return (struct header *)object - 1;
}

/* Puts a chain of free objects in front. */
static void push_chain(struct pool *p, uint32_t first, struct header *last)
{
    uint64_t head = atomic_load_relaxed(&p->head);
    do
        atomic_store_relaxed(&last->next, (uint32_t)head); /* read by pop, which then compares the tag */
    while (!atomic_cas_acqrel(&p->head, &head, (head & ~(uint64_t)UINT32_MAX) | (first + 1))); /* partner: pop */
}

static struct header *pop(struct pool *p)
{
    uint64_t head = atomic_load_acquire(&p->head); /* partner: push_chain */
    while ((uint32_t)head) {
        struct header *h = header_at(p, (uint32_t)head - 1);
        uint32_t next = atomic_load_relaxed(&h->next); /* stale when the tag has changed: then the swap fails */
        uint64_t tag = (head >> 32) + 1;
        if (atomic_cas_acqrel(&p->head, &head, tag << 32 | next)) { /* partner: push_chain */
            atomic_store_relaxed(&h->next, IN_USE);
            return h;
        }
    }
    return NULL;
}

static uint32_t next_chunk_objects(const struct pool *p)
{
    uint64_t room = (uint64_t)p->most - p->capacity, count = UINT64_C(1) << (p->shift + (unsigned)p->chunks);
    return (uint32_t)(count < room ? count : room);
}

/* Under the lock. False when there is no more. */
static int add_chunk(struct pool *p)
{
    uint32_t start = p->capacity, count = next_chunk_objects(p);
    if (!count || p->chunks == CHUNKS)
        return 0;
    char *chunk = aligned_alloc(CACHE_LINE, count * p->stride);
    if (!chunk)
        return 0;
    memset(chunk, 0, count * p->stride);
    struct header *h = NULL;
    for (uint32_t i = 0; i < count; i++) {
        h = (struct header *)(chunk + i * p->stride);
        h->number = start + i;
        h->next = start + i + 2;
    }
    atomic_store_relaxed(&p->chunk[p->chunks++], chunk); /* published by push_chain */
    atomic_store_release(&p->capacity, start + count);   /* partner: pool_capacity */
    push_chain(p, start, h);
    return 1;
}

static lat_cold struct header *grow(struct pool *p)
{
    struct header *h;
    pthread_mutex_lock(&p->lock);
    while (!(h = pop(p)) && add_chunk(p)) /* others may have emptied the new chunk already */
        ;
    pthread_mutex_unlock(&p->lock);
    return h;
}

struct pool *pool_create(size_t object_bytes, uint32_t first, uint32_t most)
{
    struct pool *p = aligned_alloc(CACHE_LINE, (sizeof *p + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->stride = (sizeof(struct header) + object_bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
    p->most = most && most < IN_USE - 1 ? most : IN_USE - 1;
    while (p->shift < 20 && UINT32_C(1) << p->shift < first)
        p->shift++;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void pool_destroy(struct pool *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->chunks; i++)
        free(p->chunk[i]);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void *pool_get(struct pool *p)
{
    struct header *h = pop(p);
    if (lat_unlikely(!h))
        h = grow(p);
    return h ? h + 1 : NULL;
}

void pool_put(struct pool *p, void *object)
{
    struct header *h = header_of(object);
    if (lat_unlikely(atomic_load_relaxed(&h->next) != IN_USE)) {
        log_line("internal error: an object of a pool was put back twice (%p); please report it", object);
        abort();
    }
    push_chain(p, h->number, h);
}

uint32_t pool_number(const void *object)
{
    return header_of(object)->number;
}

void *pool_object(const struct pool *p, uint32_t number)
{
    return header_at(p, number) + 1;
}

uint32_t pool_capacity(const struct pool *p)
{
    return atomic_load_acquire(&p->capacity); /* partner: add_chunk */
}
