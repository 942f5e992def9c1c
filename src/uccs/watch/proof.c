#include "uccs/watch/proof.h"

#include "base/siphash.h"

#include <sys/random.h>

enum word { OF_CALLER = 1, OF_CALLED = 2 };

static uint64_t hash(const uint64_t key[2], enum word word, const struct watch_hello *hello,
                     const struct watch_challenge *called)
{
    const struct {
        uint64_t word;
        uint32_t from, to;
        struct watch_challenge caller, called;
    } facts = {word, hello->from, hello->to, hello->challenge, *called};
    return siphash(key, &facts, sizeof facts);
}

bool watch_proof_challenge(struct watch_challenge *challenge)
{
    return getrandom(challenge, sizeof *challenge, GRND_NONBLOCK) == sizeof *challenge;
}

void watch_proof_sign(const uint64_t key[2], struct watch_hello *hello, const struct watch_challenge *theirs)
{
    hello->proof = hash(key, OF_CALLER, hello, theirs);
}

bool watch_proof_good(const uint64_t key[2], const struct watch_hello *hello, const struct watch_challenge *mine,
                      uint32_t me, uint32_t npes)
{
    return hello->to == me && hello->from < npes && hello->proof == hash(key, OF_CALLER, hello, mine);
}

uint64_t watch_proof_answer(const uint64_t key[2], const struct watch_hello *hello,
                            const struct watch_challenge *called)
{
    return hash(key, OF_CALLED, hello, called);
}
