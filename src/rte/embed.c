/* A program that is a parallel job already, such as an MPI program, is the environment: its table (uccs_embed) takes the
 * launcher's place, and no launcher is asked. The PEs of a machine meet as under other launchers.
 *
 * One thread at a time calls rte_embed, outside of a life. */
#include "base/log.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <uccs.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define JOB_KEY "lateral-job" /* rank 0 puts the job's name under it */

static struct uccs_environment environment;
static bool embedded, gone; /* gone: its owner has ended, and no function of it may be called */

static int complain(const char *what)
{
    log_line("the program that embeds this library (uccs_embed) %s: %s", gone ? "has ended its environment" : "failed",
             what);
    return -1;
}

static int put(const char *key, const void *value, size_t bytes)
{
    return !gone && environment.put(environment.self, key, value, bytes) == 0 ? 0 : complain(key);
}

static int get(int pe, const char *key, void **value, size_t *bytes)
{
    return !gone && environment.get(environment.self, pe, key, value, bytes) == 0 ? 0 : complain(key);
}

/* The environment has no limit of time, so this waits until all PEs have come. */
static int fence(int seconds, pthread_mutex_t *held)
{
    (void)seconds;
    pthread_mutex_unlock(held);
    int status = gone ? -1 : environment.fence(environment.self);
    pthread_mutex_lock(held);
    return status == 0 ? 0 : complain("fence");
}

/* Returns -1 when the environment's abort comes back, so that the caller ends the node itself. */
static int end_job(int status)
{
    if (!gone)
        environment.abort(environment.self, status);
    return -1;
}

/* The owner says goodbye to its launcher itself. */
static void finish(void) {}

static bool ending(void)
{
    return !gone && environment.ending && environment.ending(environment.self);
}

static const struct rte_backend backend = {"an embedding program", put, get, fence, end_job, finish, ending, 0};

/* Rank 0 draws the name of the job; the others get it. Returns 0 or -1. */
static int agree_on_job(struct rte_place *place)
{
    uint64_t nonce[2];
    size_t bytes = 0;
    void *value = 0;
    if (place->pe == 0) {
        if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
            return complain(strerror(errno));
        snprintf(place->job, sizeof place->job, "embedded-%016llx%016llx", (unsigned long long)nonce[0],
                 (unsigned long long)nonce[1]);
        if (put(JOB_KEY, place->job, strlen(place->job) + 1) != 0)
            return -1;
    }
    if (environment.fence(environment.self) != 0)
        return complain("fence");
    if (place->pe == 0)
        return 0;
    if (get(0, JOB_KEY, &value, &bytes) != 0)
        return -1;
    bool whole = bytes > 0 && bytes <= sizeof place->job && !((char *)value)[bytes - 1];
    if (whole)
        memcpy(place->job, value, bytes);
    free(value);
    return whole ? 0 : complain(JOB_KEY);
}

int rte_embed(const struct uccs_environment *table)
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

int rte_embedded_is_there(void)
{
    return embedded;
}

const struct rte_backend *rte_embedded_open(struct rte_place *place)
{
    *place = (struct rte_place){.pe = environment.rank, .npes = environment.ranks};
    return agree_on_job(place) == 0 ? &backend : 0;
}
