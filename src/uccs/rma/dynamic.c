/* Moves bytes to and from memory of this node: by load and store where this process maps it, else by the kernel's copy or by the
 * owner. Dynamic memory goes range by range (mem/dynamic.h describes the table); its object's address is 0, so that an offset is an
 * address there too. */
#include "uccs/rma/inner.h"

#include "uccs/mem/dynamic.h"

#include <string.h>

/* Moves bytes that lie together in this process and in the owner; `near`: where this process maps them, or null. */
static int move_piece(struct uccs_stream *stream, const struct uccs_region *memory, char *near, size_t offset,
                      char *local, size_t bytes, bool put, const struct uccs_rma_later *later)
{
    if (near) {
        memcpy(put ? near : local, put ? local : near, bytes);
        return UCCS_OK;
    }
    if (!uccs_cma_reaches(memory))
        return uccs_remote_move(stream, memory, offset, local, bytes, put, later);
    return put ? uccs_cma_put(memory, offset, local, bytes) : uccs_cma_get(memory, offset, local, bytes);
}

/* Goes from range to range. */
static int move_dynamic(struct uccs_stream *stream, const struct uccs_region *memory, size_t offset, char *local,
                        size_t length, bool put, const struct uccs_rma_later *later)
{
    struct uccs_dynamic_piece piece;
    int status = UCCS_OK;
    for (size_t done = 0; done < length && status == UCCS_OK; done += piece.bytes) {
        status = uccs_dynamic_find(memory->attached, memory->owner, offset + done, length - done, &piece);
        if (status == UCCS_OK)
            status = move_piece(stream, memory, piece.near, offset + done, local + done, piece.bytes, put, later);
    }
    return status;
}

int uccs_rma_move(struct uccs_stream *stream, const struct uccs_region *memory, size_t offset, char *local,
                  size_t length, bool put, const struct uccs_rma_later *later)
{
    if (!length)
        return UCCS_OK;
    if (lat_unlikely(memory->dynamic))
        return move_dynamic(stream, memory, offset, local, length, put, later);
    return move_piece(stream, memory, memory->near ? memory->near + offset : 0, offset, local, length, put, later);
}

int uccs_memory_dynamic(uccs_context_t context, uccs_memory_t *memory)
{
    (void)context;
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!memory)
        return UCCS_ERR_INVALID;
    struct uccs_dynamic *table = uccs_dynamic_create();
    if (!table)
        return UCCS_ERR_NO_MEMORY;
    uccs_cma_offer(); /* before any peer looks for it, as each looks once */
    struct uccs_region *region = uccs_region_describe_dynamic(table);
    if (!region) {
        uccs_dynamic_destroy(table);
        return UCCS_ERR_NO_MEMORY;
    }
    *memory = region;
    return UCCS_OK;
}

/* Returns true for dynamic memory of this process that its present life has. */
static bool is_mine(const struct uccs_region *memory)
{
    return memory && memory->own && memory->dynamic && uccs_region_of_this_life(memory);
}

int uccs_memory_attach(uccs_memory_t memory, void *address, size_t length)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!is_mine(memory) || !address || length == 0 || (uintptr_t)address + length < (uintptr_t)address)
        return UCCS_ERR_INVALID;
    return uccs_dynamic_add(memory->attached, address, length);
}

int uccs_memory_view(uccs_memory_t memory, size_t offset, struct uccs_view *view)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!memory || !view || !memory->attached || uccs_far_pe(memory->owner) || !uccs_region_of_this_life(memory))
        return UCCS_ERR_INVALID;
    if (atomic_load_acquire(memory->now) != memory->generation) /* release: uccs_region_end */
        return UCCS_ERR_STALE;
    return uccs_dynamic_view(memory->attached, memory->owner, offset, view);
}

int uccs_memory_detach(uccs_memory_t memory, void *address)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    return is_mine(memory) ? uccs_dynamic_remove(memory->attached, address) : UCCS_ERR_INVALID;
}
