#include "spawn.h"

#include "debug.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Puts fd at the target number, open across exec. Returns -1 with errno on failure. */
static int place(int fd, int target)
{
    return fd == target ? fcntl(fd, F_SETFD, 0) : dup2(fd, target);
}

/* Runs a file without an interpreter line as a shell script, as execvp does. */
static void execute_script(const struct spawn *spawn)
{
    size_t count = 0;
    while (spawn->argv[count])
        count++;
    char *argv[count + 2];
    argv[0] = (char *)"sh";
    argv[1] = (char *)spawn->path;
    for (size_t i = 1; i <= count; i++)
        argv[i + 1] = spawn->argv[i];
    execve("/bin/sh", argv, spawn->envp);
}

/* Lets the kernel take this process before the launcher's when memory runs out. Where it may not be said, nothing is
 * lost. */
static void go_first(const char *score)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, score, strlen(score));
    close(fd);
}

/* Runs in the child, which borrows the parent's memory until exec; so it uses system calls only. Returns only on
 * failure. */
static void become(const struct spawn *spawn, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        return;
    if (place(spawn->in, 0) < 0 || place(spawn->out, 1) < 0 || place(spawn->err, 2) < 0)
        return;
    if (spawn->parent_pipe >= 0 && fcntl(spawn->parent_pipe, F_SETFD, 0) < 0)
        return;
    if (fcntl(spawn->segment, F_SETFD, 0) < 0 || (spawn->wdir && chdir(spawn->wdir) != 0))
        return;
    if (spawn->cpus && sched_setaffinity(0, sizeof *spawn->cpus, spawn->cpus->set) != 0)
        return;
    if (setrlimit(RLIMIT_NOFILE, spawn->files) != 0)
        return;
    go_first(spawn->score);
    sigprocmask(SIG_SETMASK, spawn->signals, NULL);
    if (spawn->debug)
        debug_arm();
    execve(spawn->path, spawn->argv, spawn->envp);
    if (errno == ENOEXEC)
        execute_script(spawn);
}

pid_t spawn(const struct spawn *spawn)
{
    pid_t parent = getpid();
    volatile int why = 0; /* the child writes it in our memory */
    pid_t pid = vfork();
    if (pid == 0) {
        become(spawn, parent);
        why = errno ? errno : EPERM;
        _exit(127);
    }
    if (pid > 0 && why) {
        errno = why;
        return -1; /* job_reap reaps the dead child with the others */
    }
    return pid;
}
