/* Keys, for one-sided operations of the transport. An origin asks a peer for the key of a piece of memory when it first wants to access the
 * piece, and sends messages until the key is there. The target makes a piece accessible when it is first asked for, so memory that nobody
 * accesses is not pinned. At the origin: under the worker's lock, a key per piece and connection, which stays until proto is closed. At
 * the target: under the service worker's lock.
 *
 * Where the network counts the puts with a key (TRANSPORT_COUNTS), a counter of the job has keys of its own: "Reducing Synchronization
 * Overhead Through Bundled Communication" (Dinan et al.), section 2.1, on Portals' counting events. A put with such a key is a counting
 * put that no processor of the target handles. The counter's line stays the one place of the count, where near peers add: who
 * reads it first moves there what the network has counted since (uccs_counter_collect), as does each look of a wait. So a
 * count is there when a flush that covers its put is done, as with messages. Regions, counters of groups and weights other than one stay
 * messages. Keys of a freed counter stay until the next counter's is asked for, so that what comes late is noted as an error. */
#include "uccs/proto/inner.h"

#include "uccs/core/progress.h"
#include "uccs/mem/region.h"

#include <stdlib.h>
#include <string.h>

/* --- At the origin */

static struct proto_key **chain_of(struct proto_peer *peer, const struct wire_header *header, uint64_t offset)
{
    const uint64_t number = offset / PROTO_PIECE + header->at.region + header->segment;
    return &peer->direct->keys[number % PROTO_KEY_CHAINS];
}

lat_cold static void ask_for(struct proto_peer *peer, struct proto_key *key)
{
    struct proto_send *send = proto_send_new(peer->worker, peer, WIRE_KEY);
    send->header.segment = key->segment;
    send->header.at = key->at;
    send->header.key.counter = key->counter;
    send->header.key.handle = proto_handle_of(peer->worker, key, peer->pe, WIRE_KEY);
    proto_send_now(send);
}

static void free_key(struct proto_key *key)
{
    if (key->state == PROTO_KEY_READY)
        proto_transport->forget(key->key);
    uccs_import_close(key->use);
    free(key);
}

static bool is_old(const struct proto_key *key)
{
    if (key->state == PROTO_KEY_ASKED)
        return false;
    if (key->counter)
        return !uccs_counter_of_job(key->counter);
    return key->use && uccs_import_has_ended(key->use) && !atomic_load_seqcst(&key->use->claims);
}

/* Frees keys of regions that have been released, and of counters that have been freed, whose puts were done before. */
static void free_old_keys(struct proto_key **chain)
{
    while (*chain) {
        struct proto_key *key = *chain;
        if (is_old(key)) {
            *chain = key->next;
            free_key(key);
        } else {
            chain = &key->next;
        }
    }
}

lat_cold static void add_key(struct proto_peer *peer, const struct wire_header *header, uint64_t offset,
                             uint64_t counter)
{
    struct proto_key *key = uccs_must_have(malloc(sizeof *key), "a key of", peer->pe);
    struct proto_key **chain = chain_of(peer, header, offset);
    free_old_keys(chain);
    *key = (struct proto_key){.peer = peer,
                              .at = {offset, header->at.region},
                              .counter = counter,
                              .segment = header->segment,
                              .use = header->segment == PROTO_REGION
                                         ? uccs_must_have(uccs_import_open(peer->pe, header->at.region), "a key of",
                                                          peer->pe)
                                         : 0,
                              .state = PROTO_KEY_ASKED,
                              .next = *chain};
    *chain = key;
    ask_for(peer, key);
}

const struct proto_key *proto_key_find(struct proto_peer *peer, const struct wire_header *header, uint64_t offset,
                                       uint64_t counter)
{
    offset -= offset % PROTO_PIECE;
    struct proto_key *key = *chain_of(peer, header, offset);
    while (key && (key->at.offset != offset || key->segment != header->segment || key->at.region != header->at.region ||
                   key->counter != counter))
        key = key->next;
    if (lat_unlikely(!key))
        add_key(peer, header, offset, counter);
    return key;
}

const struct proto_key *proto_key_of(struct proto_peer *peer, const struct wire_header *header, uint64_t offset,
                                     uint64_t counter)
{
    const struct proto_key *key = proto_key_find(peer, header, offset, counter);
    return key && key->state == PROTO_KEY_READY ? key : 0;
}

static bool take_key(struct proto_arrival *arrival, const void *packed)
{
    struct proto_key *key = proto_pending_take(arrival);
    key->key = arrival->bytes ? proto_transport->unpack(key->peer->to, packed, arrival->bytes) : 0;
    key->start = arrival->header.keyed.start;
    key->state = key->key ? PROTO_KEY_READY : PROTO_KEY_NONE;
    return true;
}

const struct proto_handler proto_on_keyed = {.loose = true, .land = take_key};

void proto_key_free(struct proto_peer *peer)
{
    for (int i = 0; i < PROTO_KEY_CHAINS; i++)
        for (struct proto_key *next, *key = peer->direct->keys[i]; key; key = next) {
            next = key->next;
            free_key(key);
        }
}

/* --- At the target */

/* Memory that peers may have keys of. */
struct shared {
    char *start;
    uint64_t region;  /* 0: the heap or the globals */
    uint64_t counter; /* that puts with the key count at; 0: at none */
    void *shared;     /* the transport's; null: it could not share the memory, and never will */
    uint64_t taken;   /* puts that have been added to the counter; under `collecting` */
    size_t bytes;     /* of the packed key */
    struct shared *next;
    char packed[TRANSPORT_KEY];
};

/* `counted` has the memory with a counter; who changes that list holds `collecting`, too. */
static struct shared *all, *counted;
static pthread_mutex_t collecting = PTHREAD_MUTEX_INITIALIZER; /* nothing is locked behind it */

/* Adds to the counters what the network has counted. Any thread. Returns non-zero when that was something. */
static int collect_counts(void *unused)
{
    int found = 0;
    (void)unused;
    pthread_mutex_lock(&collecting);
    for (struct shared *memory = counted; memory; memory = memory->next) {
        const uint64_t now = memory->shared ? proto_transport->counted(memory->shared) : 0;
        if (now == memory->taken)
            continue;
        uccs_counter_arrive_here(memory->counter, (int64_t)(now - memory->taken));
        memory->taken = now;
        found = 1;
    }
    pthread_mutex_unlock(&collecting);
    return found;
}

static struct uccs_progress_source collector = {.poll = collect_counts, .when = UCCS_PROGRESS_LOOK};

static void list_counted(struct shared *made)
{
    pthread_mutex_lock(&collecting);
    made->next = counted;
    counted = made;
    pthread_mutex_unlock(&collecting);
    atomic_store_release(&uccs_counter_collect, collect_counts);
    (void)uccs_progress_add(&collector);
}

static void *share_at_transport(char *start, size_t bytes, uint64_t counter)
{
    if (!bytes)
        return 0;
    if (!counter)
        return proto_transport->share ? proto_transport->share(start, bytes) : 0;
    return proto_transport->share_counting ? proto_transport->share_counting(start, bytes) : 0;
}

static struct shared *share_memory(char *start, size_t bytes, uint64_t region, uint64_t counter)
{
    struct shared *made = uccs_must_have(calloc(1, sizeof *made), "a key of", uccs_core.me);
    made->start = start;
    made->region = region;
    made->counter = counter;
    made->bytes = sizeof made->packed;
    made->shared = share_at_transport(start, bytes, counter);
    if (!made->shared || proto_transport->pack(made->shared, made->packed, &made->bytes) != 0)
        made->bytes = 0;
    if (counter) {
        list_counted(made);
        return made;
    }
    made->next = all;
    all = made;
    return made;
}

static const struct shared *shared_at(char *start, size_t bytes, uint64_t region, uint64_t counter)
{
    struct shared *found = counter ? counted : all;
    while (found && (found->start != start || found->region != region || found->counter != counter))
        found = found->next;
    return found ? found : share_memory(start, bytes, region, counter);
}

static void take_out(struct shared **at)
{
    struct shared *memory = *at;
    *at = memory->next;
    if (memory->shared)
        proto_transport->withdraw(memory->shared);
    free(memory);
}

/* Of counters that have been freed, or of every counter. */
static void withdraw_counters(bool every)
{
    pthread_mutex_lock(&collecting);
    for (struct shared **at = &counted; *at;)
        if (every || uccs_counter_is_old((*at)->counter))
            take_out(at);
        else
            at = &(*at)->next;
    pthread_mutex_unlock(&collecting);
}

static void give_key(struct proto_arrival *arrival)
{
    size_t bytes;
    char *start = proto_target_piece(&arrival->header, &bytes);
    if (arrival->header.key.counter)
        withdraw_counters(false);
    const struct shared *memory = shared_at(start, bytes, arrival->header.at.region, arrival->header.key.counter);
    struct proto_send *answer = proto_answer_new(WIRE_KEYED);
    answer->header.keyed.handle = arrival->header.key.handle;
    answer->header.keyed.start = (uint64_t)(uintptr_t)start;
    answer->data = memory->packed;
    answer->bytes = memory->bytes;
    proto_answer(arrival->origin, answer);
}

const struct proto_handler proto_on_key = {.landed = give_key};

bool proto_key_share(char *start, size_t bytes)
{
    proto_service_lock();
    const bool done = shared_at(start, bytes, 0, 0)->bytes != 0;
    proto_service_unlock();
    return done;
}

void proto_key_withdraw(uint64_t region)
{
    proto_service_lock();
    for (struct shared **at = &all; *at;)
        if ((*at)->region == region)
            take_out(at);
        else
            at = &(*at)->next;
    proto_service_unlock();
}

void proto_key_close(void)
{
    uccs_progress_remove(&collector);
    atomic_store_release(&uccs_counter_collect, (int (*)(void *))0);
    withdraw_counters(true);
    while (all)
        take_out(&all);
}
