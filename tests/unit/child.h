/* A part of a test that runs in a child: it may read or write where there is nothing, and what it changes is forgotten. */
#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include "unit/check.h"

#include <sys/wait.h>
#include <unistd.h>

static inline void in_a_child(void (*body)(void))
{
    int status;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

#endif
