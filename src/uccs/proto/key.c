/* Keys of memory, for one-sided operations of the transport. An origin asks a peer for the key of a piece of memory
 * when it first wants to access the piece, and sends messages until the key is there. The target makes a piece accessible when
 * it is first asked for, so memory that nobody accesses is not pinned.
 *
 * At the origin: under the worker's lock, a key per piece and connection, which stays until proto are closed. At the
 * target: under the service worker's lock. */
#include "uccs/proto/inner.h"

#include <stdlib.h>
#include <string.h>

/* --- References: uses of registered memory of peers by one-sided operations of the transport. The owner may release such memory at any time,
 * and then must know that no network reads or writes it any more. So each operation claims its region before it starts; the
 * owner's message of the release (import.c) forbids further claims, and the owner asks again until all have ended.
 *
 * A region has one record in this process, however many connections have keys of it. Records have a lock of their own,
 * and live as long as a key. An operation adds its claim, then looks whether the region is gone; the message notes that it is
 * gone, then looks at the claims (both sequentially consistent), so one of the two sees the other. A put's claim ends
 * when a flush of the transport says that it is in place. */

struct proto_reference {
    int pe;
    uint64_t region;
    uint32_t claims; /* operations under way; sequentially consistent */
    uint32_t gone;   /* 1: the owner has released the memory; sequentially consistent */
    uint32_t keys;   /* under `records` */
    struct proto_reference *next;
};

static pthread_mutex_t records = PTHREAD_MUTEX_INITIALIZER;
static struct proto_reference *uses;

static struct proto_reference **place_of(int pe, uint64_t region)
{
    struct proto_reference **at = &uses;
    while (*at && ((*at)->pe != pe || (*at)->region != region))
        at = &(*at)->next;
    return at;
}

static struct proto_reference *open_reference(int pe, uint64_t region)
{
    pthread_mutex_lock(&records);
    struct proto_reference **at = place_of(pe, region);
    if (!*at && (*at = calloc(1, sizeof **at))) {
        (*at)->pe = pe;
        (*at)->region = region;
    }
    struct proto_reference *use = *at;
    if (!use)
        uccs_fail("no memory for a key of PE %d", pe);
    use->keys++;
    pthread_mutex_unlock(&records);
    return use;
}

static void close_reference(struct proto_reference *use)
{
    pthread_mutex_lock(&records);
    if (--use->keys == 0) {
        *place_of(use->pe, use->region) = use->next;
        free(use);
    }
    pthread_mutex_unlock(&records);
}

bool proto_reference_take(struct proto_reference *use)
{
    (void)atomic_fetch_add_seqcst(&use->claims, 1);
    if (lat_likely(!atomic_load_seqcst(&use->gone)))
        return true;
    proto_reference_drop(use);
    return false;
}

void proto_reference_drop(struct proto_reference *use)
{
    (void)atomic_fetch_sub_seqcst(&use->claims, 1);
}

static bool is_over(const struct proto_reference *use)
{
    return atomic_load_seqcst(&use->gone) && !atomic_load_seqcst(&use->claims);
}

bool proto_reference_invalidate(int pe, uint64_t region)
{
    pthread_mutex_lock(&records);
    struct proto_reference *use = *place_of(pe, region);
    if (use)
        atomic_store_seqcst(&use->gone, 1);
    const bool busy = use && atomic_load_seqcst(&use->claims);
    pthread_mutex_unlock(&records);
    return busy;
}

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
    send->header.key.handle = proto_handle_of(peer->worker, key, peer->pe, WIRE_KEY);
    proto_send_now(send);
}

static void free_key(struct proto_key *key)
{
    if (key->state == PROTO_KEY_READY)
        proto_transport->forget(key->key);
    if (key->use)
        close_reference(key->use);
    free(key);
}

/* Frees keys of regions that have been released. */
static void free_old_keys(struct proto_key **chain)
{
    while (*chain) {
        struct proto_key *key = *chain;
        if (key->use && key->state != PROTO_KEY_ASKED && is_over(key->use)) {
            *chain = key->next;
            free_key(key);
        } else {
            chain = &key->next;
        }
    }
}

lat_cold static void add_key(struct proto_peer *peer, const struct wire_header *header, uint64_t offset)
{
    struct proto_key *key = malloc(sizeof *key), **chain = chain_of(peer, header, offset);
    if (!key)
        uccs_fail("no memory for a key of PE %d", peer->pe);
    free_old_keys(chain);
    *key = (struct proto_key){.peer = peer,
                              .at = {offset, header->at.region},
                              .segment = header->segment,
                              .use = header->segment == PROTO_REGION ? open_reference(peer->pe, header->at.region) : 0,
                              .state = PROTO_KEY_ASKED,
                              .next = *chain};
    *chain = key;
    ask_for(peer, key);
}

const struct proto_key *proto_key_find(struct proto_peer *peer, const struct wire_header *header, uint64_t offset)
{
    offset -= offset % PROTO_PIECE;
    struct proto_key *key = *chain_of(peer, header, offset);
    while (key && (key->at.offset != offset || key->segment != header->segment || key->at.region != header->at.region))
        key = key->next;
    if (lat_unlikely(!key))
        add_key(peer, header, offset);
    return key;
}

const struct proto_key *proto_key_of(struct proto_peer *peer, const struct wire_header *header, uint64_t offset)
{
    const struct proto_key *key = proto_key_find(peer, header, offset);
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
static struct shared {
    char *start;
    uint64_t region; /* 0: the heap or the globals */
    void *shared;    /* the transport's; null: it could not share the memory, and never will */
    size_t bytes;    /* of the packed key */
    struct shared *next;
    char packed[TRANSPORT_KEY];
} * all;

static struct shared *share_memory(char *start, size_t bytes, uint64_t region)
{
    struct shared *made = calloc(1, sizeof *made);
    if (!made)
        uccs_fail("no memory for a key");
    made->start = start;
    made->region = region;
    made->bytes = sizeof made->packed;
    made->shared = bytes && proto_transport->share ? proto_transport->share(start, bytes) : 0;
    if (!made->shared || proto_transport->pack(made->shared, made->packed, &made->bytes) != 0)
        made->bytes = 0;
    made->next = all;
    all = made;
    return made;
}

static const struct shared *shared_at(char *start, size_t bytes, uint64_t region)
{
    struct shared *found = all;
    while (found && (found->start != start || found->region != region))
        found = found->next;
    return found ? found : share_memory(start, bytes, region);
}

void proto_give_key(struct proto_arrival *arrival, void *start, size_t bytes)
{
    const struct shared *memory = shared_at(start, bytes, arrival->header.at.region);
    struct proto_send *answer = proto_answer_new(WIRE_KEYED);
    answer->header.keyed.handle = arrival->header.key.handle;
    answer->header.keyed.start = (uint64_t)(uintptr_t)start;
    answer->data = memory->packed;
    answer->bytes = memory->bytes;
    proto_answer(arrival->origin, answer);
}

bool proto_key_share(char *start, size_t bytes)
{
    proto_service_lock();
    const bool done = shared_at(start, bytes, 0)->bytes != 0;
    proto_service_unlock();
    return done;
}

static void take_out(struct shared **at)
{
    struct shared *memory = *at;
    *at = memory->next;
    if (memory->shared)
        proto_transport->withdraw(memory->shared);
    free(memory);
}

void proto_withdraw(uint64_t region)
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
    while (all)
        take_out(&all);
}
