/* The file behind LATERAL_JOB: header and cards of a node's memory as somebody else wrote them. The first two bytes are
 * the size of the file and the index. */
#include "fuzz/fuzz.h"

#include "../../src/rte/exchange.c" /* the map of the cards starts anew for each input */
#include "../../src/rte/start.c"

enum { FILE_MOST = 32 << 20 };

static void forget(void)
{
    if (rte.node)
        munmap(rte.node, node_groups_at(rte.node->size));
    if (cards)
        munmap(cards, (size_t)rte.node_size * NODE_CARD_BYTES);
    rte.node = 0;
    cards = 0;
    close(rte.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int before;
    struct fuzz fuzz = {data, size};
    const off_t whole = (off_t)node_fixed_size(1);
    const uint8_t bytes = fuzz_byte(&fuzz), index = fuzz_byte(&fuzz);
    const size_t head = fuzz.left < 64 ? fuzz.left : 64;
    void *value;
    size_t got;
    if (!before++)
        log_debug_enable(0);
    rte.fd = memfd_create("lateral", MFD_CLOEXEC);
    rte.node_index = index % 3;
    struct node good = {0};
    node_format(&good, 1, 1, (uint64_t[2]){1, 2});
    if (ftruncate(rte.fd, bytes < 128 ? whole : (off_t)bytes * 64) != 0 || pwrite(rte.fd, &good, sizeof good, 0) < 0 ||
        pwrite(rte.fd, fuzz.at, head, bytes & 1 ? 0 : (off_t)sizeof good) < 0 ||
        pwrite(rte.fd, fuzz.at + head, fuzz.left - head, (off_t)node_cards_at(1)) < 0)
        return 0;
    if ((rte.node = map_head(rte.fd, rte.node_index)) && take_seat() == 0) {
        if (rte_get(0, "far1", &value, &got) == 0)
            free(value);
        (void)rte_put("key", "value", 6);
    }
    forget();
    return 0;
}
