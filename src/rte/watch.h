/* The watcher of a node: a process that tells why the job hangs (watch.c). For src/rte and the start alone; one thread. */
#ifndef RTE_WATCH_H
#define RTE_WATCH_H

#include <stdbool.h>

/* Notes what the environment asks for, before the start changes it or starts a thread. */
void rte_watch_prepare(void);

/* Returns true when somebody asks for a watcher, which also reads how PEs crash. */
bool rte_watch_is_wanted(void);

/* Starts the watcher of this node, when this PE is its lowest and somebody asks for one, and makes its address known behind the next
 * fence. Behind rte_crash_watch. */
void rte_watch_start(void);

/* Returns where the routes to the watcher of node 0 stand, NODE_ROUTES_BYTES: PE 0 knows them, rte_nodes_learn tells the others. */
unsigned char *rte_watch_root(void);

/* Connects the watcher with those of other nodes. Behind the fences of rte_nodes_learn. */
void rte_watch_connect(void);

/* Notes for the watcher that the process of a PE of another node is gone. Any thread. */
void rte_watch_note_lost(int pe);

/* At the end of the start: lets the watcher look at this process, and takes the signal that asks for a report. */
void rte_watch_admit(void);

#endif
