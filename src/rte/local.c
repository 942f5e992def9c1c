/* A PE started by oshrun: LATERAL_JOB=<fd>:<node index>:<parent_pipe> names the inherited memory file, and the descriptor that
 * ends this PE with the guard (-1: none). */
#include "base/log.h"
#include "base/parent_death.h"
#include "rte/backend.h"
#include "rte/rte.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Reads a number and the character behind it. Returns false when it is none, or no int. */
static bool read_number(const char **text, char behind, int *number)
{
    char *end;
    errno = 0;
    long value = strtol(*text, &end, 10);
    if (end == *text || *end != behind || errno || value < INT_MIN || value > INT_MAX)
        return false;
    *number = (int)value;
    *text = end + 1;
    return true;
}

static bool read_job(const char *job, int *fd, int *index, int *parent_pipe)
{
    return read_number(&job, ':', fd) && read_number(&job, ':', index) && read_number(&job, 0, parent_pipe) &&
           *index >= 0;
}

int rte_local_find(const char *job, int *index)
{
    int fd, parent_pipe;
    return read_job(job, &fd, index, &parent_pipe) ? fd : -1;
}

int rte_local_open(const char *job)
{
    int fd, index, parent_pipe;
    struct stat file;
    if (!read_job(job, &fd, &index, &parent_pipe)) {
        log_line("LATERAL_JOB=%s is not one of oshrun's; unset it, or start the program with oshrun", job);
        return -1;
    }
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size < (off_t)sizeof(struct node)) {
        log_line("LATERAL_JOB=%s: file descriptor %d is not a job's memory (closed on the way by a wrapper?); "
                 "start the program with oshrun",
                 job, fd);
        return -1;
    }
    parent_death_follow(parent_pipe);
    rte.fd = fd;
    rte.node_index = index;
    rte.launched = true;
    return 0;
}
