/* The root of a job's watchers (watch.c): requests of a report, and the end of the job. One thread. */
#ifndef LAUNCH_WATCH_ROOT_H
#define LAUNCH_WATCH_ROOT_H

#include "channel.h"
#include "picture.h"
#include "rte/node.h"

enum watch_stuck { WATCH_FREE, WATCH_STUCK, WATCH_IDLE }; /* idle: no PE of the node can act or waits */

/* What the root wants of its own node. */
struct watch_node {
    const struct node *node;
    void (*picture)(struct picture *picture);
    void (*end)(int status);
};

/* Accepts the watchers of the other nodes, with the key of the job. Returns the routes to this process. */
struct routes root_listen(const struct watch_node *mine);
/* The job has so many nodes. `front` is where an oshrun listens, or empty. */
void root_open(uint32_t nodes, const char *front);
/* Now and then: limits of time. */
void root_tick(void);
/* A watcher or this node itself (channel null) asks for a report, then for the end of the job with this status (-1: it goes on). */
void root_ask(struct channel *channel, int id, int status, const char *title);
void root_note_stuck(uint32_t number, enum watch_stuck stuck);
/* A PE of some node ends the job itself. */
void root_note_end(void);
/* PEs have got the signal that asks for a report. */
void root_note_signal(void);
/* A channel that has asked has ended. */
void root_forget(struct channel *channel);
/* True while something is not told yet. */
bool root_is_busy(void);
/* A PE of a node has ended without need: status as waitpid gives it, and lines of text, parted by '\x1f'. */
void root_note_death(int status, const char *text);

#endif
