/* _Fork of the shared library: as the C library's, which runs no handler of pthread_atfork, but the child gets its copies.
 *
 * It stands before the C library's under the version that programs and libraries look for (lateral.map), so it serves those
 * too that were not linked with Lateral. Like the C library's it may be called in a handler of a signal: the steps of
 * fork.h are safe there, and the real one is looked up when the library is loaded. liblateral.a has no _Fork: in a static
 * program fork itself would call it, and the C library's would not be there. */
#include "uccs/core/fork.h"

#include "base/atomic.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

static pid_t (*real)(void);

/* Any thread, any number of times. */
static __attribute__((constructor)) void find_bare_fork(void)
{
    atomic_store_relaxed(&real,
                         (pid_t(*)(void))dlsym(RTLD_NEXT, "_Fork")); /* it leads to code, which does not change */
}

__attribute__((visibility("default"))) pid_t _Fork(void)
{
    struct uccs_fork_call call;
    if (!real)
        find_bare_fork(); /* a constructor that ran before ours */
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    uccs_fork_prepare(&call);
    pid_t pid = real();
    if (pid == 0)
        uccs_fork_in_child(&call);
    else
        uccs_fork_in_parent(&call);
    return pid;
}
