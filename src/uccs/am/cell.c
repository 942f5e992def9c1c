/* Checks messages that have been taken out of the rings of this PE. Any thread. */
#include "uccs/am/inner.h"

#include "uccs/core/memory.h"
#include "uccs/core/fail.h"

/* The block lies whole in the sender's region. */
static bool has_block(const struct uccs_message *message)
{
    const size_t least = sizeof(struct uccs_bounce) + (message->staged ? message->length : 0);
    size_t bytes;
    (void)uccs_memory_region(uccs_index((int)message->source), &bytes);
    return message->block % _Alignof(struct uccs_bounce) == 0 && message->block <= bytes &&
           least <= bytes - message->block;
}

static const char *fault_of(const struct uccs_message *message)
{
    if (message->source >= (uint32_t)uccs_core.npes || uccs_index((int)message->source) >= uccs_core.pes)
        return "it is of no PE of this node";
    if (message->id >= UCCS_MESSAGE_SLOTS || message->lane >= PE_SHARED_SENDERS)
        return "there is no such handler or lane";
    if (message->staged ? message->block == UCCS_NO_BLOCK : message->length > UCCS_SHORT_MAX)
        return "it is too long";
    return message->block == UCCS_NO_BLOCK || has_block(message) ? 0 : "its block is in no memory of its sender";
}

void uccs_cell_check(const struct uccs_message *message)
{
    const char *fault = fault_of(message);
    if (fault)
        uccs_fail("PE %u sent a wrong message on this node: %s (handler %u, %u bytes)", message->source, fault,
                  message->id, message->length);
}
