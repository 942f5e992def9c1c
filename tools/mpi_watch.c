#include "mpi_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMED_OUT = 124, BY_SIGNAL = 128 };
#define GRACE 5 /* seconds between SIGTERM and SIGKILL */

double mpi_watch_time(const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    const double unit = strcmp(end, "h") == 0            ? 3600
                        : strcmp(end, "m") == 0          ? 60
                        : !*end || strcmp(end, "s") == 0 ? 1
                                                         : 0;
    return end != text && number > 0 && number < 1e9 ? number * unit : 0;
}

/* Runs the oshrun that lies beside this program, to its end. */
static void print_status(pid_t launcher)
{
    char path[PATH_MAX], number[16];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "oshrun");
    char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : 0;
    if (!slash)
        return;
    strcpy(slash + 1, "oshrun"); /* the buffer has room for it */
    snprintf(number, sizeof number, "%d", (int)launcher);
    const pid_t child = fork();
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, 0);
        execl(path, path, "--status", number, (char *)0);
        fprintf(stderr, "lateral-mpi: cannot run %s: %s\n", path, strerror(errno));
        _exit(1);
    }
    if (child > 0)
        waitpid(child, 0, 0);
}

static struct timespec time_in(double seconds)
{
    return (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
}

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What the launcher's parent has seen. */
struct watch {
    pid_t launcher;
    double end; /* of the limit; then of the grace */
    int result; /* of a job that was ended here; 0: none */
};

static void end_job(struct watch *watch, int result)
{
    if (watch->result) {
        kill(watch->launcher, SIGKILL);
    } else {
        print_status(watch->launcher);
        watch->result = result;
        kill(watch->launcher, SIGTERM);
    }
    watch->end = now_seconds() + GRACE;
}

/* Ctrl-\ reaches the whole foreground group, but the launcher ignores it; a signal sent to this process alone is passed on. */
static void take_signal(struct watch *watch, const siginfo_t *info)
{
    if (info->si_signo == SIGQUIT) {
        fprintf(stderr, "lateral-mpi: job ended by signal %d (%s); where its processes were:\n", SIGQUIT,
                strsignal(SIGQUIT));
        end_job(watch, BY_SIGNAL + SIGQUIT);
    } else if (info->si_code == SI_USER) {
        kill(watch->launcher, info->si_signo);
    }
}

static int await_end(struct watch *watch, const sigset_t *signals, double seconds)
{
    int status;
    pid_t gone;
    while ((gone = waitpid(watch->launcher, &status, WNOHANG)) == 0) {
        siginfo_t info;
        const double left = watch->end - now_seconds();
        const struct timespec limit = time_in(left > 0 ? left : 0);
        if (left > 0 && sigtimedwait(signals, &info, &limit) > 0) {
            if (info.si_signo != SIGCHLD)
                take_signal(watch, &info);
        } else if (watch->end <= now_seconds()) {
            if (!watch->result)
                fprintf(stderr, "lateral-mpi: time limit of %g s reached (--timeout); on this machine:\n", seconds);
            end_job(watch, TIMED_OUT);
        }
    }
    if (watch->result)
        return watch->result;
    return gone < 0 ? 1 : WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int mpi_watch_run(char **command, double seconds)
{
    static const int taken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t signals, before;
    int tell[2]; /* the child writes errno when it cannot become the launcher */
    int why = 0;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        sigaddset(&signals, taken[i]);
    if (pipe2(tell, O_CLOEXEC) != 0)
        return -1;
    sigprocmask(SIG_BLOCK, &signals, &before);
    struct watch watch = {.launcher = fork(), .end = now_seconds() + seconds};
    if (watch.launcher == 0) {
        sigprocmask(SIG_SETMASK, &before, 0);
        signal(SIGQUIT, SIG_IGN);
        execvp(command[0], command);
        why = errno;
        _exit(write(tell[1], &why, sizeof why) == sizeof why ? 127 : 126);
    }
    close(tell[1]);
    const bool failed = watch.launcher < 0 || read(tell[0], &why, sizeof why) == sizeof why;
    close(tell[0]);
    if (failed) {
        errno = why ? why : EAGAIN;
        return -1;
    }
    return await_end(&watch, &signals, seconds);
}
