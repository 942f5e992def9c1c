#include "keeper.h"

#include "sweep.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 5000 /* time for processes that do not die */
#define GUARD_MS 1000    /* time for a guard to end after oshrun */

static _Noreturn void die_of(int number)
{
    sigset_t set;
    prctl(PR_SET_DUMPABLE, 0); /* the guard's core file is enough */
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

/* Waits until the guard is dead. Kills it when it does not end soon after oshrun; it may be stopped. Returns its
 * status. */
static int outlive(pid_t guard, int front)
{
    sigset_t set;
    int status = 0;
    bool late = false;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    int deaths = signalfd(-1, &set, SFD_CLOEXEC);
    while (waitpid(guard, &status, deaths < 0 ? 0 : WNOHANG) == 0) {
        if (late)
            kill(guard, SIGKILL);
        late |= is_closed(front);
        await_news(deaths, late ? -1 : front, late ? GUARD_MS : -1);
    }
    return status;
}

_Noreturn void keeper_run(pid_t guard, int front)
{
    int status = outlive(guard, front);
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    sweep_descendants(PATIENCE_MS);
    die_of(WTERMSIG(status));
}
