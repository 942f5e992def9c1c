#include "base/thread.h"

#include <signal.h>
#include <stddef.h>

int thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(thread, 0, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    return error;
}
