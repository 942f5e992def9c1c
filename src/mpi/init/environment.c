/* The MPI as the substrate's environment: values travel at each fence between one rank of each machine, which shares them with the ranks
 * there.
 *
 * put and fence: one thread at a time. get: any thread, also during a fence. */
#include "mpi/init/init.h"

#include "mpi/core/process.h"
#include "mpi/core/real.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct record {
    uint32_t rank, key_bytes, bytes; /* of key, with its final zero, and value; both follow */
};

struct round { /* what all ranks have told at one fence, constant */
    struct round *next;
    char *
        at; /* for each rank a uint32_t, where its first record begins, or 0; then the records of all, machine by machine */
    size_t bytes;
};

/* Where the first rank of a machine has the memory of a round. */
struct shared {
    uint64_t bytes, device, inode;
    int32_t pid, fd;
};

static struct {
    char *unsent; /* records that the next fence tells */
    int bytes;
    struct round *rounds; /* the newest first; under lock */
    pthread_mutex_t lock;
    MPI_Comm machine, firsts; /* the ranks of this machine; the first of each, null at others */
    bool ended;
    bool failed; /* a rank cannot start, as all know since the same fence */
} exchange = {.lock = PTHREAD_MUTEX_INITIALIZER, .machine = MPI_COMM_NULL, .firsts = MPI_COMM_NULL};

static int put_value(void *self, const char *key, const void *value, size_t bytes)
{
    (void)self;
    struct record record = {(uint32_t)lmpi_process.rank, (uint32_t)strlen(key) + 1, (uint32_t)bytes};
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

/* The other ranks would wait for ever. */
static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void check(int status)
{
    exchange.failed |= status != MPI_SUCCESS;
}

/* Collective. Returns whether all ranks go on, and the most bytes that one has to tell. */
static bool all_go_on(bool mine, int *most)
{
    const int vote[] = {!mine, exchange.bytes};
    int all[2] = {0};
    if (!exchange.failed)
        check(PMPI_Allreduce(vote, all, 2, MPI_INT, MPI_MAX, lmpi_process.comm));
    exchange.failed |= all[0];
    *most = all[1];
    return !exchange.failed;
}

/* Collective, once: makes the communicators. Returns this rank's number on its machine. */
static int find_machine(void)
{
    int rank = 0;
    const bool found = exchange.machine != MPI_COMM_NULL;
    if (!found)
        check(PMPI_Comm_split_type(lmpi_process.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &exchange.machine));
    check(PMPI_Comm_rank(exchange.machine, &rank));
    if (!found)
        check(PMPI_Comm_split(lmpi_process.comm, rank ? MPI_UNDEFINED : 0, 0, &exchange.firsts));
    return rank;
}

/* Collective. Returns the bytes of each rank of `comm`, and behind them where they begin among all, whose number it stores. */
static int *gather_sizes(MPI_Comm comm, int bytes, int *ranks, int *sum)
{
    PMPI_Comm_size(comm, ranks);
    int *sizes = must(calloc(2 * (size_t)*ranks, sizeof *sizes));
    check(PMPI_Allgather(&bytes, 1, MPI_INT, sizes, 1, MPI_INT, comm));
    *sum = 0;
    for (int i = 0; i < *ranks; *sum += sizes[i++])
        sizes[*ranks + i] = *sum;
    return sizes;
}

/* Notes where the records of each rank begin. Those of one rank follow each other. */
static void index_records(struct round *round)
{
    uint32_t *starts = (uint32_t *)round->at;
    struct record record;
    for (size_t at = (size_t)lmpi_process.ranks * sizeof *starts; at < round->bytes && !exchange.failed;
         at += sizeof record + record.key_bytes + record.bytes) {
        memcpy(&record, round->at + at, sizeof record);
        if (!starts[record.rank])
            starts[record.rank] = (uint32_t)at;
    }
}

/* Maps memory of a file, or of this process alone (-1). Returns null when it cannot. */
static void *map_bytes(size_t bytes, int fd, int rights)
{
    void *at = mmap(0, bytes, rights, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? 0 : at;
}

/* Collective over the first ranks of machines: gathers what these tell. Returns the descriptor of the round's memory, or -1. */
static int gather_round(struct round *round, const char *mine, int bytes)
{
    const size_t head = (size_t)lmpi_process.ranks * sizeof(uint32_t);
    int ranks, sum, *sizes = gather_sizes(exchange.firsts, bytes, &ranks, &sum);
    int fd = memfd_create("lateral-values", MFD_CLOEXEC);
    round->bytes = head + (size_t)sum;
    if (fd >= 0 && ftruncate(fd, (off_t)round->bytes) != 0) {
        close(fd);
        fd = -1;
    }
    round->at = must(map_bytes(round->bytes, fd, PROT_READ | PROT_WRITE));
    check(PMPI_Allgatherv(mine, bytes, MPI_BYTE, round->at + head, sizes, sizes + ranks, MPI_BYTE, exchange.firsts));
    free(sizes);
    index_records(round);
    return fd;
}

/* Returns the memory of the first rank, or null when it cannot be had: in another namespace its numbers mean another file. */
static void *find_round(const struct shared *shared)
{
    char path[64];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)shared->pid, (int)shared->fd);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool same = fd >= 0 && fstat(fd, &file) == 0 && file.st_ino == shared->inode && file.st_dev == shared->device;
    void *at = same ? map_bytes(shared->bytes, fd, PROT_READ) : 0;
    if (fd >= 0)
        close(fd);
    return at;
}

/* Collective on a machine: all map the first rank's memory, or all get a copy. */
static void share_round(struct round *round, int rank, int fd)
{
    struct stat file = {0};
    struct shared shared = {.bytes = round->bytes, .pid = getpid(), .fd = fd};
    if (fd >= 0 && fstat(fd, &file) == 0)
        shared.device = file.st_dev, shared.inode = file.st_ino;
    check(PMPI_Bcast(&shared, sizeof shared, MPI_BYTE, 0, exchange.machine));
    round->bytes = shared.bytes;
    if (rank)
        round->at = find_round(&shared);
    int mine = round->at != 0, all = 0;
    check(PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, exchange.machine));
    if (!all && rank) {
        if (round->at)
            munmap(round->at, round->bytes);
        round->at = must(map_bytes(round->bytes, -1, PROT_READ | PROT_WRITE));
    }
    if (!all)
        check(PMPI_Bcast(round->at, (int)round->bytes, MPI_BYTE, 0, exchange.machine));
}

/* Collective: what all ranks tell. */
static struct round *make_round(void)
{
    struct round *round = must(calloc(1, sizeof *round));
    const int rank = find_machine();
    int ranks, sum, fd = -1, *sizes = gather_sizes(exchange.machine, exchange.bytes, &ranks, &sum);
    char *all = must(malloc(rank ? 1 : (size_t)sum + 1));
    check(PMPI_Gatherv(exchange.unsent, exchange.bytes, MPI_BYTE, all, sizes, sizes + ranks, MPI_BYTE, 0,
                       exchange.machine));
    free(sizes);
    if (rank == 0)
        fd = gather_round(round, all, sum);
    free(all);
    share_round(round, rank, fd);
    if (fd >= 0)
        close(fd);
    return round;
}

static int fence_values(void *self)
{
    (void)self;
    int most;
    if (exchange.ended || !all_go_on(true, &most))
        return -1;
    struct round *round = most ? make_round() : 0;
    pthread_mutex_lock(&exchange.lock);
    if (round) {
        round->next = exchange.rounds;
        exchange.rounds = round;
    }
    pthread_mutex_unlock(&exchange.lock);
    free(exchange.unsent);
    exchange.unsent = 0;
    exchange.bytes = 0;
    return exchange.failed ? -1 : 0;
}

static bool find_record(const struct round *round, uint32_t rank, const char *key, void **value, size_t *bytes)
{
    struct record record;
    for (size_t at = ((const uint32_t *)round->at)[rank]; at && at < round->bytes;
         at += sizeof record + record.key_bytes + record.bytes) {
        memcpy(&record, round->at + at, sizeof record);
        const char *name = round->at + at + sizeof record;
        if (record.rank != rank)
            break;
        if (strcmp(name, key) != 0)
            continue;
        *value = malloc(record.bytes + 1);
        *bytes = record.bytes;
        if (*value)
            memcpy(*value, name + record.key_bytes, record.bytes);
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
        found = find_record(at, (uint32_t)rank, key, value, bytes);
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
    int most;
    return good ? fence_values(0) == 0 : all_go_on(false, &most);
}

bool lmpi_environment_tell(const char *key, const void *value, size_t bytes)
{
    return put_value(0, key, value, bytes) == 0;
}

size_t lmpi_environment_ask(int rank, const char *key, void *value, size_t room)
{
    void *copy = 0;
    size_t bytes = 0;
    if (get_value(0, rank, key, &copy, &bytes) != 0 || bytes > room)
        bytes = 0;
    if (bytes)
        memcpy(value, copy, bytes);
    free(copy);
    return bytes;
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
        munmap(round->at, round->bytes);
        free(round);
    }
    if (exchange.firsts != MPI_COMM_NULL)
        PMPI_Comm_free(&exchange.firsts);
    if (exchange.machine != MPI_COMM_NULL)
        PMPI_Comm_free(&exchange.machine);
}
