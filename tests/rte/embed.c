#include "embed.h"

#include "rte/rte.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uccs.h>

#define RANKS 8
#define ROOM (1 << 20)

/* What the ranks share: values one behind another, under the lock. */
static struct shared {
    pthread_mutex_t lock;
    pthread_barrier_t barrier;
    int ranks, aborted; /* aborted: a status + 1 */
    pid_t rank[RANKS];
    size_t used;
    char values[ROOM];
} * shared;

struct value {
    int rank;
    char key[64];
    size_t bytes;
};

/* Ends this process, before there are ranks, when the system refuses what the job needs. */
static void need(int good)
{
    if (!good) {
        perror("contract: embed");
        exit(1);
    }
}

static size_t next_at(size_t at, size_t bytes)
{
    return at + ((sizeof(struct value) + bytes + 15) & ~(size_t)15);
}

static int embed_put(void *self, const char *key, const void *value, size_t bytes)
{
    int status = -1;
    pthread_mutex_lock(&shared->lock);
    struct value *head = (struct value *)(shared->values + shared->used);
    if (strlen(key) < sizeof head->key && next_at(shared->used, bytes) <= ROOM) {
        head->rank = *(int *)self;
        strcpy(head->key, key);
        head->bytes = bytes;
        memcpy(head + 1, value, bytes);
        shared->used = next_at(shared->used, bytes);
        status = 0;
    }
    pthread_mutex_unlock(&shared->lock);
    return status;
}

static int embed_get(void *self, int rank, const char *key, void **value, size_t *bytes)
{
    int status = -1;
    (void)self;
    pthread_mutex_lock(&shared->lock);
    for (size_t at = 0; at < shared->used && status != 0;) {
        const struct value *head = (struct value *)(shared->values + at);
        if (head->rank == rank && strcmp(head->key, key) == 0 && (*value = malloc(head->bytes + 1))) {
            *bytes = head->bytes;
            memcpy(*value, head + 1, head->bytes);
            status = 0;
        }
        at = next_at(at, head->bytes);
    }
    pthread_mutex_unlock(&shared->lock);
    return status;
}

static int embed_fence(void *self)
{
    (void)self;
    const int status = pthread_barrier_wait(&shared->barrier);
    return status == 0 || status == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : -1;
}

static void embed_abort(void *self, int status)
{
    (void)self;
    int none = 0;
    __atomic_compare_exchange_n(&shared->aborted, &none, status + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    _exit(status);
}

static void open_shared(int ranks)
{
    pthread_mutexattr_t lock;
    pthread_barrierattr_t barrier;
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(shared != MAP_FAILED);
    pthread_mutexattr_init(&lock);
    pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &lock);
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &barrier, (unsigned)ranks);
    shared->ranks = ranks;
}

/* Enters the namespace of a group, and makes it at first. In a user namespace there is no way back to the one where this began. */
static void enter_group(int group)
{
    static int space[RANKS];
    if (space[group])
        need(setns(space[group], CLONE_NEWIPC) == 0);
    else
        need(unshare(CLONE_NEWIPC) == 0 && (space[group] = open("/proc/self/ns/ipc", O_RDONLY | O_CLOEXEC)) > 0);
}

static int become_rank(int rank)
{
    static int self;
    self = rank;
    const struct uccs_environment table = {.size = sizeof table,
                                           .rank = rank,
                                           .ranks = shared->ranks,
                                           .put = embed_put,
                                           .fence = embed_fence,
                                           .get = embed_get,
                                           .abort = embed_abort,
                                           .self = &self};
    assert(uccs_embed(&table) == UCCS_OK);
    return -1;
}

static int status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Waits for the ranks. The first that fails ends all. */
static int wait_for_ranks(void)
{
    int first = 0, status;
    while (wait(&status) > 0 || errno == EINTR) {
        if (status_of(status) == 0 || first)
            continue;
        first = status_of(status);
        for (int i = 0; i < shared->ranks; i++)
            kill(shared->rank[i], SIGKILL);
    }
    return shared->aborted ? shared->aborted - 1 : first;
}

int embed_start(const char *groups)
{
    int group[RANKS], ranks = 0, several = 0;
    for (const char *at = groups; *at && ranks < RANKS; at += strcspn(at, ",") + (at[strcspn(at, ",")] != 0))
        several |= (group[ranks++] = atoi(at)) != 0;
    open_shared(ranks);
    for (int rank = 0; rank < ranks; rank++) {
        if (several)
            enter_group(group[rank]);
        pid_t rank_pid = fork();
        need(rank_pid >= 0);
        if (rank_pid == 0)
            return become_rank(rank);
        shared->rank[rank] = rank_pid;
    }
    return wait_for_ranks();
}
