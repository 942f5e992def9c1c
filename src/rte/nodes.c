/* The nodes of a job of several: their number, the PEs of each, and the job's key.
 *
 * Nodes are runs of consecutive PEs, so the lowest PE of each node describes the job. The lead of a node (its lowest
 * PE) tells how many PEs it leads. Leads walk from node to node, 0, 0 + count, ..., so each lead asks once per node and
 * no other PE asks at all. The table lies in the node's memory. The lead writes it before a node barrier; from then on
 * it is constant. */
#include "base/log.h"
#include "base/siphash.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEY "node"

struct entry {
    uint32_t count;   /* PEs of this node */
    uint32_t cores;   /* cores that they may use */
    uint64_t machine; /* the same for nodes on one machine */
    uint64_t nonce[2];
};

static uint32_t one_node[2];
static uint32_t *table = one_node; /* nodes + 1 entries */

/* Returns an id of the machine. Hosts made of namespaces, and containers, are nodes that share the cores of one
 * machine. */
static uint64_t machine_id(void)
{
    static const uint64_t key[2] = {0x6c61746572616c, 0x6d616368696e65};
    char text[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    if (bytes <= 0 && gethostname(text, sizeof text) == 0)
        bytes = (ssize_t)strnlen(text, sizeof text);
    return siphash(key, text, bytes > 0 ? (size_t)bytes : 0);
}

static int open_table(void)
{
    size_t bytes = node_align((NODE_MAX_NODES + 1) * sizeof *table);
    void *base = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, (off_t)node_table_at(rte.node->size));
    if (base == MAP_FAILED) {
        log_line("cannot map the table of nodes: %s", strerror(errno));
        return -1;
    }
    table = base;
    return 0;
}

static int tell(uint64_t machine)
{
    struct entry entry = {.count = rte.node->size,
                          .cores = rte.node->cores,
                          .machine = machine,
                          .nonce = {rte.node->nonce[0], rte.node->nonce[1]}};
    return rte_backend->put(KEY, &entry, sizeof entry);
}

static int ask(uint32_t lead, struct entry *entry)
{
    void *value;
    size_t bytes;
    if (lead == (uint32_t)rte.pe) {
        *entry = (struct entry){.count = rte.node->size, .nonce = {rte.node->nonce[0], rte.node->nonce[1]}};
        return 0;
    }
    if (rte_backend->get((int)lead, KEY, &value, &bytes) != 0)
        return -1;
    bool whole = bytes == sizeof *entry;
    if (whole)
        memcpy(entry, value, bytes);
    free(value);
    if (!whole || entry->count < 1 || entry->count > rte.node->total - lead) {
        log_line("PE %u tells of its node what makes no sense; do all PEs run the same version of Lateral?", lead);
        return -1;
    }
    return 0;
}

/* Writes the table; only the lead calls it. Its result is node->nodes, 0 when it failed. */
static void walk(uint64_t machine)
{
    struct node *node = rte.node;
    uint32_t nodes = 0, here = 0;
    struct entry entry;
    for (uint32_t pe = 0; pe < node->total; pe += entry.count) {
        if (ask(pe, &entry) != 0)
            return;
        if (nodes == NODE_MAX_NODES) {
            log_line("the job has more than %d nodes (runs of consecutive PEs)", NODE_MAX_NODES);
            return;
        }
        if (pe == 0)
            memcpy(node->nonce, entry.nonce, sizeof node->nonce);
        here += pe == (uint32_t)rte.pe || entry.machine == machine ? entry.count : 0;
        table[nodes++] = pe;
    }
    table[nodes] = node->total;
    node->oversubscribed |= here > node->cores;
    node->nodes = nodes; /* the barrier publishes it */
}

int rte_nodes_learn(void)
{
    uint64_t machine = machine_id();
    rte.nodes = (int)rte.node->nodes;
    table[1] = (uint32_t)rte.npes;
    if (rte.node_size == rte.npes)
        return 0;
    if (open_table() != 0 || (rte.node_index == 0 && tell(machine) != 0) || rte_backend_fence(0) != 0)
        return -1;
    if (rte.node_index == 0)
        walk(machine);
    rte_node_barrier();
    rte.nodes = (int)rte.node->nodes;
    rte.node_number = rte_node_of(rte.pe);
    return rte.nodes ? 0 : -1; /* the lead has printed the cause */
}

int rte_node_lead(int node)
{
    return (int)table[node];
}

int rte_node_of(int pe)
{
    int low = 0, high = rte.nodes; /* table[low] <= pe < table[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (table[middle] <= (uint32_t)pe)
            low = middle;
        else
            high = middle;
    }
    return low;
}
