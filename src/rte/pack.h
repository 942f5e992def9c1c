/* Streams of bytes that resemble each other, such as what the PEs of a node tell of themselves, in one value: of each stream what differs
 * from the one before it. */
#ifndef RTE_PACK_H
#define RTE_PACK_H

#include <stddef.h>

#define RTE_PACK_STREAM ((size_t)1 << 24) /* a stream has fewer bytes */

struct rte_stream {
    const unsigned char *at;
    size_t bytes;
};

/* Returns n streams packed, in memory that the caller frees, and stores the bytes; null without memory. */
unsigned char *rte_pack(const struct rte_stream *streams, size_t n, size_t *bytes);

/* Returns stream `which` of a packed value in memory that the caller frees, and stores its bytes. Null without memory, and when the value,
 * which may come from anybody, has no such stream. */
unsigned char *rte_unpack(const unsigned char *packed, size_t packed_bytes, size_t which, size_t *bytes);

#endif
