/* A stream is its length, 3 bytes, and runs: how many bytes are those of the stream before, how many follow, and these. The first stream has
 * zeros before it, as has the end of a longer one. Any thread. */
#include "base/pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 255 };

static unsigned char byte_of(const struct pack_stream *stream, size_t at)
{
    return at < stream->bytes ? stream->at[at] : 0;
}

/* Returns the end of what is written; at most 3 bytes for 2 of the stream, and 5. */
static unsigned char *write_stream(unsigned char *to, const struct pack_stream *now, const struct pack_stream *before)
{
    *to++ = (unsigned char)now->bytes;
    *to++ = (unsigned char)(now->bytes >> 8);
    *to++ = (unsigned char)(now->bytes >> 16);
    for (size_t at = 0; at < now->bytes;) {
        size_t same = 0, other = 0;
        while (same < RUN && at + same < now->bytes && now->at[at + same] == byte_of(before, at + same))
            same++;
        at += same;
        while (other < RUN && at + other < now->bytes && now->at[at + other] != byte_of(before, at + other))
            other++;
        *to++ = (unsigned char)same;
        *to++ = (unsigned char)other;
        memcpy(to, now->at + at, other);
        to += other;
        at += other;
    }
    return to;
}

unsigned char *pack_streams(const struct pack_stream *streams, size_t n, size_t *bytes)
{
    const struct pack_stream none = {0};
    size_t room = 1;
    for (size_t i = 0; i < n; i++)
        room += 5 + 2 * streams[i].bytes;
    unsigned char *packed = malloc(room), *end = packed;
    for (size_t i = 0; i < n && packed; i++)
        end = write_stream(end, &streams[i], i ? &streams[i - 1] : &none);
    *bytes = (size_t)(end - packed);
    return packed;
}

/* Turns the stream before into this one, in place. Returns the end of what is read, or null without memory, and when it makes no sense. */
static const unsigned char *read_stream(const unsigned char *from, const unsigned char *end, unsigned char **room,
                                        size_t *bytes)
{
    const size_t whole = end - from < 3 ? 0 : from[0] | (size_t)from[1] << 8 | (size_t)from[2] << 16;
    unsigned char *stream = end - from < 3 ? 0 : realloc(*room, whole + 1);
    if (!stream)
        return 0;
    *room = stream;
    if (whole > *bytes)
        memset(stream + *bytes, 0, whole - *bytes);
    from += 3;
    for (size_t at = 0; at < whole;) {
        if (end - from < 2 || end - from - 2 < from[1] || whole - at < (size_t)from[0] + from[1] ||
            from[0] + from[1] == 0)
            return 0;
        at += from[0];
        memcpy(stream + at, from + 2, from[1]);
        at += from[1];
        from += 2 + from[1];
    }
    *bytes = whole;
    return from;
}

unsigned char *pack_take(const unsigned char *packed, size_t packed_bytes, size_t which, size_t *bytes)
{
    const unsigned char *end = packed + packed_bytes;
    unsigned char *stream = 0;
    *bytes = 0;
    for (size_t i = 0; i <= which && packed; i++)
        packed = read_stream(packed, end, &stream, bytes);
    if (packed)
        return stream;
    free(stream);
    return 0;
}
