/* The nodes of a job of several: their number, the PEs of each, and the job's key.
 *
 * Data flow. The PEs are blocks of RTE_FAN in a row, RTE_FAN such blocks are a larger one, and so on; the lowest PE of a block gathers
 * what is known of it. First the lowest PE of each node in a block of RTE_FAN tells which PEs there are of its node, as runs of equal
 * stride. After a fence the lowest PE of the block asks for them: itself first, then each time the lowest PE that nobody has named
 * yet, which must have told something, because a lower PE of its node there would have named it. It tells what it has learned, and
 * after the next fence the lowest PE of the larger block asks it. So PE 0 learns of all nodes. It tells their shapes in one value
 * (job_map.h), which is short when nodes are alike, and which goes down the same way to the lead of each node, its lowest PE (rte_spread).
 * Each lead writes the table of nodes into its node's memory, before a node barrier; from then on it is constant. So no PE asks or is
 * asked more than RTE_FAN times at each of the levels, whose number grows with the logarithm of the PEs.
 *
 * Invariants: nodes are numbered in the order of their leads. The table holds the lead of each node, and behind the last
 * one the number of PEs. If some node is scattered (node.h), the table of places has an entry for every PE; otherwise
 * nodes are runs of neighbours, and the leads tell all. */
#include "base/file.h"
#include "base/log.h"
#include "base/siphash.h"
#include "rte/backend.h"
#include "rte/rte.h"
#include "rte/job_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEY_ALL "nodes"

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
    size_t bytes = node_align((NODE_MAX_NODES + 1) * sizeof *rte.leads);
    void *base = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, (off_t)node_table_at(rte.node->size));
    if (base == MAP_FAILED) {
        log_line("cannot map the table of nodes: %s", strerror(errno));
        return -1;
    }
    rte.leads = base;
    return 0;
}

/* Returns what this PE tells of its node's PEs below `end`, itself the first of them, in memory that the caller frees; null after one
 * line. */
static struct rte_packed_job_map *describe_node(int end, size_t *bytes)
{
    const struct node *node = rte.node;
    uint32_t from = (uint32_t)rte.node_index, to = from;
    while (to < node->size && rte_pe_at(to) < end)
        to++;
    struct rte_job_map *map = rte_job_map_new(rte.pe, end);
    struct rte_run *runs = malloc((to - from) * sizeof *runs);
    struct rte_packed_job_map *mine = 0;
    if (map && runs && rte_job_map_add(map, node->first, machine_id(), runs, rte_node_runs(node, from, to, runs)))
        mine = rte_job_map_pack(map, false, bytes);
    else
        log_line("no memory to describe a node of %u PEs", node->size);
    free(runs);
    rte_job_map_free(map);
    return mine;
}

/* Adds to the map what a PE has told under the key. Returns false after one line. */
static bool ask(struct rte_job_map *map, int pe, const char *key)
{
    void *part = 0;
    size_t bytes;
    if (rte_backend->get(pe, key, &part, &bytes) != 0)
        return false;
    const bool taken = rte_job_map_take(map, part, bytes);
    free(part);
    if (!taken)
        log_line(
            "PE %d tells of its node what makes no sense, or does not fit the other nodes; do all PEs run the same "
            "version of Lateral?",
            pe);
    return taken;
}

/* Returns what is known of the block of PEs from this one up to `end`, when each part of it has told its own, this PE `mine`, which is
 * freed. Null after one line. */
static struct rte_packed_job_map *gather_block(struct rte_packed_job_map *mine, int end, const char *key, size_t *bytes)
{
    struct rte_job_map *map = rte_job_map_new(rte.pe, end);
    struct rte_packed_job_map *all = 0;
    bool fits = map && rte_job_map_take(map, mine, *bytes);
    for (int pe; fits && (pe = rte_job_map_next(map)) < end;)
        fits = ask(map, pe, key);
    if (fits)
        all = rte_job_map_pack(map, rte.pe == 0 && end == rte.npes, bytes);
    rte_job_map_free(map);
    free(mine);
    return all;
}

/* All PEs call it. Returns 0 and, to PE 0, the shapes of all nodes in memory that the caller frees; -1 after one line. */
static int gather_nodes(struct rte_packed_job_map **all, size_t *bytes)
{
    const bool first = rte.node_index == 0 || rte_pe_at((uint32_t)rte.node_index - 1) / RTE_FAN < rte.pe / RTE_FAN;
    char key[8] = "node"; /* then node1, node2 */
    struct rte_packed_job_map *mine = 0;
    if (first && !(mine = describe_node(rte_block_end(rte.pe, RTE_FAN, rte.npes), bytes)))
        return -1;
    for (int64_t block = RTE_FAN;; block *= RTE_FAN, key[4] = key[4] ? (char)(key[4] + 1) : '1') {
        const bool gathers = rte.pe % block == 0;
        if ((mine && !gathers && rte_backend->put(key, mine, *bytes) != 0) || rte_backend_fence(0) != 0)
            break;
        if (!gathers) {
            free(mine);
            mine = 0;
        } else if (!(mine = gather_block(mine, rte_block_end(rte.pe, block, rte.npes), key, bytes))) {
            return -1;
        }
        if (block >= rte.npes) {
            *all = mine;
            return 0;
        }
    }
    free(mine);
    return -1;
}

/* Maps the table of places, after making room for it in the node's file when this PE is the lead. Returns it, or null
 * after one line. */
static uint32_t *map_places(bool make)
{
    const struct node *node = rte.node;
    size_t bytes = node_places_bytes(node), at = node_places_at(node);
    void *base = MAP_FAILED;
    if (!make || file_resize(rte.fd, at + bytes) == 0)
        base = mmap(0, bytes, make ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, rte.fd, (off_t)at);
    if (base != MAP_FAILED)
        return base;
    log_line("cannot map the places of %d PEs: %s", rte.npes, strerror(errno));
    return 0;
}

/* The job's key, which hashes rest on, has come with the shapes. */
static bool has_key(const struct rte_packed_job_map *all)
{
    static const char none[sizeof all->nonce];
    return memcmp(all->nonce, none, sizeof none) != 0;
}

/* Writes the tables; only the lead calls it. Its result is node->nodes, 0 when it failed. */
static void write_tables(const struct rte_packed_job_map *all, size_t bytes)
{
    struct node *node = rte.node;
    uint32_t *places = 0, nodes = 0;
    node->placed = rte_job_map_scattered(all, bytes);
    if (node->placed && !(places = map_places(true)))
        return;
    uint32_t here = 0;
    bool valid = has_key(all) && rte_job_map_unpack(all, bytes, node, rte.leads, &nodes, places, &here);
    if (places)
        munmap(places, node_places_bytes(node));
    if (!valid) {
        log_line("PE 0 tells of the nodes what makes no sense; do all PEs run the same version of Lateral?");
        return;
    }
    memcpy(node->nonce, all->nonce, sizeof node->nonce);
    node->oversubscribed |= here > node->cores;
    node->pes_per_core = here / node->cores;
    node->nodes = nodes; /* the barrier publishes it */
}

/* All PEs call it: the leads of nodes learn the shapes of all, and PE 0's `root`. Returns false after one line. */
static bool learn_shapes(unsigned char *root)
{
    struct rte_packed_job_map *all = 0;
    size_t bytes = 0;
    if (gather_nodes(&all, &bytes) != 0)
        return false;
    if (all) {
        memcpy(all->nonce, rte.node->nonce, sizeof all->nonce);
        memcpy(all->root, root, sizeof all->root);
    }
    void *value = all;
    const bool told = rte_spread(KEY_ALL, rte.pe, rte.npes, rte.node_index == 0, &value, &bytes) == 0;
    if (told && rte.node_index == 0) {
        write_tables(value, bytes);
        if (rte.node->nodes) /* the value is valid */
            memcpy(root, ((const struct rte_packed_job_map *)value)->root, NODE_ROUTES_BYTES);
    }
    free(value);
    return told;
}

int rte_nodes_learn(unsigned char *root)
{
    rte.nodes = (int)rte.node->nodes;
    rte.leads[1] = (uint32_t)rte.npes;
    if (rte.node_size == rte.npes)
        return 0;
    if (open_table() != 0 || !learn_shapes(root) || !rte_node_barrier() ||
        (rte.node->placed && !(rte.places = map_places(false))))
        return -1;
    rte.nodes = (int)rte.node->nodes;
    rte.node_number = rte.nodes ? rte_node_of(rte.pe) : 0;
    return rte.nodes ? 0 : -1; /* the lead has printed the cause */
}
