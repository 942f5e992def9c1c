/* oshrun: what the user sees and signals.
 *
 * It reads the command line, checks the programs, forks the guard (guard.h) and waits for it,
 * passing signals on. It never touches the job itself, so it can be killed at any time. */
#include "environment.h"
#include "guard.h"
#include "handover.h"
#include "hosts.h"
#include "message.h"
#include "options.h"
#include "program.h"
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* So that no pipe of ours lands on 0, 1 or 2. */
static void open_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

static void find_programs(struct options *options)
{
    for (size_t i = 0; i < options->napps; i++) {
        int status = program_find(&options->apps[i]);
        if (status)
            exit(status);
    }
}

/* The guard must not fall to a kill by oshrun's name. The words of a command line lie in one row. */
static void rename_guard(struct options *options, int argc, char **argv, const char *end)
{
    static const char name[] = "lateral-guard";
    (void)argc;
    options_keep_arguments(options);
    size_t room = (size_t)(end - argv[0]);
    memset(argv[0], 0, room);
    memcpy(argv[0], name, room < sizeof name ? room : sizeof name);
    prctl(PR_SET_NAME, name);
}

/* Ctrl-C: die of it, so that the shell stops its loop too. */
static void die_of_interrupt(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* The guard was killed, and the PEs with it; what those have started is ours now. */
static int guard_lost(bool childless, int signal)
{
    if (childless)
        sweep_descendants(2000);
    say("the job's guard process was killed by signal %d (%s): job ended", signal, strsignal(signal));
    return STATUS_SIGNAL + signal;
}

static void pass_on(pid_t guard, int signal)
{
    kill(guard, signal);
    if (signal == SIGTSTP)
        raise(SIGSTOP);
}

static int attend(pid_t guard, bool childless, const sigset_t *signals)
{
    bool interrupted = false;
    for (;;) {
        siginfo_t info;
        int status, signal = sigwaitinfo(signals, &info);
        if (signal == SIGCHLD && waitpid(guard, &status, WNOHANG) == guard) {
            if (WIFSIGNALED(status))
                return guard_lost(childless, WTERMSIG(status));
            if (interrupted && WEXITSTATUS(status) == STATUS_SIGNAL + SIGINT)
                die_of_interrupt();
            return WEXITSTATUS(status);
        }
        interrupted |= signal == SIGINT && info.si_code == SI_KERNEL;
        if (signal > 0 && signal != SIGCHLD)
            pass_on(guard, signal);
    }
}

int main(int argc, char **argv)
{
    static struct options options;
    struct hosts hosts;
    const char *end = argv[argc - 1] + strlen(argv[argc - 1]);
    open_standard_files();
    options_read(&options, argc, argv);
    options.check = environment_wants_check(&options);
    if (hosts_elsewhere(&options, &hosts))
        handover(&options, &hosts);
    find_programs(&options);

    sigset_t signals, before, blocked;
    signal(SIGCHLD, SIG_DFL); /* ignored, it would take the dead away */
    guard_signals(&signals);
    blocked = signals;
    sigaddset(&blocked, SIGPIPE); /* a failed write is told by errno */
    sigaddset(&blocked, SIGXFSZ); /* so is a file beyond ulimit -f */
    sigaddset(&blocked, SIGTTOU); /* a word to the terminal from the background is fine */
    sigprocmask(SIG_BLOCK, &blocked, &before);
    bool childless = waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT) != 0; /* else a script exec'ed us */
    prctl(PR_SET_CHILD_SUBREAPER, 1);

    int front[2];
    pid_t guard = pipe2(front, O_CLOEXEC) == 0 ? fork() : -1;
    if (guard == 0) {
        close(front[1]);
        rename_guard(&options, argc, argv, end);
        guard_run(&options, front[0], &before);
    }
    if (guard < 0) {
        say("cannot start: %s", strerror(errno));
        return STATUS_FAILED;
    }
    return attend(guard, childless, &signals);
}
