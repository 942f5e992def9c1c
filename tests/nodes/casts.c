/* Hundreds of broadcasts of all sizes from changing roots, with a sync between some of them: a ring of flags and of room serves
 * them, and is used up by many small ones, by few long ones, and by both.
 * pes: 2 5
 * case: alone
 * env: LATERAL_NODE_SIZE=1 UCX_TLS=tcp,self
 * prints: ^PASS$
 * case: pairs
 * env: LATERAL_NODE_SIZE=2 UCX_TLS=tcp,self
 * prints: ^PASS$
 */
#include "../conform/check.h"

enum { MOST = 8192, ROUNDS = 900 };

static unsigned char source[MOST], dest[MOST];

static size_t bytes_of(unsigned round)
{
    static const unsigned sizes[] = {8, 1, 64, 65, 4096, 8, 8192, 700};
    return round < 300 ? 8 : round < 400 ? MOST : sizes[round * 7 % 8];
}

static unsigned char value_of(unsigned round, size_t at)
{
    return (unsigned char)(round * 31 + at * 7 + at / 256);
}

int main(void)
{
    check_start();
    for (unsigned round = 0; round < ROUNDS; round++) {
        const size_t bytes = bytes_of(round);
        const int root = (int)(round * 3 % (unsigned)npes);
        for (size_t at = 0; at < bytes && me == root; at++)
            source[at] = value_of(round, at);
        memset(dest, 0, bytes);
        CHECK(shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes, root) == 0);
        for (size_t at = 0; at < bytes; at++)
            CHECK(dest[at] == value_of(round, at));
        if (round % 97 == 0)
            shmem_sync_all();
    }
    check_pass();
    return 0;
}
