/* The runtime environment: who am I, who is on my node, and a barrier and an abort that need
 * nothing else. Everything above asks here and never the launcher.
 *
 * rte_init and rte_finalize: one thread, once per process. The rest: any thread after rte_init,
 * rte_node_barrier one thread at a time. */
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
/* The same, but gives up: false when somebody has not come in time. The job is to be ended then. */
bool rte_node_barrier_within(int seconds);

/* Says that this PE is done, so that its exit is no fault any more. */
void rte_finalize(void);

/* Notes how the job ends; the first PE's words win. The launcher reads them when the caller exits,
 * which it must do at once. */
void rte_claim_end(enum node_ending how, int status);

/* Ends the job after an error that has been printed: no destructors, no atexit functions. */
_Noreturn void rte_abort(int status);

/* True in the process that called rte_init, false in its forked children. */
bool rte_is_pe(void);

/* Backends (rte/self.c, rte/local.c): fill rte.fd, node_index, launched. */
int rte_self_open(void);
int rte_local_open(const char *job);

#endif
