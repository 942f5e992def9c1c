/* A program that is a parallel job already, such as an MPI program, is the environment: its table (uccs_embed) takes the
 * launcher's place, and no launcher is asked. The PEs of a machine meet as under other launchers.
 *
 * One thread at a time calls rte_host_bootstrap, outside of a life. */
#include "base/log.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <uccs.h>

#include <stdio.h>
#include <string.h>

static struct uccs_environment environment;
static bool embedded, gone; /* gone: its owner has ended, and no function of it may be called */

static bool ending(void)
{
    return !gone && environment.ending && environment.ending(environment.self);
}

static int complain_of_host(const char *what)
{
    if (!ending())
        log_line("the program that embeds this library (uccs_embed) %s: %s",
                 gone ? "has ended its environment" : "failed", what);
    return -1;
}

static int host_put(const char *key, const void *value, size_t bytes)
{
    return !gone && environment.put(environment.self, key, value, bytes) == 0 ? 0 : complain_of_host(key);
}

static int host_get(int pe, const char *key, void **value, size_t *bytes)
{
    return !gone && environment.get(environment.self, pe, key, value, bytes) == 0 ? 0 : complain_of_host(key);
}

/* The environment has no limit of time, so this waits until all PEs have come. */
static int host_fence(int seconds, pthread_mutex_t *held)
{
    (void)seconds;
    pthread_mutex_unlock(held);
    int status = gone ? -1 : environment.fence(environment.self);
    pthread_mutex_lock(held);
    return status == 0 ? 0 : complain_of_host("fence");
}

/* Returns -1 when the environment's abort comes back, so that the caller ends the node itself. */
static int end_job(int status)
{
    if (!gone)
        environment.abort(environment.self, status);
    return -1;
}

/* The owner says goodbye to its launcher itself. */
static void host_finish(void) {}

static const struct rte_backend backend =
    {"an embedding program", host_put, host_get, host_fence, end_job, host_finish, ending, 0, 0};

int rte_host_bootstrap(const struct uccs_environment *table)
{
    if (!table) {
        gone = embedded;
        embedded = rte.node && embedded;
        return 0;
    }
    if (rte.node) /* this process has its place already, for all its lives */
        return -1;
    environment = *table;
    embedded = true;
    gone = false;
    return 0;
}

int rte_host_is_there(void)
{
    return embedded;
}

const struct rte_backend *rte_host_open(struct rte_rank *place)
{
    *place = (struct rte_rank){.pe = environment.rank, .npes = environment.ranks, .job = "embedded"};
    rte.embedded = true;
    return &backend;
}
