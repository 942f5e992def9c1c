/* The PEs of this job: which are alive, and the verdict on each that ends.
 *
 * Only the supervisor uses it, in its one thread. A job goes on until every PE has ended. job_end ends it early: it asks the
 * PEs to go (SIGTERM), and after a short grace the supervisor kills them. The first reason wins: it decides the exit status,
 * and later ones are silent. */
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
    struct view view;
    char ***environments;    /* one per program */
    const sigset_t *signals; /* the mask that PEs start with */
    struct rlimit files;     /* the file limit that they start with */
    const char *score;       /* their oom_score_adj */
    uint32_t *pe_of;         /* by pid: PE plus 1; 0: not one of ours */
    uint32_t started, alive;
    int status; /* of the job so far */
    bool ending;
    bool deserted;   /* a PE has ended well without ever using the library */
    int64_t kill_at; /* end of the grace time; 0: not set */
};

static inline struct app *job_app(const struct job *job, uint32_t pe)
{
    return &job->options->apps[job->view.node->pe[pe].app];
}

/* Makes shared memory, environments and limits. Returns 0, or an exit status after one line. */
int job_prepare(struct job *job, const struct options *options, const sigset_t *signals);
/* Starts the next PE. After a failure the job is ending. */
void job_start_next(struct job *job);
/* Reaps every dead child and judges those that were PEs. */
void job_reap(struct job *job);
/* Ends the job if other PEs wait for a PE that left without using the library. */
void job_check_deserted(struct job *job);
void job_end(struct job *job, int status);
/* Kills all PEs when the grace time is over. */
void job_kill(struct job *job);

#endif
