#include "uccs/mem/accumulate.h"

#include "uccs/core/pe_shared.h"
#include "uccs/core/wait.h"
#include "uccs/mem/dynamic.h"

#include <string.h>

enum { TYPES = UCCS_INT128 + 1, REDUCTIONS = UCCS_NO_OP + 1 };

const uint8_t uccs_type_kinds[TYPES] = {
    [UCCS_INT32] = KIND_I32,
    [UCCS_UINT32] = KIND_U32,
    [UCCS_INT64] = KIND_I64,
    [UCCS_UINT64] = KIND_U64,
    [UCCS_FLOAT] = KIND_FLOAT,
    [UCCS_DOUBLE] = KIND_DOUBLE,
    [UCCS_INT8] = KIND_I8,
    [UCCS_UINT8] = KIND_U8,
    [UCCS_INT16] = KIND_I16,
    [UCCS_UINT16] = KIND_U16,
    [UCCS_LONG_DOUBLE] = KIND_LONGDOUBLE,
    [UCCS_FLOAT_COMPLEX] = KIND_COMPLEXF,
    [UCCS_DOUBLE_COMPLEX] = KIND_COMPLEXD,
    [UCCS_LONG_DOUBLE_COMPLEX] = KIND_COMPLEXL,
    [UCCS_FLOAT_INT] = KIND_FLOAT_INT,
    [UCCS_DOUBLE_INT] = KIND_DOUBLE_INT,
    [UCCS_LONG_INT] = KIND_LONG_INT,
    [UCCS_SHORT_INT] = KIND_SHORT_INT,
    [UCCS_2INT] = KIND_2INT,
    [UCCS_LONG_DOUBLE_INT] = KIND_LONGDOUBLE_INT,
    [UCCS_2FLOAT] = KIND_2FLOAT,
    [UCCS_2DOUBLE] = KIND_2DOUBLE,
    [UCCS_FLOAT16] = KIND_HALF,
    [UCCS_BFLOAT16] = KIND_BFLOAT,
    [UCCS_FLOAT128] = KIND_QUAD,
    [UCCS_FLOAT16_COMPLEX] = KIND_COMPLEXH,
    [UCCS_FLOAT128_COMPLEX] = KIND_COMPLEXQ,
    [UCCS_INT128] = KIND_I128,
};

static const enum fold_op folds[] = {
    [UCCS_AND] = FOLD_AND,
    [UCCS_OR] = FOLD_OR,
    [UCCS_XOR] = FOLD_XOR,
    [UCCS_MIN] = FOLD_MIN,
    [UCCS_MAX] = FOLD_MAX,
    [UCCS_SUM] = FOLD_SUM,
    [UCCS_PROD] = FOLD_PROD,
    [UCCS_LOGICAL_AND] = FOLD_LOGICAL_AND,
    [UCCS_LOGICAL_OR] = FOLD_LOGICAL_OR,
    [UCCS_LOGICAL_XOR] = FOLD_LOGICAL_XOR,
};

size_t uccs_type_size(enum uccs_type type)
{
    return (unsigned)type < TYPES ? uccs_accumulate_size(type) : 0;
}

fold_kernel *uccs_type_fold(enum uccs_type type, enum uccs_reduction how)
{
    if ((unsigned)type >= TYPES || (unsigned)how >= sizeof folds / sizeof *folds)
        return 0;
    return fold_kernel_of((enum kind)uccs_type_kinds[type], folds[how]);
}

#define BIT(how) (1u << (how))
#define ANY (BIT(UCCS_REPLACE) | BIT(UCCS_NO_OP))
#define ORDER (BIT(UCCS_MIN) | BIT(UCCS_MAX) | ANY)
#define ALGEBRA (BIT(UCCS_SUM) | BIT(UCCS_PROD) | ANY)

/* A bit for each operation that a type takes. */
static const uint16_t taken[TYPES] = {
    [UCCS_INT8... UCCS_UINT16] = BIT(REDUCTIONS) - 1,
    [UCCS_INT32... UCCS_UINT64] = BIT(REDUCTIONS) - 1,
    [UCCS_FLOAT... UCCS_DOUBLE] = ORDER | ALGEBRA,
    [UCCS_LONG_DOUBLE] = ORDER | ALGEBRA,
    [UCCS_FLOAT_COMPLEX... UCCS_LONG_DOUBLE_COMPLEX] = ALGEBRA,
    [UCCS_FLOAT_INT... UCCS_2DOUBLE] = ORDER,
    [UCCS_FLOAT16... UCCS_FLOAT128] = ORDER | ALGEBRA,
    [UCCS_FLOAT16_COMPLEX... UCCS_FLOAT128_COMPLEX] = ALGEBRA,
    [UCCS_INT128] = BIT(REDUCTIONS) - 1,
};

int uccs_type_takes(enum uccs_type type, enum uccs_reduction how)
{
    return uccs_type_size(type) && (unsigned)how < REDUCTIONS && taken[type] >> how & 1;
}

bool uccs_accumulate_exists(const struct uccs_accumulate_op *change)
{
    if (change->how != UCCS_ACCUMULATE_SWAP)
        return uccs_type_takes((enum uccs_type)change->type, (enum uccs_reduction)change->how);
    switch (change->type) {
    case UCCS_UINT8:
    case UCCS_UINT16:
    case UCCS_UINT32:
    case UCCS_UINT64:
    case UCCS_DOUBLE_COMPLEX: return true;
    default: return false;
    }
}

/* --- By the processor's atomics: one function for each integer and operation. They apply to memory of any type, and the
 * operands need not be aligned. Partners: each other, other atomics on the word, and the acquire loads of wait
 * loops. */

typedef void change_kernel(void *at, const void *operand, void *result, size_t n);

#define TYPE(name, of)                          \
    typedef of __attribute__((may_alias)) name; \
    typedef of __attribute__((aligned(1), may_alias)) name##_at;

TYPE(u8, uint8_t)
TYPE(u16, uint16_t)
TYPE(u32, uint32_t)
TYPE(u64, uint64_t)
TYPE(i8, int8_t)
TYPE(i16, int16_t)
TYPE(i32, int32_t)
TYPE(i64, int64_t)

/* `...` changes at[i] by operand[i] and gives the old value. */
#define CHANGE(type, op, ...)                                                         \
    static void type##_##op(void *at_, const void *operand_, void *result_, size_t n) \
    {                                                                                 \
        type *at = at_;                                                               \
        const type##_at *operand = operand_;                                          \
        type##_at *result = result_;                                                  \
        for (size_t i = 0; result && i < n; i++)                                      \
            result[i] = __VA_ARGS__;                                                  \
        for (size_t i = 0; !result && i < n; i++)                                     \
            (void)__VA_ARGS__;                                                        \
        (void)operand;                                                                \
    }

/* Changes a word by compare and swap, unless the operation leaves it as it is. */
#define SWAPPED(type, op, ...)                                     \
    static inline type type##_swapped_##op(type *at, const type y) \
    {                                                              \
        type x = atomic_load_acquire(at);                          \
        for (;;) {                                                 \
            const type then = (type)__VA_ARGS__;                   \
            if (then == x || atomic_cas_acqrel(at, &x, then))      \
                return x;                                          \
        }                                                          \
    }                                                              \
    CHANGE(type, op, type##_swapped_##op(&at[i], operand[i]))

/* Signed and unsigned integers have the same bits but for their order (base/fold.c). */
#define BITWISE(type)                                                               \
    CHANGE(type, sum, atomic_fetch_add_acqrel(&at[i], operand[i]))                  \
    CHANGE(type, and, atomic_fetch_and_acqrel(&at[i], operand[i]))                  \
    CHANGE(type, or, atomic_fetch_or_acqrel(&at[i], operand[i]))                    \
    CHANGE(type, xor, atomic_fetch_xor_acqrel(&at[i], operand[i]))                  \
    CHANGE(type, replace, atomic_exchange_acqrel(&at[i], operand[i]))               \
    CHANGE(type, load, atomic_load_acquire(&at[i]))                                 \
    SWAPPED(type, prod, (1u * x * y))                                               \
    SWAPPED(type, land, (x && y))                                                   \
    SWAPPED(type, lor, (x || y))                                                    \
    SWAPPED(type, lxor, (!x != !y))                                                 \
    static void type##_swap(void *at, const void *operand_, void *result, size_t n) \
    {                                                                               \
        const type##_at *operand = operand_;                                        \
        type compare = operand[1];                                                  \
        (void)atomic_cas_acqrel((type *)at, &compare, operand[0]);                  \
        if (result)                                                                 \
            *(type##_at *)result = compare;                                         \
        (void)n;                                                                    \
    }
#define ORDERED(type)                   \
    SWAPPED(type, min, (y < x ? y : x)) \
    SWAPPED(type, max, (y > x ? y : x))

BITWISE(u8)
BITWISE(u16)
BITWISE(u32)
BITWISE(u64)
ORDERED(i8)
ORDERED(u8)
ORDERED(i16)
ORDERED(u16)
ORDERED(i32)
ORDERED(u32)
ORDERED(i64)
ORDERED(u64)

#define ROW(bits, order)                                                                                    \
    {                                                                                                       \
        [UCCS_AND] = bits##_and, [UCCS_OR] = bits##_or, [UCCS_XOR] = bits##_xor, [UCCS_SUM] = bits##_sum,   \
        [UCCS_PROD] = bits##_prod, [UCCS_MIN] = order##_min, [UCCS_MAX] = order##_max,                      \
        [UCCS_LOGICAL_AND] = bits##_land, [UCCS_LOGICAL_OR] = bits##_lor, [UCCS_LOGICAL_XOR] = bits##_lxor, \
        [UCCS_REPLACE] = bits##_replace, [UCCS_NO_OP] = bits##_load, [UCCS_ACCUMULATE_SWAP] = bits##_swap,  \
    }

static change_kernel *const atomics[TYPES][REDUCTIONS + 1] = {
    [UCCS_INT8] = ROW(u8, i8),     [UCCS_UINT8] = ROW(u8, u8),    [UCCS_INT16] = ROW(u16, i16),
    [UCCS_UINT16] = ROW(u16, u16), [UCCS_INT32] = ROW(u32, i32),  [UCCS_UINT32] = ROW(u32, u32),
    [UCCS_INT64] = ROW(u64, i64),  [UCCS_UINT64] = ROW(u64, u64),
};

bool uccs_accumulate_atomic(const struct uccs_accumulate_op *change, enum uccs_domain domain, uint64_t address)
{
    return domain == UCCS_DOMAIN_CPU && atomics[change->type][change->how] &&
           (address & (uccs_accumulate_size(change->type) - 1)) == 0;
}

/* --- Eight bytes at a time: one instruction or one compare and swap for up to eight elements. Each element changes at once for all
 * others that reach it by the processor's atomics, of whatever size. */

/* Adds elements of `size` bytes without carries between them: their highest bits are added apart. */
static void add_words(u64 *at, const u64_at *operand, u64_at *result, size_t words, size_t size)
{
    const u64 top = size == 1 ? 0x8080808080808080u : size == 2 ? 0x8000800080008000u : 0x8000000080000000u;
    for (size_t i = 0; i < words; i++) {
        const u64 y = operand[i];
        u64 x = atomic_load_relaxed(&at[i]), sum; /* the swap orders it */
        do
            sum = ((x & ~top) + (y & ~top)) ^ ((x ^ y) & top);
        while (!atomic_cas_acqrel(&at[i], &x, sum)); /* partners: atomics on the word, and acquire loads */
        if (result)
            result[i] = x;
    }
}

static bool takes_words(unsigned how, size_t size)
{
    return how == UCCS_REPLACE || (size < sizeof(u64) && (how == UCCS_NO_OP || how == UCCS_AND || how == UCCS_OR ||
                                                          how == UCCS_XOR || how == UCCS_SUM));
}

/* Operand, which UCCS_NO_OP does not read, and result, which may be null, need not be aligned. */
static void change_words(unsigned how, size_t size, void *at, const void *operand, void *result, size_t words)
{
    const u64_at *from = operand;
    if (how == UCCS_SUM)
        add_words(at, from, result, words, size);
    else if (how != UCCS_REPLACE || result)
        atomics[UCCS_UINT64][how](at, from, result, words);
    else
        for (size_t i = 0; i < words; i++)
            atomic_store_release((u64 *)at + i, (u64)from[i]); /* acquire: loads of wait loops, atomics */
}

/* The elements before and behind whole words of eight bytes change one by one. */
static void apply_atomics(const struct uccs_accumulate_op *change, char *here, const char *operand, char *result)
{
    const size_t size = uccs_accumulate_size(change->type), bytes = change->n * size;
    change_kernel *each = atomics[change->type][change->how];
    const size_t head = -(uintptr_t)here & 7, body = bytes > head ? (bytes - head) & ~(size_t)7 : 0;
    if (body < 16 || change->how == UCCS_ACCUMULATE_SWAP || !takes_words(change->how, size)) {
        each(here, operand, result, change->n);
        return;
    }
    const size_t tail = head + body;
    each(here, operand, result, head / size);
    change_words(change->how, size, here + head, operand ? operand + head : 0, result ? result + head : 0, body / 8);
    each(here + tail, operand ? operand + tail : 0, result ? result + tail : 0, (bytes - tail) / size);
}

/* --- Under locks */

static lat_cold uint32_t *wait_for_lock(uint32_t *lock)
{
    struct uccs_wait wait uccs_scoped = {0};
    do
        while (atomic_load_relaxed(lock))
            uccs_rest(&wait);
    while (atomic_exchange_acquire(lock, 1)); /* release: uccs_atomic_unlock */
    return lock;
}

uint32_t *uccs_atomic_lock(int owner, uint64_t address)
{
    struct uccs_pe_shared *own = uccs_pe_shared_of(uccs_index(owner));
    uint32_t *lock = &own->stripes[address / PE_SHARED_STRIPE_BYTES % PE_SHARED_STRIPES].lock;
    return lat_likely(!atomic_exchange_acquire(lock, 1)) ? lock : wait_for_lock(lock); /* release: uccs_atomic_unlock */
}

void uccs_atomic_unlock(uint32_t *lock)
{
    atomic_store_release(lock, 0); /* acquire: uccs_atomic_lock */
}

struct uccs_fold_cache uccs_fold_cache[TYPES][REDUCTIONS];

/* Several threads may store the same. */
static fold_kernel *learn_fold(const struct uccs_accumulate_op *change)
{
    struct uccs_fold_cache *quick = &uccs_fold_cache[change->type][change->how];
    fold_kernel *fold = uccs_type_fold((enum uccs_type)change->type, (enum uccs_reduction)change->how);
    if (!atomics[change->type][change->how] && !atomic_load_relaxed(&quick->fold)) {
        atomic_store_relaxed(&quick->size, uccs_accumulate_size(change->type));
        atomic_store_release(&quick->fold, fold); /* acquire: uccs_fold_cache_of */
    }
    return fold;
}

/* Bytes of the value in a pair that has a gap; its index, an int, begins at the half. */
static const uint8_t gapped[TYPES] = {
    [UCCS_DOUBLE_INT] = sizeof(double),
    [UCCS_LONG_INT] = sizeof(long),
    [UCCS_SHORT_INT] = sizeof(short),
    [UCCS_LONG_DOUBLE_INT] = sizeof(long double),
};

/* Replaces elements. A gap is no part of a pair: the program may keep something else there. */
static void replace(const struct uccs_accumulate_op *change, char *elements, const char *operand)
{
    const size_t value = gapped[change->type], bytes = uccs_accumulate_bytes(change);
    const size_t size = uccs_accumulate_size(change->type), index = size / 2;
    if (!value)
        memcpy(elements, operand, bytes);
    for (size_t at = 0; value && at < bytes; at += size) {
        memcpy(elements + at, operand + at, value);
        memcpy(elements + at + index, operand + at + index, sizeof(int));
    }
}

/* Changes elements whose lock the caller holds, or a copy of them. */
static void change_plainly(const struct uccs_accumulate_op *change, void *elements, const void *operand, void *result)
{
    const size_t bytes = uccs_accumulate_bytes(change);
    if (change->how == UCCS_ACCUMULATE_SWAP) {
        const bool equal = memcmp(elements, (const char *)operand + bytes, bytes) == 0;
        if (result)
            memcpy(result, elements, bytes);
        if (equal)
            memcpy(elements, operand, bytes);
        return;
    }
    if (result)
        memcpy(result, elements, bytes);
    if (change->how == UCCS_REPLACE)
        replace(change, elements, operand);
    else if (change->how != UCCS_NO_OP)
        learn_fold(change)(elements, elements, operand, change->n);
}

/* Copies elements here, changes the copy and copies it back. One element that is as it was is not written: a swap that has
 * failed costs one copy, and disturbs no store of the owner's. */
static int change_copy(const struct uccs_accumulate_op *change, const struct uccs_region *memory, size_t offset,
                       const void *operand, void *result)
{
    char copy[PE_SHARED_STRIPE_BYTES + UCCS_TYPE_MOST], before[UCCS_TYPE_MOST];
    const size_t bytes = uccs_accumulate_bytes(change), one = change->n == 1 ? bytes : 0;
    int status = uccs_cma_get(memory, offset, copy, bytes);
    if (status != UCCS_OK)
        return status;
    memcpy(before, copy, one);
    change_plainly(change, copy, operand, result);
    const bool same = change->how == UCCS_NO_OP || (one && memcmp(before, copy, one) == 0);
    return same ? UCCS_OK : uccs_cma_put(memory, offset, copy, bytes);
}

/* Returns how many of n elements begin in the stripe of `address`; at least 1. */
static size_t elements_in_stripe(uint64_t address, size_t size, size_t n)
{
    const size_t room = PE_SHARED_STRIPE_BYTES - address % PE_SHARED_STRIPE_BYTES,
                 begin = (room + size - 1) >> __builtin_ctzll(size);
    return begin < n ? begin : n;
}

/* Goes from stripe to stripe, each under its lock. */
static int change_under_locks(const struct uccs_accumulate_op *change, const struct uccs_accumulate_target *place,
                              const char *operand, char *result)
{
    const size_t size = uccs_accumulate_size(change->type);
    struct uccs_accumulate_op some = *change;
    int status = UCCS_OK;
    for (size_t done = 0; done < change->n && status == UCCS_OK; done += some.n) {
        const size_t at = done * size;
        const char *from = operand ? operand + at : 0;
        char *old = result ? result + at : 0;
        some.n = elements_in_stripe(place->address + at, size, change->n - done);
        uint32_t *lock = uccs_atomic_lock(place->owner, place->address + at);
        if (lat_likely(place->here != 0))
            change_plainly(&some, (char *)place->here + at, from, old);
        else
            status = change_copy(&some, place->memory, place->address - place->memory->address + at, from, old);
        uccs_atomic_unlock(lock);
    }
    return status;
}

int uccs_accumulate_apply(const struct uccs_accumulate_op *change, const struct uccs_accumulate_target *place,
                          const void *operand, void *result)
{
    if (!uccs_accumulate_atomic(change, place->domain, place->address))
        return change_under_locks(change, place, operand, result);
    apply_atomics(change, place->here, operand, result);
    return UCCS_OK;
}

/* Returns how many of the pieces lie in the stripe of the first one, each as a whole; 0 when that does not. */
static size_t pieces_in_stripe(uint64_t address, const struct uccs_piece *pieces, size_t n)
{
    const uint64_t stripe = (address + pieces->offset) / PE_SHARED_STRIPE_BYTES;
    size_t count = 0;
    while (count < n && count < UCCS_CMA_PIECES && pieces[count].length &&
           (address + pieces[count].offset) / PE_SHARED_STRIPE_BYTES == stripe &&
           (address + pieces[count].offset + pieces[count].length - 1) / PE_SHARED_STRIPE_BYTES == stripe)
        count++;
    return count;
}

/* Changes pieces whose lock the caller holds. What is at the offset `low` in their memory is `here`. Notes in `moved` where each is. */
static void change_pieces(const struct uccs_accumulate_op *change, char *here, size_t low,
                          const struct uccs_piece *pieces, size_t n, struct uccs_piece *moved)
{
    const int shift = __builtin_ctzll(uccs_type_size((enum uccs_type)change->type));
    for (size_t i = 0; i < n; i++) {
        const struct uccs_accumulate_op some = {change->type, change->how, pieces[i].length >> shift};
        moved[i] = (struct uccs_piece){pieces[i].offset, here + (pieces[i].offset - low), pieces[i].length};
        change_plainly(&some, moved[i].local, pieces[i].local, 0);
    }
}

/* Changes a copy of the bytes from the lowest to the highest one, and puts back the pieces alone. */
static int change_span(const struct uccs_accumulate_op *change, const struct uccs_region *memory,
                       const struct uccs_piece *pieces, size_t n, struct uccs_piece *moved)
{
    char copy[PE_SHARED_STRIPE_BYTES];
    size_t low = SIZE_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t end = pieces[i].offset + pieces[i].length;
        low = pieces[i].offset < low ? pieces[i].offset : low;
        high = end > high ? end : high;
    }
    const int status = uccs_cma_get(memory, low, copy, high - low);
    if (status != UCCS_OK || change->how == UCCS_NO_OP)
        return status;
    change_pieces(change, copy, low, pieces, n, moved);
    return uccs_cma_put_pieces(memory, moved, n);
}

static int change_stripe(const struct uccs_accumulate_op *change, const struct uccs_accumulate_target *place,
                         const struct uccs_piece *pieces, size_t n)
{
    struct uccs_piece moved[UCCS_CMA_PIECES];
    int status = UCCS_OK;
    uint32_t *lock = uccs_atomic_lock(place->owner, place->address + pieces->offset);
    if (place->here)
        change_pieces(change, place->here, 0, pieces, n, moved);
    else
        status = change_span(change, place->memory, pieces, n, moved);
    uccs_atomic_unlock(lock);
    return status;
}

int uccs_accumulate_apply_pieces(const struct uccs_accumulate_op *change, const struct uccs_accumulate_target *place,
                                 const struct uccs_piece *pieces, size_t n)
{
    const size_t size = uccs_accumulate_size(change->type);
    const int shift = __builtin_ctzll(size);
    const bool by_atomics = uccs_accumulate_atomic(change, place->domain, 0);
    int status = UCCS_OK;
    for (size_t i = 0, some; i < n && status == UCCS_OK; i += some) {
        const struct uccs_piece *piece = &pieces[i];
        const uint64_t address = place->address + piece->offset;
        char *here = place->here ? (char *)place->here + piece->offset : 0;
        const struct uccs_accumulate_op one = {change->type, change->how, piece->length >> shift};
        some = 1;
        if (by_atomics && !(address & (size - 1))) {
            if (piece->length == size)
                atomics[change->type][change->how](here, piece->local, 0, 1);
            else
                apply_atomics(&one, here, piece->local, 0);
        } else if ((some = pieces_in_stripe(place->address, piece, n - i))) {
            status = change_stripe(change, place, piece, some);
        } else {
            const struct uccs_accumulate_target at = {place->owner, place->domain, address, here, place->memory};
            status = change_under_locks(&one, &at, piece->local, 0), some = 1;
        }
    }
    return status;
}
