/* Collectives by messages advance here: rounds of a plan (plan.c), in pieces; see inner.h.
 *
 * Memory: at most WINDOW pieces of a collective are under way, and it ends when they have been taken. Short pieces are sent
 * without this rule, except in every LEAD-th collective of a group, which keeps members from getting further ahead of each
 * other. */
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/am/am.h"
#include "uccs/coll/inner.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"
#include "uccs/mem/accumulate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Messages; see inner.h. */

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

/* Tries to send a message. Returns false when there is no room at the moment; then make progress and try again. With `out`, even
 * a short message lies in a block, and *out is one more until the receiver has dropped it (release; acquire by the caller). */
static bool uccs_tagged_try(int pe, const struct uccs_tag *key, const void *data, size_t length, uint32_t *out)
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

static struct uccs_tagged *uccs_tagged_take(const struct uccs_tag *key)
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

/* Returns the message with the tag, or null when it has not come yet. */
static void uccs_tagged_drop(struct uccs_tagged *message)
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

#define WINDOW 8
#define LEAD 64
_Static_assert(COLL_PIECE % UCCS_TYPE_MOST == 0, "pieces end between elements");

/* Returns the number of pieces. An empty message is one piece, too. */
static uint32_t pieces_of(size_t bytes)
{
    return bytes ? (uint32_t)((bytes + COLL_PIECE - 1) / COLL_PIECE) : 1;
}

static size_t piece_bytes(size_t bytes, uint32_t piece)
{
    size_t left = bytes - piece * COLL_PIECE;
    return left < COLL_PIECE ? left : COLL_PIECE;
}

static struct uccs_tag tag_of(const struct uccs_by_messages *m, uint32_t source, uint32_t piece)
{
    return (struct uccs_tag){.group = m->group->number,
                             .sequence = m->sequence,
                             .source = source,
                             .round = m->round,
                             .piece = piece};
}

static bool sent_all(const struct uccs_by_messages *m)
{
    return m->to_do.to < 0 || m->sent == pieces_of(m->to_do.send_bytes);
}

static bool received_all(const struct uccs_by_messages *m)
{
    return m->to_do.from < 0 || m->received == pieces_of(m->to_do.receive_bytes);
}

static void send_some(struct uccs_coll *c)
{
    struct uccs_by_messages *m = &c->messages;
    int pe = sent_all(m) ? -1 : uccs_ranks_world(m->group, m->to_do.to);
    while (!sent_all(m) && atomic_load_relaxed(&m->out) < WINDOW) {
        size_t bytes = piece_bytes(m->to_do.send_bytes, m->sent);
        struct uccs_tag tag = tag_of(m, 0, m->sent);
        bool acknowledged = bytes > TAGGED_INLINE || m->sequence % LEAD == 0;
        const char *from = bytes ? m->to_do.send + m->sent * COLL_PIECE : 0;
        if (!uccs_tagged_try(pe, &tag, from, bytes, acknowledged ? &m->out : 0)) {
            c->task.again = true; /* nobody tells when there is room */
            return;
        }
        m->sent++;
    }
}

static lat_cold _Noreturn void fail_length(const struct uccs_by_messages *m, const struct uccs_tagged *message,
                                           size_t wanted)
{
    log_mistake(
        "uccs: members of a group (of %d) called its operation number %llu with different lengths or in a different "
        "order: %zu bytes came from PE %u where %zu were due",
        m->group->size, (unsigned long long)m->sequence, message->length, message->key.source, wanted);
    rte_abort(LAT_EXIT);
}

static void store_piece(const struct uccs_coll *c, const char *data, size_t bytes)
{
    const struct uccs_by_messages *m = &c->messages;
    char *to = m->to_do.receive + m->received * COLL_PIECE;
    if (bytes == 0)
        return;
    switch (m->to_do.how) {
    case STEP_STORES: memcpy(to, data, bytes); break;
    case STEP_FOLDS_BEHIND: c->fold(to, to, data, bytes / c->element); break;
    case STEP_FOLDS_BEFORE: c->fold(to, data, to, bytes / c->element); break;
    }
}

static void receive_some(struct uccs_coll *c)
{
    struct uccs_by_messages *m = &c->messages;
    uint32_t source = received_all(m) ? 0 : (uint32_t)uccs_ranks_world(m->group, m->to_do.from);
    while (!received_all(m)) {
        size_t bytes = piece_bytes(m->to_do.receive_bytes, m->received);
        struct uccs_tag tag = tag_of(m, source, m->received);
        struct uccs_tagged *message = uccs_tagged_take(&tag);
        if (!message)
            return;
        if (message->length != bytes)
            fail_length(m, message, bytes);
        store_piece(c, message->data, bytes);
        uccs_tagged_drop(message);
        m->received++;
    }
}

static void plan_round(struct uccs_coll *c)
{
    struct uccs_by_messages *m = &c->messages;
    m->to_do = (struct uccs_round){.to = -1, .from = -1};
    m->sent = m->received = 0;
    m->planned = m->plan(c, m->round, &m->to_do);
    if (!m->planned || !m->to_do.own || m->to_do.own == m->to_do.receive || m->to_do.receive_bytes == 0)
        return;
    if (m->to_do.own_folds)
        c->fold(m->to_do.receive, m->to_do.receive, m->to_do.own, m->to_do.receive_bytes / c->element);
    else
        memcpy(m->to_do.receive, m->to_do.own, m->to_do.receive_bytes);
}

static bool do_rounds(struct uccs_coll *c)
{
    struct uccs_by_messages *m = &c->messages;
    while (m->planned) {
        send_some(c);
        receive_some(c);
        if (!sent_all(m) || !received_all(m))
            return false;
        m->round++;
        plan_round(c);
    }
    return true;
}

static bool are_taken(struct uccs_coll *c)
{
    return atomic_load_acquire(&c->messages.out) == 0; /* acqrel: block_landed */
}

static void begin_messages(struct uccs_coll *c)
{
    static uccs_coll_step *const steps[] = {do_rounds, are_taken, 0};
    struct uccs_by_messages *m = &c->messages;
    c->rank = m->group->rank;
    c->size = m->group->size;
    c->step = steps;
    m->sequence = atomic_fetch_add_relaxed(&m->group->sequence, 1) + 1; /* members call in one order */
    plan_round(c);
}

/* The library's own meetings poll the network class and other nodes alone. */
static void pause_messages(const struct uccs_coll *c, struct uccs_wait *wait)
{
    if (c->messages.user)
        uccs_am_serve(wait);
    else if (!(uccs_progress_poll(UCCS_PROGRESS_LOOK) + uccs_am_poll_network()))
        uccs_rest(wait);
}

static void hold_group(struct uccs_coll *c)
{
    uccs_ranks_hold(c->messages.group); /* the program may release it meanwhile */
}

static void release_group(struct uccs_coll *c)
{
    uccs_ranks_drop(c->messages.group);
}

static void reason_next(const struct uccs_coll *c, struct uccs_reason *reason)
{
    const struct uccs_by_messages *m = &c->messages;
    const int other = received_all(m) ? m->to_do.to : m->to_do.from;
    if (m->planned && other >= 0)
        reason->on = uccs_reason_pe(uccs_ranks_world(m->group, other));
}

/* Returns the distance between the PEs of neighbouring members, or 0 when it is not the same everywhere. */
static int stride_of(const struct uccs_group_impl *group)
{
    const int stride = group->size > 1 ? uccs_ranks_world(group, 1) - uccs_ranks_world(group, 0) : 1;
    for (int rank = 2; rank < group->size; rank++)
        if (uccs_ranks_world(group, rank) - uccs_ranks_world(group, rank - 1) != stride)
            return 0;
    return stride;
}

/* Nobody leaves a blocking collective in which all depend on all before all have come, so it waits for those that have
 * not. */
static void reason_all(const struct uccs_coll *c, struct uccs_reason *reason)
{
    const struct uccs_group_impl *group = c->messages.group;
    const int stride = stride_of(group);
    const bool rooted = c->kind == UCCS_COLL_BROADCAST || c->kind == UCCS_COLL_SCAN || c->kind >= UCCS_COLL_NAMED;
    if (rooted || stride <= 0)
        reason_next(c, reason);
    else
        reason->on = (struct node_wait_reason){.about = NODE_REASON_PES,
                                               .start = uccs_ranks_world(group, 0),
                                               .stride = stride,
                                               .size = group->size,
                                               .object = ~group->number, /* teams of OpenSHMEM count from 0 */
                                               .number = c->messages.sequence};
}

const struct uccs_coll_family uccs_coll_by_messages = {.begin = begin_messages,
                                                       .pause = pause_messages,
                                                       .hold = hold_group,
                                                       .release = release_group,
                                                       .reason = reason_next,
                                                       .reason_all = reason_all};

void uccs_coll_meet(bool user)
{
    if (!uccs_running())
        return;
    struct uccs_coll meeting = {.family = &uccs_coll_by_messages,
                                .kind = UCCS_COLL_BARRIER,
                                .messages = {.group = uccs_ranks_library(),
                                             .plan = uccs_coll_plan(UCCS_COLL_BARRIER, UCCS_BY_ROUNDS),
                                             .user = user}};
    uccs_coll_run(&meeting);
}
