#include "uccs/mem/accumulate_wide.h"

#include "base/atomic.h"

#include <string.h>

typedef uint64_t __attribute__((may_alias)) word;

static word operand_of(const char *operand, size_t i)
{
    word value;
    memcpy(&value, operand + i * sizeof value, sizeof value);
    return value;
}

/* The highest bit of each element. */
static word top_bits(size_t size)
{
    return size == 1 ? 0x8080808080808080u : size == 2 ? 0x8000800080008000u : 0x8000000080000000u;
}

/* Adds elements without carries between them: the highest bits are added apart. */
static word sum_words(word x, word y, word top)
{
    return ((x & ~top) + (y & ~top)) ^ ((x ^ y) & top);
}

/* Gives the old word to a caller that asks for it. */
static void give_old(char *result, size_t i, word old)
{
    if (result)
        memcpy(result + i * sizeof old, &old, sizeof old);
}

static void add_words(word *at, const char *operand, char *result, size_t words, word top)
{
    for (size_t i = 0; i < words; i++) {
        const word y = operand_of(operand, i);
        word x = atomic_load_relaxed(&at[i]); /* the swap orders it */
        while (
            !atomic_cas_acqrel(&at[i], &x, sum_words(x, y, top))) /* partners: atomics on the word, and acquire loads */
            ;
        give_old(result, i, x);
    }
}

static void replace_words(word *at, const char *operand, char *result, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (result)
            give_old(result, i, atomic_exchange_acqrel(&at[i], operand_of(operand, i))); /* partners: as in add */
        else
            atomic_store_release(&at[i], operand_of(operand, i)); /* acquire: loads of wait loops, atomics */
}

bool uccs_accumulate_wide_takes(enum uccs_reduction how, size_t size)
{
    switch (how) {
    case UCCS_REPLACE: return true;
    case UCCS_NO_OP:
    case UCCS_AND:
    case UCCS_OR:
    case UCCS_XOR:
    case UCCS_SUM: return size < sizeof(word);
    default: return false;
    }
}

void uccs_accumulate_wide_apply(enum uccs_reduction how, size_t size, void *at_, const void *operand, void *result,
                                size_t words)
{
    word *at = at_;
    switch (how) {
    case UCCS_REPLACE: replace_words(at, operand, result, words); break;
    case UCCS_NO_OP:
        for (size_t i = 0; i < words; i++)
            give_old(result, i, atomic_load_acquire(&at[i])); /* partners: as in add */
        break;
    case UCCS_AND:
        for (size_t i = 0; i < words; i++)
            give_old(result, i, atomic_fetch_and_acqrel(&at[i], operand_of(operand, i)));
        break;
    case UCCS_OR:
        for (size_t i = 0; i < words; i++)
            give_old(result, i, atomic_fetch_or_acqrel(&at[i], operand_of(operand, i)));
        break;
    case UCCS_XOR:
        for (size_t i = 0; i < words; i++)
            give_old(result, i, atomic_fetch_xor_acqrel(&at[i], operand_of(operand, i)));
        break;
    default: add_words(at, operand, result, words, top_bits(size));
    }
}
