/* SipHash-2-4: a keyed hash of short messages (J.-P. Aumasson, D. J. Bernstein, 2012). No state. */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *data, size_t length);

#endif
