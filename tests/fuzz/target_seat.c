/* The file behind LATERAL_JOB: header and cards of a node's memory as somebody else wrote them. The first two bytes are
 * the size of the file and the index. */
#include "fuzz/fuzz.h"

#include "base/env.h"
#include "rte/node.h"
#include "rte/rte.h"

#include <sys/mman.h>
#include <unistd.h>

static int file; /* the same for all inputs, so that what the library keeps mapped of it stays right */

static void write_file(struct fuzz *fuzz, uint8_t bytes)
{
    const off_t whole = (off_t)node_fixed_size(1);
    const size_t head = fuzz->left < 64 ? fuzz->left : 64;
    struct node good = {0};
    node_format(&good, 1, 1, (uint64_t[2]){1, 2});
    FUZZ_CHECK(ftruncate(file, 0) == 0 && ftruncate(file, bytes < 128 ? whole : (off_t)bytes * 64) == 0);
    FUZZ_CHECK(pwrite(file, &good, sizeof good, 0) > 0 &&
               pwrite(file, fuzz->at, head, bytes & 1 ? 0 : (off_t)sizeof good) >= 0 &&
               pwrite(file, fuzz->at + head, fuzz->left - head, (off_t)node_cards_at(1)) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz fuzz = {data, size};
    const uint8_t bytes = fuzz_byte(&fuzz), index = fuzz_byte(&fuzz);
    const char *why;
    char job[64];
    void *value;
    size_t got;
    if (!file)
        file = memfd_create("lateral", MFD_CLOEXEC);
    write_file(&fuzz, bytes);
    snprintf(job, sizeof job, "%d:%d:-1", file, index % 3);
    setenv("LATERAL_JOB", job, 1);
    if (env_load(&why) == 0 && rte_init() == 0) {
        if (rte_get(0, "far1", &value, &got) == 0)
            free(value);
        (void)rte_put("key", "value", 6);
    }
    if (rte.node)
        munmap(rte.node, node_groups_at(rte.node->size));
    rte.node = 0;
    return 0;
}
