/* What a launcher offers, behind one table; for src/rte alone.
 *
 * self and local (our launcher) have everything in the node's memory and no table. pmi and pmix find out
 * who this process is, then the PEs of a machine meet there (meet.c) and share memory of their own.
 *
 * A backend's functions are called under one lock (exchange.c), which only fence gives away meanwhile. They log what is
 * wrong. */
#ifndef RTE_BACKEND_H
#define RTE_BACKEND_H

#include <pthread.h>
#include <stddef.h>

#define RTE_JOB_BYTES 256

struct rte_place {
    int pe, npes;
    char job[RTE_JOB_BYTES]; /* the same in all PEs of a job, and no other job's */
};

struct rte_backend {
    const char *name;
    int (*put)(const char *key, const void *value, size_t bytes);
    int (*get)(int pe, const char *key, void **value, size_t *bytes); /* the value is malloc'ed */
    /* Every PE; shows what was put before it; 1: not in time (0: no limit). Waits without the lock it was called under: a
     * PE that has not come yet may wait for an answer of mine, and for that a thread of mine may have to get. */
    int (*fence)(int seconds, pthread_mutex_t *held);
    int (*abort)(int status); /* asks the launcher to end every PE; -1: it does not hear */
    void (*finish)(void);     /* the last word to the launcher */
    int (*descriptor)(void);  /* hangs up when the launcher is gone; null: it sees to its PEs' end itself */
};

/* Null until a backend is open; constant from then on. */
extern const struct rte_backend *rte_backend;

/* Calls the launcher's fence under the lock of exchange.c and returns what it returns. */
int rte_backend_fence(int seconds);

/* rte.c: from here on rte_is_pe is true, in this process alone. */
void rte_is_this_process(void);

/* end.c: keeps the status that the program passes to exit, for rte_leave. */
void rte_note_exit(void);

/* 0, or -1 after one line. self and local fill rte.fd, node_index, launched. */
int rte_self_open(void);
int rte_local_open(const char *job);

/* These give their table, or null after one line. */
const struct rte_backend *rte_pmi_open(struct rte_place *place);
const struct rte_backend *rte_pmix_open(struct rte_place *place);

/* True when the environment tells of such a launcher. */
int rte_pmi_is_there(void);
int rte_pmi_is_open(void); /* its connection is there too */
int rte_pmix_is_there(void);

/* Collective: finds the PEs that can share memory with this one, makes or receives the memory, and
 * fills rte.fd and node_index. 0, or -1 after one line. */
int rte_meet(const struct rte_place *place);

/* Collective, after rte_meet: tells the nodes of each other. 0, or -1 after one line. */
int rte_nodes_learn(void);

/* The process ends: a finalized PE says goodbye, any other ends the job. Called when nothing of the
 * program runs any more; a second call does nothing. */
void rte_leave(void);

/* What liblateral-pmix.so is given, since it links with nothing of liblateral. */
struct rte_module_calls {
    const char *version; /* LATERAL_VERSION; another one is refused */
    void (*log)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    void (*leave)(void);
};
typedef const struct rte_backend *rte_module_open(const struct rte_module_calls *calls, struct rte_place *place);

#endif
