/* A fair lock for readers and writers, in UCCS_LOCK_BYTES zeroed bytes of memory that the node maps (the ticket lock of
 * Mellor-Crummey and Scott, with a second turn for readers).
 *
 * Everybody takes a ticket, `next`. A writer enters when all tickets before its own have been given back (`left` of
 * them), a reader when all before it have entered as readers or been given back (`read` of them); it lets the next
 * ticket follow at once. So the order of the tickets is the order of entry, and readers that are neighbours are inside
 * together. Only the reader whose turn it is, or the writer inside, changes `read`.
 *
 * The three numbers share one word, which every step changes by one atomic. So a free lock costs one to enter
 * and one to leave. The owner's process waits for waiters of other nodes (proto/lock.c): who takes a step that may bring their turn
 * wakes its progress thread. The numbers have NUMBER bits and wrap, so fewer than 2^20 tickets may be out at a time. The bit above `left` and that above `read` catch the carry; whoever sees one clears it.
 *
 * Guests are readers without tickets: they enter whenever no writer is inside, though writers wait. A lock has them only
 * when its owner admits them, before anybody uses it; then a writer whose turn it is bars the door, for which no guest may
 * be inside, or wait where a writer has just left. So guests and writers take turns.
 *
 * Every atomic here is acquire and release on that word, and is the partner of all others: a holder follows those who
 * left, also through the steps of those in between. Any thread of any process that maps the lock. */
#ifndef UCCS_MEM_RWLOCK_H
#define UCCS_MEM_RWLOCK_H

#include "base/atomic.h"

#include <stdbool.h>
#include <uccs.h>

struct uccs_ticket_lock {
    uint64_t word;
    uint64_t guests; /* how many are inside, and the marks below; 0: the lock has none */
    uint32_t writer; /* 1 + the PE of the last writer that has entered; relaxed: for those who ask why a job hangs */
};
_Static_assert(sizeof(struct uccs_ticket_lock) <= UCCS_LOCK_BYTES, "a lock fits");

#define TICKET_NUMBER UINT64_C(0xfffff)
#define TICKET_READ_AT 21
#define TICKET_NEXT_AT 42
#define TICKET_LEFT UINT64_C(1)
#define TICKET_READ (UINT64_C(1) << TICKET_READ_AT)
#define TICKET_NEXT (UINT64_C(1) << TICKET_NEXT_AT)
#define TICKET_CARRIES (UINT64_C(1) << 20 | UINT64_C(1) << 41)

#define TICKET_GUEST UINT64_C(1)
#define TICKET_GUESTS UINT64_C(0xffffffff)
#define TICKET_ADMITTED (UINT64_C(1) << 61)    /* the lock has guests; it stays */
#define TICKET_GUESTS_WAIT (UINT64_C(1) << 62) /* of other nodes, at the owner (proto/lock.c) */
#define TICKET_BARRED (UINT64_C(1) << 63)      /* a writer is inside */

static inline uint32_t uccs_ticket_left(uint64_t word)
{
    return (uint32_t)(word & TICKET_NUMBER);
}

static inline uint32_t uccs_ticket_read(uint64_t word)
{
    return (uint32_t)(word >> TICKET_READ_AT & TICKET_NUMBER);
}

static inline uint32_t uccs_ticket_next(uint64_t word)
{
    return (uint32_t)(word >> TICKET_NEXT_AT & TICKET_NUMBER);
}

/* Returns true when it is the ticket's turn. */
static inline bool uccs_ticket_turn(uint64_t word, uint32_t ticket, enum uccs_lock_mode mode)
{
    return (mode == UCCS_LOCK_EXCLUSIVE ? uccs_ticket_left(word) : uccs_ticket_read(word)) == ticket;
}

static inline void uccs_ticket_carry(struct uccs_ticket_lock *lock, uint64_t seen)
{
    if (lat_unlikely(seen & TICKET_CARRIES))
        (void)atomic_fetch_and_acqrel(&lock->word, ~TICKET_CARRIES);
}

/* A writer has its turn: keeps guests out. Returns false when one is inside or goes first. */
static inline bool uccs_ticket_bar(struct uccs_ticket_lock *lock)
{
    uint64_t guests = atomic_load_acquire(&lock->guests);
    if (lat_likely(!guests))
        return true;
    guests = TICKET_ADMITTED;
    return atomic_cas_acqrel(&lock->guests, &guests, TICKET_ADMITTED | TICKET_BARRED);
}

/* Enters as a guest, or returns false: a writer is inside. */
static inline bool uccs_ticket_visit(struct uccs_ticket_lock *lock)
{
    uint64_t guests = atomic_load_acquire(&lock->guests);
    while (guests && !(guests & TICKET_BARRED))
        if (atomic_cas_acqrel(&lock->guests, &guests, guests + TICKET_GUEST))
            return true;
    return false;
}

/* Enters as a reader when that is possible at once, with nobody waiting; else returns false and has done nothing. */
static inline bool uccs_ticket_read_now(struct uccs_ticket_lock *lock)
{
    const uint64_t step = TICKET_NEXT + TICKET_READ;
    uint64_t word = atomic_load_relaxed(&lock->word); /* the cas checks it */
    for (int tries = 0; tries < 3 && uccs_ticket_turn(word, uccs_ticket_next(word), UCCS_LOCK_SHARED); tries++)
        if (lat_likely(atomic_cas_acqrel(&lock->word, &word, word + step)))
            return true;
    return false;
}

/* Takes a ticket and returns it; uccs_ticket_enter goes on. */
static inline uint32_t uccs_ticket_draw(struct uccs_ticket_lock *lock)
{
    return uccs_ticket_next(atomic_fetch_add_acqrel(&lock->word, TICKET_NEXT));
}

/* Takes a ticket. Returns true when a writer has entered with it; a reader goes on with uccs_ticket_enter. */
static inline bool uccs_ticket_take(struct uccs_ticket_lock *lock, enum uccs_lock_mode mode, uint32_t *ticket)
{
    const uint64_t word = atomic_fetch_add_acqrel(&lock->word, TICKET_NEXT);
    *ticket = uccs_ticket_next(word);
    return mode == UCCS_LOCK_EXCLUSIVE && uccs_ticket_turn(word, *ticket, mode) && uccs_ticket_bar(lock);
}

/* Enters when it is the ticket's turn, else returns false. */
static inline bool uccs_ticket_enter(struct uccs_ticket_lock *lock, uint32_t ticket, enum uccs_lock_mode mode)
{
    if (!uccs_ticket_turn(atomic_load_acquire(&lock->word), ticket, mode))
        return false;
    if (mode == UCCS_LOCK_EXCLUSIVE)
        return uccs_ticket_bar(lock);
    uccs_ticket_carry(lock, atomic_fetch_add_acqrel(&lock->word, TICKET_READ) + TICKET_READ);
    return true;
}

/* A writer that has entered says who it is. */
static inline void uccs_ticket_sign(struct uccs_ticket_lock *lock, int pe)
{
    atomic_store_relaxed(&lock->writer, (uint32_t)pe + 1); /* no partner: a hint */
}

/* Returns the PE of the writer inside, or -1 when there is none. A hint. */
static inline int uccs_ticket_writer(const struct uccs_ticket_lock *lock)
{
    const uint64_t word = atomic_load_relaxed(&lock->word);
    const bool writes =
        uccs_ticket_left(word) == uccs_ticket_read(word) && uccs_ticket_next(word) != uccs_ticket_left(word);
    return writes ? (int)atomic_load_relaxed(&lock->writer) - 1 : -1;
}

/* Returns how many tickets must go on before this one's turn. */
static inline uint32_t uccs_ticket_before(const struct uccs_ticket_lock *lock, uint32_t ticket,
                                          enum uccs_lock_mode mode)
{
    const uint64_t word = atomic_load_relaxed(&lock->word); /* a hint */
    const uint32_t gone = mode == UCCS_LOCK_EXCLUSIVE ? uccs_ticket_left(word) : uccs_ticket_read(word);
    return (uint32_t)((ticket - gone) & TICKET_NUMBER);
}

/* Gives the ticket back. The writer inside lets guests in again: they have been admitted before the lock was used, or never. */
static inline void uccs_ticket_leave(struct uccs_ticket_lock *lock, enum uccs_lock_mode mode)
{
    if (lat_unlikely(mode == UCCS_LOCK_GUEST)) {
        (void)atomic_fetch_sub_acqrel(&lock->guests, TICKET_GUEST);
        return;
    }
    if (mode == UCCS_LOCK_EXCLUSIVE && lat_unlikely(atomic_load_relaxed(&lock->guests)))
        (void)atomic_fetch_and_acqrel(&lock->guests, ~TICKET_BARRED);
    const uint64_t step = mode == UCCS_LOCK_EXCLUSIVE ? TICKET_LEFT + TICKET_READ : TICKET_LEFT;
    uccs_ticket_carry(lock, atomic_fetch_add_acqrel(&lock->word, step) + step);
}

#endif
