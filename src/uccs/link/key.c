/* Keys of memory, for one-sided operations of the transport. An origin asks a peer for the key of a piece of memory
 * when it first wants to access the piece, and sends messages until the key is there. The target makes a piece accessible when
 * it is first asked for, so memory that nobody accesses is not pinned.
 *
 * At the origin: under the lane's lock, a key per piece and connection, which stays until the links are closed. At the
 * target: under the service lane's lock. */
#include "uccs/link/inner.h"

#include <stdlib.h>
#include <string.h>

/* --- At the origin */

static struct link_key **chain_of(struct link_peer *peer, const struct link_header *header, uint64_t offset)
{
    const uint64_t number = offset / LINK_PIECE + header->at.region + header->segment;
    return &peer->direct->keys[number % LINK_KEY_CHAINS];
}

lat_cold static void ask_for(struct link_peer *peer, struct link_key *key)
{
    struct link_send *send = link_send_new(peer->lane);
    send->header.kind = LINK_KEY;
    send->header.segment = key->segment;
    send->header.at = key->at;
    send->header.key.asker = link_token_of(peer->lane, key, peer->pe, LINK_KEY);
    link_send_now(peer, send, 0, 0);
}

static void free_key(struct link_key *key)
{
    if (key->state == LINK_KEY_READY)
        link_transport->forget(key->key);
    if (key->use)
        link_use_close(key->use);
    free(key);
}

/* Frees keys of regions that have been released. */
static void tidy(struct link_key **chain)
{
    while (*chain) {
        struct link_key *key = *chain;
        if (key->use && key->state != LINK_KEY_ASKED && link_use_over(key->use)) {
            *chain = key->next;
            free_key(key);
        } else {
            chain = &key->next;
        }
    }
}

lat_cold static void add_key(struct link_peer *peer, const struct link_header *header, uint64_t offset)
{
    struct link_key *key = malloc(sizeof *key), **chain = chain_of(peer, header, offset);
    if (!key)
        uccs_fail("no memory for a key of PE %d", peer->pe);
    tidy(chain);
    *key = (struct link_key){.peer = peer,
                             .at = {offset, header->at.region},
                             .segment = header->segment,
                             .use = header->segment == FAR_REGION ? link_use_open(peer->pe, header->at.region) : 0,
                             .state = LINK_KEY_ASKED,
                             .next = *chain};
    *chain = key;
    ask_for(peer, key);
}

const struct link_key *link_key_find(struct link_peer *peer, const struct link_header *header, uint64_t offset)
{
    offset -= offset % LINK_PIECE;
    struct link_key *key = *chain_of(peer, header, offset);
    while (key && (key->at.offset != offset || key->segment != header->segment || key->at.region != header->at.region))
        key = key->next;
    if (lat_unlikely(!key))
        add_key(peer, header, offset);
    return key;
}

const struct link_key *link_key_of(struct link_peer *peer, const struct link_header *header, uint64_t offset)
{
    const struct link_key *key = link_key_find(peer, header, offset);
    return key && key->state == LINK_KEY_READY ? key : 0;
}

static bool take_key(struct link_arrival *arrival, const void *packed)
{
    struct link_key *key = link_answered(arrival);
    key->key = arrival->bytes ? link_transport->unpack(key->peer->to, packed, arrival->bytes) : 0;
    key->start = arrival->header.keyed.start;
    key->state = key->key ? LINK_KEY_READY : LINK_KEY_NONE;
    return true;
}

const struct link_handler link_on_keyed = {.loose = true, .land = take_key};

void link_key_free(struct link_peer *peer)
{
    for (int i = 0; i < LINK_KEY_CHAINS; i++)
        for (struct link_key *next, *key = peer->direct->keys[i]; key; key = next) {
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

static struct shared *share(char *start, size_t bytes, uint64_t region)
{
    struct shared *made = calloc(1, sizeof *made);
    if (!made)
        uccs_fail("no memory for a key");
    made->start = start;
    made->region = region;
    made->bytes = sizeof made->packed;
    made->shared = bytes && link_transport->share ? link_transport->share(start, bytes) : 0;
    if (!made->shared || link_transport->pack(made->shared, made->packed, &made->bytes) != 0)
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
    return found ? found : share(start, bytes, region);
}

void link_give_key(struct link_arrival *arrival, void *start, size_t bytes)
{
    const struct shared *memory = shared_at(start, bytes, arrival->header.at.region);
    struct link_message answer = {.header.kind = LINK_KEYED, .data = memory->packed, .bytes = memory->bytes};
    answer.header.keyed.asker = arrival->header.key.asker;
    answer.header.keyed.start = (uint64_t)(uintptr_t)start;
    link_answer(arrival->origin, &answer);
}

bool link_share(char *start, size_t bytes)
{
    link_hold();
    const bool done = shared_at(start, bytes, 0)->bytes != 0;
    link_go_on();
    return done;
}

static void take_out(struct shared **at)
{
    struct shared *memory = *at;
    *at = memory->next;
    if (memory->shared)
        link_transport->withdraw(memory->shared);
    free(memory);
}

void link_withdraw(uint64_t region)
{
    link_hold();
    for (struct shared **at = &all; *at;)
        if ((*at)->region == region)
            take_out(at);
        else
            at = &(*at)->next;
    link_go_on();
}

void link_key_close(void)
{
    while (all)
        take_out(&all);
}
