#include "memory.h"

#include "adopt.h"
#include "life.h"
#include "real.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind {
    MADE,    /* memory of the substrate */
    ADOPTED, /* pages of the program's that lie there now; without users: they could not be given back yet */
    PLAIN    /* bytes that stay where they are; these pieces may overlap each other */
};

struct lmpi_piece {
    char *address;
    size_t bytes;
    enum kind kind;
    uccs_memory_t memory;    /* null: PLAIN */
    size_t offset;           /* of the address in it */
    struct lmpi_place place; /* ADOPTED */
    int users;
    struct lmpi_piece *next;
};

static struct lmpi_piece *pieces; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct lmpi_adopted pages_of(const struct lmpi_piece *piece)
{
    return (struct lmpi_adopted){piece->address, piece->bytes, piece->memory, piece->offset, piece->place};
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
    for (const struct lmpi_piece *at = pieces; at; at = at->next)
        if (at->kind == ADOPTED) {
            const struct lmpi_adopted pages = pages_of(at);
            lmpi_adopted_part(&pages);
        }
    pthread_mutex_unlock(&lock);
}

/* Under lock. */
static struct lmpi_piece *add(const struct lmpi_piece *new)
{
    struct lmpi_piece *piece = malloc(sizeof *piece);
    if (!piece)
        abort(); /* a few bytes */
    *piece = *new;
    piece->users = 1;
    piece->next = pieces;
    pieces = piece;
    return piece;
}

/* Under lock. Gives up the piece at *at, which has no user. Returns false when it stays for the time being. */
static bool give_up(struct lmpi_piece **at)
{
    struct lmpi_piece *piece = *at;
    const struct lmpi_adopted pages = pages_of(piece);
    if (piece->kind == ADOPTED && !lmpi_adopted_return(&pages))
        return false;
    *at = piece->next;
    if (piece->memory)
        uccs_memory_release(piece->memory);
    free(piece);
    return true;
}

/* Under lock. Takes one user from the piece at *at; gives it up with its last one. */
static void drop(struct lmpi_piece **at)
{
    if (--(*at)->users == 0)
        (void)give_up(at);
}

/* Under lock. Tries again to give back pages. */
static void give_back_late(void)
{
    for (struct lmpi_piece **at = &pieces; *at;)
        if ((*at)->users || (*at)->kind != ADOPTED || !give_up(at))
            at = &(*at)->next;
}

void *lmpi_memory_make(size_t bytes, uccs_memory_t *memory)
{
    struct uccs_memory_attr attr;
    bytes = bytes ? bytes : 1;
    if (uccs_memory_allocate(lmpi_life.context, bytes, memory) != UCCS_OK)
        return 0;
    uccs_memory_query(*memory, &attr);
    pthread_mutex_lock(&lock);
    add(&(struct lmpi_piece){.address = attr.address, .bytes = bytes, .kind = MADE, .memory = *memory});
    pthread_mutex_unlock(&lock);
    return attr.address;
}

bool lmpi_memory_drop(uccs_memory_t memory)
{
    pthread_mutex_lock(&lock);
    struct lmpi_piece **at = &pieces;
    while (*at && (*at)->memory != memory)
        at = &(*at)->next;
    bool found = memory && *at;
    if (found)
        drop(at);
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- holds; all under lock ---- */

/* Returns the piece that the node maps and that holds the byte, or null. *end becomes the end of the piece, or the next
 * start of one, as far as that comes before. */
static struct lmpi_piece *look(const char *address, char **end)
{
    for (struct lmpi_piece *at = pieces; at; at = at->next) {
        if (at->kind == PLAIN)
            continue;
        if (address >= at->address && address < at->address + at->bytes) {
            if (at->address + at->bytes < *end)
                *end = at->address + at->bytes;
            return at;
        }
        if (at->address > address && at->address < *end)
            *end = at->address;
    }
    return 0;
}

/* A window uses bytes of these pages as they are. */
static bool in_use(const char *address, const char *end)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)address & -page,
                    to = ((uintptr_t)end + page - 1) & -page;
    for (const struct lmpi_piece *at = pieces; at; at = at->next)
        if (at->kind == PLAIN && (uintptr_t)at->address < to && from < (uintptr_t)at->address + at->bytes)
            return true;
    return false;
}

/* Returns a new piece for bytes that lie in none. */
static struct lmpi_piece *new_piece(char *address, char *end)
{
    static bool guarded;
    struct lmpi_adopted adopted;
    if (!guarded)
        guarded = pthread_atfork(before_fork, in_parent, in_child) == 0;
    if (guarded && !in_use(address, end) && lmpi_adopt(address, (size_t)(end - address), &adopted))
        return add(&(struct lmpi_piece){.address = adopted.start,
                                        .bytes = adopted.bytes,
                                        .kind = ADOPTED,
                                        .memory = adopted.memory,
                                        .offset = adopted.offset,
                                        .place = adopted.place});
    return add(&(struct lmpi_piece){.address = address, .bytes = (size_t)(end - address), .kind = PLAIN});
}

/* Finds or makes the part that begins at `address`. */
static struct lmpi_part take_part(char *address, char *end)
{
    struct lmpi_piece *piece = look(address, &end);
    if (piece)
        piece->users++;
    else
        piece = new_piece(address, end);
    return (struct lmpi_part){.address = address,
                              .bytes = (size_t)(end - address),
                              .memory = piece->memory,
                              .offset = piece->offset + (size_t)(address - piece->address),
                              .piece = piece};
}

static void drop_parts(const struct lmpi_hold *hold)
{
    for (size_t i = 0; i < hold->n; i++) {
        struct lmpi_piece **at = &pieces;
        while (*at != hold->part[i].piece)
            at = &(*at)->next;
        drop(at);
    }
}

/* Makes room for one part more. Returns null without memory, when the parts are given up. */
static struct lmpi_hold *grow(struct lmpi_hold *hold)
{
    struct lmpi_hold *more = realloc(hold, sizeof *hold + (hold->n + 1) * sizeof hold->part[0]);
    if (!more) {
        drop_parts(hold);
        free(hold);
    }
    return more;
}

struct lmpi_hold *lmpi_memory_hold(void *address, size_t bytes)
{
    struct lmpi_hold *hold = calloc(1, sizeof *hold);
    char *at = address, *end = at + bytes;
    if (!hold)
        return 0;
    hold->address = at;
    pthread_mutex_lock(&lock);
    give_back_late();
    while (at < end && (hold = grow(hold))) {
        hold->part[hold->n] = take_part(at, end);
        at += hold->part[hold->n++].bytes;
    }
    pthread_mutex_unlock(&lock);
    return hold;
}

void lmpi_memory_let_go(struct lmpi_hold *hold)
{
    if (!hold)
        return;
    pthread_mutex_lock(&lock);
    drop_parts(hold);
    pthread_mutex_unlock(&lock);
    free(hold);
}

/* ---- memory for the program ---- */

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
    struct lmpi_piece **at = &pieces;
    while (*at && ((*at)->address != base || (*at)->kind != MADE))
        at = &(*at)->next;
    bool found = base && *at;
    if (found)
        drop(at);
    pthread_mutex_unlock(&lock);
    return found ? MPI_SUCCESS : lmpi_real.Free_mem(base);
}
LMPI_NAME(Free_mem);
