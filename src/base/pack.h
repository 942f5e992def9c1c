/* Streams of bytes that resemble each other, such as what the PEs of a node tell of themselves, in one value: of each stream what differs
 * from the one before it. */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stddef.h>

#define PACK_STREAM ((size_t)1 << 24) /* a stream has fewer bytes */

struct pack_stream {
    const unsigned char *at;
    size_t bytes;
};

/* Returns n streams packed, in memory that the caller frees, and stores the bytes; null without memory. */
unsigned char *pack_streams(const struct pack_stream *streams, size_t n, size_t *bytes);

/* Returns stream `which` of a packed value in memory that the caller frees, and stores its bytes. Null without memory, and when the value,
 * which may come from anybody, has no such stream. */
unsigned char *pack_take(const unsigned char *packed, size_t packed_bytes, size_t which, size_t *bytes);

#endif
