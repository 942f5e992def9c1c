#include "shmem/bytes.h"

#include "shmem/state.h"

_Noreturn lat_cold void lat_fail_bytes(const char *call, size_t nelems, size_t size)
{
    lat_require(call);
    lat_fail(call, "%zu elements of %zu bytes are more than memory can hold; was the number negative?", nelems, size);
}

void lat_require_span(const char *call, ptrdiff_t stride, size_t count, size_t size)
{
    const size_t apart = stride < 0 ? -(size_t)stride : (size_t)stride;
    size_t bytes;
    if (count > 1 && (__builtin_mul_overflow(apart, size, &bytes) || __builtin_mul_overflow(bytes, count, &bytes) ||
                      bytes > LAT_BYTES_MOST))
        lat_fail(call, "%zu blocks at a stride of %td elements are more than memory can hold", count, stride);
}
