/* Chooses the way of an operation on memory of another node, in one table. docs/internals/onesided.md has the reasons.
 *
 * What the table does not list goes by messages: counting gets that do not wait, and atomics on memory of the processor's domain
 * (far/adapter.c does the others); strided operations and accumulates, which one message carries whole; parcels of collectives. The
 * link keeps to messages, too, while order demands it or a key is missing (link/direct.c). */
#include "uccs/far/inner.h"

#include "net/transport.h"

static const struct row {
    uint8_t operation; /* enum far_operation */
    uint8_t way;       /* enum link_way */
    size_t from;       /* bytes */
} rows[] = {
    {FAR_PUTS, LINK_DIRECT, 1},
    {FAR_GETS, LINK_DIRECT, 1},
    /* Data and word in one message cost less than a put, its flush and a message, as long as the message leaves at once. Longer
     * data would wait for the target, which fetches it. */
    {FAR_PUTS_AND_TELLS, LINK_DIRECT_TELL, TRANSPORT_SHORT + 1},
    /* A get that waits; the message that counts follows. A short get and its count are one round trip by message. */
    {FAR_GETS_AND_TELLS, LINK_DIRECT, TRANSPORT_SHORT + 1},
};

/* Rows of the group area are the library's own: short, and written by messages alone. */
static bool has_keys(uint32_t segment)
{
    return segment == FAR_HEAP || segment == FAR_IMAGE || segment == FAR_REGION;
}

enum link_way far_way(enum far_operation operation, uint32_t segment, size_t bytes)
{
    if (lat_likely(!link_has_direct) || !has_keys(segment))
        return LINK_BY_MESSAGE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].operation == operation && bytes >= rows[i].from)
            return (enum link_way)rows[i].way;
    return LINK_BY_MESSAGE;
}
