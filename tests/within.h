/* The rooms' check.h share: a line that names the check behind which a program has not come in time.
 *
 * CHECK_LIMIT tells the seconds, less than after which the launcher ends the job and tells where the PEs are; without it there is no
 * such line. The line changes nothing else. */
#ifndef TESTS_WITHIN_H
#define TESTS_WITHIN_H
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct within {
    const char *file, *what; /* what: a call that has not returned; null: the check has been made */
    int line;
};
static __thread struct within within;
static int within_limit;

/* A check begins that calls `what`. Returns 0. */
static inline int within_begins(const char *file, int line, const char *what)
{
    within.file = file;
    within.line = line;
    within.what = what;
    return 0;
}

static inline void within_ends(const char *file, int line)
{
    within_begins(file, line, 0);
}

/* Another thread may take the signal, which then knows of its own checks alone. */
static inline void within_late(int number)
{
    char text[400];
    int bytes;
    (void)number;
    if (within.what)
        bytes = snprintf(text, sizeof text, "%s:%d: not true within %d s: %.250s returns\n", within.file, within.line,
                         within_limit, within.what);
    else if (within.file)
        bytes =
            snprintf(text, sizeof text, "%s:%d: not true within %d s: the program comes from here to its next check\n",
                     within.file, within.line, within_limit);
    else
        bytes =
            snprintf(text, sizeof text, "not true within %d s: this thread comes to its first check\n", within_limit);
    if (write(STDERR_FILENO, text, (size_t)bytes) < 0)
        return;
}

/* Once per process, before the first check. */
static inline void within_start(void)
{
    const char *limit = getenv("CHECK_LIMIT");
    struct sigaction action;
    struct sigevent event;
    struct itimerspec when;
    timer_t timer;
    if (within_limit || !limit || (within_limit = atoi(limit)) < 1)
        return;
    memset(&action, 0, sizeof action);
    memset(&event, 0, sizeof event);
    memset(&when, 0, sizeof when);
    action.sa_handler = within_late;
    action.sa_flags = SA_RESTART;
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMAX - 7;
    when.it_value.tv_sec = within_limit;
    if (sigaction(SIGRTMAX - 7, &action, 0) == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &when, 0);
}

#endif
