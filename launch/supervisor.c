#include "supervisor.h"

#include "input.h"
#include "job.h"
#include "loop.h"
#include "message.h"
#include "output.h"
#include "reaper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define DESERTED_MS 200  /* time between looks while a PE has left early */
#define DEADLOCK_MS 200  /* time between looks for a deadlock */
#define DRAIN_MS 500     /* time for the last output of a job that a signal ended */
#define PATIENCE_MS 5000 /* time for processes that do not die */

static struct job job;
static struct loop_watch front_watch, signal_watch;
static int signal_fd, front_fd;
static pid_t front_pid;
static struct deadlock deadlock;
static int64_t timeout_at;  /* 0: none */
static int64_t deadlock_at; /* when to look again; 0: never */
static int64_t drain_until; /* 0: as long as the reader needs */

void supervisor_signals(sigset_t *set)
{
    static const int taken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        struct sigaction now;
        if (sigaction(taken[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* nohup, background jobs */
            sigaddset(set, taken[i]);
    }
}

/* oshrun has died, so no process reads output or status any more. */
static void front_ready(struct loop_watch *watch)
{
    (void)watch;
    job_kill(&job);
    kill_leftovers(PATIENCE_MS);
    exit(STATUS_SIGNAL + SIGKILL);
}

static void ask_to_end(int signal)
{
    bool asks = signal == SIGQUIT;
    if (signal != SIGINT && !job.ending && !job.options->quiet) {
        say("job ended by signal %d (%s)%s", signal, strsignal(signal), asks ? "; where the PEs were:" : "");
        if (asks)
            job_report(&job);
    }
    job_end(&job, STATUS_SIGNAL + signal);
    drain_until = loop_now() + DRAIN_MS;
}

static void forwarded(int signal)
{
    switch (signal) {
    case SIGUSR1:
    case SIGUSR2:
    case SIGCONT: job_signal(&job, signal); break;
    case SIGTSTP: job_signal(&job, SIGSTOP); break;
    default: break;
    }
}

/* The terminal's signals reach the whole foreground group: the supervisor itself, oshrun, which passes them on, and the PEs.
 * So the supervisor accepts a signal that ends the job from any sender, and other signals from oshrun alone. Lower numbers
 * come first, so the supervisor sees Ctrl-C before the deaths that it causes. */
static void signal_ready(struct loop_watch *watch)
{
    struct signalfd_siginfo info;
    (void)watch;
    while (read(signal_fd, &info, sizeof info) == sizeof info) {
        int signal = (int)info.ssi_signo;
        if (signal == SIGCHLD)
            job_reap(&job);
        else if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT)
            ask_to_end(signal);
        else if ((pid_t)info.ssi_pid == front_pid)
            forwarded(signal);
    }
}

static void expire(void)
{
    timeout_at = 0;
    if (!job.ending && job.alive > 0) {
        say("time limit of %g s reached (--timeout); where the PEs are:", job.options->timeout);
        job_report(&job);
        job_end(&job, STATUS_TIMEOUT);
    }
    drain_until = loop_now() + DRAIN_MS;
}

/* Ends the job when it has been stuck for so long. */
static void check_deadlock(void)
{
    deadlock_at = loop_now() + DEADLOCK_MS;
    double stuck = job.ending ? 0 : job_stuck(&job, &deadlock);
    if (stuck < job.options->deadlock)
        return;
    say("deadlock for %.1f s (--deadlock): no PE will ever go on; where the PEs are:", stuck);
    job_report(&job);
    job_end(&job, STATUS_FAILED);
    drain_until = loop_now() + DRAIN_MS;
}

static void check_output(void)
{
    int why = output_broken();
    if (!why || job.ending)
        return;
    if (why != EPIPE)
        say("cannot write the PEs' output: %s", strerror(why));
    job_end(&job, why == EPIPE ? STATUS_SIGNAL + SIGPIPE : STATUS_FAILED);
}

static int64_t sooner(int64_t one, int64_t other)
{
    return one && (!other || one < other) ? one : other;
}

/* Returns the milliseconds that the loop may sleep; -1: for ever. */
static int patience(void)
{
    int64_t now = loop_now();
    int64_t at = sooner(sooner(timeout_at, deadlock_at), sooner(job.kill_at, job.alive ? 0 : drain_until));
    if (job.deserted && !job.ending)
        at = sooner(at, now + DESERTED_MS);
    int wait = output_patience();
    if (!at)
        return wait;
    int64_t left = at > now ? at - now : 0;
    left = left < 3600000 ? left : 3600000;
    return wait >= 0 && wait < left ? wait : (int)left;
}

static void turn(int wait)
{
    loop_turn(wait);
    output_tick();
    check_output();
    job_check_deserted(&job);
    if (timeout_at && loop_now() >= timeout_at)
        expire();
    if (deadlock_at && loop_now() >= deadlock_at)
        check_deadlock();
    if (job.kill_at && loop_now() >= job.kill_at)
        job_kill(&job);
}

static void open_sources(int front)
{
    sigset_t set;
    supervisor_signals(&set);
    front_fd = front;
    signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    signal_watch.ready = signal_ready;
    front_watch.ready = front_ready;
    if (signal_fd >= 0 && loop_open() == 0 && loop_add(signal_fd, EPOLLIN, &signal_watch) == 0 &&
        loop_add(front_fd, EPOLLIN, &front_watch) == 0)
        return;
    say("cannot watch the job: %s", strerror(errno));
    _exit(STATUS_FAILED);
}

static void run_job(void)
{
    if (job.options->timeout > 0)
        timeout_at = loop_now() + (int64_t)(job.options->timeout * 1000) + 1;
    if (job.options->deadlock > 0)
        deadlock_at = loop_now() + DEADLOCK_MS;
    while (job.started < job.options->pes && !job.ending) {
        job_start_next(&job);
        turn(0);
    }
    while (job.alive > 0)
        turn(patience());
    job_report_crashes(&job);
}

/* Kills the processes that PEs have left behind, then waits for the rest of the output. */
static void finish(void)
{
    deadlock_at = 0;
    kill_leftovers(PATIENCE_MS);
    while (!output_done() && (!drain_until || loop_now() < drain_until))
        turn(patience());
}

_Noreturn void supervisor_run(struct options *options, int front, const sigset_t *signals, pid_t oshrun)
{
    front_pid = oshrun;
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* when it has been stopped, the reaper's death wakes it */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    open_sources(front);
    bool good = input_open(options) && output_open(options);
    say_through(output_message);
    int status = good ? job_prepare(&job, options, signals) : STATUS_FAILED;
    if (status == 0) {
        run_job();
        finish();
        status = job.status;
    }
    output_tick();
    exit(status);
}
