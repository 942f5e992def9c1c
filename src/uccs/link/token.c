/* Tokens stand in messages for things of this process: an ask, a flush, a request, a block. A peer brings a token back,
 * and could bring any number; so a token is the number of an entry and its generation, and the entry knows from which
 * PE and by which kind of message it may come back, once.
 *
 * The owner's lock guards a table: the lane's for a lane's tokens, one in am/far.c for those of blocks. */
#include "uccs/link/inner.h"

#include <stdlib.h>

#define FEW 16 /* entries at first */

struct link_entry {
    void *what; /* null: free */
    uint32_t generation;
    uint32_t next; /* of a free entry: 1 + number of the next free one, or 0 */
    int pe;
    enum link_kind answer;
};

static bool grow(struct link_tokens *tokens)
{
    const uint32_t room = tokens->room ? 2 * tokens->room : FEW;
    struct link_entry *entries = room > tokens->room ? realloc(tokens->entries, room * sizeof *entries) : 0;
    if (!entries)
        return false;
    tokens->entries = entries;
    for (uint32_t i = room; i-- > tokens->room;) {
        entries[i] = (struct link_entry){.next = tokens->free};
        tokens->free = i + 1;
    }
    tokens->room = room;
    return true;
}

bool link_token_reserve(struct link_tokens *tokens)
{
    return lat_likely(tokens->free) || grow(tokens);
}

uint64_t link_token_give(struct link_tokens *tokens, void *what, int pe, enum link_kind answer)
{
    if (!link_token_reserve(tokens))
        uccs_fail("no memory for %u questions to other PEs", 2 * tokens->room);
    const uint32_t number = tokens->free;
    struct link_entry *entry = &tokens->entries[number - 1];
    tokens->free = entry->next;
    entry->what = what;
    entry->pe = pe;
    entry->answer = answer;
    entry->generation++;
    return (uint64_t)entry->generation << 32 | number;
}

void *link_token_try(struct link_tokens *tokens, uint64_t token, int pe, enum link_kind answer)
{
    const uint32_t number = (uint32_t)token;
    struct link_entry *entry = number - 1 < tokens->room ? &tokens->entries[number - 1] : 0;
    if (lat_unlikely(!entry || !entry->what || entry->generation != token >> 32 || entry->pe != pe ||
                     entry->answer != answer))
        return 0;
    void *what = entry->what;
    entry->what = 0;
    entry->next = tokens->free;
    tokens->free = number;
    return what;
}

_Noreturn void link_token_refuse(uint64_t token, int pe, enum link_kind answer)
{
    uccs_fail("PE %d sent a message %s that this PE has not asked for, or has had already (token %llx)", pe,
              link_kind_name(answer), (unsigned long long)token);
}

void *link_token_take(struct link_tokens *tokens, uint64_t token, int pe, enum link_kind answer)
{
    void *what = link_token_try(tokens, token, pe, answer);
    if (lat_unlikely(!what))
        link_token_refuse(token, pe, answer);
    return what;
}

void link_token_close(struct link_tokens *tokens)
{
    free(tokens->entries);
    *tokens = (struct link_tokens){0};
}

/* --- Of a lane */

static bool is_awaited(const struct link_entry *entry, const struct uccs_request *request)
{
    if (entry->answer != LINK_LOCKED)
        return entry->what;
    return entry->what && request && uccs_request_counts(request, entry->what);
}

int link_token_awaited(const struct link_tokens *tokens, const struct uccs_request *request)
{
    for (uint32_t i = 0; i < tokens->room; i++)
        if (is_awaited(&tokens->entries[i], request))
            return tokens->entries[i].pe;
    return -1;
}

uint64_t link_token_of(struct link_lane *lane, void *what, int pe, enum link_kind asked)
{
    return link_token_give(&lane->tokens, what, pe, link_answer_kind(asked));
}

void *link_answered(const struct link_arrival *arrival)
{
    const struct link_header *header = &arrival->header;
    return link_token_take(&arrival->lane->tokens, header->answer.asker, (int)header->from,
                           (enum link_kind)header->kind);
}
