/* Messages that the target answers: gets, changes whose old values are wanted, questions about regions. They are listed and settled
 * under the worker's lock. A flag (release; acquire in proto_await) or a request tells the asking thread of the answer.
 *
 * Handles stand in messages for things of this process: a pending request, a flush, a request, a block. A peer brings a handle back, and
 * could bring any number; so a handle is the number of an entry and its generation, and the entry knows from which PE and by which kind
 * of message it may come back, once. The owner's lock guards a table: the worker's for a worker's handles, one in am/far.c for those of
 * blocks. */
#include "uccs/proto/inner.h"

#include "base/copy.h"

#include <stdlib.h>
#include <string.h>

/* Returns the bytes that a pending request may take up at its target until the answer has left. Long data takes up none, since the
 * target sends it from its place. */
static uint32_t held_for(const struct proto_pending *ask)
{
    return (uint32_t)(sizeof(struct wire_header) + (ask->bytes <= TRANSPORT_SHORT ? ask->bytes : 0));
}

/* Adds to the worker's held bytes. Threads that want to issue read them without the lock. */
static void add_asking(struct proto_worker *worker, uint32_t change)
{
    atomic_store_relaxed(&worker->asking, worker->asking + change);
}

void proto_pending_count(struct proto_peer *peer, struct proto_pending *ask)
{
    struct proto_worker *worker = peer->worker;
    add_asking(worker, held_for(ask));
    ask->number = worker->asked++;
    worker->under_way++;
    peer->asks.count++;
}

/* The waiting thread owns a pending request with a flag. It may drop the pending request as soon as it sees the flag, so the flag is last. */
void proto_pending_settle(struct proto_pending *ask)
{
    if (ask->flag) {
        atomic_store_release(ask->flag, 1);
        return;
    }
    struct proto_worker *worker = ask->worker;
    add_asking(worker, -held_for(ask));
    worker->under_way--;
    proto_asks_settle(&worker->peers[ask->pe]->asks, ask->number, 0);
    if (ask->request)
        uccs_request_finish_use(ask->request, ask->failed);
    if (lat_unlikely(ask->local != 0))
        uccs_request_finish(ask->local, ask->failed);
    if (lat_unlikely(ask->log_peer != 0))
        proto_log_peer_settled(ask);
    free(ask);
}

/* --- Answers to gets, and old values of atomics. Events, under the worker's lock */

/* Returns the pending request that the data answers. The first call ends its handle. */
static struct proto_pending *ask_of(struct proto_arrival *arrival)
{
    if (!arrival->cookie)
        arrival->cookie = proto_pending_take(arrival);
    return arrival->cookie;
}

static void unpack_blocks(const struct proto_pending *ask, const char *data)
{
    const struct proto_blocks *blocks = &ask->blocks;
    copy_blocks(ask->dest, blocks->here, data, (ptrdiff_t)blocks->block, blocks->block, blocks->count);
}

/* The header of an answer may hold a word. */
static bool is_word(const struct proto_pending *ask)
{
    return ask->bytes <= sizeof((struct wire_header *)0)->answer.word && !ask->blocks.count;
}

static void check_length(struct proto_arrival *arrival)
{
    const struct proto_pending *ask = ask_of(arrival);
    if (!arrival->header.answer.failed && arrival->bytes != ask->bytes && (arrival->bytes || !is_word(ask)))
        uccs_fail("PE %u answered a get of %zu bytes by %zu", arrival->header.from, ask->bytes, arrival->bytes);
}

/* Returns the place for the data of a get; null for blocks, which land_data unpacks from a buffer. */
static void *room_for_data(struct proto_arrival *arrival)
{
    check_length(arrival);
    const struct proto_pending *ask = ask_of(arrival);
    return ask->blocks.count ? 0 : ask->dest;
}

static bool land_data(struct proto_arrival *arrival, const void *data)
{
    struct proto_pending *ask = ask_of(arrival);
    check_length(arrival);
    if (arrival->header.answer.failed)
        return true;
    if (ask->blocks.count)
        unpack_blocks(ask, data);
    else if (ask->bytes)
        memcpy(ask->dest, arrival->bytes ? data : arrival->header.answer.word, ask->bytes);
    return true;
}

static void settle_data(struct proto_arrival *arrival)
{
    struct proto_pending *ask = ask_of(arrival);
    ask->failed = arrival->header.answer.failed;
    proto_applied_note(ask, arrival->header.answer.applied);
    proto_pending_settle(ask);
}

const struct proto_handler proto_on_data = {.loose = true,
                                            .room = room_for_data,
                                            .land = land_data,
                                            .landed = settle_data};

/* --- Handles */

#define FEW 16 /* entries at first */

struct proto_handle_entry {
    void *what; /* null: free */
    uint32_t generation;
    uint32_t next; /* of a free entry: 1 + number of the next free one, or 0 */
    int pe;
    enum proto_wire_kind answer;
};

bool proto_handle_grow(struct proto_handles *handles)
{
    const uint32_t room = handles->room ? 2 * handles->room : FEW;
    struct proto_handle_entry *entries = room > handles->room ? realloc(handles->entries, room * sizeof *entries) : 0;
    if (!entries)
        return false;
    handles->entries = entries;
    for (uint32_t i = room; i-- > handles->room;) {
        entries[i] = (struct proto_handle_entry){.next = handles->free};
        handles->free = i + 1;
    }
    handles->room = room;
    return true;
}

uint64_t proto_handle_give(struct proto_handles *handles, void *what, int pe, enum proto_wire_kind answer)
{
    if (!proto_handle_reserve(handles))
        uccs_fail("no memory for %u questions to other PEs", 2 * handles->room);
    const uint32_t number = handles->free;
    struct proto_handle_entry *entry = &handles->entries[number - 1];
    handles->free = entry->next;
    entry->what = what;
    entry->pe = pe;
    entry->answer = answer;
    entry->generation++;
    return (uint64_t)entry->generation << 32 | number;
}

void *proto_handle_try(struct proto_handles *handles, uint64_t handle, int pe, enum proto_wire_kind answer)
{
    const uint32_t number = (uint32_t)handle;
    struct proto_handle_entry *entry = number - 1 < handles->room ? &handles->entries[number - 1] : 0;
    if (lat_unlikely(!entry || !entry->what || entry->generation != handle >> 32 || entry->pe != pe ||
                     entry->answer != answer))
        return 0;
    void *what = entry->what;
    entry->what = 0;
    entry->next = handles->free;
    handles->free = number;
    return what;
}

_Noreturn void proto_handle_refuse(uint64_t handle, int pe, enum proto_wire_kind answer)
{
    uccs_fail("PE %d sent a message %s that this PE has not asked for, or has had already (handle %llx)", pe,
              proto_wire_kind_name(answer), (unsigned long long)handle);
}

void *proto_handle_take(struct proto_handles *handles, uint64_t handle, int pe, enum proto_wire_kind answer)
{
    void *what = proto_handle_try(handles, handle, pe, answer);
    if (lat_unlikely(!what))
        proto_handle_refuse(handle, pe, answer);
    return what;
}

void proto_handle_close(struct proto_handles *handles)
{
    free(handles->entries);
    *handles = (struct proto_handles){0};
}

/* --- Of a worker */

static bool is_awaited(const struct proto_handle_entry *entry, const struct uccs_request *request)
{
    if (entry->answer != WIRE_LOCKED)
        return entry->what;
    return entry->what && request && uccs_request_counts(request, entry->what);
}

int proto_handle_awaited(const struct proto_handles *handles, const struct uccs_request *request)
{
    for (uint32_t i = 0; i < handles->room; i++)
        if (is_awaited(&handles->entries[i], request))
            return handles->entries[i].pe;
    return -1;
}

uint64_t proto_handle_of(struct proto_worker *worker, void *what, int pe, enum proto_wire_kind asked)
{
    return proto_handle_give(&worker->handles, what, pe, proto_wire_answer(asked));
}

void *proto_pending_take(const struct proto_arrival *arrival)
{
    const struct wire_header *header = &arrival->header;
    return proto_handle_take(&arrival->worker->handles, header->answer.handle, (int)header->from,
                             (enum proto_wire_kind)header->kind);
}
