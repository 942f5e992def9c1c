/* The blocks of messages at their receiver, and the tokens of handlers. Any thread. */
#include "uccs/am/inner.h"

#include "uccs/core/memory.h"

#include <stdlib.h>

/* Two threads of this process may serve a block, or memory that a peer's block names, one after the other. They are
 * ordered through the peer: the first thread releases `done`, the peer acquires it, uses the block or the memory again,
 * and releases a ring's cell, which the second thread acquires. The thread sanitizer does not see the peer. */
static uint64_t elsewhere;

static atomic_unseen void give_back(struct uccs_bounce *block)
{
    atomic_store_release(&block->done, 1); /* acquire: uccs_bounce_collect, at the sender */
}

static char *region_of(uint32_t pe)
{
    size_t bytes;
    return uccs_memory_region(uccs_index((int)pe), &bytes);
}

static bool is_own(const struct uccs_bounce *block)
{
    size_t bytes;
    const char *start = uccs_memory_region(uccs_core.index, &bytes);
    return (uintptr_t)block - (uintptr_t)start < bytes;
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
    return (struct uccs_bounce *)(region_of(message->source) + message->block);
}

struct uccs_bounce *uccs_am_hold(struct uccs_am_token *token)
{
    if (token->block)
        token->outcome = UCCS_AM_HELD;
    return token->block;
}

void uccs_am_done(struct uccs_bounce *block)
{
    if (lat_likely(block->kept == UCCS_HOME_SENDER))
        uccs_am_mark_done(block);
    else if (block->kept == UCCS_HOME_PACKET)
        uccs_far_am_done(block);
    else
        free(block);
}

int uccs_am_source(uccs_am_token_t token)
{
    return token ? (int)token->message->source : -1;
}

uccs_context_t uccs_am_context(uccs_am_token_t token)
{
    return token ? token->context : 0;
}
