/* The hash of a program's bytes: each byte of a file counts, in whatever piece it is read, and the order of pieces, too. */
#include "../../src/base/image.c"

#include "unit/check.h"

#include <string.h>
#include <sys/mman.h>

enum { BYTES = 3 * 4096 + 100 };

static void hash(int fd, off_t at, size_t bytes, uint64_t lane[3])
{
    for (int i = 0; i < 3; i++)
        lane[i] = (uint64_t)i + 1;
    mix_file(lane, fd, at, bytes);
}

static bool same(const uint64_t one[3], const uint64_t other[3])
{
    return memcmp(one, other, 3 * sizeof *one) == 0;
}

int main(void)
{
    static const off_t places[] = {0, 7, 8, 4095, 4096, 8191, 8192, BYTES - 1};
    const int fd = memfd_create("program", MFD_CLOEXEC);
    uint64_t seed = 1, before[3], after[3];
    char bytes[BYTES];
    CHECK(fd >= 0);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (char)next_random(&seed);
    CHECK(pwrite(fd, bytes, BYTES, 0) == BYTES);
    hash(fd, 0, BYTES, before);
    hash(fd, 0, BYTES, after);
    CHECK(same(before, after));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char changed = (char)(bytes[places[i]] ^ 1);
        CHECK(pwrite(fd, &changed, 1, places[i]) == 1);
        hash(fd, 0, BYTES, after);
        for (int k = 0; k < 3; k++)
            CHECK(after[k] != before[k]);
        CHECK(pwrite(fd, &bytes[places[i]], 1, places[i]) == 1);
    }
    hash(fd, 1, BYTES - 1, after);
    CHECK(!same(before, after));
    hash(fd, 0, BYTES - 1, after);
    CHECK(!same(before, after));
    hash(fd, 0, 2 * BYTES, after); /* the file ends first */
    CHECK(same(before, after));
    CHECK(pwrite(fd, bytes + 4096, 4096, 0) == 4096 && pwrite(fd, bytes, 4096, 4096) == 4096);
    hash(fd, 0, BYTES, after);
    CHECK(!same(before, after));
    return 0;
}
