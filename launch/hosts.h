/* Decides whether a job runs on this machine, or on hosts that a launcher of the system reaches. main asks before it
 * starts anything, and calls handover in the second case. */
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
/* The same for `count` slots from number `first` on. */
char *hosts_slice(const struct hosts *hosts, uint32_t first, uint32_t count);

#endif
