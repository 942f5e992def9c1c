/* How the two ends of a connection prove that they are of one job, without telling its key: each hashes a fresh challenge of
 * the other, so what was heard on the wire is of no use later. The words of caller and called PE differ, so neither can
 * be had by calling back. Any thread. */
#ifndef TRANSPORT_SOCKET_PROOF_H
#define TRANSPORT_SOCKET_PROOF_H

#include <stdbool.h>
#include <stdint.h>

struct proof_challenge {
    uint64_t words[2]; /* random */
};

/* What a caller answers to the challenge of the called PE. */
struct proof_hello {
    uint32_t from, to; /* PEs */
    uint64_t word;     /* of the caller's choice; 0: none */
    struct proof_challenge challenge;
    uint64_t proof;
};

/* Makes a challenge. Returns false when the kernel has no random numbers. */
bool proof_make_challenge(struct proof_challenge *challenge);
/* Fills in the proof of a hello. `theirs` is the challenge of the called PE. */
void proof_sign(const uint64_t key[2], struct proof_hello *hello, const struct proof_challenge *theirs);
/* Returns true when the caller knows the key and means PE `me`. `mine` is the challenge that it was given. */
bool proof_good(const uint64_t key[2], const struct proof_hello *hello, const struct proof_challenge *mine, uint32_t me,
                uint32_t npes);
/* Returns what the called PE answers to a hello, and what the caller expects. `called` is the called PE's challenge. */
uint64_t proof_answer(const uint64_t key[2], const struct proof_hello *hello, const struct proof_challenge *called);

#endif
