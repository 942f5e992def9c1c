/* Handles stand in messages for things of this process: a pending request, a flush, a request, a block. A peer brings a handle back, and
 * could bring any number; so a handle is the number of an entry and its generation, and the entry knows from which PE and by which kind
 * of message it may come back, once. The owner's lock guards a table: the worker's for a worker's handles, one in am/far.c for those of
 * blocks. */
#include "uccs/proto/inner.h"

#include <stdlib.h>

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
