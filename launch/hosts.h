/* Where a job runs: on this machine, or on hosts that a launcher of the system reaches.
 *
 * hosts_hand_over decides before anything is started (hosts.c reads who is named); handover.c finds the
 * launcher and becomes it. */
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
    bool slurm; /* in a Slurm allocation of several nodes */
};

/* Returns when the job runs on this machine; otherwise it does not return. */
void hosts_hand_over(struct options *options);

/* handover.c: replaces this process by a launcher; exits with one line when there is none. */
_Noreturn void handover(const struct options *options, const struct hosts *hosts);

/* The list in the form of --host, with ":slots" behind each name or without. */
char *hosts_list(const struct hosts *hosts, bool slots);
/* The same with the slots from first on alone, count of them. */
char *hosts_slice(const struct hosts *hosts, uint32_t first, uint32_t count);

#endif
