/* A network of one process that believes itself PE 0 of three nodes (fuzz/world.h): it carries nothing, keeps what leaves, does
 * nothing by itself, and ends an operation when the test says so. Each program that includes this has its own. */
#ifndef TESTS_TRUST_CARRIER_H
#define TESTS_TRUST_CARRIER_H

#include "fuzz/world.h"

#include "uccs/core/bell.h"
#include "uccs/far/inner.h"

#include "unit/check.h"

#include <string.h>
#include <unistd.h>

#ifndef CARRIER_MALLOC
#define CARRIER_MALLOC malloc
#endif

/* --- What has left: messages, those of batches one by one, and operations that the network does by itself. */

enum { LEFT_MOST = 4096 };
enum what { MESSAGE, PUT, GET, ATOMIC, FLUSH };

struct left {
    enum what what;
    int pe;
    uint32_t lane;
    struct link_header header; /* of a message */
    struct link_seal seal;
    size_t bytes;
    char *data;
    unsigned parcel; /* messages of one number have left together */
    void *token;
    uint64_t there; /* of an operation, the address in the peer */
    void *key, *here;
    struct transport_word word;
};

static struct carrier {
    struct left left[LEFT_MOST];
    unsigned count, parcels, connects, orders, looks, keys, forgotten, withdrawn, arms;
    enum transport_status sends, puts, gets, atomics, flushes; /* what these return */
    unsigned able, atomics4, atomics8;
    const char *no_lane;
    bool no_connection, no_receive, not_drained;
    int receives; /* PENDING: into, rest of the last one */
    void *into, *rest, *receiver;
    size_t fetched;
    int progresses;                       /* how many things the next looks find, one each */
    void (*look)(struct link_lane *lane); /* what happens when the library looks; may be null */
} carrier;

struct carrier_peer {
    struct link_lane *lane;
    int pe;
    char address[16];
    size_t bytes;
};
static struct carrier_peer carrier_peers[4096];

static inline struct left *carrier_add(enum what what, const struct carrier_peer *peer)
{
    CHECK(carrier.count < LEFT_MOST);
    struct left *left = &carrier.left[carrier.count++];
    *left = (struct left){.what = what, .pe = peer->pe, .lane = peer->lane->number};
    return left;
}

static inline void carrier_keep(const struct carrier_peer *peer, const struct link_header *header, const void *data,
                                size_t bytes, void *token)
{
    struct left *left = carrier_add(MESSAGE, peer);
    left->header = *header;
    left->bytes = bytes;
    left->data = CARRIER_MALLOC(bytes + 1);
    if (bytes)
        memcpy(left->data, data, bytes);
    left->token = token;
    left->parcel = carrier.parcels;
}

static inline void carrier_unpack(const struct carrier_peer *peer, const char *data, size_t bytes, void *token)
{
    struct link_header header;
    uint64_t inner;
    for (size_t at = 0; at < bytes; at += sizeof header + sizeof inner + (inner + 7) / 8 * 8) {
        CHECK(bytes - at >= sizeof header + sizeof inner);
        memcpy(&header, data + at, sizeof header);
        memcpy(&inner, data + at + sizeof header, sizeof inner);
        CHECK(inner <= bytes - at - sizeof header - sizeof inner);
        carrier_keep(peer, &header, data + at + sizeof header + sizeof inner, inner, token);
    }
}

/* --- The slots */

/* The library holds the lane's lock around each. */
static inline void carrier_is_locked(struct link_lane *lane)
{
    CHECK(pthread_mutex_trylock(&lane->lock) != 0);
}

static inline const char *carrier_open_lane(void *owner, void **lane)
{
    *lane = carrier.no_lane ? 0 : owner;
    return carrier.no_lane;
}

static inline int carrier_address(void *lane, void *to, size_t *bytes)
{
    memset(to, 'a' + (int)((struct link_lane *)lane)->number, 16);
    *bytes = 16;
    return 0;
}

static inline void *carrier_connect(void *lane, int pe, const void *address, size_t bytes)
{
    struct carrier_peer *peer = &carrier_peers[carrier.connects++];
    *peer = (struct carrier_peer){.lane = lane, .pe = pe, .bytes = bytes};
    memcpy(peer->address, address, bytes < sizeof peer->address ? bytes : sizeof peer->address);
    return carrier.no_connection ? 0 : peer;
}

static inline enum transport_status carrier_send(void *to, const void *head, size_t header_bytes, const void *data,
                                                 size_t bytes, void *token)
{
    const struct carrier_peer *peer = to;
    struct link_header header;
    carrier_is_locked(peer->lane);
    CHECK(header_bytes == sizeof header + (link_sealed ? sizeof(struct link_seal) : 0));
    memcpy(&header, head, sizeof header);
    carrier.parcels++;
    if (header.kind == LINK_BATCH) {
        CHECK((int)header.from == uccs_core.me && header.lane == peer->lane->number && bytes <= LINK_BATCH_BYTES);
        carrier_unpack(peer, data, bytes, token);
    } else {
        carrier_keep(peer, &header, data, bytes, token);
        if (link_sealed)
            memcpy(&carrier.left[carrier.count - 1].seal, (const char *)head + sizeof header, sizeof(struct link_seal));
    }
    return carrier.sends;
}

static inline enum transport_status carrier_receive(void *lane, void *rest, void *into, size_t bytes, void *token)
{
    (void)lane;
    carrier.into = into;
    carrier.rest = rest;
    carrier.receiver = token;
    carrier.fetched = bytes;
    if (carrier.receives == TRANSPORT_DONE && bytes)
        memcpy(into, rest, bytes);
    return (enum transport_status)carrier.receives;
}

static inline int carrier_progress(void *lane)
{
    carrier_is_locked(lane);
    CHECK(++carrier.looks < 100000); /* a wait without an end */
    if (carrier.look)
        carrier.look(lane);
    if (!carrier.progresses)
        return 0;
    carrier.progresses--;
    return 1;
}

static inline int carrier_drained(void *lane)
{
    (void)lane;
    return !carrier.not_drained;
}

static inline int carrier_arm(void *lane)
{
    (void)lane;
    carrier.arms++;
    return 1;
}

static inline int carrier_descriptor(void *lane)
{
    (void)lane;
    return -1;
}

static inline unsigned carrier_able(void *peer)
{
    (void)peer;
    return carrier.able;
}

static inline void *carrier_share(void *start, size_t bytes)
{
    (void)bytes;
    return start;
}

static inline int carrier_pack(void *shared, void *room, size_t *bytes)
{
    memcpy(room, &shared, sizeof shared);
    *bytes = sizeof shared;
    return 0;
}

static inline void carrier_withdraw(void *shared)
{
    (void)shared;
    carrier.withdrawn++;
}

static inline void *carrier_unpack_key(void *peer, const void *key, size_t bytes)
{
    (void)peer, (void)key;
    CHECK(bytes);
    carrier.keys++;
    return (char *)(uintptr_t)0x1000 + carrier.keys;
}

static inline void carrier_forget(void *key)
{
    (void)key;
    carrier.forgotten++;
}

static inline struct left *carrier_operate(enum what what, void *peer, void *key, uint64_t there, const void *here,
                                           size_t bytes, void *token)
{
    struct left *left = carrier_add(what, peer);
    carrier_is_locked(((struct carrier_peer *)peer)->lane);
    left->key = key;
    left->there = there;
    left->here = (void *)(uintptr_t)here;
    left->bytes = bytes;
    left->token = token;
    return left;
}

static inline enum transport_status carrier_put(void *peer, void *key, uint64_t to, const void *source, size_t bytes,
                                                void *token)
{
    carrier_operate(PUT, peer, key, to, source, bytes, token);
    return carrier.puts;
}

static inline enum transport_status carrier_get(void *peer, void *key, uint64_t from, void *dest, size_t bytes,
                                                void *token)
{
    carrier_operate(GET, peer, key, from, dest, bytes, token);
    return carrier.gets;
}

static inline unsigned carrier_atomics(void *peer, size_t bytes)
{
    (void)peer;
    return bytes == 4 ? carrier.atomics4 : carrier.atomics8;
}

static inline enum transport_status carrier_atomic(void *peer, void *key, uint64_t at,
                                                   const struct transport_word *word, void *old, void *token)
{
    carrier_operate(ATOMIC, peer, key, at, old, word->size, token)->word = *word;
    return carrier.atomics;
}

static inline enum transport_status carrier_flush(void *peer, void *token)
{
    carrier_operate(FLUSH, peer, 0, 0, 0, 0, token);
    return carrier.flushes;
}

static inline void carrier_order(void *lane)
{
    (void)lane;
    carrier.orders++;
}

static struct transport carrier_transport = {.name = "stub",
                                             .open_lane = carrier_open_lane,
                                             .address = carrier_address,
                                             .connect = carrier_connect,
                                             .send = carrier_send,
                                             .receive = carrier_receive,
                                             .progress = carrier_progress,
                                             .drained = carrier_drained,
                                             .arm = carrier_arm,
                                             .descriptor = carrier_descriptor,
                                             .able = carrier_able,
                                             .share = carrier_share,
                                             .pack = carrier_pack,
                                             .withdraw = carrier_withdraw,
                                             .unpack = carrier_unpack_key,
                                             .forget = carrier_forget,
                                             .put = carrier_put,
                                             .get = carrier_get,
                                             .atomics = carrier_atomics,
                                             .atomic = carrier_atomic,
                                             .flush = carrier_flush,
                                             .order = carrier_order};

/* --- What the test does */

/* Forgets what has left. */
static inline void carrier_clear(void)
{
    for (unsigned i = 0; i < carrier.count; i++)
        free(carrier.left[i].data);
    carrier.count = 0;
}

/* Begins again: lanes without connections, a network that takes all at once. */
static inline void carrier_reset(void)
{
    carrier_clear();
    carrier = (struct carrier){0};
    far_lock_close();
    for (int i = 0; i < LINK_LANES; i++) {
        struct link_lane *lane = &link_lanes[i];
        for (int pe = 0; lane->peers && pe < uccs_core.npes; pe++)
            if (lane->peers[pe])
                link_direct_free(lane->peers[pe]);
    }
    link_key_close();
    carrier.forgotten = carrier.withdrawn = 0;
    for (int i = 0; i < LINK_LANES; i++) {
        pthread_mutex_init(&link_lanes[i].lock, 0);
        link_lane_free(&link_lanes[i]);
        CHECK(!link_lanes[i].at && !link_lanes[i].peers && !link_lanes[i].idle && !link_lanes[i].spare);
    }
    link_pool_close();
    uccs_far_on = 1;
    uccs_far_touched = 0;
    link_left = 0;
    link_waiting = 0;
    uccs_progress_on = false;
    link_transport = &carrier_transport;
    CHECK(!link_lane_open(0));
    link_pool_open();
}

/* Begins again with a network that puts, gets and changes by itself. */
static inline void carrier_reset_alone(void)
{
    carrier_reset();
    link_has_direct = true;
    link_maps = false;
    link_wire = TRANSPORT_ALONE;
    carrier.able = TRANSPORT_KNOWN | TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE;
    carrier.atomics4 = carrier.atomics8 = TRANSPORT_ATOMICS_ALL;
}

static inline void carrier_open(void)
{
    setenv("LATERAL_LANES", "4", 1);
    world_open();
    link_handle(LINK_KEYED, &link_on_keyed);
    link_handle(LINK_REACH, &link_on_reach);
    link_handle(LINK_REACHED, &link_on_reached);
    carrier_reset();
}

/* An operation of the network, or a message that it has kept, ends. */
static inline void carrier_end(void *token, bool failed)
{
    struct link_token *ends = token;
    unsigned at = 0;
    while (at < carrier.count && carrier.left[at].token != token)
        at++;
    struct link_lane *lane = &link_lanes[at < carrier.count ? carrier.left[at].lane : 0];
    const bool locks = pthread_mutex_trylock(&lane->lock) == 0; /* else a look does this */
    ends->done(ends, failed);
    if (locks)
        pthread_mutex_unlock(&lane->lock);
}

struct carrier_arrival {
    struct link_lane *lane;
    struct transport_message message;
};

static inline void carrier_arrive(void *arrival)
{
    const struct carrier_arrival *arrives = arrival;
    pthread_mutex_lock(&arrives->lane->lock);
    link_arrived(arrives->lane, &arrives->message);
    pthread_mutex_unlock(&arrives->lane->lock);
}

/* A message comes on the lane; `rest`: the network holds its data back. Returns null, or the line that ends the job. */
static inline const char *carrier_try(struct link_lane *lane, const struct link_header *header, const void *data,
                                      size_t bytes, bool rest)
{
    struct carrier_arrival arrival = {lane,
                                      {.header = header,
                                       .header_bytes = sizeof *header,
                                       .data = rest ? 0 : data,
                                       .bytes = bytes,
                                       .rest = rest ? (void *)(uintptr_t)data : 0}};
    const char *why = world_try(carrier_arrive, &arrival);
    if (why)
        fprintf(stderr, "refused: %s\n", why);
    return why;
}

static inline void carrier_bring(struct link_lane *lane, const struct link_header *header, const void *data,
                                 size_t bytes)
{
    CHECK(!carrier_try(lane, header, data, bytes, false));
}

/* The answer to a message of a lane of this process. */
static inline struct link_header carrier_answer(const struct left *to, enum link_kind kind)
{
    struct link_header h = {.kind = (uint8_t)kind, .from = (uint32_t)to->pe & 0xffffff};
    h.answer.asker = to->header.kind == LINK_FLUSH   ? to->header.flush.asker
                     : to->header.kind == LINK_REACH ? to->header.reach.asker
                                                     : to->header.asker;
    return h;
}

/* Answers to a flush, to a get, to an atomic. */
static inline void carrier_flushed(struct left *flush, uint64_t refused, const uint16_t *numbers, size_t count)
{
    struct link_header h = carrier_answer(flush, LINK_FLUSHED);
    CHECK(flush->what == MESSAGE && flush->header.kind == LINK_FLUSH);
    h.flushed.refused = refused;
    flush->key = flush; /* answered */
    carrier_bring(&link_lanes[flush->lane], &h, numbers, count * sizeof *numbers);
}

static inline void carrier_data(const struct left *get, const void *from, size_t bytes, uint64_t applied)
{
    struct link_header h = carrier_answer(get, LINK_DATA);
    h.answer.applied = applied;
    carrier_bring(&link_lanes[get->lane], &h, from, bytes);
}

static inline void carrier_old(const struct left *amo, uint64_t old, bool failed, uint64_t applied)
{
    struct link_header h = carrier_answer(amo, LINK_AMO_ANSWER);
    h.answer.old = old;
    h.answer.failed = failed;
    h.answer.applied = applied;
    carrier_bring(&link_lanes[amo->lane], &h, 0, 0);
}

static int carrier_answers; /* to flushes, given by the library's looks */

static inline void carrier_answer_flush(struct link_lane *lane)
{
    for (unsigned i = 0; i < carrier.count; i++) {
        struct left *left = &carrier.left[i];
        if (left->what != MESSAGE || left->header.kind != LINK_FLUSH || left->lane != lane->number || left->key)
            continue;
        struct link_header h = carrier_answer(left, LINK_FLUSHED);
        const struct transport_message message = {.header = &h, .header_bytes = sizeof h};
        left->key = left; /* answered */
        carrier_answers++;
        link_arrived(lane, &message);
        return;
    }
}

static inline struct left *carrier_last(void)
{
    CHECK(carrier.count);
    return &carrier.left[carrier.count - 1];
}

static inline bool left_is(unsigned number, enum link_kind kind, int pe)
{
    const struct left *left = &carrier.left[number];
    return number < carrier.count && left->what == MESSAGE && left->header.kind == kind && left->pe == pe;
}

static inline struct uccs_far_place in_heap(size_t offset)
{
    struct uccs_far_place place = uccs_far_place(world_heap);
    place.offset += offset;
    return place;
}

#endif
