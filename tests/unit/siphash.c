/* The keyed hash: the test vectors of its authors, from any address. */
#include "base/siphash.h"

#include "unit/check.h"

enum { MOST = 63 };

/* Of 0, 1, 2, ... under the key 0, 1, ... 15: from the reference implementation's table, by length. */
static const struct {
    size_t length;
    uint64_t hash;
} vectors[] = {{0, 0x726fdb47dd0e0e31u}, {1, 0x74f839c593dc67fdu},  {7, 0xab0200f58b01d137u},
               {8, 0x93f5f5799a932462u}, {15, 0xa129ca6149be45e5u}, {63, 0x958a324ceb064572u}};

int main(void)
{
    unsigned char bytes[16 + MOST];
    uint64_t key[2];
    for (unsigned i = 0; i < 16; i++)
        ((unsigned char *)key)[i] = (unsigned char)i;
    for (unsigned from = 0; from < 16; from++) {
        for (unsigned i = 0; i < MOST; i++)
            bytes[from + i] = (unsigned char)i;
        for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
            CHECK(siphash(key, bytes + from, vectors[i].length) == vectors[i].hash);
    }
    return 0;
}
