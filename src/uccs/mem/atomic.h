/* Atomic operations as values. One enumeration names them (uccs_atomic of uccs.h) and one function applies them, to
 * words of this node, to words that a message names, and to copies of words.
 *
 * Memory belongs to one domain, fixed when it is registered. The processor's own atomics change mapped memory. Every
 * process, the owner included, changes memory that is not mapped under a lock of the owner's stripe. Any thread. */
#ifndef UCCS_MEM_ATOMIC_H
#define UCCS_MEM_ATOMIC_H

#include "base/atomic.h"

#include <uccs.h>

struct uccs_atomic_op {
    enum uccs_atomic what;
    uint32_t size; /* 4 or 8 */
    uint64_t operand, compare;
};

#define UCCS_ATOMIC_APPLY(bits)                                                                          \
    static inline uint##bits##_t uccs_atomic_apply##bits(enum uccs_atomic what, uint##bits##_t *word,    \
                                                         uint##bits##_t operand, uint##bits##_t compare) \
    {                                                                                                    \
        switch (what) {                                                                                  \
        case UCCS_ATOMIC_FETCH: return atomic_load_acquire(word);                                        \
        case UCCS_ATOMIC_SET:                                                                            \
        case UCCS_ATOMIC_SWAP: return atomic_exchange_acqrel(word, operand);                             \
        case UCCS_ATOMIC_CSWAP: (void)atomic_cas_acqrel(word, &compare, operand); return compare;        \
        case UCCS_ATOMIC_ADD: return atomic_fetch_add_acqrel(word, operand);                             \
        case UCCS_ATOMIC_AND: return atomic_fetch_and_acqrel(word, operand);                             \
        case UCCS_ATOMIC_OR: return atomic_fetch_or_acqrel(word, operand);                               \
        case UCCS_ATOMIC_XOR: return atomic_fetch_xor_acqrel(word, operand);                             \
        }                                                                                                \
        return 0;                                                                                        \
    }

UCCS_ATOMIC_APPLY(32)
UCCS_ATOMIC_APPLY(64)

/* Returns the word's old value. Partners: all other atomics on the word, and the acquire loads of wait loops. */
static inline uint64_t uccs_atomic_apply(const struct uccs_atomic_op *op, void *word)
{
    return op->size == 4 ? uccs_atomic_apply32(op->what, word, (uint32_t)op->operand, (uint32_t)op->compare)
                         : uccs_atomic_apply64(op->what, word, op->operand, op->compare);
}

/* Takes the lock of an element that is under a lock, and returns it for uccs_atomic_unlock. `address` is the element's
 * address in its owner, so that all paths to an element take the same lock. A holder does not wait for anything, and
 * holds one lock at a time, so that handlers of messages may take it. */
uint32_t *uccs_atomic_lock(int owner, uint64_t address);
void uccs_atomic_unlock(uint32_t *lock);

#endif
