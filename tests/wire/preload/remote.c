/* Preloaded into programs of the conformance room: all symmetric memory that they ask for has the network's atomics, where the
 * network has them. Not a program. */
#include <pshmem.h>
#include <string.h>

void *shmem_malloc(size_t size)
{
    return pshmem_malloc_with_hints(size, SHMEM_MALLOC_ATOMICS_REMOTE);
}

void *shmem_malloc_with_hints(size_t size, long hints)
{
    return pshmem_malloc_with_hints(size, hints | SHMEM_MALLOC_ATOMICS_REMOTE);
}

/* The real one ends with a barrier, too, behind the clearing. */
void *shmem_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return 0;
    void *block = pshmem_malloc_with_hints(bytes, SHMEM_MALLOC_ATOMICS_REMOTE);
    if (block)
        memset(block, 0, bytes);
    if (bytes)
        pshmem_barrier_all();
    return block;
}
