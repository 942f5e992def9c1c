/* The shapes of nodes: which PEs each has, in few words. For src/rte alone.
 *
 * The PEs of a node are runs of equal stride: one run where neighbours lie together (first, 1, count), one where a launcher
 * dealt PEs out in turn over M machines (first, M, count), more where it did neither. Nodes that follow each other are
 * mostly alike but for a shift: such are one shape, with the number of its repetitions. So a job of alike nodes is one
 * shape, of 32 bytes, however many nodes it has.
 *
 * One thread at a time. */
#ifndef RTE_JOB_MAP_H
#define RTE_JOB_MAP_H

#include "rte/node.h"

#include <stdbool.h>

struct rte_run {
    uint32_t first, stride, count;
};

/* The shapes of all nodes, in the order of their lowest PEs, as they go through the launcher. Of words, each shape is
 * { repetitions, shift, PEs on the machine, runs }, then its runs. */
struct rte_packed_job_map {
    uint64_t nonce[2]; /* the job's key */
    uint32_t total;    /* PEs of the job */
    uint32_t origins;  /* of a part of the job: its nodes, each of which has a lead and a machine behind the shapes */
    unsigned char root[NODE_ROUTES_BYTES]; /* routes to the watcher of node 0; zeros: it has none */
    uint32_t words[];
};

/* Writes the runs of a node's PEs from one index up to another, at most one per PE. Returns their number. */
uint32_t rte_node_runs(const struct node *node, uint32_t from, uint32_t end, struct rte_run *runs);

/* The nodes of the PEs first to end - 1, or what of them lies there, while they are put together. new returns null after one line. */
struct rte_job_map;
struct rte_job_map *rte_job_map_new(int first, int end);
void rte_job_map_free(struct rte_job_map *job);
/* Adds runs of the node that `lead` leads. Returns false when a PE is not one of the map's, is below the lead or in a node already,
 * or without memory. */
bool rte_job_map_add(struct rte_job_map *job, uint32_t lead, uint64_t machine, const struct rte_run *runs,
                     uint32_t count);
/* Adds a part of the map, as pack has written it. Returns false as add does, also when it lacks the lowest PE that no node has. */
bool rte_job_map_take(struct rte_job_map *job, const struct rte_packed_job_map *part, size_t bytes);
/* Returns the lowest PE that no node has; end when there is none. */
int rte_job_map_next(struct rte_job_map *job);
/* Returns what goes through the launcher, in memory that the caller frees; null after one line. The map takes no more then.
 * whole: all PEs of the job are there; otherwise it is a part, which take reads. */
struct rte_packed_job_map *rte_job_map_pack(struct rte_job_map *job, bool whole, size_t *bytes);

/* Returns true when some node is scattered (node.h). */
bool rte_job_map_scattered(const struct rte_packed_job_map *all, size_t bytes);

/* Writes the lead of each node, then the number of PEs, to `leads` (NODE_MAX_NODES + 1 entries), the number of nodes to
 * `nodes`, the place of every PE to `places` (zeroed; null: no node is scattered), and to `here` the PEs on the machine of
 * `mine`. Returns false when the shapes do not hold every PE once, or not those of `mine`. */
bool rte_job_map_unpack(const struct rte_packed_job_map *all, size_t bytes, const struct node *mine, uint32_t *leads,
                        uint32_t *nodes, uint32_t *places, uint32_t *here);

#endif
