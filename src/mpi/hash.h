/* SipHash-2-4 of whole words: a keyed hash of short messages (J.-P. Aumasson, D. J. Bernstein, 2012). Whoever lacks the key
 * cannot make the hash of another message, even with the hashes of many. No state. */
#ifndef MPI_HASH_H
#define MPI_HASH_H

#include <stddef.h>
#include <stdint.h>

struct lmpi_key {
    uint64_t word[2];
};

static inline uint64_t lmpi_hash_rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void lmpi_hash_rounds(uint64_t v[4], int count)
{
    while (count--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = lmpi_hash_rotate(v[1], 13) ^ v[0];
        v[3] = lmpi_hash_rotate(v[3], 16) ^ v[2];
        v[0] = lmpi_hash_rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = lmpi_hash_rotate(v[1], 17) ^ v[2];
        v[3] = lmpi_hash_rotate(v[3], 21) ^ v[0];
        v[2] = lmpi_hash_rotate(v[2], 32);
    }
}

static inline uint64_t lmpi_hash(const struct lmpi_key *key, const uint64_t *words, size_t n)
{
    const uint64_t *k = key->word;
    uint64_t v[4] = {k[0] ^ 0x736f6d6570736575u, k[1] ^ 0x646f72616e646f6du, k[0] ^ 0x6c7967656e657261u,
                     k[1] ^ 0x7465646279746573u};
    for (size_t i = 0; i <= n; i++) {
        const uint64_t word = i < n ? words[i] : (uint64_t)n << 59; /* the last one: the bytes, modulo 256 */
        v[3] ^= word;
        lmpi_hash_rounds(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    lmpi_hash_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
