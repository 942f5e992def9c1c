/* Decides whether a job runs on this machine, or on hosts that a launcher of the system reaches. main asks before it
 * starts anything, and calls delegate in the second case. */
#ifndef LAUNCH_HOSTS_H
#define LAUNCH_HOSTS_H

#include "options.h"

struct host {
    char *name;
    uint32_t slots; /* PEs to start there before the next host is used */
};

struct hosts {
    struct host *host;
    size_t count;
    bool counted; /* some host came with a number of slots */
    bool slurm;   /* in a Slurm allocation of several nodes */
};

/* Reads the hosts that the options name and settles the number of PEs. Returns true when the job runs on other hosts.
 * Exits after a mistake. */
bool hosts_elsewhere(struct options *options, struct hosts *hosts);
void hosts_free(struct hosts *hosts);

/* Returns the list in the form of --host, with or without ":slots" behind each name. */
char *hosts_list(const struct hosts *hosts, bool slots);
/* Returns the list of `count` slots from number `first` on. */
char *hosts_slice(const struct hosts *hosts, uint32_t first, uint32_t count);

/* Jobs on other hosts: a launcher that reaches them takes over, and oshrun stays in front of it. One thread. */

#define FRONT_VARIABLE \
    "LATERAL_JOB" /* the place where PE 0's watcher calls the oshrun in front, for all PEs of the job */

/* Opens the place where PE 0's watcher will call oshrun, and puts it into the environment (LATERAL_JOB). Before front_run. `calls`: by which
 * PEs start, for lines. */
void front_open(const char *calls);

/* Runs the launcher with these words. It stays in oshrun's process group, so a terminal's signals reach both. Returns the exit status
 * of the job: the one that a watcher has told, else the launcher's. */
int front_run(char **words, const struct options *options);

/* Runs a launcher for lateral-mpi, which starts oshrun with these words: FRONT_FOR_MPI, the limit of time, the launcher's own. The place
 * bears a key, so it travels in the environment alone, where other users do not see it. Exits as the launcher does. */
#define FRONT_FOR_MPI "lateral-front"
_Noreturn void front_for_mpi(char **words);

/* Runs the job by a launcher and exits as it ends, or exits with one line when there is none. */
_Noreturn void delegate(const struct options *options, const struct hosts *hosts);

#endif
