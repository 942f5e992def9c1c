/* The values that PEs tell each other at start. On a node they lie in shared memory, one card per PE. The owner writes
 * its card before the fence, and any PE reads it after. For PEs of other nodes, a PE asks the launcher.
 *
 * The launcher gets one value from SHARE neighbours of a node at each fence: what is new on their cards, packed (pack.h), since it differs in a
 * few bytes alone and a launcher may keep all values on every node. The first of the neighbours puts it. Where nodes are scattered a PE
 * does not know who that is on another node, so there each puts its own.
 *
 * One lock guards the launcher's library, because some are not thread-safe. Any thread may call rte_get at any time,
 * also while another waits in a fence. */
#include "base/clock.h"
#include "base/log.h"
#include "base/pack.h"
#include "rte/backend.h"
#include "rte/rte.h"
#include "rte/wait_record.h"
#include "rte/watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct record {
    uint32_t key_bytes, bytes; /* of key and value, which follow, padded to a multiple of 8 */
};

struct card {
    uint32_t used; /* bytes of records; release by the owner, acquire by readers */
    uint32_t unused;
    char records[NODE_CARD_BYTES - 8];
};
_Static_assert(sizeof(struct card) == NODE_CARD_BYTES, "a card fills its place");
_Static_assert(NODE_CARD_BYTES <= PACK_STREAM, "a card is a stream");

enum { SHARE = 32 };
static uint32_t shown[SHARE]; /* bytes of these PEs' cards that earlier fences have shown; of the first of them alone */
static uint32_t fences;       /* that have shown cards; release, acquire */

static struct card *cards; /* of this node; null before the first use */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int open_cards(void)
{
    if (cards)
        return 0;
    size_t bytes = (size_t)rte.node_size * NODE_CARD_BYTES;
    void *base = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, (off_t)node_cards_at(rte.node->size));
    if (base == MAP_FAILED) {
        log_line("cannot map what the PEs say of themselves: %s", strerror(errno));
        return -1;
    }
    madvise(base, bytes, MADV_DONTDUMP);
    cards = base;
    return 0;
}

static size_t record_bytes(size_t key_bytes, size_t bytes)
{
    return (sizeof(struct record) + key_bytes + bytes + 7) & ~(size_t)7;
}

/* Returns the bytes of records. Cards lie in memory that other processes write, so the word is not believed. */
static size_t used_of(const struct card *card)
{
    const size_t used = atomic_load_acquire(&card->used); /* release: write_card */
    return used < sizeof card->records ? used : sizeof card->records;
}

/* Returns the value under the key in a list of records, or null. Lengths are read once: their owner may write them at any time. */
static const char *find_record(const char *records, size_t used, const char *key, size_t *bytes)
{
    const size_t key_bytes = strlen(key);
    for (size_t at = 0; at + sizeof(struct record) <= used;) {
        const struct record *record = (const struct record *)(records + at);
        const size_t seen_key = atomic_load_relaxed(&record->key_bytes);
        *bytes = atomic_load_relaxed(&record->bytes);
        const size_t whole = record_bytes(seen_key, *bytes);
        if (whole > used - at)
            return 0;
        const char *name = (const char *)(record + 1);
        if (seen_key == key_bytes && memcmp(name, key, key_bytes) == 0)
            return name + key_bytes;
        at += whole;
    }
    return 0;
}

static const char *find(const struct card *card, const char *key, size_t *bytes)
{
    return find_record(card->records, used_of(card), key, bytes);
}

static int write_card(struct card *card, const char *key, const void *value, size_t bytes)
{
    size_t key_bytes = strlen(key), need = record_bytes(key_bytes, bytes), earlier;
    if (key_bytes > RTE_KEY_BYTES || need > sizeof card->records - used_of(card) || find(card, key, &earlier)) {
        log_line("cannot tell the other PEs %s (%zu bytes): %s", key, bytes,
                 find(card, key, &earlier) ? "told before" : "too much to tell");
        return -1;
    }
    struct record *record = (struct record *)(card->records + card->used);
    *record = (struct record){.key_bytes = (uint32_t)key_bytes, .bytes = (uint32_t)bytes};
    memcpy(record + 1, key, key_bytes);
    memcpy((char *)(record + 1) + key_bytes, value, bytes);
    atomic_store_release(&card->used, card->used + (uint32_t)need); /* acquire: find */
    return 0;
}

int rte_put(const char *key, const void *value, size_t bytes)
{
    if (open_cards() != 0 || write_card(&cards[rte.node_index], key, value, bytes) != 0)
        return -1;
    if (!rte.places)
        return 0;
    pthread_mutex_lock(&lock);
    int status = rte_backend->put(key, value, bytes);
    pthread_mutex_unlock(&lock);
    return status;
}

int rte_backend_locked(int (*call)(void *), void *argument)
{
    pthread_mutex_lock(&lock);
    int status = call(argument);
    pthread_mutex_unlock(&lock);
    return status;
}

int rte_backend_fence(int seconds)
{
    pthread_mutex_lock(&lock);
    int status = rte_backend->fence(seconds, &lock);
    pthread_mutex_unlock(&lock);
    return status;
}

int rte_spread(const char *key, int pe, int npes, bool wanted, void **value, size_t *bytes)
{
    int64_t block = RTE_FAN; /* whose lowest PE has the value; the lowest of its parts ask for it */
    while (block < npes)
        block *= RTE_FAN;
    if (pe == 0 && rte_backend->put(key, *value, *bytes) != 0)
        return -1;
    for (; block > 1; block /= RTE_FAN) {
        const int64_t part = block / RTE_FAN;
        const bool asks = pe % block && pe % part == 0 && (part > 1 || wanted);
        if (rte_backend_fence(0) != 0 || (asks && rte_backend->get((int)(pe - pe % block), key, value, bytes) != 0) ||
            (asks && part > 1 && rte_backend->put(key, *value, *bytes) != 0))
            return -1;
    }
    return 0;
}

/* Every PE calls it. Returns 0, 1 when some PE did not come in `seconds` (0: for ever), -1 when the launcher failed.
 * The full fences state an order that a message through the launcher's processes implies anyway. */
static int job_fence(int seconds)
{
    if (rte.nodes == 1 && seconds)
        return !rte_node_barrier_within(seconds);
    if (rte.nodes == 1)
        return !rte_node_barrier();
    static uint64_t meetings;
    const struct node_wait_reason on = {.about = NODE_REASON_PES,
                                        .stride = 1,
                                        .size = rte.npes,
                                        .object = NODE_NO_TEAM,
                                        .number = ++meetings};
    /* A launcher does not tell when a fence lasts, so a watched job, which may ask, leaves the record at once. */
    const uint32_t record = rte_watch_is_wanted() ? rte_wait_record_begin(&on, 0, clock_nanoseconds(), 0, 0) : 0;
    atomic_fence_seqcst();
    int status = rte_backend_fence(seconds);
    atomic_fence_seqcst();
    if (record)
        rte_wait_record_end(record);
    return status;
}

static bool has_sets(void)
{
    return rte.nodes > 1 && !rte.places;
}

static void name_set(char *key, size_t room, uint32_t fence)
{
    snprintf(key, room, "set%u", (unsigned)fence);
}

/* The first of neighbours puts what is new on their cards. They write no more before the fence is over, so it reads each card whole. */
static int put_set(void)
{
    struct pack_stream streams[SHARE];
    size_t n = 0, bytes;
    char key[RTE_KEY_BYTES];
    for (; n < SHARE && rte.node_index + (int)n < rte.node_size; n++) {
        const struct card *card = &cards[(size_t)rte.node_index + n];
        const size_t used = used_of(card), old = shown[n] < used ? shown[n] : used;
        streams[n] = (struct pack_stream){(const unsigned char *)card->records + old, used - old};
        shown[n] = (uint32_t)used;
    }
    unsigned char *packed = pack_streams(streams, n, &bytes);
    name_set(key, sizeof key, fences + 1);
    if (!packed)
        log_line("no memory for what %zu PEs tell", n);
    pthread_mutex_lock(&lock);
    const int status = packed ? rte_backend->put(key, packed, bytes) : -1;
    pthread_mutex_unlock(&lock);
    free(packed);
    return status;
}

int rte_commit_fence(void)
{
    const bool sets = has_sets();
    if (open_cards() != 0 || (sets && !rte_node_barrier()) || (sets && rte.node_index % SHARE == 0 && put_set() != 0) ||
        job_fence(0) != 0)
        return -1;
    atomic_store_release(&fences, fences + sets); /* acquire: get_of_sets */
    return 0;
}

bool rte_job_barrier_within(int seconds)
{
    int status = job_fence(seconds);
    if (status < 0 && !(rte_backend->ending && rte_backend->ending()))
        rte_abort(LAT_EXIT); /* the backend has printed the cause */
    return status == 0;
}

bool rte_job_barrier(void)
{
    return rte_job_barrier_within(0);
}

/* Returns a copy of a value, or null without memory. */
static void *copy_value(const char *there, const char *key, int pe, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    if (!copy)
        log_line("no memory for %zu bytes (%s of PE %d)", bytes, key, pe);
    return copy ? memcpy(copy, there, bytes) : 0;
}

static void *get_near(const char *key, int pe, size_t *bytes)
{
    const char *there = open_cards() == 0 ? find(&cards[rte_index_of(pe)], key, bytes) : 0;
    if (!there)
        log_line("PE %d has told nothing of %s", pe, key);
    return there ? copy_value(there, key, pe, *bytes) : 0;
}

/* Sets that have been asked for, under the lock: programs ask for all PEs in a row, and for what was told before several fences. */
enum { KEPT = 64 };
static struct set {
    int first; /* of the neighbours */
    uint32_t fence;
    void *packed; /* null: none */
    size_t bytes;
} kept[KEPT];

/* Returns the set, or null when the launcher gives none. */
static const struct set *fetch_set(int first, uint32_t fence)
{
    struct set *set = &kept[((uint32_t)first + 5 * fence) % KEPT];
    char name[RTE_KEY_BYTES];
    if (set->packed && set->first == first && set->fence == fence)
        return set;
    free(set->packed);
    *set = (struct set){.first = first, .fence = fence};
    name_set(name, sizeof name, fence);
    return rte_backend->get(first, name, &set->packed, &set->bytes) == 0 ? set : 0;
}

/* Asks for the set of a PE at one fence. Returns false when the launcher gives none; *value stays null when the PE told no such value then. */
static bool get_of_set(const char *key, int pe, uint32_t fence, void **value, size_t *bytes)
{
    const int lead = rte_node_lead(rte_node_of(pe)), member = (pe - lead) % SHARE;
    size_t used = 0;
    pthread_mutex_lock(&lock);
    const struct set *set = fetch_set(pe - member, fence);
    unsigned char *records = set ? pack_take(set->packed, set->bytes, (size_t)member, &used) : 0;
    pthread_mutex_unlock(&lock);
    const char *there = records ? find_record((const char *)records, used, key, bytes) : 0;
    if (there)
        *value = copy_value(there, key, pe, *bytes);
    free(records);
    return set && (!there || *value);
}

static int get_of_sets(const char *key, int pe, void **value, size_t *bytes)
{
    *value = 0;
    for (uint32_t fence = atomic_load_acquire(&fences); fence && !*value; fence--) /* release: rte_commit_fence */
        if (!get_of_set(key, pe, fence, value, bytes))
            return -1;
    if (!*value)
        log_line("PE %d has told nothing of %s", pe, key);
    return *value ? 0 : -1;
}

int rte_get(int pe, const char *key, void **value, size_t *bytes)
{
    if (rte_on_my_node(pe))
        return (*value = get_near(key, pe, bytes)) ? 0 : -1;
    if (has_sets())
        return get_of_sets(key, pe, value, bytes);
    pthread_mutex_lock(&lock);
    int status = rte_backend->get(pe, key, value, bytes);
    pthread_mutex_unlock(&lock);
    return status;
}
