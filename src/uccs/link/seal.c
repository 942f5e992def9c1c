/* Seals: with LATERAL_WIRE_AUTH=1 each message that leaves is signed with the job's key, and one that arrives is believed
 * only under its signature, once. A seal follows the header. It signs who sent what to whom under which number of the
 * connection; the numbers that are missing so far are remembered, since long messages come late. A batch has one seal.
 *
 * Under the lock of the lane. The hash is SipHash-2-4, 64 bits under a key of 128. Idea: IPsec's window against replay. */
#include "uccs/link/inner.h"

#include "base/siphash.h"
#include "rte/rte.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD_MOST 65536 /* a number may be so far ahead of the others */

bool link_sealed;

static uint64_t sign_head(const struct link_header *header, const struct link_seal *seal, uint32_t to, uint64_t bytes)
{
    const struct {
        char what[8];
        uint64_t to, number, bytes, data;
        struct link_header header;
    } facts = {"message", to, seal->number, bytes, seal->data, *header};
    return siphash(rte.node->nonce, &facts, sizeof facts);
}

static uint64_t sign_data(const void *data, size_t bytes)
{
    return bytes ? siphash(rte.node->nonce, data, bytes) : 0;
}

/* Memory that is sent from its place may change meanwhile, so what is signed is a copy. */
static const void *copy_of(struct link_send *send, const void *data, size_t bytes)
{
    if (send->buffer || !bytes)
        return data;
    send->buffer = malloc(bytes);
    if (!send->buffer)
        watch_fail("no memory to sign %zu bytes", bytes);
    return memcpy(send->buffer, data, bytes);
}

const void *link_seal_put(struct link_send *send, struct link_outbox *box, const void *data, size_t bytes)
{
    data = copy_of(send, data, bytes);
    send->seal = (struct link_seal){.number = ++box->sealed, .data = sign_data(data, bytes)};
    send->seal.head = sign_head(&send->header, &send->seal, (uint32_t)box->pe, bytes);
    return data;
}

/* Notes a number. Returns false when it has come before, or is too far ahead. */
static bool is_new(struct link_seen *seen, uint64_t number)
{
    for (uint32_t i = 0; number <= seen->high && i < seen->count; i++)
        if (seen->missing[i] == number) {
            seen->missing[i] = seen->missing[--seen->count];
            return true;
        }
    if (number <= seen->high || number - seen->high > AHEAD_MOST)
        return false;
    for (; seen->high + 1 < number; seen->high++) {
        if (seen->count == seen->room) {
            seen->room = seen->room ? 2 * seen->room : 16;
            seen->missing = realloc(seen->missing, seen->room * sizeof *seen->missing);
            if (!seen->missing)
                watch_fail("no memory for the numbers of messages");
        }
        seen->missing[seen->count++] = seen->high + 1;
    }
    seen->high = number;
    return true;
}

void link_seal_check(const struct link_header *header, const struct link_seal *seal, size_t bytes)
{
    if (lat_unlikely(sign_head(header, seal, (uint32_t)uccs_core.me, bytes) != seal->head))
        watch_fail(
            "a message in the name of PE %u is not signed with the job's key, or was changed (LATERAL_WIRE_AUTH)",
            header->from);
}

void link_seal_number(const struct link_header *header, const struct link_seal *seal, struct link_seen *seen)
{
    if (lat_unlikely(!is_new(seen, seal->number)))
        watch_fail("message %llu of PE %u has come twice (LATERAL_WIRE_AUTH)", (unsigned long long)seal->number,
                   header->from);
}

void link_seal_data(const struct link_header *header, uint64_t signature, const void *data, size_t bytes)
{
    if (lat_unlikely(sign_data(data, bytes) != signature))
        watch_fail("the data of a message of PE %u was changed on its way (LATERAL_WIRE_AUTH)", header->from);
}
