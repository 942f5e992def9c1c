#include "job.h"
#include "loop.h"
#include "message.h"
#include "output.h"
#include "reaper.h"
#include "report.h"
#include "watch_root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define DESERTED_MS 200  /* time between looks while a PE has left early */
#define DRAIN_MS 500     /* time for the last output of a job that a signal ended */
#define PATIENCE_MS 5000 /* time for processes that do not die */

static struct job job;
static struct loop_watch front_watch, signal_watch;
static int signal_fd, front_fd;
static pid_t front_pid;     /* the reaper */
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
    end_children(0, PATIENCE_MS);
    exit(STATUS_SIGNAL + SIGKILL);
}

static void end_job(int status)
{
    job_end(&job, status);
    drain_until = loop_now() + DRAIN_MS;
}

static void ask_to_end(int signal)
{
    char title[128];
    const bool asks = signal == SIGQUIT, quiet = signal == SIGINT || job.ending || job.options->quiet;
    snprintf(title, sizeof title, "job ended by signal %d (%s)%s", signal, strsignal(signal),
             asks ? "; where the PEs were:" : "");
    if (asks && !quiet) {
        root_ask(NULL, 0, STATUS_SIGNAL + signal, title);
        root_tick(); /* at once: PEs may have got the signal, too */
        return;
    }
    if (!quiet)
        say("%s", title);
    end_job(STATUS_SIGNAL + signal);
}

static void forward_signal(int signal)
{
    switch (signal) {
    case SIGUSR1:
    case SIGUSR2:
    case SIGCONT: view_signal(&job.view, signal); break;
    case SIGTSTP: view_signal(&job.view, SIGSTOP); break;
    default: break;
    }
}

/* The terminal's signals reach the whole foreground group: the supervisor itself, oshrun and by it the reaper, which pass them on, and the
 * PEs. So the supervisor accepts a signal that ends the job from any sender, and other signals from the reaper alone. Lower numbers
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
            forward_signal(signal);
    }
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

/* Returns the milliseconds that the loop may sleep; -1: for ever. */
static int wait_milliseconds_left(void)
{
    int64_t at = loop_sooner(job.alive ? root_next() : 0, loop_sooner(job.kill_at, job.alive ? 0 : drain_until));
    if (job.deserted && !job.ending)
        at = loop_sooner(at, loop_now() + DESERTED_MS);
    const int left = loop_until(at), wait = output_patience();
    return left < 0 || (wait >= 0 && wait < left) ? wait : left;
}

static void turn_loop(int wait)
{
    loop_turn(wait);
    output_tick();
    check_output();
    job_check_deserted(&job);
    if (job.ending)
        root_note_end();
    if (job.started == job.options->pes)
        root_look();
    root_tick();
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
    root_start(&(struct root){.view = &job.view,
                              .end = end_job,
                              .timeout = job.options->timeout,
                              .deadlock = job.options->deadlock,
                              .timeout_name = "--timeout",
                              .deadlock_name = "--deadlock",
                              .stacks = job.options->stacks});
    while (job.started < job.options->pes && !job.ending) {
        job_start_next(&job);
        turn_loop(0);
    }
    input_begin();
    while (job.alive > 0)
        turn_loop(wait_milliseconds_left());
    if (!job.options->quiet)
        crash_print(&job.view);
    root_note_end();
}

/* Kills the processes that PEs have left behind, then waits for the rest of the output. */
static void finish_job(void)
{
    if (root_time_limit())
        drain_until = loop_sooner(drain_until, root_time_limit() + DRAIN_MS);
    end_children(0, PATIENCE_MS);
    while (!output_done() && (!drain_until || loop_now() < drain_until))
        turn_loop(wait_milliseconds_left());
}

_Noreturn void supervisor_run(struct options *options, int front, const sigset_t *signals)
{
    front_pid = getppid();
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* when it has been stopped, the reaper's death wakes it */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    open_sources(front);
    input_open(options);
    const bool good = output_open(options);
    say_through(output_message);
    int status = good ? job_prepare(&job, options, signals) : STATUS_FAILED;
    if (status == 0) {
        run_job();
        finish_job();
        status = job.status;
    }
    output_tick();
    exit(status);
}
