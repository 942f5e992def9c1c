/* The runtime environment: who am I, who is on my node, how to reach what the others say of
 * themselves, and a barrier and an abort that need nothing else. Everything above asks here and
 * never the launcher.
 *
 * rte_init and rte_finalize: one thread. rte_node_barrier, rte_job_barrier, rte_put and
 * rte_commit_fence: one thread at a time. The rest: any thread after rte_init.
 *
 * Invariants: the PEs of a node are consecutive. Where a launcher deals PEs out to machines in turn,
 * each run of neighbours is a node of its own, so all layers above may count from node_first. */
#ifndef RTE_RTE_H
#define RTE_RTE_H

#include "rte/node.h"

#include <stdbool.h>

struct rte {
    int pe;            /* my number in the job, 0 .. npes-1 */
    int npes;          /* PEs in the job */
    int node_index;    /* my place on the node, 0 .. node_size-1 */
    int node_size;     /* PEs on my node */
    int node_first;    /* PE number of node index 0; PEs of a node are consecutive */
    int node_number;   /* my node, 0 .. nodes-1, in the order of their PEs */
    int nodes;         /* 1: every PE is on this node, and no launcher is asked for anything */
    int fd;            /* the node's memory file, close-on-exec */
    bool launched;     /* started by a launcher, not alone */
    struct node *node; /* its head, mapped */
    struct node_pe *me;
};

extern struct rte rte;

/* 0, or -1 after one line that says what is wrong. Again after rte_finalize: a new life. */
int rte_init(void);

/* All PEs of the node; waiting PEs sleep. Everything stored before is visible after. */
void rte_node_barrier(void);

/* The same; the last to arrive runs `last` while all others wait, and they see what it stored. */
void rte_node_barrier_last(void (*last)(void *), void *argument);
/* The same, but gives up: false when somebody has not come in time, and then nobody else passes. The caller ends the job. */
bool rte_node_barrier_within(int seconds);

/* All PEs of the job, the same way. Through the launcher where there are several nodes, so for start
 * and end alone; it drives no transport, so nothing that a peer waits for may be under way. A launcher
 * that fails ends the job. */
void rte_job_barrier(void);
bool rte_job_barrier_within(int seconds);

/* What a PE tells the others. rte_put notes a value under a key of at most RTE_KEY_BYTES printable
 * characters (no blank, no '='), once per key in the life of the process. rte_commit_fence, called by
 * all PEs of the job, shows what was put before it; it may be called again with more.
 *
 * rte_get brings the value of one PE in memory for the caller to free. It asks the launcher alone, and
 * for that PE alone, so addresses are fetched on first use and nothing is kept here. All return 0, or -1
 * after one line that says what is wrong; rte_get also when there is no such value. */
#define RTE_KEY_BYTES 32
int rte_put(const char *key, const void *value, size_t bytes);
int rte_commit_fence(void);
int rte_get(int pe, const char *key, void **value, size_t *bytes);

/* Nodes of the job: the lowest PE of node 0 .. nodes (nodes: npes), and the node of a PE. */
int rte_node_lead(int node);
int rte_node_of(int pe);

/* On my node, that is: reachable by load and store. */
static inline bool rte_on_my_node(int pe)
{
    return (uint32_t)(pe - rte.node_first) < (uint32_t)rte.node_size;
}

/* Says that this PE is done, so that its exit is no fault any more. */
void rte_finalize(void);

/* Notes how the job ends; the first PE's words win: true for it alone. The launcher learns it when the caller
 * exits, which it must do at once. */
bool rte_claim_end(enum node_ending how, int status);

/* Called when this PE has claimed the end; null: nobody else needs to know. */
extern void (*rte_on_end)(void);

/* True when a PE of this node has claimed the end. */
bool rte_ending(void);

/* Ends the job after an error that has been printed: no destructors, no atexit functions. */
_Noreturn void rte_abort(int status);

/* The same when a host is lost: what the launcher has not ended after a while ends by itself. */
_Noreturn void rte_abandon(int status);

/* Ends the PEs of this node, when there is no launcher that could. */
_Noreturn void rte_end_node(void);

/* Another PE has said why the job ends. expect: this one, and its node, are to be gone soon, and the program may go on
 * until then; await: it may not. */
void rte_expect_end(void);
_Noreturn void rte_await_end(void);

/* Hangs up when the launcher is gone and would not be missed otherwise; -1: none. */
int rte_launcher_descriptor(void);

/* True in the process that called rte_init, false in its forked children. */
bool rte_is_pe(void);

#endif
