/* A job of two PEs in a program that calls inner functions: this process is PE 0; a child is PE 1, which only takes part in the start
 * and the end. */
#ifndef TESTS_TRUST_PAIR_H
#define TESTS_TRUST_PAIR_H
#include "rte/node.h"

#include "unit/check.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <uccs.h>
#include <unistd.h>

static pid_t pair_child;
static int pair_end[2]; /* the child ends its life when this pipe is closed */

static void pair_seat(int fd, int index)
{
    char job[64];
    snprintf(job, sizeof job, "%d:%d:-1", fd, index);
    setenv("LATERAL_JOB", job, 1);
    CHECK(uccs_init() == UCCS_OK);
}

/* Both PEs have begun on return. */
static inline void pair_start(void)
{
    char byte;
    const uint64_t nonce[2] = {1, 2};
    const int fd = memfd_create("pair", 0);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)node_fixed_size(2)) == 0 && pipe(pair_end) == 0);
    struct node *head = mmap(NULL, sizeof *head, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(head != MAP_FAILED);
    node_format(head, 2, 2, nonce);
    munmap(head, sizeof *head);
    unsetenv("LATERAL_TRANSPORTS");
    unsetenv("LATERAL_NODE_SIZE");
    setenv("LATERAL_RTE", "oshrun", 1);
    pair_child = fork();
    CHECK(pair_child >= 0);
    if (pair_child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        close(pair_end[1]);
        pair_seat(fd, 1);
        while (read(pair_end[0], &byte, 1) > 0)
            ;
        _exit(uccs_finalize() == UCCS_OK ? 0 : 1);
    }
    close(pair_end[0]);
    pair_seat(fd, 0);
}

/* Returns 0 when both have ended well. */
static inline int pair_finish(void)
{
    int status;
    close(pair_end[1]);
    CHECK(uccs_finalize() == UCCS_OK);
    CHECK(waitpid(pair_child, &status, 0) == pair_child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

#endif
