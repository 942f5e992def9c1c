/* A network on one machine whose adapter reads and writes the memory of peers by itself, for tests: kernel copies
 * (process_vm_readv, process_vm_writev) between the processes. Built beside the tests and never installed.
 * LATERAL_TRANSPORTS=sim:ucx loads it; messages go over the transport behind it.
 *
 *   sim.c      workers, peers, messages; the plan; what is counted
 *   adapter.c  memory and keys; puts, gets, atomics and flushes
 *
 * It keeps the promises of transport.h about one-sided operations and no others. The source of a put is free long before
 * the data is at the target; operations overtake each other; a key does not work any more once its memory is withdrawn,
 * and the adapter shares a limited number of pieces of memory. Its atomics are a read and a write, which the adapter of the
 * target does one after the other; the processor may change the word in between.
 *
 * Threads: transport.h. Everything of a worker is under its lock; `step` counts the calls of its progress. */
#ifndef NET_SIM_INNER_H
#define NET_SIM_INNER_H

#include "net/testing/wrapper.h"

/* The plan, such as sim,seed=3,hold=50,steps=20,order=1,shares=4,words=8,most=64,bound=1,counters=4:tcp. With hold=0 an operation is done when it
 * returns. */
struct sim_plan {
    uint64_t order;  /* 1: the adapter can keep puts in order */
    uint64_t shares; /* pieces of memory that a process may share */
    uint64_t words;  /* 4, 8, or the sum: widths of the adapter's atomics; 0: it has none */
    uint64_t most;   /* operations that the adapter works at, of a worker; later ones wait */
    uint64_t bound;  /* 1: a key is good on connections to the first worker of its process alone, as Slingshot's are */
    uint64_t counters; /* of puts, that a process may have at a time */
};

/* What this process has done. Tests find the symbol `lateral_sim_counts`. Relaxed. */
struct sim_counts {
    uint64_t sent, handled; /* messages */
    uint64_t puts, gets, flushes;
    uint64_t refused; /* operations on memory that is not shared any more; another network would break the connection */
    uint64_t atomics, fetches; /* fetches: those of them that bring an old value */
};
extern struct sim_counts lateral_sim_counts;

static inline void sim_count(uint64_t *what)
{
    __atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

struct sim_worker {
    struct wrapper_worker wrapped;
    uint64_t number;             /* of those of this life */
    uint64_t fence;              /* number of the last `order` */
    struct sim_operation *first; /* operations under way, oldest first */
    struct sim_operation **last;
};

struct sim_peer {
    struct wrapper_peer wrapped;
    uint64_t number; /* of the worker at the other end */
    bool failed;     /* a put has, and no flush has told */
};

extern struct sim_plan sim_plan;

/* adapter.c: slots of transport.h, and: open is called at the start of a life; move lets the adapter work and returns how many
 * operations it has moved on. */
void sim_adapter_open(void);
int sim_adapter_move(struct sim_worker *worker);
unsigned sim_able(void *peer);
void *sim_share(void *start, size_t bytes);
void *sim_share_counting(void *start, size_t bytes);
uint64_t sim_counted(void *shared);
int sim_pack(void *shared, void *room, size_t *bytes);
void sim_withdraw(void *shared);
void *sim_unpack(void *peer, const void *key, size_t bytes);
void sim_forget(void *key);
enum transport_status sim_put(void *peer, void *key, uint64_t to, const void *source, size_t bytes, void *token);
enum transport_status sim_get(void *peer, void *key, uint64_t from, void *dest, size_t bytes, void *token);
unsigned sim_atomics(void *peer, size_t bytes);
enum transport_status sim_atomic(void *peer, void *key, uint64_t at, const struct transport_word *word, void *old,
                                 void *token);
enum transport_status sim_flush(void *peer, void *token);
void sim_order(void *worker);

#endif
