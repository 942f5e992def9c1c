/* The MPI as the substrate's environment: values travel by an allgather at each fence, and every process keeps them.
 *
 * put and fence: one thread at a time. get: any thread, also during a fence. */
#include "mpi/init/init.h"

#include "mpi/core/process.h"
#include "mpi/core/real.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct record {
    uint32_t key_bytes, bytes; /* of key, with its final zero, and value; both follow */
};

enum { STARTED = -1, FAILED = -2 }; /* in place of the bytes of a fence: this rank's start is over */

struct round { /* what all ranks have told at one fence */
    struct round *next;
    int *starts, *sizes; /* of each rank's records in bytes */
    char *bytes;
};

static struct {
    char *unsent; /* records that the next fence tells */
    int bytes;
    struct round *rounds; /* the newest first; under lock */
    pthread_mutex_t lock;
    bool ended;
    bool failed; /* a rank cannot start, as all know since the same fence */
} exchange = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int put_value(void *self, const char *key, const void *value, size_t bytes)
{
    (void)self;
    struct record record = {(uint32_t)strlen(key) + 1, (uint32_t)bytes};
    size_t more = sizeof record + record.key_bytes + bytes;
    char *grown = more < INT32_MAX / 2 ? realloc(exchange.unsent, (size_t)exchange.bytes + more) : 0;
    if (!grown)
        return -1;
    exchange.unsent = grown;
    grown += exchange.bytes;
    memcpy(grown, &record, sizeof record);
    memcpy(grown + sizeof record, key, record.key_bytes);
    memcpy(grown + sizeof record + record.key_bytes, value, bytes);
    exchange.bytes += (int)more;
    return 0;
}

static void free_round(struct round *round)
{
    free(round->starts);
    free(round->bytes);
    free(round);
}

/* Returns what all ranks tell, or null. */
static struct round *gather_round(void)
{
    size_t ranks = (size_t)lmpi_process.ranks;
    struct round *round = calloc(1, sizeof *round);
    int *numbers = malloc(2 * ranks * sizeof *numbers), all = 0;
    if (!round || !numbers)
        abort(); /* the other ranks would wait for ever */
    round->starts = numbers;
    round->sizes = numbers + ranks;
    int status = PMPI_Allgather(&exchange.bytes, 1, MPI_INT, round->sizes, 1, MPI_INT, lmpi_process.comm);
    for (size_t i = 0; i < ranks && status == MPI_SUCCESS; i++) {
        exchange.failed |= round->sizes[i] == FAILED;
        round->starts[i] = all;
        all += round->sizes[i];
    }
    if (!exchange.failed && !(round->bytes = malloc((size_t)all + 1)))
        abort();
    if (status == MPI_SUCCESS && all && !exchange.failed)
        status = PMPI_Allgatherv(exchange.unsent, exchange.bytes, MPI_BYTE, round->bytes, round->sizes, round->starts,
                                 MPI_BYTE, lmpi_process.comm);
    if (status == MPI_SUCCESS && round->bytes)
        return round;
    free_round(round);
    return 0;
}

static int fence_values(void *self)
{
    (void)self;
    struct round *round = exchange.ended ? 0 : gather_round();
    if (!round)
        return -1;
    pthread_mutex_lock(&exchange.lock);
    round->next = exchange.rounds;
    exchange.rounds = round;
    pthread_mutex_unlock(&exchange.lock);
    free(exchange.unsent);
    exchange.unsent = 0;
    exchange.bytes = 0;
    return 0;
}

static bool find_record(const struct round *round, int rank, const char *key, void **value, size_t *bytes)
{
    const char *at = round->bytes + round->starts[rank], *end = at + round->sizes[rank];
    while (at < end) {
        struct record record;
        memcpy(&record, at, sizeof record);
        const char *name = at + sizeof record, *data = name + record.key_bytes;
        at = data + record.bytes;
        if (strcmp(name, key) != 0)
            continue;
        *value = malloc(record.bytes + 1);
        *bytes = record.bytes;
        if (*value)
            memcpy(*value, data, record.bytes);
        return *value != 0;
    }
    return false;
}

static int get_value(void *self, int rank, const char *key, void **value, size_t *bytes)
{
    (void)self;
    bool found = false;
    pthread_mutex_lock(&exchange.lock);
    for (const struct round *at = exchange.rounds; at && !found; at = at->next)
        found = find_record(at, rank, key, value, bytes);
    pthread_mutex_unlock(&exchange.lock);
    return found ? 0 : -1;
}

static void end_job(void *self, int status)
{
    (void)self;
    if (!exchange.ended)
        PMPI_Abort(MPI_COMM_WORLD, status);
}

static int is_ending(void *self)
{
    (void)self;
    return lmpi_process.aborting || lmpi_process.why_not; /* a start that came to nothing ends nothing */
}

LMPI_EXPORT int MPI_Abort(MPI_Comm comm, int code)
{
    lmpi_process.aborting = true; /* the MPI says what there is to say */
    return lmpi_real.Abort(comm, code);
}
LMPI_NAME(Abort);

bool lmpi_environment_agree(bool good)
{
    const int mine = good ? STARTED : FAILED;
    int *all = malloc((size_t)lmpi_process.ranks * sizeof *all);
    if (!all)
        abort(); /* the other ranks would wait for ever */
    if (!exchange.failed)
        exchange.failed = PMPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, lmpi_process.comm) != MPI_SUCCESS;
    for (int i = 0; i < lmpi_process.ranks && !exchange.failed; i++)
        exchange.failed = all[i] == FAILED;
    free(all);
    return !exchange.failed;
}

bool lmpi_environment_failed(void)
{
    return exchange.failed;
}

int lmpi_environment_embed(void)
{
    const struct uccs_environment table = {
        .size = sizeof table,
        .rank = lmpi_process.rank,
        .ranks = lmpi_process.ranks,
        .put = put_value,
        .fence = fence_values,
        .get = get_value,
        .abort = end_job,
        .ending = is_ending,
    };
    return uccs_embed(&table);
}

void lmpi_environment_end(void)
{
    uccs_embed(0);
    exchange.ended = true;
    while (exchange.rounds) {
        struct round *round = exchange.rounds;
        exchange.rounds = round->next;
        free_round(round);
    }
}
