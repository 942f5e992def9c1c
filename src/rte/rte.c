#include "rte/rte.h"

#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct rte rte = {.fd = -1};
static pid_t own_pid;

static int map_head(void)
{
    struct node *head = mmap(0, sizeof *head, PROT_READ, MAP_SHARED, rte.fd, 0);
    if (head == MAP_FAILED)
        return -1;
    size_t bytes = node_groups_at(head->size);
    bool valid = head->magic == NODE_MAGIC && (uint32_t)rte.node_index < head->size;
    munmap(head, sizeof *head);
    if (!valid)
        return errno = EPROTO, -1;
    rte.node = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, 0);
    return rte.node == MAP_FAILED ? -1 : 0;
}

/* A later life of the library in the same process. */
static int come_back(void)
{
    atomic_store_release(&rte.me->state, NODE_RUNNING);
    return 0;
}

int rte_init(void)
{
    if (rte.node)
        return come_back();
    const char *job = env_text(ENV_JOB);
    if ((*job ? rte_local_open(job) : rte_self_open()) != 0)
        return -1;
    if (map_head() != 0) {
        log_line("cannot map the job's memory: %s", strerror(errno));
        return -1;
    }
    fcntl(rte.fd, F_SETFD, FD_CLOEXEC);
    unsetenv("LATERAL_JOB"); /* programs that a PE starts are jobs of their own */
    rte.node_size = (int)rte.node->size;
    rte.node_first = (int)rte.node->first;
    rte.npes = (int)rte.node->total;
    rte.pe = rte.node_first + rte.node_index;
    rte.me = &rte.node->pe[rte.node_index];
    log_identity(rte.pe);
    if (atomic_load_relaxed(&rte.me->state) != NODE_STARTED) {
        log_line("this PE was already used by another process; start one OpenSHMEM program per PE");
        return -1;
    }
    own_pid = getpid();
    rte.me->pid = own_pid;
    atomic_store_release(&rte.me->state, NODE_RUNNING); /* acquire: launcher */
    return 0;
}

/* False when the time is over; null waits for ever. */
static bool futex_sleep(uint32_t *word, uint32_t seen, const struct timespec *end)
{
    return syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, end, 0, FUTEX_BITSET_MATCH_ANY) == 0 || errno != ETIMEDOUT;
}

static void futex_wake_all(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}

/* The last to arrive resets the count before it opens the next round (release), so a PE that
 * comes back at once (acquire of round) counts from zero. */
static bool meet(void (*last)(void *), void *argument, const struct timespec *end)
{
    struct node *node = rte.node;
    uint32_t round = atomic_load_acquire(&node->round);
    if (atomic_fetch_add_acqrel(&node->arrived, 1) + 1 == node->size) {
        if (last)
            last(argument);
        atomic_store_relaxed(&node->arrived, 0);
        atomic_store_release(&node->round, round + 1);
        futex_wake_all(&node->round);
        return true;
    }
    while (atomic_load_acquire(&node->round) == round) /* a signal or a spurious wake looks again */
        if (!futex_sleep(&node->round, round, end))
            return false;
    return true;
}

void rte_node_barrier(void)
{
    meet(0, 0, 0);
}

void rte_node_barrier_last(void (*last)(void *), void *argument)
{
    meet(last, argument, 0);
}

bool rte_node_barrier_within(int seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    return meet(0, 0, &end);
}

void rte_finalize(void)
{
    atomic_store_release(&rte.me->state, NODE_FINALISED); /* acquire: launcher */
}

bool rte_is_pe(void)
{
    return own_pid == getpid();
}

void rte_claim_end(enum node_ending how, int status)
{
    uint32_t none = NODE_GOES_ON;
    if (rte.node && atomic_cas_acqrel(&rte.node->ending, &none, NODE_ENDING_CLAIMED)) {
        rte.node->end_status = status;
        rte.node->end_pe = rte.pe;
        atomic_store_release(&rte.node->ending, how); /* acquire: launcher */
    }
}

_Noreturn void rte_abort(int status)
{
    rte_claim_end(NODE_ABORTED, status);
    _exit(status);
}
