/* What proofs are made of (transport/socket/proof.c): every word of a hello, both challenges, the right key, and whose words they are;
 * and what a called PE asks of a proof. */
#include "transport/socket/proof.h"

#include "base/siphash.h"

#include "unit/check.h"

#include <string.h>
#include <sys/random.h>

static ssize_t random_bytes; /* that the kernel has */
static unsigned random_calls;

static ssize_t fake_random(void *room, size_t bytes, unsigned flags)
{
    CHECK(bytes == 16 && flags == GRND_NONBLOCK);
    memset(room, 0x5a, bytes);
    random_calls++;
    return random_bytes;
}

#define getrandom fake_random
#include "transport/socket/proof.c"

static const uint64_t key[2] = {0x1111222233334444, 0x5555666677778888};
static const struct proof_challenge called = {{0x0123456789abcdef, 0xfedcba9876543210}};
static const struct proof_hello made = {.from = 70001,
                                        .to = 80002,
                                        .word = 0x1020304050607080,
                                        .challenge = {{0xa0a1a2a3a4a5a6a7, 0xb0b1b2b3b4b5b6b7}}};

/* So many bytes, in this order. */
static uint64_t expected(uint64_t whose)
{
    const uint32_t pes[2] = {made.from, made.to};
    uint64_t facts[7];
    facts[0] = whose;
    memcpy(&facts[1], pes, sizeof pes);
    facts[2] = made.word;
    memcpy(&facts[3], &made.challenge, sizeof made.challenge);
    memcpy(&facts[5], &called, sizeof called);
    return siphash(key, facts, sizeof facts);
}

static void challenges(void)
{
    struct proof_challenge challenge;
    random_bytes = sizeof challenge;
    CHECK(proof_make_challenge(&challenge) && random_calls == 1 && challenge.words[1] == 0x5a5a5a5a5a5a5a5a);
    for (random_bytes = -1; random_bytes < (ssize_t)sizeof challenge; random_bytes++)
        CHECK(!proof_make_challenge(&challenge));
}

static void words(void)
{
    struct proof_hello hello = made;
    CHECK(proof_answer(key, &hello, &called) == expected(2));
    proof_sign(key, &hello, &called);
    CHECK(hello.proof == expected(1) && hello.from == made.from && hello.to == made.to && hello.word == made.word);
    CHECK(memcmp(&hello.challenge, &made.challenge, sizeof made.challenge) == 0);
    CHECK(proof_answer(key, &hello, &called) == expected(2)); /* it is not of the proof */
}

static bool good(const struct proof_hello *hello, uint32_t me, uint32_t npes)
{
    return proof_good(key, hello, &called, me, npes);
}

static void proofs(void)
{
    struct proof_hello hello = made, other;
    proof_sign(key, &hello, &called);
    CHECK(good(&hello, made.to, made.from + 1) && good(&hello, made.to, UINT32_MAX));
    CHECK(!good(&hello, made.to, made.from) && !good(&hello, made.to, made.from - 1) && !good(&hello, made.to, 0));
    CHECK(!good(&hello, made.to + 1, UINT32_MAX) && !good(&hello, made.to - 1, UINT32_MAX));
    CHECK(!good(&hello, (uint16_t)made.to, UINT32_MAX));
    for (size_t bit = 0; bit < sizeof hello * 8; bit++) { /* any other bit, wherever it is */
        other = hello;
        ((unsigned char *)&other)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(!good(&other, made.to, UINT32_MAX));
    }
    for (size_t bit = 0; bit < sizeof called * 8; bit++) {
        struct proof_challenge mine = called;
        ((unsigned char *)&mine)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(!proof_good(key, &hello, &mine, made.to, UINT32_MAX));
    }
    for (int bit = 0; bit < 128; bit++) {
        uint64_t changed[2] = {key[0], key[1]};
        changed[bit / 64] ^= (uint64_t)1 << bit % 64;
        CHECK(!proof_good(changed, &hello, &called, made.to, UINT32_MAX));
    }
    other = hello;
    other.proof = proof_answer(key, &hello, &called);
    CHECK(!good(&other, made.to, UINT32_MAX)); /* the called PE's words */
}

int main(void)
{
    challenges();
    words();
    proofs();
    return 0;
}
