/* How this PE and its job end: a PE claims the end, tells the launcher, and ends the node itself when the launcher does
 * not. */
#include "base/log.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_TO_SEE 6  /* time for a launcher to notice by itself that a host is lost */
#define SECONDS_TO_END 12 /* time for it to end a PE that has asked for the end, or knows that another has */

void (*rte_on_end)(void);
static int exit_status; /* the status that the program passes to exit */

void rte_finalize(void)
{
    atomic_store_release(&rte.me->state, NODE_FINALISED); /* acquire: launcher */
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
        int pid = atomic_load_relaxed(&pe->pid); /* read once: any PE may write it */
        if (i != rte.node_index && atomic_load_acquire(&pe->state) == NODE_RUNNING && rte_shares_memory(pid))
            kill(pid, SIGKILL);
    }
    _exit(rte.node->end_status ? rte.node->end_status : LAT_EXIT);
}

_Noreturn void rte_end_orphans(void)
{
    if (!rte_ending())
        log_line("the launcher is gone: the PEs of this host end");
    rte_end_node();
}

void rte_look_for_launcher(void)
{
    struct pollfd launcher = {.fd = rte_launcher_descriptor(), .events = POLLRDHUP};
    if (launcher.fd >= 0 && poll(&launcher, 1, 0) > 0)
        rte_end_orphans();
}

static void end_late(int unused)
{
    (void)unused;
    rte_end_node();
}

/* Ends the node, or this process while it has none, when the launcher has not done so in time. May run on any thread; one of the library's own may have
 * blocked all signals. */
static void limit_end(void)
{
    struct sigaction last = {.sa_handler = end_late};
    sigset_t alarms;
    if (!rte_backend)
        return; /* our launcher's guard is this process's parent */
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigaction(SIGALRM, &last, 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
    alarm(SECONDS_TO_END);
}

/* A launcher other than ours does not read the node's memory, so this PE must tell it how the job ends. */
_Noreturn void rte_abort(int status)
{
    rte_claim_end(NODE_ABORTED, status);
    limit_end();
    if (rte_backend && rte_is_pe() && rte_backend->abort(status) != 0)
        rte_end_node();
    _exit(status);
}

/* Open MPI's mpirun passes an abort on to the lost host and waits for its answer for ever, unless it has noticed the
 * loss before. So this waits first. */
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

static void note_exit(int status, void *unused)
{
    (void)unused;
    exit_status = status;
}

void rte_note_exit(void)
{
    on_exit(note_exit, 0);
}

/* When a PE leaves without finalizing, its peers still wait for it, so the job must end. */
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
    if (rte_backend->abort(status) != 0)
        rte_end_node();
}

void rte_leave(void)
{
    static bool left;
    if (left || !rte_backend || !rte_is_pe())
        return;
    left = true;
    if (rte_backend->ending && rte_backend->ending())
        return;
    if (rte.me && atomic_load_relaxed(&rte.me->state) == NODE_FINALISED)
        rte_backend->finish();
    else
        leave_early();
}

/* For backends without a module. A module's destructor runs before those of its libraries; this one may run later. */
__attribute__((destructor)) static void leave_at_last(void)
{
    rte_leave();
}
