/* Runs tests in processes of their own, so that each finds the launcher's parts as they are at the start, and may
 * do with its descriptors what it likes. */
#ifndef TESTS_LAUNCH_APART_H
#define TESTS_LAUNCH_APART_H

#include "unit/check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READERS = 60, HELD = 77 }; /* descriptors from here on are the test's own; what its process ends with */

static void run_apart(void (*const *tests)(void), size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int status;
        fflush(stderr);
        const pid_t child = fork();
        if (child == 0) {
            alarm(10);
            signal(SIGPIPE, SIG_IGN);
            stderr = fdopen(fcntl(2, F_DUPFD, READERS), "w"); /* of checks that fail */
            setvbuf(stderr, NULL, _IONBF, 0);
            tests[i]();
            _exit(HELD);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == HELD);
    }
}

/* Starts a process that does this and then waits until it is killed, at the latest with the test. */
static inline pid_t child_that(void (*does)(void))
{
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        does();
        for (;;)
            pause();
    }
    return pid;
}

#endif
