/* The runtime environment: this PE's place, the PEs of its node, the values that PEs tell each other, and a barrier and
 * an abort that need nothing else. All layers above ask here and never the launcher.
 *
 * rte_init and rte_finalize: one thread. rte_node_barrier, rte_job_barrier, rte_put and rte_commit_fence: one thread at
 * a time. The rest: any thread after rte_init.
 *
 * Invariants: the PEs of a machine that share memory are one node. Their numbers grow with their index on the node. They
 * run in a row unless a launcher dealt PEs out to machines in turn; then the node is scattered (node.h), and tables take
 * the place of a subtraction (rte_index_of, rte_pe_at). */
#ifndef RTE_RTE_H
#define RTE_RTE_H

#include "rte/node.h"

#include <stdbool.h>

struct rte {
    int pe;            /* this PE's number in the job, 0 .. npes-1 */
    int npes;          /* PEs in the job */
    int node_index;    /* this PE's place on the node, 0 .. node_size-1 */
    int node_size;     /* PEs on this node */
    int node_first;    /* PE number of node index 0, the lowest of the node */
    int node_number;   /* this node, 0 .. nodes-1, in the order of their lowest PEs */
    int nodes;         /* 1: every PE is on this node, and no PE asks the launcher for anything */
    int fd;            /* the node's memory file, close-on-exec */
    bool launched;     /* started by a launcher, not alone */
    bool embedded;     /* of a program with an environment of its own, whose signals stay its own */
    struct node *node; /* its head, mapped */
    struct node_pe *me;
    const uint32_t *places; /* of all PEs (node.h); null: no node of the job is scattered */
    uint32_t *leads;        /* the lead of each node, and behind the last one the number of PEs */
};

extern struct rte rte;

/* Returns 0, or -1 after one line that says what is wrong. After rte_finalize it starts the library again. */
int rte_init(void);

/* What the environment says before rte_init, once env_load has read it: whether this process has a launcher, and the node's
 * memory of a PE that oshrun has started. rte_node_ahead returns its head, which the caller unmaps (node_groups_at bytes),
 * and stores the memory's descriptor and the index of this PE; null when there is no such memory. Neither allocates. */
bool rte_launcher_is_there(void);
struct node *rte_node_ahead(int *fd, int *index);

/* Keeps a copy of the table of the program that embeds this library (uccs.h); rte_init uses it in place of a launcher.
 * Null: the owner of the environment ends, and no function of its table is called from here on. Returns 0, or -1 when
 * this process has a place in a job already. */
struct uccs_environment;
int rte_host_bootstrap(const struct uccs_environment *table);

/* All PEs of the node call it; waiting PEs sleep. Stores of any PE before it are visible to all after it. Returns false when a PE
 * of the node has called rte_break_start. */
bool rte_node_barrier(void);
/* This PE cannot start: the barriers of its node, present and later ones, return false. Returns false when another PE of the node
 * had said so before. */
bool rte_break_start(void);

/* Like rte_node_barrier. The last PE to arrive runs `last` while all others wait; they see its stores. */
bool rte_node_barrier_last(void (*last)(void *), void *argument);
/* Like rte_node_barrier, with a time limit. Returns false when some PE has not come in time; then no other PE passes either. The
 * caller ends the job. */
bool rte_node_barrier_within(int seconds);

/* Barriers of all PEs of the job. With several nodes they go through the launcher, so these are for start and end
 * alone. They drive no transport, so no operation that a peer waits for may be under way. They end the job when the
 * launcher fails, unless that is a program which ends its job itself. They return false then, and when a PE cannot start;
 * rte_job_barrier_within also when some PE has not come in time (0: no limit). */
bool rte_job_barrier(void);
bool rte_job_barrier_within(int seconds);

/* Values that a PE tells the others. rte_put notes a value under a key of at most RTE_KEY_BYTES printable characters
 * (no blank, no '='), once per key in the life of the process. All PEs of the job call rte_commit_fence; it shows the
 * values that were put before it. PEs may put more and call it again.
 *
 * rte_get returns the value of one PE in memory that the caller frees. For a PE of another node it asks the launcher,
 * and for its neighbours at once, so callers fetch addresses on first use; it keeps some answers. All return 0, or -1 after
 * one line that says what is wrong. rte_get also returns -1 when there is no such value. */
#define RTE_KEY_BYTES 32
int rte_put(const char *key, const void *value, size_t bytes);
int rte_commit_fence(void);
int rte_get(int pe, const char *key, void **value, size_t *bytes);

/* Nodes of the job. rte_node_lead returns the lowest PE of a node; rte_node_of returns the node of a PE. */
int rte_node_lead(int node);
int rte_node_of(int pe);

/* Returns the index of a PE of this node; for any other number something that is not below node_size. */
static inline uint32_t rte_index_of(int pe)
{
    if (!rte.node->scattered)
        return (uint32_t)pe - (uint32_t)rte.node_first;
    if ((uint32_t)pe >= (uint32_t)rte.npes)
        return UINT32_MAX;
    return rte.places[pe] & NODE_NEAR ? rte.places[pe] & ~NODE_NEAR : UINT32_MAX;
}

/* Returns the PE number of an index of this node. */
static inline int rte_pe_at(uint32_t index)
{
    return (int)node_pe_number(rte.node, index);
}

/* True when the PE is on this node, and so reachable by load and store. */
static inline bool rte_on_my_node(int pe)
{
    return rte_index_of(pe) < (uint32_t)rte.node_size;
}

/* Marks this PE as done, so that its exit is no fault any more. */
void rte_finalize(void);

/* Notes how the job ends. The first PE to call it wins; only that PE gets true. The launcher learns it when the caller
 * exits, which the caller must do at once. */
bool rte_claim_end(enum node_ending how, int status);

/* Called when this PE has claimed the end; null when no other part needs to know. */
extern void (*rte_on_end)(void);

/* Called when the process exits, behind its exit handlers and the destructors of the program and its libraries; null when no
 * other part needs to know. */
extern void (*rte_on_leave)(void);

/* True when a thread of this process is in exit, from the first exit handler on. rte_exit_status returns the status of this exit,
 * or 0. */
bool rte_in_exit(void);
int rte_exit_status(void);

/* Leaves an exit handler: the exit goes on behind it, with this status. */
_Noreturn void rte_go_on_exiting(int status);

/* Ends this process with this status if its exit handlers have not come to their end in a second. */
void rte_limit_exit(int status);

/* Ends this process with the status of its exit, from a call that may hold locks: no further handler runs. */
_Noreturn void rte_end_exit(void);

/* Does so when the calling thread exits with an error and has waited for half a second: its peers know
 * nothing of the exit and do not come. Waits call it now and then with the nanoseconds that they have lasted. */
void rte_look_for_exit(uint64_t waited);

/* True when a PE of this node has claimed the end. */
bool rte_ending(void);

/* Ends the job after a printed error. Runs no destructors and no atexit functions. */
_Noreturn void rte_abort(int status);

/* Ends the job after a host is lost. If the launcher has not ended this node after a while, the PE ends it itself. */
_Noreturn void rte_abandon(int status);

/* Ends the PEs of this node when no launcher can. */
_Noreturn void rte_end_node(void);

/* Another PE has printed why the job ends. rte_expect_end limits the time until this PE and its node end, and the
 * program may go on until then. rte_await_end does not return. */
void rte_expect_end(void);
_Noreturn void rte_await_end(void);

/* Returns a descriptor that hangs up when the launcher is gone, or -1 when the launcher's end needs no watching. */
int rte_launcher_descriptor(void);

/* The launcher is gone: ends the PEs of this node, since nobody else does. */
_Noreturn void rte_launcher_lost(void);

/* Calls rte_launcher_lost when that descriptor has hung up. Any thread. */
void rte_launcher_check(void);

/* Starts a thread that does so, unless there is one. One thread calls it, at the end of the start. rte_launcher_unwatch ends the
 * thread. */
void rte_launcher_watch(void);
void rte_launcher_unwatch(void);

/* True in the process that called rte_init, false in its forked children. */
bool rte_is_pe(void);

#endif
