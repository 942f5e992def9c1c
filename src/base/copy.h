/* Copies. Any thread. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <string.h>

enum { COPY_LONG = 1 << 20 }; /* bytes */

/* memcpy of COPY_LONG bytes and more. */
void copy_long(void *to, const void *from, size_t bytes);

static inline void copy_bytes(void *to, const void *from, size_t bytes)
{
    if (__builtin_expect(bytes >= COPY_LONG, 0))
        copy_long(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#endif
