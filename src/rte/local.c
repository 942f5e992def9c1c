/* A PE started by oshrun: LATERAL_JOB=<fd>:<node index> names the inherited memory file. */
#include "base/log.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <stdio.h>
#include <sys/stat.h>

int rte_local_open(const char *job)
{
    int fd, index, used = 0;
    struct stat file;
    if (sscanf(job, "%d:%d%n", &fd, &index, &used) != 2 || job[used] || index < 0) {
        log_line("LATERAL_JOB=%s is not one of oshrun's; unset it, or start the program with oshrun", job);
        return -1;
    }
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size < (off_t)sizeof(struct node)) {
        log_line("LATERAL_JOB=%s: file descriptor %d is not a job's memory (closed on the way by a wrapper?); "
                 "start the program with oshrun",
                 job, fd);
        return -1;
    }
    rte.fd = fd;
    rte.node_index = index;
    rte.launched = true;
    return 0;
}
