/* Payloads that a handler keeps. Any thread. */
#include "uccs/am/inner.h"
#include "uccs/core/memory.h"

#include <stdlib.h>

struct kept {
    struct uccs_payload payload; /* the program has its address */
    struct uccs_bounce *block;   /* holds the payload, or null */
    struct uccs_whole *whole;    /* holds the payload of a long message, or null */
    char copy[];                 /* of a payload that came in a cell */
};

int uccs_am_keep(uccs_am_token_t token, uccs_payload_t *payload)
{
    if (!token || !payload)
        return UCCS_ERR_INVALID;
    if (token->outcome != UCCS_AM_HANDLED || token->kept)
        return UCCS_ERR_STATE;
    const struct uccs_message *message = token->message;
    bool inlined = !message->staged && !token->whole;
    struct kept *kept = malloc(sizeof *kept + (inlined ? message->length : 0));
    if (!kept)
        return UCCS_ERR_NO_MEMORY;
    *kept = (struct kept){.payload = {kept->copy, message->length}, .whole = token->whole};
    if (inlined) {
        memcpy(kept->copy, message->payload, message->length);
    } else if (token->whole) {
        kept->payload = (struct uccs_payload){token->whole->payload, token->whole->bytes};
        token->whole = 0;
    } else {
        kept->block = uccs_am_hold(token);
        kept->payload.data = kept->block->payload;
    }
    token->kept = true;
    *payload = &kept->payload;
    return UCCS_OK;
}

void uccs_payload_done(uccs_payload_t payload)
{
    struct kept *kept = (struct kept *)(uintptr_t)payload;
    if (!kept)
        return;
    if (kept->block)
        uccs_am_done(kept->block);
    free(kept->whole);
    free(kept);
}

/* --- The bounce buffers of messages at their receiver, and the tokens of handlers */

/* Two threads of this process may serve a block, or memory that a peer's block names, one after the other. They are
 * ordered through the peer: the first thread releases `done`, the peer acquires it, uses the block or the memory again,
 * and releases a ring's cell, which the second thread acquires. The thread sanitizer does not see the peer. */
static uint64_t elsewhere;

static atomic_unseen void give_back(struct uccs_bounce *block)
{
    atomic_store_release(&block->done, 1); /* acquire: uccs_bounce_collect, at the sender */
}

static bool is_own(const struct uccs_bounce *block)
{
    return (uintptr_t)block - (uintptr_t)uccs_memory_region(uccs_core.index) < uccs_core.region_bytes;
}

void uccs_am_mark_done(struct uccs_bounce *block)
{
    atomic_order_leaves(&elsewhere);
    if (ATOMIC_WATCHED && !is_own(block))
        give_back(block);
    else
        atomic_store_release(&block->done, 1); /* as in give_back */
}

struct uccs_bounce *uccs_am_block_of(const struct uccs_message *message)
{
    if (message->block == UCCS_NO_BLOCK)
        return 0;
    if (message->source != (uint32_t)uccs_core.me)
        atomic_order_returns(&elsewhere);
    return (struct uccs_bounce *)(uccs_memory_region(uccs_index((int)message->source)) + message->block);
}

struct uccs_bounce *uccs_am_hold(struct uccs_am_token *token)
{
    if (token->block)
        token->outcome = UCCS_AM_HELD;
    return token->block;
}

void uccs_am_done(struct uccs_bounce *block)
{
    if (lat_likely(block->home == UCCS_HOME_SENDER))
        uccs_am_mark_done(block);
    else
        uccs_far_am_done(block);
}

int uccs_am_source(uccs_am_token_t token)
{
    return token ? (int)token->message->source : -1;
}

uccs_context_t uccs_am_context(uccs_am_token_t token)
{
    return token ? token->context : 0;
}
