/* Atomics on memory whose atomics the network's adapter does: the adapter's part of the heap (core/memory.h). See initiator.h.
 *
 * Invariant: nothing else changes a word there that a program accesses by atomics. So PEs of the target's node, and the
 * target itself, go through the adapter, too, and the operation is done when the call returns, as all operations on the node are.
 * A processor's loads see what the adapter has stored. */
#include "uccs/proto/target.h"

#include "uccs/core/memory.h"

bool proto_adapter(void)
{
    size_t offset;
    return uccs_memory_adapter(&offset) && proto_adapter_works();
}

bool proto_adapter_share(size_t offset, size_t bytes)
{
    size_t heap;
    char *start = uccs_memory_heap(&heap);
    const size_t whole = uccs_memory_heap_whole();
    bool all = true;
    for (size_t piece = offset - offset % PROTO_PIECE; piece < offset + bytes; piece += PROTO_PIECE)
        all &= proto_key_share(start + piece, whole - piece < PROTO_PIECE ? whole - piece : PROTO_PIECE);
    return all;
}
