/* The rooms' check.h share: lines that name, for each thread, the check behind which the program has not come in time.
 *
 * CHECK_LIMIT tells the seconds, less than after which the launcher ends the job and tells where the PEs are; without it there are no
 * such lines. They change nothing else. */
#ifndef TESTS_WITHIN_H
#define TESTS_WITHIN_H
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WITHIN_THREADS 64 /* later threads are not told of */
#define WITHIN_SIGNAL (SIGRTMAX - 7)

struct within {
    const char *file, *what; /* what: a call that has not returned; null: the check has been made */
    int line;
    pid_t thread;
};
static struct within within_all[WITHIN_THREADS + 1];
static int within_threads, within_limit;
static __thread struct within *within_mine;

static inline struct within *within_claim(void)
{
    int number = __atomic_fetch_add(&within_threads, 1, __ATOMIC_RELAXED);
    struct within *mine = &within_all[number < WITHIN_THREADS ? number : WITHIN_THREADS];
    mine->thread = number < WITHIN_THREADS ? (pid_t)syscall(SYS_gettid) : 0;
    return mine;
}

/* A check begins that calls `what`. Returns 0. */
static inline int within_begins(const char *file, int line, const char *what)
{
    struct within *mine = within_mine;
    if (!within_limit)
        return 0;
    if (!mine)
        within_mine = mine = within_claim();
    mine->file = file;
    mine->line = line;
    mine->what = what;
    return 0;
}

static inline void within_ends(const char *file, int line)
{
    within_begins(file, line, 0);
}

static inline void within_tell(const struct within *one)
{
    char text[400];
    int bytes;
    if (!one)
        bytes = snprintf(text, sizeof text, "no thread has come to a check within %d s\n", within_limit);
    else if (one->what)
        bytes = snprintf(text, sizeof text, "%s:%d: not true within %d s: %.250s returns\n", one->file, one->line,
                         within_limit, one->what);
    else
        bytes =
            snprintf(text, sizeof text, "%s:%d: not true within %d s: the program comes from here to its next check\n",
                     one->file, one->line, within_limit);
    if (write(STDERR_FILENO, text, (size_t)bytes) < 0)
        return;
}

/* Tells of every thread that has made a check and still runs. */
static inline void within_late(int number)
{
    int told = 0;
    (void)number;
    for (int i = 0; i < WITHIN_THREADS && i < within_threads; i++)
        if (within_all[i].file && syscall(SYS_tgkill, getpid(), within_all[i].thread, 0) == 0) {
            within_tell(&within_all[i]);
            told = 1;
        }
    if (!told)
        within_tell(0);
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
    event.sigev_signo = WITHIN_SIGNAL;
    when.it_value.tv_sec = within_limit;
    if (sigaction(WITHIN_SIGNAL, &action, 0) == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &when, 0);
}

#endif
