#include "reaper.h"

#include "loop.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIDS ((4 << 20) + 1) /* above every number of Linux */

/* Kills the process when it is a child of this one. The kernel itself says so, since /proc may show other numbers than
 * this process's, as in a container that sees its host's. Returns true when it is. */
static bool kill_child(pid_t pid)
{
    siginfo_t info;
    return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && kill(pid, SIGKILL) == 0;
}

/* Returns true when there was a child among the numbers. */
static bool kill_numbers(pid_t from, pid_t to)
{
    bool any = false;
    for (pid_t pid = from; pid < to; pid++)
        any |= kill_child(pid);
    return any;
}

/* Returns a number above those of all processes that were made since numbers were last reused. */
static pid_t newest_number(void)
{
    pid_t pid = vfork();
    if (pid == 0)
        _exit(0);
    return pid > 0 ? pid : PIDS;
}

/* All numbers take a second or more, those in use mostly little. */
static void kill_without_proc(void)
{
    pid_t above = newest_number();
    if (!kill_numbers(1, above))
        kill_numbers(above, PIDS);
}

/* True when /proc numbers processes as this process does. */
static bool proc_is_ours(void)
{
    char text[16] = "";
    return readlink("/proc/self", text, sizeof text - 1) > 0 && atoi(text) == getpid();
}

/* Not every kernel has a list of children, so this looks at all processes. */
static void kill_children(void)
{
    DIR *proc = proc_is_ours() ? opendir("/proc") : NULL;
    if (!proc) {
        kill_without_proc();
        return;
    }
    for (struct dirent *entry; (entry = readdir(proc));)
        kill_child(atoi(entry->d_name));
    closedir(proc);
}

/* Reaps all dead children. Returns false when no child is left at all. */
static bool reap_dead(void)
{
    pid_t pid;
    do {
        pid = waitpid(-1, NULL, WNOHANG);
    } while (pid > 0);
    return pid == 0;
}

static void await_death(int ms)
{
    sigset_t deaths;
    sigemptyset(&deaths);
    sigaddset(&deaths, SIGCHLD);
    struct timespec limit = {ms / 1000, ms % 1000 * 1000000L};
    sigtimedwait(&deaths, NULL, &limit);
}

void end_children(int wait_ms, int patience_ms)
{
    const int64_t kill_at = loop_now() + wait_ms, end = kill_at + patience_ms;
    while (reap_dead() && loop_now() < end) {
        const bool waits = loop_now() < kill_at;
        if (!waits)
            kill_children();
        await_death(waits ? 10 : 100);
    }
}

_Noreturn void die_of(int number)
{
    sigset_t set;
    prctl(PR_SET_DUMPABLE, 0); /* the supervisor's core file is enough */
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + number);
}

/* A stopped supervisor would act on no signal, so it goes on when it is to end. One that is not stopped gets no SIGCONT from then on: that
 * would take back the stop by which a sanitizer halts a process at its end, and the process would never end. */
static void wake_stopped(pid_t child)
{
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child)
        kill(child, SIGCONT);
}

int attend(pid_t child, const sigset_t *signals, bool is_oshrun)
{
    static const struct timespec patience = {.tv_sec = SUPERVISOR_MS / 1000};
    const pid_t parent = getppid();
    bool interrupted = false, ends = false;
    for (;;) {
        siginfo_t info;
        int status;
        const bool alone = !is_oshrun && getppid() != parent;
        const int signal = alone ? sigtimedwait(signals, &info, &patience) : sigwaitinfo(signals, &info);
        if (signal < 0 && errno == EAGAIN)
            kill(child, SIGKILL); /* a supervisor that does not end after oshrun */
        const bool news = signal == SIGCHLD && waitpid(child, &status, WNOHANG | (is_oshrun ? WUNTRACED : 0)) == child;
        if (news && WIFSTOPPED(status))
            kill(child, SIGCONT); /* the reaper must see when the supervisor dies */
        else if (news && interrupted && WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT)
            die_of(SIGINT); /* so that the shell stops its loop, too */
        else if (news)
            return status;
        if (signal > 0 && signal != SIGCHLD && (signal != SIGCONT || !ends))
            kill(child, signal);
        ends |= !is_oshrun && (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT);
        if (ends)
            wake_stopped(child);
        interrupted |= is_oshrun && signal == SIGINT && info.si_code == SI_KERNEL;
        if (is_oshrun && signal == SIGTSTP)
            raise(SIGSTOP);
    }
}
