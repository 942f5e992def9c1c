/* The root of a job: reports, limits of time, and the end of the job. It is the supervisor where the job has one node, and PE 0's watcher
 * where watchers look after several (watch.c). Watchers below it in the tree do the same for their nodes: what they hear is merged, and
 * goes to the node above instead of to the user. One thread. */
#ifndef LAUNCH_WATCH_ROOT_H
#define LAUNCH_WATCH_ROOT_H

#include "deadlock.h"
#include "net/auth/auth.h"

struct channel;

/* What the root wants of its own node, and the job's limits. */
struct root {
    const struct view *view;
    void (*end)(int status);  /* ends the PEs of this node */
    double timeout, deadlock; /* seconds; 0: none */
    const char *timeout_name, *deadlock_name;
    bool stacks;           /* reports that end the job tell stacks, too */
    bool below;            /* it is not the root */
    struct channel *above; /* then: to the node above; null: that is gone */
};

/* Runs as the watcher that a PE has started (watch.c). `front`: where oshrun listens that has handed the job over, as channel_write_place
 * wrote it; empty: nowhere. */
_Noreturn void watch_run(const char *front);

/* Starts with one node, this one. The time limit begins. */
void root_start(const struct root *root);
/* Accepts the watchers of the other nodes, with the key of the job. Returns the routes to this process. */
struct routes root_listen(void);
/* The job has `nodes` nodes; this one is the root if its number is 0. Then its time limit begins now, and `front` is where an oshrun
 * listens, or empty. */
void root_join(uint32_t nodes, uint32_t number, const char *front);
/* Has this node above from now on, which is told of this one; null: none. */
void root_set_above(struct channel *above);
/* Takes a line of the node above, which may be changed. */
void root_hear_above(char *line);
/* Node 1, which has no node above any more, is the root from now on if the root has gone without a word. */
void root_inherit(const char *front);
/* Ends the job with this status, here and below. */
void root_finish(int status);
/* Looks whether PEs of this node are stuck, where there is a limit for that. */
void root_look(void);
/* After each turn of the loop: limits of time, and what is asked. */
void root_tick(void);
/* Returns when root_tick has something to do, by loop_now; 0: never. root_time_limit returns the end of the time limit, or 0. */
int64_t root_next(void);
int64_t root_time_limit(void);
/* A watcher or this node itself (channel null) asks for a report, then for the end of the job with this status (-1: it goes on). */
void root_ask(struct channel *channel, int id, int status, const char *title);
/* The job ends, and the reason is told: nothing is told from here on. */
void root_note_end(void);
/* PEs have got the signal that asks for a report. */
void root_note_signal(void);
/* A channel that has asked has ended. */
void root_forget(struct channel *channel);
/* True while something is not told yet. */
bool root_is_busy(void);
/* A PE of a node has ended without need: status as waitpid gives it, and lines of text, parted by '\x1f'. */
void root_note_death(int status, const char *text);
/* A PE of this node has seen that the process of that PE is gone. May be called again and again. */
void root_note_lost(uint32_t pe);
/* This process ends as its PEs have. */
void root_leave(void);

#endif
