#include "memory.h"

#include "life.h"
#include "real.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    char *address;
    size_t bytes;
    uccs_memory_t memory;
    struct piece *next;
};

static struct piece *pieces; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *lmpi_memory_make(size_t bytes, uccs_memory_t *memory)
{
    struct uccs_memory_attr attr;
    struct piece *piece = malloc(sizeof *piece);
    if (!piece || uccs_memory_allocate(lmpi_life.context, bytes ? bytes : 1, memory) != UCCS_OK) {
        free(piece);
        return 0;
    }
    uccs_memory_query(*memory, &attr);
    *piece = (struct piece){.address = attr.address, .bytes = bytes ? bytes : 1, .memory = *memory};
    pthread_mutex_lock(&lock);
    piece->next = pieces;
    pieces = piece;
    pthread_mutex_unlock(&lock);
    return piece->address;
}

uccs_memory_t lmpi_memory_holding(const void *address, size_t bytes, size_t *offset)
{
    uccs_memory_t found = 0;
    pthread_mutex_lock(&lock);
    for (const struct piece *at = pieces; at && !found; at = at->next) {
        *offset = (size_t)((const char *)address - at->address);
        if ((const char *)address >= at->address && *offset <= at->bytes && bytes <= at->bytes - *offset)
            found = at->memory;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int lmpi_memory_end(const void *address)
{
    pthread_mutex_lock(&lock);
    struct piece **at = &pieces;
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    struct piece *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    if (found)
        uccs_memory_release(found->memory);
    free(found);
    return found != 0;
}

LMPI_EXPORT int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    uccs_memory_t memory;
    void *made = lmpi_life.running && size > 0 ? lmpi_memory_make((size_t)size, &memory) : 0;
    if (!made)
        return lmpi_real.Alloc_mem(size, info, baseptr);
    memcpy(baseptr, &made, sizeof made);
    return MPI_SUCCESS;
}
LMPI_NAME(Alloc_mem);

/* After MPI_Finalize the memory has gone with the substrate. */
LMPI_EXPORT int MPI_Free_mem(void *base)
{
    return base && lmpi_memory_end(base) ? MPI_SUCCESS : lmpi_real.Free_mem(base);
}
LMPI_NAME(Free_mem);
