/* Changes of arrays: accumulates and compare-and-swaps as values. One function applies them, to memory of this process,
 * to memory of a node peer, and to copies of memory that the kernel copies. Any thread.
 *
 * Domains of atomicity. The type, its address and the memory's domain decide how an element changes, and nothing else
 * does: not the operation, the number of elements, or the process that changes it.
 *
 *   integers of 1 to 8 bytes, at a multiple of their size, in memory of the processor's domain:
 *       the processor's atomics, one element at a time. So they are atomic with uccs_atomic32 and uccs_atomic64 too.
 *   reals, complex numbers, pairs; integers at other addresses; all memory of the locked domain:
 *       the owner's lock of the stripe in which the element begins (uccs_atomic_lock), so that one lock serves a
 *       thousand doubles and a vector loop adds them.
 *
 * Single doubles could change by compare and swap, but then arrays would have to do the same, element by element.
 * Compare-and-swaps of 1 to 8 bytes are integers in this sense, those of 16 bytes are
 * under locks.
 *
 * Far targets apply what a message carries by the same function, so near and far share the domain. */
#ifndef UCCS_MEM_ACCUMULATE_H
#define UCCS_MEM_ACCUMULATE_H

#include "base/atomic.h"
#include "base/kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <uccs.h>

/* Atomic operations as values. One enumeration names them (uccs_atomic of uccs.h) and one function applies them, to
 * words of this node, to words that a message names, and to copies of words.
 *
 * Memory belongs to one domain, fixed when it is registered. The processor's own atomics change mapped memory. Every
 * process, the owner included, changes memory that is not mapped under a lock of the owner's stripe. Any thread. */

struct uccs_atomic_op {
    enum uccs_atomic what;
    uint32_t size; /* 4 or 8 */
    uint64_t operand, compare;
};

/* Stores the low `size` bytes of a value. */
static inline void uccs_store_value(void *to, size_t size, uint64_t value)
{
    if (size == sizeof(uint32_t))
        *(uint32_t *)to = (uint32_t)value;
    else
        *(uint64_t *)to = value;
}

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

#define UCCS_TYPE_MOST 32 /* bytes of the largest element; all sizes divide it */
_Static_assert(2 * sizeof(long double) <= UCCS_TYPE_MOST, "the largest element is a complex long double");

#define UCCS_ACCUMULATE_SWAP ((uint8_t)(UCCS_NO_OP + 1)) /* compare and swap */

struct uccs_accumulate_op {
    uint8_t type; /* enum uccs_type; of a swap, the kind of element: UCCS_UINT8, 16, 32, 64, or UCCS_DOUBLE_COMPLEX */
    uint8_t how;  /* enum uccs_reduction, or UCCS_ACCUMULATE_SWAP */
    size_t n;     /* elements; of a swap 1 */
};

extern const uint8_t uccs_type_kinds[UCCS_INT128 + 1]; /* enum kind */

/* uccs_type_size of a type that exists. */
static inline size_t uccs_accumulate_size(unsigned type)
{
    return kind_size((enum kind)uccs_type_kinds[type]);
}

/* The bytes that change. Of a good change with n elements in some memory they do not overflow. */
static inline size_t uccs_accumulate_bytes(const struct uccs_accumulate_op *change)
{
    return change->n * uccs_accumulate_size(change->type);
}

/* The bytes of the operand: the elements, or the new value and then the one to compare with. */
static inline size_t uccs_accumulate_operand(const struct uccs_accumulate_op *change)
{
    return change->how == UCCS_NO_OP ? 0 : uccs_accumulate_bytes(change) << (change->how == UCCS_ACCUMULATE_SWAP);
}

/* Returns an atomic as a change of one word, and stores the change's operand: at most 16 bytes. */
static inline struct uccs_accumulate_op uccs_accumulate_of_atomic(const struct uccs_atomic_op *op, uint64_t *operand)
{
    static const uint8_t hows[] = {[UCCS_ATOMIC_FETCH] = UCCS_NO_OP,  [UCCS_ATOMIC_SET] = UCCS_REPLACE,
                                   [UCCS_ATOMIC_SWAP] = UCCS_REPLACE, [UCCS_ATOMIC_CSWAP] = UCCS_ACCUMULATE_SWAP,
                                   [UCCS_ATOMIC_ADD] = UCCS_SUM,      [UCCS_ATOMIC_AND] = UCCS_AND,
                                   [UCCS_ATOMIC_OR] = UCCS_OR,        [UCCS_ATOMIC_XOR] = UCCS_XOR};
    if (op->size == sizeof(uint32_t))
        memcpy(operand, (uint32_t[]){(uint32_t)op->operand, (uint32_t)op->compare}, 2 * sizeof(uint32_t));
    else
        memcpy(operand, (uint64_t[]){op->operand, op->compare}, 2 * sizeof(uint64_t));
    return (struct uccs_accumulate_op){op->size == sizeof(uint32_t) ? UCCS_UINT32 : UCCS_UINT64, hows[op->what], 1};
}

struct uccs_region; /* region.h */

/* Returns true when such a change exists, whatever its n. For what comes by a message. */
bool uccs_accumulate_exists(const struct uccs_accumulate_op *change);

/* Returns true when the processor's atomics make this change, false when the owner's locks guard it. */
bool uccs_accumulate_atomic(const struct uccs_accumulate_op *change, enum uccs_domain domain, uint64_t address);

/* The place of elements: owner, address there, and address in this process; without one, the kernel copies them from and to the
 * memory object. */
struct uccs_accumulate_target {
    int owner;
    enum uccs_domain domain;
    uint64_t address;
    void *here;                       /* null: not mapped */
    const struct uccs_region *memory; /* used without `here`: uccs_cma_reaches it */
};

/* Changes the elements. Stores the old values to `result` unless it is null. Operand and result do not overlap the
 * elements, nor each other. Returns UCCS_OK, or the error of a copy by the kernel. */
int uccs_accumulate_apply(const struct uccs_accumulate_op *change, const struct uccs_accumulate_target *place,
                          const void *operand, void *result);

/* Applies the change to elements in pieces, whose offsets count from the place. They go with one lock as long as they lie in
 * one stripe. Returns no result. */
int uccs_accumulate_apply_pieces(const struct uccs_accumulate_op *change, const struct uccs_accumulate_target *place,
                                 const struct uccs_piece *pieces, size_t n);

/* A fold that has run under locks, and the bytes of an element, by type and operation; null before. It spares the common
 * accumulate the questions that lead to it. */
struct uccs_fold_cache {
    fold_kernel *fold; /* release: learn_fold; acquire: uccs_fold_cache_of */
    size_t size;
};
extern struct uccs_fold_cache uccs_fold_cache[UCCS_INT128 + 1][UCCS_NO_OP + 1];

/* Returns its row when the fold is known, else null; also for a type or an operation that does not exist. */
static inline const struct uccs_fold_cache *uccs_fold_cache_of(unsigned type, unsigned how)
{
    if (lat_unlikely(type > UCCS_INT128 || how > UCCS_NO_OP))
        return 0;
    const struct uccs_fold_cache *quick = &uccs_fold_cache[type][how];
    return lat_likely(atomic_load_acquire(&quick->fold) != 0) ? quick : 0;
}

/* Returns the fold of a type and a reduction, or null when there is none (replace and no-op are no folds). */
fold_kernel *uccs_type_fold(enum uccs_type type, enum uccs_reduction how);

#endif
