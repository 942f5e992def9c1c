/* The PEs of this job: who lives, and the verdict on each that ends.
 *
 * Used by the guard alone, in its one thread. A job goes on until every PE has ended; it is ended
 * early by job_end, which asks the PEs to go (SIGTERM) and, after a short grace, kills them. The
 * first reason wins: it decides the exit status, and later ones are silent. */
#ifndef LAUNCH_JOB_H
#define LAUNCH_JOB_H

#include "options.h"
#include "segment.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

struct job {
    const struct options *options;
    struct segment segment;
    char ***environments;    /* one per program */
    const sigset_t *signals; /* what PEs start with */
    struct rlimit files;     /* likewise */
    int null;                /* /dev/null, the input of all but PE 0 */
    pid_t *pids;             /* 0: not started or ended */
    uint32_t *pe_of;         /* by pid: PE plus 1; 0: none of ours */
    uint32_t started, alive;
    int status; /* of the job so far */
    bool ending;
    bool deserted;   /* a PE has ended well without ever using the library */
    int64_t kill_at; /* when grace is over; 0: not set */
};

/* Shared memory, environments, limits. Returns 0 or an exit status after one line. */
int job_prepare(struct job *job, const struct options *options, const sigset_t *signals);
/* Starts the next PE; after a failure the job is ending. */
void job_start_next(struct job *job);
/* Reaps every dead child and judges those that were PEs. */
void job_reap(struct job *job);
/* After a PE left without using the library: ends the job if others wait for it. */
void job_check_deserted(struct job *job);
void job_end(struct job *job, int status);
void job_signal(const struct job *job, int signal);
/* Grace is over. */
void job_kill(struct job *job);

#endif
