#include "mpi/memory/block.h"

#include "mpi/core/process.h"
#include "mpi/core/real.h"

#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *blocks; /* a tree (tsearch) by address; under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Blocks do not overlap, so two ranges with a common byte are the same block. */
static int compare_blocks(const void *left, const void *right)
{
    const struct lmpi_block *a = left, *b = right;
    return a->address + a->bytes <= b->address ? -1 : b->address + b->bytes <= a->address ? 1 : 0;
}

/* Returns the block that holds a byte, or null. Under lock. */
static struct lmpi_block *find_block(const void *address)
{
    const struct lmpi_block key = {.address = (char *)address, .bytes = 1};
    struct lmpi_block **found = address ? tfind(&key, &blocks, compare_blocks) : 0;
    return found ? *found : 0;
}

/* Under lock. */
static void drop_user(struct lmpi_block *block)
{
    if (--block->users)
        return;
    tdelete(block, &blocks, compare_blocks);
    uccs_memory_release(block->memory);
    free(block);
}

size_t lmpi_block_alignment(MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1], *end = text;
    int found = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, "mpi_minimum_memory_alignment", MPI_MAX_INFO_VAL, text, &found);
    const long long wanted = found ? strtoll(text, &end, 10) : 1;
    return end != text && !*end && wanted > 0 && (wanted & (wanted - 1)) == 0 ? (size_t)wanted : 1;
}

/* Fills a block. Returns false without memory. */
static bool allocate_block(struct lmpi_block *block)
{
    const size_t alignment = block->alignment;
    struct uccs_memory_attr attr;
    if (block->bytes > SIZE_MAX - alignment ||
        uccs_memory_allocate(lmpi_process.context, block->bytes + alignment - 1, &block->memory) != UCCS_OK)
        return false;
    uccs_memory_query(block->memory, &attr);
    block->offset = -(uintptr_t)attr.address & (alignment - 1);
    block->address = (char *)attr.address + block->offset;
    return true;
}

struct lmpi_block *lmpi_block_new(size_t bytes, size_t alignment)
{
    struct lmpi_block *block = malloc(sizeof *block);
    if (!block)
        return 0;
    *block = (struct lmpi_block){.bytes = bytes ? bytes : 1, .alignment = alignment, .users = 1};
    if (!allocate_block(block)) {
        free(block);
        return 0;
    }
    pthread_mutex_lock(&lock);
    const bool noted = tsearch(block, &blocks, compare_blocks) != 0;
    pthread_mutex_unlock(&lock);
    if (noted)
        return block;
    uccs_memory_release(block->memory);
    free(block);
    return 0;
}

struct lmpi_block *lmpi_block_pin(const void *address)
{
    pthread_mutex_lock(&lock);
    struct lmpi_block *block = find_block(address);
    if (block)
        block->users++;
    pthread_mutex_unlock(&lock);
    return block;
}

void lmpi_block_unpin(struct lmpi_block *block)
{
    if (!block)
        return;
    pthread_mutex_lock(&lock);
    drop_user(block);
    pthread_mutex_unlock(&lock);
}

LMPI_EXPORT int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    const struct lmpi_block *block =
        lmpi_process.running && size > 0 && baseptr ? lmpi_block_new((size_t)size, lmpi_block_alignment(info)) : 0;
    if (!block)
        return lmpi_real.Alloc_mem(size, info, baseptr);
    memcpy(baseptr, &block->address, sizeof block->address);
    return MPI_SUCCESS;
}
LMPI_NAME(Alloc_mem);

LMPI_EXPORT int MPI_Free_mem(void *base)
{
    pthread_mutex_lock(&lock);
    struct lmpi_block *block = find_block(base);
    const bool ours = block && block->address == base;
    if (ours)
        drop_user(block);
    pthread_mutex_unlock(&lock);
    return ours ? MPI_SUCCESS : lmpi_real.Free_mem(base);
}
LMPI_NAME(Free_mem);
