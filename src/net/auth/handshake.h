/* How the two ends of a connection prove that they are of one job, without telling its key: each hashes a fresh challenge of
 * the other, so what was heard on the wire is of no use later. The words of caller and called PE differ, so neither can
 * be had by calling back. Any thread. */
#ifndef NET_HANDSHAKE_H
#define NET_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

struct handshake_challenge {
    uint64_t words[2]; /* random */
};

/* What a caller answers to the challenge of the called PE. */
struct handshake_hello {
    uint32_t from, to; /* PEs */
    uint64_t word;     /* of the caller's choice; 0: none */
    struct handshake_challenge challenge;
    uint64_t proof;
};

/* Makes a challenge. Returns false when the kernel has no random numbers. */
bool handshake_make_challenge(struct handshake_challenge *challenge);
/* Fills in the proof of a hello. `theirs` is the challenge of the called PE. */
void handshake_sign(const uint64_t key[2], struct handshake_hello *hello, const struct handshake_challenge *theirs);
/* Returns true when the caller knows the key and means PE `me`. `mine` is the challenge that it was given. */
bool handshake_verify(const uint64_t key[2], const struct handshake_hello *hello,
                      const struct handshake_challenge *mine, uint32_t me, uint32_t npes);
/* Returns what the called PE answers to a hello, and what the caller expects. `called` is the called PE's challenge. */
uint64_t handshake_answer(const uint64_t key[2], const struct handshake_hello *hello,
                          const struct handshake_challenge *called);

#endif
