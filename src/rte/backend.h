/* A table of what a launcher offers, for src/rte alone.
 *
 * self and local (our launcher) keep everything in the node's memory and have no table. With pmi and pmix, each process
 * learns its place from the launcher, with embedded from the program itself; then the PEs of a machine meet (node_bootstrap.c) and share memory of their own.
 *
 * exchange.c calls a backend's put, get and fence under one lock; fence alone releases the lock while it waits.
 * Backends log their own errors. put, get and fence return 0 on success and -1 on failure. */
#ifndef RTE_BACKEND_H
#define RTE_BACKEND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTE_JOB_BYTES 256

struct rte_rank {
    int pe, npes;
    char job[RTE_JOB_BYTES]; /* its name at the launcher, for people */
};

struct rte_backend {
    const char *name;
    int (*put)(const char *key, const void *value, size_t bytes);
    int (*get)(int pe, const char *key, void **value, size_t *bytes); /* the caller frees the value */
    /* Every PE calls it. Afterwards peers can get the values that were put before it. Returns 0, -1, or 1 when it took
     * longer than `seconds` (0: no limit). Waits with `held` released: another PE may be waiting for an answer of this
     * process before it joins, and a thread of this process may have to call get for that answer. */
    int (*fence)(int seconds, pthread_mutex_t *held);
    int (*abort)(int status); /* asks the launcher to end every PE; 0, or -1: cannot reach it */
    void (*finish)(void);     /* says goodbye to the launcher */
    bool (*ending)(void);     /* true: somebody else ends the job and needs no word of this PE; null: never */
    int (*descriptor)(
        void); /* hangs up when the launcher is gone; -1, null: the backend sees that itself, or need not */
    int (*abort_by_signal)(int status); /* abort, from a signal's handler; null: it is enough to exit with the status */
};

/* Null until a backend is open; constant from then on. */
extern const struct rte_backend *rte_backend;

/* Calls the launcher's fence under the lock of exchange.c. Returns 0, 1 or -1 as the fence does. */
int rte_backend_fence(int seconds);

/* The tree of the start: PE n is the lowest of its block of RTE_FAN, of RTE_FAN^2 and so on where it is a multiple. */
#define RTE_FAN 128
static inline int rte_block_end(int pe, int64_t block, int npes)
{
    const int64_t end = (pe / block + 1) * block;
    return end < npes ? (int)end : npes;
}

/* Hands PE 0's value down the tree, a fence each level, so that no PE asks twice, or is asked more than RTE_FAN times a level. Every PE
 * calls it. PE 0 gives the value, as memory of malloc; those that want it, and those which hand it on, have it afterwards and free it. Others
 * keep null. Returns 0, or -1 after one line. */
int rte_spread(const char *key, int pe, int npes, bool wanted, void **value, size_t *bytes);

/* Calls a function under that lock, and returns what it returns. */
int rte_backend_locked(int (*call)(void *), void *argument);

/* rte.c: makes rte_is_pe true from here on, in this process alone. */
void rte_is_this_process(void);

/* end.c: returns true when the process has mapped this node's memory. Any thread, also in a signal handler. */
bool rte_shares_memory(int pid);

/* end.c: from here on keeps the status that the program passes to exit. */
void rte_note_exit(void);

/* Return the backend's table, or null after one line. */
const struct rte_backend *rte_pmi_open(struct rte_rank *place);
const struct rte_backend *rte_pmix_open(struct rte_rank *place);
const struct rte_backend *rte_host_open(struct rte_rank *place);

/* Return true when the environment names such a launcher. */
int rte_pmi_is_there(void);
int rte_pmi_is_open(void); /* true when its connection is open as well */
int rte_pmix_is_there(void);
int rte_host_is_there(void); /* the program has given a table instead */

/* Collective. Finds the PEs that can share memory with this one, makes or receives the memory, and fills rte.fd and
 * node_index. Returns 0, or -1 after one line. */
int rte_node_bootstrap(const struct rte_rank *place);

/* Collective, after rte_node_bootstrap. Tells the nodes of each other, and their lowest PEs what PE 0 has in `root`, NODE_ROUTES_BYTES. Returns
 * 0, or -1 after one line. */
int rte_nodes_learn(unsigned char *root);

/* Called when the process ends and nothing of the program runs any more. A finalized PE says goodbye to the launcher;
 * any other PE ends the job. Returns false, and does nothing, when the call is not the first one. */
bool rte_leave(void);

/* The functions that liblateral gives to liblateral-pmix.so, which does not link with liblateral. */
struct rte_module_calls {
    const char *version; /* LATERAL_VERSION; the module refuses another one */
    void (*log)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    bool (*leave)(void);
    void (*orphaned)(void); /* the launcher is gone */
};
typedef const struct rte_backend *rte_module_open(const struct rte_module_calls *calls, struct rte_rank *place);

/* Crashes: a PE that dies of a fault writes down where, in the node's memory, so that oshrun can tell after its death. */

/* Takes over SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, where the program has left them as they were; a handler that it
 * installs later takes its place. The process then dies of the signal as without it. Called once, by the thread that
 * initialises, after it has its seat. */
void rte_crash_watch(void);

#endif
