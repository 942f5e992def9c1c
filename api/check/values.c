/* Rules on plain values: sizes, strides, comparisons, options. */
#include "rules.h"

size_t check_bytes(const char *call, const char *argument, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        lat_check_fail(call, argument, "%zu elements of %zu bytes are more than memory can hold; was it negative?",
                       count, size);
    return bytes;
}

size_t check_count(const char *call, const char *argument, int count, size_t size)
{
    if (count < 0)
        lat_check_fail(call, argument, "%d is negative", count);
    return check_bytes(call, argument, (size_t)count, size);
}

size_t check_span(const char *call, const char *argument, ptrdiff_t stride, size_t length, size_t blocks, size_t size)
{
    size_t last, elements;
    if (stride < 1)
        lat_check_fail(call, argument, "a stride of %td; it must be at least 1", stride);
    if ((size_t)stride < length)
        lat_check_fail(call, argument, "a stride of %td is less than the block of %zu elements", stride, length);
    if (blocks == 0)
        return 0;
    if (__builtin_mul_overflow(blocks - 1, (size_t)stride, &last) || __builtin_add_overflow(last, length, &elements))
        lat_check_fail(call, argument, "%zu blocks at a stride of %td are more than memory can hold", blocks, stride);
    return check_bytes(call, argument, elements, size);
}

void check_cmp(const char *call, int cmp)
{
    if (cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_GE)
        lat_check_fail(call, "cmp", "%d is not one of SHMEM_CMP_EQ, NE, LT, LE, GT, GE", cmp);
}

void check_sig_op(const char *call, int sig_op)
{
    if (sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD)
        lat_check_fail(call, "sig_op", "%d is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", sig_op);
}

void check_level(const char *call, int level)
{
    if (level < SHMEM_THREAD_SINGLE || level > SHMEM_THREAD_MULTIPLE)
        lat_check_fail(call, "requested", "%d is not one of the SHMEM_THREAD_ levels", level);
}

void check_options(const char *call, long options, long known)
{
    if (options & ~known)
        lat_check_fail(call, "options", "0x%lx has bits that are no option of this call", options);
}
