/* What transports that wrap another one (fault, sim) have in common. LATERAL_TRANSPORTS names all, the outermost first, as
 * in fault:ucx or sim:fault:ucx. Threads: transport.h. */
#ifndef NET_WRAPPER_H
#define NET_WRAPPER_H

#include "net/transport.h"

#include <stdbool.h>

/* The first field of a worker and of a peer of such a transport. */
struct wrapper_worker {
    void *at, *owner; /* of the transport behind it; argument of open_worker */
    uint64_t random, step;
    int wake, files; /* eventfd: something is held; epoll of it and of the inner descriptor */
    struct wrapper_peer *peers;
    struct wrapper_worker *next;
};
struct wrapper_peer {
    void *at;
    struct wrapper_worker *worker;
    int pe;
    struct wrapper_peer *next;
};

struct wrapper {
    const struct transport *behind;
    const struct transport_events *events;
    int me;
    uint64_t seed;
    uint32_t hold, steps; /* percent of what is held back; for at most `steps` calls of progress */
    struct wrapper_worker *workers;
};
extern struct wrapper wrapper; /* of this module */

/* Reads the plan behind a wrapper's name in LATERAL_TRANSPORTS, such as "fault,seed=3,hold=50:tcp": takes seed, hold and steps, and gives
 * each other name with its value to `other`. `other` returns null, or a text that says what is wrong. Returns null, or the first such
 * text. */
const char *wrapper_plan_read(const char *wrapper_name, const char *(*other)(const char *name, const char *value));
/* Stores a number. Returns false when the text is none. */
bool wrapper_number(const char *value, uint64_t *number);
/* Loads the transport that stands behind `name:` in LATERAL_TRANSPORTS, whose module lies beside this one, and opens it with events
 * of the wrapper. Returns null, or the reason why it cannot (static storage). One thread. */
const char *wrapper_open(const char *name, const struct transport_events *to, const struct transport_events *own,
                         int pe, int npes);
/* Opens a worker of `bytes` bytes. Returns null and stores it, or returns a reason. */
const char *wrapper_worker_open(void *owner, size_t bytes, void **made);
/* Connects. Returns a peer of `bytes` bytes; null when that is impossible. */
void *wrapper_connect(void *worker, int pe, const void *address, size_t address_bytes, size_t bytes);

uint64_t wrapper_random(struct wrapper_worker *worker);
/* Returns the step at which an operation may go on: the current one or, at random, a later one. */
uint64_t wrapper_draw_due(struct wrapper_worker *worker);
/* Wakes a thread that sleeps on the worker, since a thread must move the operation on. */
void wrapper_wake(const struct wrapper_worker *worker);
/* Slots and events of transport.h; arm is for a worker that holds nothing. */
void wrapper_broken(void *owner, int pe, const char *why);
int wrapper_address(void *worker, void *room, size_t *bytes);
int wrapper_descriptor(void *worker);
int wrapper_arm(struct wrapper_worker *worker);
void wrapper_close(void);

#endif
