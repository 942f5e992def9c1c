#include "reaper.h"

#include "loop.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
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
static pid_t newest(void)
{
    pid_t pid = vfork();
    if (pid == 0)
        _exit(0);
    return pid > 0 ? pid : PIDS;
}

/* All numbers take a second or more, those in use mostly little. */
static void kill_without_proc(void)
{
    pid_t above = newest();
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
static bool reap(void)
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

void kill_leftovers(int patience_ms)
{
    int64_t end = loop_now() + patience_ms;
    while (reap() && loop_now() < end) {
        kill_children();
        await_death(100);
    }
}

#define PATIENCE_MS 5000   /* time for processes that do not die */
#define SUPERVISOR_MS 1000 /* time for a supervisor to end after oshrun */

static _Noreturn void die_of(int number)
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

/* Returns after news: a child has changed, or oshrun is gone, or the time is over (-1: no limit). */
static void await_news(int deaths, int front, int ms)
{
    struct signalfd_siginfo info;
    struct pollfd news[] = {{.fd = deaths, .events = POLLIN}, {.fd = front, .events = POLLIN}};
    if (poll(news, 2, ms) > 0 && news[0].revents)
        (void)!read(deaths, &info, sizeof info);
}

static bool is_closed(int front)
{
    struct pollfd news = {.fd = front, .events = POLLIN};
    return poll(&news, 1, 0) > 0;
}

/* Waits until the supervisor is dead. Kills it when it does not end soon after oshrun; it may be stopped. Returns its
 * status. */
static int outlive(pid_t supervisor, int front)
{
    sigset_t set;
    int status = 0;
    bool late = false;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    int deaths = signalfd(-1, &set, SFD_CLOEXEC);
    while (waitpid(supervisor, &status, deaths < 0 ? 0 : WNOHANG) == 0) {
        if (late)
            kill(supervisor, SIGKILL);
        late |= is_closed(front);
        await_news(deaths, late ? -1 : front, late ? SUPERVISOR_MS : -1);
    }
    return status;
}

_Noreturn void reaper_run(pid_t supervisor, int front)
{
    int status = outlive(supervisor, front);
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    kill_leftovers(PATIENCE_MS);
    die_of(WTERMSIG(status));
}
