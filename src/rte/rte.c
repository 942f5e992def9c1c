#include "rte/rte.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_TO_SEE 6  /* for a launcher to notice by itself that a host is lost */
#define SECONDS_TO_END 12 /* for it to end a PE that has asked for it, or knows that another has */

struct rte rte = {.fd = -1};
void (*rte_on_end)(void);
const struct rte_backend *rte_backend;
static pid_t own_pid;
static int exit_status; /* of the program, when it exits */

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
    head = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rte.fd, 0);
    if (head == MAP_FAILED)
        return -1;
    rte.node = head;
    return 0;
}

/* A later life of the library in the same process. */
static int come_back(void)
{
    atomic_store_release(&rte.me->state, NODE_RUNNING);
    return 0;
}

/* Which launcher started this process. The most special word first: ours is for this process alone. */
enum launcher { ALONE, OURS, PMIX, PMI, UNKNOWN };

/* Programs that a PE starts inherit the words of its launcher, but the place in the job is taken: they are jobs
 * of their own, unless another launcher comes between. */
static void name_place(char *text, size_t room)
{
    static const char *const words[] = {"PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD", "PMI_RANK", "PMI_PORT", "PMI_ID"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words && used < room; i++) {
        const char *word = getenv(words[i]);
        used += (size_t)snprintf(text + used, room - used, "/%s", word ? word : "");
    }
}

static bool place_is_taken(void)
{
    char place[512];
    const char *taken = getenv("LATERAL_TAKEN");
    name_place(place, sizeof place);
    return taken && strcmp(taken, place) == 0 && !rte_pmi_is_open();
}

static void take_place(void)
{
    char place[512];
    name_place(place, sizeof place);
    setenv("LATERAL_TAKEN", place, 1);
}

static enum launcher find_launcher(void)
{
    static const char *const names[] = {"alone", "oshrun", "pmix", "pmi"};
    const char *chosen = env_text(ENV_RTE);
    for (int i = 0; i < UNKNOWN; i++)
        if (strcmp(chosen, names[i]) == 0)
            return i;
    if (*chosen && strcmp(chosen, "auto") != 0)
        return UNKNOWN;
    if (*env_text(ENV_JOB))
        return OURS;
    if (place_is_taken())
        return ALONE;
    if (rte_pmi_is_open()) /* the innermost launcher: others close what they inherit */
        return PMI;
    if (rte_pmix_is_there())
        return PMIX;
    return rte_pmi_is_there() ? PMI : ALONE;
}

/* srun without --mpi=pmix or pmi2 would start as many jobs of one PE as it has tasks. */
static void warn_lonely(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS"), *number = getenv("SLURM_PROCID");
    if (tasks && number && atoi(tasks) > 1 && atoi(number) == 0)
        log_line("srun started %s tasks that know nothing of each other: each is a job of one PE; "
                 "use srun --mpi=pmix, srun --mpi=pmi2 or oshrun",
                 tasks);
}

static void note_exit(int status, void *unused)
{
    (void)unused;
    exit_status = status;
}

/* Ends the job where it fails: the other PEs would wait for this one. */
static int join(const struct rte_backend *backend, const struct rte_place *place)
{
    if (!backend)
        return -1;
    rte_backend = backend;
    own_pid = getpid();
    rte.pe = place->pe;
    log_identity(rte.pe);
    log_debug("started by a launcher that speaks %s: PE %d of %d, job %s", backend->name, place->pe, place->npes,
              place->job);
    on_exit(note_exit, 0);
    if (rte_meet(place) != 0)
        rte_abort(LAT_EXIT);
    return 0;
}

static int open_node(enum launcher launcher)
{
    struct rte_place place;
    if (launcher == PMIX || launcher == PMI)
        take_place(); /* before a module starts threads */
    switch (launcher) {
    case OURS: return rte_local_open(env_text(ENV_JOB));
    case PMIX: return join(rte_pmix_open(&place), &place);
    case PMI: return join(rte_pmi_open(&place), &place);
    case ALONE: warn_lonely(); return rte_self_open();
    case UNKNOWN: break;
    }
    log_line("LATERAL_RTE=%s is not one of auto, oshrun, pmix, pmi, alone", env_text(ENV_RTE));
    return -1;
}

static int take_seat(void)
{
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
    return rte_nodes_learn();
}

int rte_init(void)
{
    if (rte.node)
        return come_back();
    if (open_node(find_launcher()) != 0)
        return -1;
    fcntl(rte.fd, F_SETFD, FD_CLOEXEC);
    unsetenv("LATERAL_JOB"); /* programs that a PE starts are jobs of their own */
    int status = map_head();
    if (status != 0)
        log_line("cannot map the job's memory: %s", strerror(errno));
    else
        status = take_seat();
    if (status != 0 && rte_backend)
        rte_abort(LAT_EXIT);
    return status;
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

bool rte_claim_end(enum node_ending how, int status)
{
    uint32_t none = NODE_GOES_ON;
    if (!rte.node || !atomic_cas_acqrel(&rte.node->ending, &none, NODE_ENDING_CLAIMED))
        return false;
    rte.node->end_status = status;
    rte.node->end_pe = rte.pe;
    atomic_store_release(&rte.node->ending, how); /* acquire: launcher */
    if (rte_on_end)
        rte_on_end();
    return true;
}

bool rte_ending(void)
{
    return rte.node && atomic_load_acquire(&rte.node->ending) != NODE_GOES_ON; /* acqrel: rte_claim_end */
}

_Noreturn void rte_end_node(void)
{
    if (!rte.node)
        _exit(LAT_EXIT);
    for (int i = 0; i < rte.node_size; i++) {
        const struct node_pe *pe = &rte.node->pe[i];
        if (i != rte.node_index && atomic_load_acquire(&pe->state) == NODE_RUNNING)
            kill(pe->pid, SIGKILL);
    }
    _exit(rte.node->end_status ? rte.node->end_status : LAT_EXIT);
}

static void end_late(int unused)
{
    (void)unused;
    rte_end_node();
}

/* On whatever thread: one of the library's own may have blocked all signals. */
static void limit_end(void)
{
    struct sigaction last = {.sa_handler = end_late};
    sigset_t alarms;
    if (!rte_backend || !rte.node)
        return; /* our launcher's guard is this process's parent */
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigaction(SIGALRM, &last, 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
    alarm(SECONDS_TO_END);
}

/* A launcher other than ours does not read how the job ends, so it must be told. */
_Noreturn void rte_abort(int status)
{
    rte_claim_end(NODE_ABORTED, status);
    limit_end();
    if (rte_backend && rte_is_pe() && rte_backend->abort(status) != 0)
        rte_end_node();
    _exit(status);
}

/* Open MPI's mpirun would pass the word on to the lost host and wait for its answer for ever, unless it has noticed before. */
_Noreturn void rte_abandon(int status)
{
    rte_claim_end(NODE_ABORTED, status);
    limit_end();
    if (!rte_backend)
        _exit(status);
    nanosleep(&(struct timespec){.tv_sec = SECONDS_TO_SEE}, 0);
    if (rte_backend->abort(status) != 0)
        rte_end_node();
    for (;;)
        pause();
}

void rte_expect_end(void)
{
    rte_claim_end(NODE_ABORTED, LAT_EXIT);
    limit_end();
}

_Noreturn void rte_await_end(void)
{
    limit_end();
    for (;;)
        pause();
}

int rte_launcher_descriptor(void)
{
    return rte_backend && rte_backend->descriptor ? rte_backend->descriptor() : -1;
}

/* What a PE that has not finalized leaves behind are peers that wait for it. */
static void leave_early(void)
{
    bool asked = rte.node && atomic_load_acquire(&rte.node->ending) == NODE_GLOBAL_EXIT && rte.node->end_pe == rte.pe;
    int status = asked ? rte.node->end_status : exit_status ? exit_status : LAT_EXIT;
    if (!asked)
        log_line("left with exit status %d before shmem_finalize or uccs_finalize: the job ends", exit_status);
    fflush(0);
    if (!asked)
        rte_claim_end(NODE_ABORTED, status);
    limit_end();
    rte_backend->abort(status);
}

void rte_leave(void)
{
    static bool left;
    if (left || !rte_backend || !rte_is_pe())
        return;
    left = true;
    if (rte.me && atomic_load_relaxed(&rte.me->state) == NODE_FINALISED)
        rte_backend->finish();
    else
        leave_early();
}

/* For backends without a module; a module's destructor runs before its libraries' own, this one may not. */
__attribute__((destructor)) static void leave_at_last(void)
{
    rte_leave();
}
