/* Products of counts and sizes that a program passes. A product that wraps would be the size of something small: the call
 * would move that and return. So these end the job instead, with one line. Any thread. */
#ifndef SHMEM_BYTES_H
#define SHMEM_BYTES_H

#include "base/atomic.h"

#include <stddef.h>

/* No process addresses so many bytes. So many for each of 65,536 PEs do not wrap either. */
#define LAT_BYTES_MOST ((size_t)1 << 47)

_Noreturn void lat_fail_bytes(const char *call, size_t nelems, size_t size);

/* Returns the bytes of so many elements. Hot callers know `size` when they are compiled. */
static inline size_t lat_bytes(const char *call, size_t nelems, size_t size)
{
    if (lat_unlikely(nelems > LAT_BYTES_MOST / size))
        lat_fail_bytes(call, nelems, size);
    return nelems * size;
}

/* Ends the job unless so many elements or blocks, `stride` elements apart, are within such a distance of the first. */
void lat_require_span(const char *call, ptrdiff_t stride, size_t count, size_t size);

/* The same for elements of each block of an alltoalls, dst and sst elements apart, and for their bytes. */
static inline void lat_require_strides(const char *call, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size)
{
    (void)lat_bytes(call, nelems, size);
    lat_require_span(call, dst, nelems, size);
    lat_require_span(call, sst, nelems, size);
}

#endif
