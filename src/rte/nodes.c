/* The nodes of a job of several: their number, the PEs of each, and the job's key.
 *
 * Data flow. The lead of a node (its lowest PE) tells which PEs it leads, as runs of equal stride. After a fence PE 0 asks
 * lead after lead: PE 0 first, then each time the lowest PE that no lead has named yet. That PE must be a lead, because a
 * lower PE of its node would have named it. PE 0 writes the shapes of all nodes into one value (job_map.h), which is short
 * when nodes are alike. After a second fence the other leads ask for that value, and each writes the table of nodes into
 * its node's memory, before a node barrier; from then on it is constant. So M nodes make 2 M requests to the launcher,
 * whatever the number of PEs, and PEs that lead no node ask nothing.
 *
 * Invariants: nodes are numbered in the order of their leads. The table holds the lead of each node, and behind the last
 * one the number of PEs. If some node is scattered (node.h), the table of places has an entry for every PE; otherwise
 * nodes are runs of neighbours, and the leads tell all. */
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

#define KEY "node"
#define KEY_ALL "nodes"

/* What a lead tells; its runs follow. */
struct entry {
    uint32_t count;   /* PEs of this node */
    uint32_t runs;    /* struct rte_run */
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

/* Returns what this PE, a lead, tells of its node, in memory that the caller frees; null after one line. */
static struct entry *describe_node(size_t *bytes)
{
    const struct node *node = rte.node;
    struct entry *entry = malloc(sizeof *entry + node->size * sizeof(struct rte_run));
    if (!entry) {
        log_line("no memory to describe a node of %u PEs", node->size);
        return 0;
    }
    *entry = (struct entry){.count = node->size, .machine = machine_id(), .nonce = {node->nonce[0], node->nonce[1]}};
    entry->runs = rte_node_runs(node, (struct rte_run *)(entry + 1));
    *bytes = sizeof *entry + entry->runs * sizeof(struct rte_run);
    return entry;
}

static int tell(void)
{
    size_t bytes;
    struct entry *entry = describe_node(&bytes);
    int status = entry ? rte_backend->put(KEY, entry, bytes) : -1;
    free(entry);
    return status;
}

static bool entry_is_valid(const struct entry *entry, size_t bytes)
{
    return bytes >= sizeof *entry && (bytes - sizeof *entry) / sizeof(struct rte_run) == entry->runs &&
           (bytes - sizeof *entry) % sizeof(struct rte_run) == 0;
}

/* Returns what a lead tells, in memory that the caller frees; null after one line. */
static struct entry *ask(int lead)
{
    void *value = 0;
    size_t bytes;
    if (lead == rte.pe)
        return describe_node(&bytes);
    if (rte_backend->get(lead, KEY, &value, &bytes) != 0)
        return 0;
    if (entry_is_valid(value, bytes))
        return value;
    log_line("PE %d tells of its node what makes no sense; do all PEs run the same version of Lateral?", lead);
    free(value);
    return 0;
}

/* Asks all leads and notes what they say in `job`. PE 0 calls it. Returns 0, or -1 after one line. */
static int gather_job_map(struct rte_job_map *job)
{
    for (int lead = 0; lead < rte.npes; lead = rte_job_map_next(job)) {
        struct entry *entry = ask(lead);
        if (!entry)
            return -1;
        bool added = rte_job_map_add(job, (const struct rte_run *)(entry + 1), entry->runs, entry->machine);
        free(entry);
        if (!added) {
            log_line("PE %d tells of its node what does not fit the other nodes, or the job has more than %d nodes",
                     lead, NODE_MAX_NODES);
            return -1;
        }
    }
    return 0;
}

/* PE 0 puts together the shapes of all nodes. Returns them in memory that the caller frees; null after one line. */
static struct rte_packed_job_map *put_together(size_t *bytes)
{
    struct rte_job_map *job = rte_job_map_new(rte.npes);
    struct rte_packed_job_map *all = job && gather_job_map(job) == 0 ? rte_job_map_pack(job, bytes) : 0;
    rte_job_map_free(job);
    if (!all)
        return 0;
    memcpy(all->nonce, rte.node->nonce, sizeof all->nonce);
    if (rte_backend->put(KEY_ALL, all, *bytes) == 0)
        return all;
    free(all);
    return 0;
}

/* Maps the table of places, after making room for it in the node's file when this PE is the lead. Returns it, or null
 * after one line. */
static uint32_t *map_places(bool make)
{
    const struct node *node = rte.node;
    size_t bytes = node_places_bytes(node), at = node_places_at(node);
    void *base = MAP_FAILED;
    if (!make || ftruncate(rte.fd, (off_t)(at + bytes)) == 0)
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
    bool valid = has_key(all) && rte_job_map_unpack(all, bytes, node, table, &nodes, places, &here);
    if (places)
        munmap(places, node_places_bytes(node));
    if (!valid) {
        log_line("PE 0 tells of the nodes what makes no sense; do all PEs run the same version of Lateral?");
        return;
    }
    memcpy(node->nonce, all->nonce, sizeof node->nonce);
    node->oversubscribed |= here > node->cores;
    node->crowd = here / node->cores;
    node->nodes = nodes; /* the barrier publishes it */
}

/* A lead gets the shapes of all nodes and writes the tables. */
static void learn_nodes(struct rte_packed_job_map *mine, size_t bytes)
{
    void *value = mine;
    if (mine || rte_backend->get(0, KEY_ALL, &value, &bytes) == 0) {
        write_tables(value, bytes);
        free(value);
    }
}

int rte_nodes_learn(void)
{
    struct rte_packed_job_map *all = 0;
    size_t bytes = 0;
    bool lead = rte.node_index == 0;
    rte.nodes = (int)rte.node->nodes;
    table[1] = (uint32_t)rte.npes;
    if (rte.node_size == rte.npes)
        return 0;
    if (open_table() != 0 || (lead && rte.pe != 0 && tell() != 0) || rte_backend_fence(0) != 0)
        return -1;
    if (rte.pe == 0 && !(all = put_together(&bytes)))
        return -1;
    if (rte_backend_fence(0) != 0)
        return -1;
    if (lead)
        learn_nodes(all, bytes);
    if (!rte_node_barrier() || (rte.node->placed && !(rte.places = map_places(false))))
        return -1;
    rte.nodes = (int)rte.node->nodes;
    rte.node_number = rte.nodes ? rte_node_of(rte.pe) : 0;
    return rte.nodes ? 0 : -1; /* the lead has printed the cause */
}

int rte_node_lead(int node)
{
    return (int)table[node];
}

/* Returns the number of this node: that of its lead. Also finds the node of any PE where nodes are runs. */
static int node_of_lead(uint32_t pe)
{
    int low = 0, high = rte.nodes; /* table[low] <= pe < table[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (table[middle] <= pe)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int rte_node_of(int pe)
{
    if (!rte.places)
        return node_of_lead((uint32_t)pe);
    uint32_t place = rte.places[pe];
    return place & NODE_NEAR ? node_of_lead(rte.node->first) : (int)place - 1;
}
