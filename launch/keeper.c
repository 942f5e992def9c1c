#include "keeper.h"

#include "sweep.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 5000 /* time for processes that do not die */

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

_Noreturn void keeper_run(pid_t guard)
{
    int status = 0;
    while (waitpid(guard, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    sweep_descendants(PATIENCE_MS);
    die_of(WTERMSIG(status));
}
