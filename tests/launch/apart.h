#ifndef TESTS_LAUNCH_APART_H
#define TESTS_LAUNCH_APART_H

#include "unit/check.h"

#include <sys/wait.h>
#include <unistd.h>

/* Runs tests in processes of their own, so that each finds the launcher's parts as they are at the start. */
static void run_apart(void (*const *tests)(void), size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            tests[i]();
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

#endif
