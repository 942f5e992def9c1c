#include "net/auth/auth.h"

#include "base/siphash.h"

#include <sys/random.h>

enum word { OF_CALLER = 1, OF_CALLED = 2 };

static uint64_t hash_facts(const uint64_t key[2], enum word word, const struct handshake_hello *hello,
                           const struct handshake_challenge *called)
{
    const struct {
        uint64_t word;
        uint32_t from, to;
        uint64_t own;
        struct handshake_challenge caller, called;
    } facts = {word, hello->from, hello->to, hello->word, hello->challenge, *called};
    return siphash(key, &facts, sizeof facts);
}

bool handshake_make_challenge(struct handshake_challenge *challenge)
{
    return getrandom(challenge, sizeof *challenge, GRND_NONBLOCK) == sizeof *challenge;
}

void handshake_sign(const uint64_t key[2], struct handshake_hello *hello, const struct handshake_challenge *theirs)
{
    hello->proof = hash_facts(key, OF_CALLER, hello, theirs);
}

bool handshake_verify(const uint64_t key[2], const struct handshake_hello *hello,
                      const struct handshake_challenge *mine, uint32_t me, uint32_t npes)
{
    return hello->to == me && hello->from < npes && hello->proof == hash_facts(key, OF_CALLER, hello, mine);
}

uint64_t handshake_answer(const uint64_t key[2], const struct handshake_hello *hello,
                          const struct handshake_challenge *called)
{
    return hash_facts(key, OF_CALLED, hello, called);
}
