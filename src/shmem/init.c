/* Init and finalize: they nest, and after the last finalize the library may live again.
 *
 * Data flow of init: the substrate (src/uccs/life.h) -> heap, world team, default context -> running. Finalize goes
 * back the same way and ends with a barrier in which waiters sleep. A mutex guards the counts, so any thread may
 * nest. */
#include "base/atomic.h"
#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/check.h"
#include "shmem/place.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/coll/coll.h"
#include "uccs/core/fork.h"
#include "uccs/core/globals.h"
#include "uccs/life.h"
#include "uccs/core/wait.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECONDS_FOR_OTHERS 1 /* that may come to the end of the library, or not */

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
static int depth;            /* inits not yet finalized */
static bool started_old_way; /* start_pes, which counts once */

/* Makes standard output write whole lines, so that lines of different PEs do not tear each other. */
static void write_whole_lines(void)
{
    if (rte.launched && !isatty(STDOUT_FILENO))
        setvbuf(stdout, 0, _IOLBF, 0);
}

static void print_variables(void)
{
    for (int id = 0; id < ENV_COUNT; id++) {
        const struct env_variable *variable = env_describe((enum env_id)id);
        const char *from, *value = env_value((enum env_id)id, &from);
        printf("  %-22s %-12s %s%s%s\n      %s\n", variable->name, *value ? value : "-", from ? "(from " : "(default",
               from ? from : "", ")", variable->help);
    }
}

/* SHMEM_VERSION and SHMEM_INFO. */
static void print_info(void)
{
    bool version = env_flag(ENV_VERSION), info = env_flag(ENV_INFO);
    if (uccs_core.me != 0 || !(version || info))
        return;
    printf("Lateral " LATERAL_VERSION ", OpenSHMEM %d.%d\n", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
    if (info) {
        printf("Environment variables:\n");
        print_variables();
        const char *why = uccs_memory_why_private();
        printf("Global variables: %s%s\n", why ? "private: " : "symmetric", why ? why : "");
    }
    fflush(stdout);
}

static void tell_missing_layer(void)
{
    const char *line = uccs_core.me == 0 ? uccs_layers_missing() : 0;
    if (line)
        log_line("%s", line);
}

static int open_all(void)
{
    if (uccs_life_begin() != 0)
        return -1;
    if (uccs_coll_open(lat_fail_address) != 0 || lat_mem_open() != 0)
        return -1;
    lat_team_open();
    lat_ctx_default = (struct shmem_ctx_impl){.size = (uint32_t)uccs_core.npes, .stride = 1, .team = &lat_team_world};
    return 0;
}

static void finalize_at_exit(void);

/* A child of this PE, which has the exit handlers and destructors of its parent: shmem_finalize, and all that releases something, do
 * nothing there. */
static void become_child(void)
{
    lat_state = LAT_AFTER;
    lat_on_node = 0;
    depth = 0;
}

static int start_library(int requested)
{
    static bool hooked;
    if (open_all() != 0)
        return -1;
    lat_thread_level = requested;
    lat_state = LAT_RUNNING;
    lat_on_node = (int)uccs_core.pes == uccs_core.npes;
    if (!hooked) {
        hooked = true;
        rte_on_leave = finalize_at_exit;
        uccs_fork_become_child = become_child;
        write_whole_lines();
        print_info();
        tell_missing_layer();
    }
    return 0;
}

int lat_init_thread(int requested, int *provided)
{
    int status = 0;
    pthread_mutex_lock(&life);
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE)
        status = -1;
    else if (depth == 0)
        status = start_library(requested);
    if (status == 0) {
        depth++;
        *provided = lat_thread_level;
    }
    pthread_mutex_unlock(&life);
    return status;
}

void lat_init(void)
{
    int provided;
    if (lat_init_thread(SHMEM_THREAD_SINGLE, &provided) != 0)
        rte_abort(LAT_EXIT); /* the cause has been printed */
}

/* Programs of the old way have never finalized in exit handlers of their own: the end comes before those that they registered before
 * start_pes. */
static void finalize_old_way(int status, void *unused)
{
    (void)unused;
    if (status == 0 && rte_is_pe())
        finalize_at_exit();
}

void lat_start_pes(int npes)
{
    (void)npes;
    if (started_old_way || lat_state == LAT_RUNNING)
        return;
    started_old_way = true;
    lat_init();
    on_exit(finalize_old_way, 0);
}

static bool stop_library(int seconds)
{
    uccs_wait_tasks_finished();
    if (!seconds)
        uccs_coll_meet(false); /* peers may still need answers from here, which a sleeping barrier does not give */
    lat_team_close();
    lat_ctx_default = (struct shmem_ctx_impl){0};
    lat_mem_close();
    lat_state = LAT_AFTER;
    lat_on_node = 0;
    return uccs_life_end(seconds);
}

/* A plain exit finalizes, behind the exit handlers and destructors of the program: they may still call the library, and
 * finalize it. Programs that use start_pes need this; other programs may have forgotten to finalize, and
 * their peers may wait for them in other calls, so they wait only SECONDS_FOR_OTHERS for their peers. After an exit
 * with an error the launcher ends the job. */
static void finalize_at_exit(void)
{
    if (lat_state != LAT_RUNNING || rte_exit_status() != 0)
        return;
    lat_leave(0);
    if (stop_library(started_old_way ? 0 : SECONDS_FOR_OTHERS))
        return;
    log_line("exited without shmem_finalize, and the other PEs did not follow within %d s; call shmem_finalize "
             "on every PE",
             SECONDS_FOR_OTHERS);
    rte_abort(LAT_EXIT);
}

static void finalize_once(void)
{
    lat_require("shmem_finalize");
    if (depth > 1)
        lat_barrier_all();
    else if (!stop_library(rte_exit_status() ? SECONDS_FOR_OTHERS : 0))
        rte_end_exit(); /* in an exit with an error, of which the others know nothing */
    depth--;
}

/* Published programs finalize once more than they init, so a call after the last finalize does nothing. */
void lat_finalize(void)
{
    pthread_mutex_lock(&life);
    if (lat_state != LAT_AFTER)
        finalize_once();
    pthread_mutex_unlock(&life);
}

/* exit, not _exit: the standard wants the caller's normal termination. Only one thread may call exit, so a second
 * one that comes at the same time waits for the end of the process. After shmem_finalize the job ends as well: its other PEs
 * may be at work still. */
_Noreturn void lat_global_exit(int status)
{
    static uint32_t taken;
    if (lat_state == LAT_BEFORE || lat_leaves())
        lat_fail_state("shmem_global_exit");
    while (atomic_exchange_acqrel(&taken, 1))
        pause();
    rte_claim_end(NODE_GLOBAL_EXIT, status);
    lat_leave(status);
    lat_state = LAT_AFTER;
    lat_on_node = 0;
    rte_limit_exit(status);
    if (rte_in_exit())
        rte_go_on_exiting(status);
    exit(status);
}
