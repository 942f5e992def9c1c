#include "memory.h"

#include "adopt.h"
#include "life.h"
#include "real.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    char *address;
    size_t bytes;
    uccs_memory_t memory;
    size_t offset; /* of the address in the object */
    int users;
    bool adopted; /* pages of the program's */
    struct piece *next;
};

static struct piece *pieces; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct lmpi_adopted pages_of(const struct piece *piece)
{
    return (struct lmpi_adopted){piece->address, piece->bytes, piece->memory, piece->offset};
}

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    for (const struct piece *at = pieces; at; at = at->next)
        if (at->adopted)
            lmpi_adopted_part(&(struct lmpi_adopted){at->address, at->bytes, at->memory, at->offset});
    pthread_mutex_unlock(&lock);
}

/* Under lock. */
static struct piece *add(const struct piece *new)
{
    struct piece *piece = malloc(sizeof *piece);
    if (!piece)
        abort(); /* a few bytes */
    *piece = *new;
    piece->users = 1;
    piece->next = pieces;
    pieces = piece;
    return piece;
}

void *lmpi_memory_make(size_t bytes, uccs_memory_t *memory)
{
    struct uccs_memory_attr attr;
    bytes = bytes ? bytes : 1;
    if (uccs_memory_allocate(lmpi_life.context, bytes, memory) != UCCS_OK)
        return 0;
    uccs_memory_query(*memory, &attr);
    pthread_mutex_lock(&lock);
    add(&(struct piece){.address = attr.address, .bytes = bytes, .memory = *memory});
    pthread_mutex_unlock(&lock);
    return attr.address;
}

static bool overlaps(const struct piece *piece, const char *address, size_t bytes)
{
    return address < piece->address + piece->bytes && piece->address < address + bytes;
}

/* Under lock. Returns the piece that holds the range, which may be new, or null. */
static struct piece *hold(const char *address, size_t bytes)
{
    static bool guarded;
    struct lmpi_adopted adopted;
    for (struct piece *at = pieces; at; at = at->next)
        if (overlaps(at, address, bytes)) {
            bool whole = address >= at->address && address + bytes <= at->address + at->bytes;
            at->users += whole;
            return whole ? at : 0;
        }
    if (!guarded)
        guarded = pthread_atfork(before_fork, in_parent, in_child) == 0;
    if (!guarded || !lmpi_adopt(address, bytes, &adopted))
        return 0;
    return add(&(struct piece){adopted.start, adopted.bytes, adopted.memory, adopted.offset, 1, true, 0});
}

uccs_memory_t lmpi_memory_share(const void *address, size_t bytes, size_t *offset)
{
    pthread_mutex_lock(&lock);
    const struct piece *piece = hold(address, bytes);
    uccs_memory_t memory = piece ? piece->memory : 0;
    *offset = piece ? piece->offset + (size_t)((const char *)address - piece->address) : 0;
    pthread_mutex_unlock(&lock);
    return memory;
}

/* Under lock. Takes one user from the piece at *at; gives it up with its last one. */
static void drop(struct piece **at)
{
    struct piece *piece = *at;
    if (--piece->users)
        return;
    *at = piece->next;
    if (piece->adopted) {
        struct lmpi_adopted pages = pages_of(piece);
        lmpi_adopted_return(&pages);
    }
    uccs_memory_release(piece->memory);
    free(piece);
}

bool lmpi_memory_drop(uccs_memory_t memory)
{
    pthread_mutex_lock(&lock);
    struct piece **at = &pieces;
    while (*at && (*at)->memory != memory)
        at = &(*at)->next;
    bool found = *at != 0;
    if (found)
        drop(at);
    pthread_mutex_unlock(&lock);
    return found;
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

LMPI_EXPORT int MPI_Free_mem(void *base)
{
    pthread_mutex_lock(&lock);
    struct piece **at = &pieces;
    while (*at && ((*at)->address != base || (*at)->adopted))
        at = &(*at)->next;
    bool found = base && *at;
    if (found)
        drop(at);
    pthread_mutex_unlock(&lock);
    return found ? MPI_SUCCESS : lmpi_real.Free_mem(base);
}
LMPI_NAME(Free_mem);
