/* oshrun, the process that the user sees and signals.
 *
 * It reads the command line, checks the programs, starts reaper (reaper.h) and supervisor (supervisor.h) and waits for them,
 * passing signals on to the supervisor. It never touches the job itself, so it can be killed at any time. */
#include "spawn.h"
#include "environment.h"
#include "program.h"
#include "supervisor.h"
#include "delegate.h"
#include "hosts.h"
#include "reaper.h"
#include "memory.h"
#include "message.h"
#include "options.h"
#include "base/meant.h"
#include "rte/node.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The bytes of the command line, which ps shows. */
struct line {
    char *start;
    const char *end;
};

/* Opens missing standard files, so that none of our pipes becomes 0, 1 or 2. */
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

/* Renames this process, so that a kill by oshrun's name does not hit reaper and supervisor. The words of a command line lie
 * in one row. */
static void rename_process(const struct line *line, const char *name)
{
    size_t room = (size_t)(line->end - line->start), bytes = strlen(name);
    memset(line->start, 0, room);
    memcpy(line->start, name, room < bytes ? room : bytes);
    prctl(PR_SET_NAME, name);
}

/* Dies of Ctrl-C, so that the shell stops its loop too. */
static void die_of_interrupt(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int to_supervisor = -1; /* the supervisor ends the job when it is closed */

/* After the reaper's death a supervisor that lives is oshrun's child. It ends the PEs and what they started once this pipe is closed, and
 * goes on when oshrun is killed meanwhile; killed first, it would leave that to oshrun alone. */
static void end_supervisor(pid_t supervisor)
{
    close(to_supervisor);
    if (waitpid(supervisor, NULL, WNOHANG) != 0)
        return;
    kill(supervisor, SIGCONT);
    for (int ms = 0; ms < 1000 && waitpid(supervisor, NULL, WNOHANG) == 0; ms += 10)
        poll(NULL, 0, 10);
}

/* Supervisor or reaper was killed. What is left of the PEs and of what they started is now oshrun's children, or gone.
 * Returns the exit status. */
static int supervisor_lost(pid_t supervisor, bool childless, int signal)
{
    end_supervisor(supervisor);
    if (childless)
        kill_leftovers(2000);
    char whose[PATH_MAX + 128];
    if (signal == SIGKILL && memory_ran_out(whose, sizeof whose))
        say("memory ran out: the kernel killed the job's guard process; %s: job ended", whose);
    else
        say("the job's guard process was killed by signal %d (%s): job ended", signal, strsignal(signal));
    return STATUS_SIGNAL + signal;
}

static bool is_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

/* A stopped supervisor would act on no signal. */
static void pass_on(pid_t supervisor, int signal)
{
    kill(supervisor, signal);
    if (is_end(signal))
        kill(supervisor, SIGCONT);
    if (signal == SIGTSTP)
        raise(SIGSTOP);
}

/* Returns the exit status of oshrun. The supervisor's status passes through the reaper to oshrun. */
static int attend(pid_t reaper, pid_t supervisor, bool childless, const sigset_t *signals)
{
    bool interrupted = false;
    for (;;) {
        siginfo_t info;
        int status, signal = sigwaitinfo(signals, &info);
        if (signal == SIGCHLD && info.si_code == CLD_STOPPED && info.si_pid == reaper)
            kill(reaper, SIGCONT); /* it must see when the supervisor dies */
        if (signal == SIGCHLD && waitpid(reaper, &status, WNOHANG) == reaper) {
            if (WIFSIGNALED(status))
                return supervisor_lost(supervisor, childless, WTERMSIG(status));
            if (interrupted && WEXITSTATUS(status) == STATUS_SIGNAL + SIGINT)
                die_of_interrupt();
            return WEXITSTATUS(status);
        }
        interrupted |= signal == SIGINT && info.si_code == SI_KERNEL;
        if (signal > 0 && signal != SIGCHLD)
            pass_on(supervisor, signal);
    }
}

/* When a PE reads the terminal from the background, the signal stops its whole group. That stops oshrun, which the
 * shell sees; reaper and supervisor block the signal and stay awake. */
static void stay_awake(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTTIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Runs in the reaper. Writes the supervisor's pid, or -1, into the pipe to oshrun. */
static _Noreturn void become_reaper(struct options *options, const struct line *line, const int front[2],
                                    const int told[2], const sigset_t *mask, pid_t oshrun)
{
    close(front[1]);
    close(told[0]);
    options_keep_arguments(options);
    rename_process(line, "lateral-keeper");
    stay_awake();
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* when it has been stopped, oshrun's death wakes it */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t supervisor = fork();
    if (supervisor == 0) {
        close(told[1]);
        rename_process(line, "lateral-guard");
        supervisor_run(options, front[0], mask, oshrun);
    }
    bool heard = write(told[1], &supervisor, sizeof supervisor) == sizeof supervisor;
    close(told[1]);
    if (supervisor < 0 || !heard)
        _exit(STATUS_FAILED); /* when oshrun is gone, the supervisor ends by itself */
    reaper_run(supervisor, front[0]);
}

/* Starts reaper and supervisor. Returns false after one line. */
static bool start_reaper(struct options *options, const struct line *line, const sigset_t *mask, pid_t *reaper,
                         pid_t *supervisor)
{
    int front[2], told[2];
    pid_t me = getpid();
    *reaper = pipe2(front, O_CLOEXEC) == 0 && pipe2(told, O_CLOEXEC) == 0 ? fork() : -1;
    if (*reaper == 0)
        become_reaper(options, line, front, told, mask, me);
    if (*reaper > 0) {
        to_supervisor = front[1];
        close(front[0]);
        close(told[1]);
        errno = EAGAIN; /* for the case that the reaper could not fork */
        if (read(told[0], supervisor, sizeof *supervisor) == sizeof *supervisor && *supervisor > 0) {
            close(told[0]);
            return true;
        }
    }
    say("cannot start: %s", strerror(errno));
    return false;
}

static void check_variable(const char *entry)
{
    const char *meant = meant_variable(entry);
    if (meant)
        say("no variable is named %.*s, so it has no effect; did you mean %s?", (int)strcspn(entry, "="), entry, meant);
}

/* Prints a line for each variable of the environment and of -x whose name is near to one of Lateral's. */
static void check_spelling(const struct options *options)
{
    if (options->quiet)
        return;
    for (char **entry = environ; *entry; entry++)
        check_variable(*entry);
    for (size_t i = 0; i < options->napps; i++)
        for (size_t x = 0; x < options->apps[i].nexports; x++)
            if (strchr(options->apps[i].exports[x], '=')) /* others are in the environment already */
                check_variable(options->apps[i].exports[x]);
}

/* Exits after one line when the file of --trace (null: none) cannot be written: the PEs write it at their end. */
static void check_trace(const char *name)
{
    if (!name)
        return;
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
        unlink(name);
    else if (errno == EEXIST)
        fd = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC); /* ENXIO: a pipe, whose reader may come */
    if (fd < 0 && errno != ENXIO)
        say_usage("--trace %s: %s", name, strerror(errno));
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    static struct options options;
    struct hosts hosts;
    struct line line = {argv[0], argv[argc - 1] + strlen(argv[argc - 1])};
    open_standard_files();
    if (argc == 3 && strcmp(argv[1], NODE_WATCHER) == 0)
        watch_run(argv[2]);
    options_read(&options, argc, argv);
    environment_take_wishes(&options);
    if (options.race && (options.check || options.stats || options.trace))
        say_usage("--check=race and --%s cannot be used together: run the program once with each",
                  options.check   ? "check"
                  : options.stats ? "stats"
                                  : "trace");
    check_spelling(&options);
    bool elsewhere = hosts_elsewhere(&options, &hosts);
    options_check_input(&options);
    debug_check(options.debug, options.pes);
    if (elsewhere) {
        foreign_warn(&options);
        delegate(&options, &hosts);
    }
    hosts_free(&hosts);
    find_programs(&options);
    foreign_warn(&options);
    check_trace(options.trace);

    sigset_t signals, before, blocked;
    signal(SIGCHLD, SIG_DFL); /* if ignored, the kernel would reap the children */
    supervisor_signals(&signals);
    blocked = signals;
    sigaddset(&blocked, SIGPIPE); /* errno tells of a failed write */
    sigaddset(&blocked, SIGXFSZ); /* and of a file beyond ulimit -f */
    sigaddset(&blocked, SIGTTOU); /* writing to the terminal from the background is allowed */
    sigprocmask(SIG_BLOCK, &blocked, &before);
    bool childless =
        waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT) != 0; /* false: a script with children exec'ed oshrun */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    memory_watch("");

    pid_t reaper, supervisor;
    if (!start_reaper(&options, &line, &before, &reaper, &supervisor))
        return STATUS_FAILED;
    return attend(reaper, supervisor, childless, &signals);
}
