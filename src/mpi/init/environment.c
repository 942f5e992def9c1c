/* The MPI as the substrate's environment: values travel at each fence between one rank of each machine, which shares them with the ranks
 * there. Those of neighbours differ in a few bytes, so they travel and lie there packed (base/pack.h).
 *
 * put and fence: one thread at a time. get: any thread, also during a fence. */
#include "mpi/init/init.h"

#include "base/file.h"
#include "base/pack.h"
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

enum { SHARE = 64 };

/* The records of neighbours on a machine, one stream for each, which follow. It begins at a multiple of SHARE. */
struct group {
    uint32_t bytes, ranks, first, step; /* packed bytes; ranks first, first + step, ... */
};

/* Where a rank's records are: its group begins at a multiple of SHARE, and the rest is its place there. */
struct place {
    uint32_t rank, at;
};

struct round { /* what all ranks have told at one fence, constant */
    struct round *next;
    char *at; /* groups, machine by machine; behind them the places of ranks that have told something, by rank */
    size_t bytes, groups_bytes;
};

/* Where the first rank of a machine has the memory of a round. */
struct shared {
    uint64_t bytes, groups_bytes, device, inode;
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
    const size_t whole = (size_t)exchange.bytes + more;
    char *grown = whole < PACK_STREAM ? realloc(exchange.unsent, whole) : 0;
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

static size_t round_up(size_t bytes)
{
    return (bytes + SHARE - 1) / SHARE * SHARE;
}

static uint32_t rank_of(const struct pack_stream *stream)
{
    struct record record;
    memcpy(&record, stream->at, sizeof record);
    return record.rank;
}

/* Returns how many ranks from the start tell something and have numbers of equal distance. */
static size_t count_group(const struct pack_stream *streams, size_t n, uint32_t *step)
{
    size_t ranks = 0;
    *step = n > 1 && streams[1].bytes ? rank_of(&streams[1]) - rank_of(&streams[0]) : 0;
    while (ranks < n && ranks < SHARE && streams[ranks].bytes &&
           rank_of(&streams[ranks]) == rank_of(&streams[0]) + ranks * *step)
        ranks++;
    return ranks;
}

/* Packs what the ranks of a machine tell. Returns memory that the caller frees, and stores its bytes. */
static char *pack_machine(const char *all, const int *sizes, size_t ranks, int *bytes)
{
    struct pack_stream *streams = must(calloc(ranks, sizeof *streams));
    char *groups = 0;
    size_t used = 0;
    for (size_t i = 0; i < ranks; i++)
        streams[i] = (struct pack_stream){(const unsigned char *)all + sizes[ranks + i], (size_t)sizes[i]};
    for (size_t i = 0, n, packed_bytes; i < ranks; i += n ? n : 1) {
        struct group group;
        if (!(n = count_group(streams + i, ranks - i, &group.step)))
            continue;
        unsigned char *packed = must(pack_streams(streams + i, n, &packed_bytes));
        const size_t whole = round_up(sizeof group + packed_bytes);
        group.bytes = (uint32_t)packed_bytes, group.ranks = (uint32_t)n, group.first = rank_of(&streams[i]);
        groups = must(realloc(groups, used + whole));
        memset(groups + used, 0, whole);
        memcpy(groups + used, &group, sizeof group);
        memcpy(groups + used + sizeof group, packed, packed_bytes);
        used += whole;
        free(packed);
    }
    free(streams);
    *bytes = (int)used;
    return groups;
}

static int compare_places(const void *one, const void *other)
{
    const struct place *a = one, *b = other;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Lists the places of ranks behind the groups. */
static void list_places(struct round *round)
{
    struct place *places = (struct place *)(round->at + round->groups_bytes);
    const struct group *group;
    size_t n = 0;
    for (size_t at = 0; at < round->groups_bytes && !exchange.failed; at += round_up(sizeof *group + group->bytes)) {
        group = (const struct group *)(round->at + at);
        for (uint32_t i = 0; i < group->ranks; i++)
            places[n++] = (struct place){group->first + i * group->step, (uint32_t)at | i};
    }
    qsort(places, n, sizeof *places, compare_places);
    round->bytes = round->groups_bytes + n * sizeof *places;
}

/* Maps memory of a file, or of this process alone (-1). Returns null when it cannot. */
static void *map_bytes(size_t bytes, int fd, int rights)
{
    void *at = mmap(0, bytes, rights, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? 0 : at;
}

/* Collective over the first ranks of machines: gathers what these tell. Returns the descriptor of the round's memory, or -1. Room that no place
 * needs takes no memory. */
static int gather_round(struct round *round, const char *mine, int bytes)
{
    int ranks, sum, *sizes = gather_sizes(exchange.firsts, bytes, &ranks, &sum);
    int fd = memfd_create("lateral-values", MFD_CLOEXEC);
    const size_t room = (size_t)sum + (size_t)lmpi_process.ranks * sizeof(struct place);
    round->groups_bytes = (size_t)sum;
    if (fd >= 0 && file_resize(fd, room) != 0) {
        close(fd);
        fd = -1;
    }
    round->at = must(map_bytes(room, fd, PROT_READ | PROT_WRITE));
    check(PMPI_Allgatherv(mine, bytes, MPI_BYTE, round->at, sizes, sizes + ranks, MPI_BYTE, exchange.firsts));
    free(sizes);
    list_places(round);
    mremap(round->at, room, round->bytes, 0); /* smaller, so where it is */
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
    struct shared shared = {round->bytes, round->groups_bytes, .pid = getpid(), .fd = fd};
    if (fd >= 0 && fstat(fd, &file) == 0)
        shared.device = file.st_dev, shared.inode = file.st_ino;
    check(PMPI_Bcast(&shared, sizeof shared, MPI_BYTE, 0, exchange.machine));
    round->bytes = shared.bytes, round->groups_bytes = shared.groups_bytes;
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
    if (rank == 0) {
        char *groups = pack_machine(all, sizes, (size_t)ranks, &sum);
        fd = gather_round(round, groups, sum);
        free(groups);
    }
    free(sizes);
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

/* Stores a copy of a value that the caller frees. Returns false when the rank has told none at that fence, and without memory. */
static bool find_record(const struct round *round, int rank, const char *key, void **value, size_t *bytes)
{
    const struct place wanted = {.rank = (uint32_t)rank}, *places = (struct place *)(round->at + round->groups_bytes);
    const struct place *place =
        bsearch(&wanted, places, (round->bytes - round->groups_bytes) / sizeof *places, sizeof *places, compare_places);
    const struct group *group = place ? (const struct group *)(round->at + place->at / SHARE * SHARE) : 0;
    struct record record;
    size_t used = 0;
    unsigned char *records =
        group ? pack_take((const unsigned char *)(group + 1), group->bytes, place->at % SHARE, &used) : 0;
    *value = 0;
    for (size_t at = 0; at < used && !*value; at += sizeof record + record.key_bytes + record.bytes) {
        memcpy(&record, records + at, sizeof record);
        const char *name = (const char *)records + at + sizeof record;
        *bytes = record.bytes;
        if (strcmp(name, key) == 0 && (*value = malloc(record.bytes + 1)))
            memcpy(*value, name + record.key_bytes, record.bytes);
    }
    free(records);
    return *value != 0;
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
