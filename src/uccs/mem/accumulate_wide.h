/* Integer accumulates eight bytes at a time: one instruction or one compare and swap for up to eight
 * elements. Each element changes at once for all others that reach it by the processor's atomics, of whatever size. */
#ifndef UCCS_MEM_ACCUMULATE_WIDE_H
#define UCCS_MEM_ACCUMULATE_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <uccs.h>

/* Whether `how` on integers of `size` bytes can be done so. */
bool uccs_accumulate_wide_takes(enum uccs_reduction how, size_t size);

/* Applies `words` words of eight bytes to memory at a multiple of eight. The operand, which UCCS_NO_OP does not read, and
 * the result, which may be null, need not be aligned. */
void uccs_accumulate_wide_apply(enum uccs_reduction how, size_t size, void *at, const void *operand, void *result,
                                size_t words);

#endif
