/* A part of a test that runs in a child: it may read or write where there is nothing, and what it changes is forgotten. */
#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include "unit/check.h"

#include <sys/wait.h>
#include <unistd.h>

/* The exit status of a child that does this; -1 when a signal has ended it. */
#define status_of_child(...)                                      \
    ({                                                            \
        int child_status;                                         \
        const pid_t child_pid = fork();                           \
        CHECK(child_pid >= 0);                                    \
        if (child_pid == 0) {                                     \
            dup2(errors, STDERR_FILENO);                          \
            __VA_ARGS__                                           \
            _exit(0);                                             \
        }                                                         \
        CHECK(waitpid(child_pid, &child_status, 0) == child_pid); \
        WIFEXITED(child_status) ? WEXITSTATUS(child_status) : -1; \
    })

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
