/* The clock, the kernel and the rest of the launcher, as watch.c wants them for guard.c: stand-ins that write down
 * what they are asked. */
#ifndef TESTS_LAUNCH_WATCHED_H
#define TESTS_LAUNCH_WATCHED_H

#include "guard.h"

#include "input.h"
#include "job.h"
#include "loop.h"
#include "message.h"
#include "noted.h"
#include "output.h"
#include "sweep.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { OSHRUN = 70, FRONT = 8, SIGNALS = 9, START = 1000 };
#define BASE ((INT64_C(3) << 32) + START) /* of the clock; it has more than 32 bits */

static int64_t clock_now = BASE;
static int prepared, failing_pe = -1, failing_add = -1, reaped, turns, patience_of_output = -1, broken, numbers_asked;
static bool input_opens = true, output_opens = true, all_written = true, epoll_opens = true;
static uint64_t ignored; /* signals */
static int signal_file = SIGNALS;
static double stuck_for;
static struct signalfd_siginfo arrived[4];
static size_t narrived;
static void (*each_turn)(int turn);
static jmp_buf over;

int64_t loop_now(void)
{
    return clock_now;
}

int loop_open(void)
{
    errno = EMFILE;
    return epoll_opens ? 0 : -1;
}

int loop_add(int fd, uint32_t events, struct loop_watch *watch)
{
    CHECK(events == EPOLLIN && watch->ready != NULL);
    note("watch %d\n", fd);
    errno = ENOSPC;
    return fd == failing_add ? -1 : 0;
}

void loop_turn(int timeout_ms)
{
    note("turn %d\n", timeout_ms);
    CHECK(turns < 20);
    if (each_turn)
        each_turn(turns++);
}

bool input_open(const struct options *options)
{
    CHECK(options != NULL);
    return input_opens;
}

bool output_open(const struct options *options)
{
    CHECK(options != NULL);
    note("outputs\n");
    return output_opens;
}

void output_message(const char *line, size_t bytes)
{
    note("%.*s", (int)bytes, line);
}

static int ticks;

void output_tick(void)
{
    ticks++;
}

int output_patience(void)
{
    return patience_of_output;
}

bool output_done(void)
{
    return all_written;
}

int output_broken(void)
{
    return broken;
}

void sweep_descendants(int patience_ms)
{
    note("sweep %d\n", patience_ms);
}

int job_prepare(struct job *job, const struct options *options, const sigset_t *signals)
{
    CHECK(signals != NULL);
    *job = (struct job){.options = options};
    note("prepare\n");
    job->status = prepared;
    return prepared;
}

void job_start_next(struct job *job)
{
    note("start\n");
    if ((int)job->started == failing_pe) {
        job_end(job, 126);
        return;
    }
    job->started++;
    job->alive++;
}

void job_reap(struct job *job)
{
    note("reap\n");
    job->alive -= (uint32_t)reaped;
    reaped = 0;
}

static int desertions;

void job_check_deserted(struct job *job)
{
    CHECK(job != NULL);
    desertions++;
}

void job_report_crashes(const struct job *job)
{
    CHECK(job != NULL);
    note("crashes\n");
}

void job_report(const struct job *job)
{
    CHECK(job != NULL);
    note("report\n");
}

double job_stuck(const struct job *job, struct deadlock *deadlock)
{
    CHECK(job != NULL && deadlock != NULL);
    note("look\n");
    return stuck_for;
}

void job_end(struct job *job, int status)
{
    note("end %d\n", status);
    if (job->ending)
        return;
    job->ending = true;
    job->status = status;
    job->kill_at = clock_now + 500;
}

void job_signal(const struct job *job, int signal)
{
    CHECK(job != NULL);
    note("signal %d\n", signal);
}

void job_kill(struct job *job)
{
    note("kill\n");
    job->kill_at = 0;
}

static int ask_signal(int number, struct sigaction *now)
{
    numbers_asked++;
    now->sa_handler = number < 64 && ignored >> number & 1 ? SIG_IGN : SIG_DFL;
    return 0;
}

static int open_signals(const sigset_t *set, int flags)
{
    CHECK(sigismember(set, SIGCHLD) && flags == (SFD_CLOEXEC | SFD_NONBLOCK));
    errno = EINVAL;
    return signal_file;
}

static ssize_t next_signal(int fd, void *info, size_t bytes)
{
    CHECK(fd == SIGNALS && bytes == sizeof *arrived);
    if (narrived == 0)
        return -1;
    memcpy(info, arrived, bytes);
    memmove(arrived, arrived + 1, --narrived * sizeof *arrived);
    return (ssize_t)bytes;
}

static _Noreturn void leave(int status)
{
    note("exit %d\n", status);
    longjmp(over, 1);
}

#define sigaction(number, to, now) ask_signal(number, now)
#define signalfd(fd, set, flags) open_signals(set, flags)
#define read next_signal
#define prctl(what, number) note("prctl %d %d\n", what, number)
#define exit leave
#define _exit leave

#endif
